//! The names of the formats that can be read. Nothing here depends on how one is read.

/// A format that can be read.
///
/// ```
/// use grainstore::interchange::Format;
///
/// assert_eq!(Format::named("pam"), Some(Format::Pam));
/// assert_eq!(Format::detect_bytes(b"{\"type\": \"event\"}\n")?, Format::Jsonl);
/// # Ok::<(), grainstore::interchange::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// An archive of grains (OMS 11).
    Mg,
    /// One JSON grain a line.
    Jsonl,
    /// A Portable AI Memory store.
    Pam,
    /// A conversation of Portable AI Memory without its store; read only.
    PamConversation,
    /// The embeddings file of Portable AI Memory without its store; read only.
    PamEmbeddings,
    /// An AIMEM bundle.
    Aimem,
    /// An AIMEM bundle as a stream of lines.
    AimemNdjson,
    /// An OMI-AI document.
    Omi,
    /// An OMI-AI document as JSON lines.
    OmiJsonl,
    /// A directory of Markdown notes.
    Markdown,
    /// The graph of the reference MCP memory server; read only.
    McpMemory,
    /// The memories of Mem0; read only.
    Mem0,
    /// A list of memories as an assistant prints it, or ChatGPT's; read only.
    MemoryList,
    /// The rows of a LangGraph store; read only.
    Langgraph,
    /// The transcript of a session of Claude Code; read only.
    ClaudeCode,
    /// The rollout of a session of Codex; read only.
    Codex,
    /// The episodes, nodes and edges of Graphiti or Zep; read only.
    Graphiti,
    /// The export of an assistant's provider; read only.
    Provider(Provider),
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 24] = [
        Self::Mg,
        Self::Jsonl,
        Self::Pam,
        Self::PamConversation,
        Self::PamEmbeddings,
        Self::Aimem,
        Self::AimemNdjson,
        Self::Omi,
        Self::OmiJsonl,
        Self::Markdown,
        Self::McpMemory,
        Self::Mem0,
        Self::MemoryList,
        Self::Langgraph,
        Self::ClaudeCode,
        Self::Codex,
        Self::Graphiti,
        Self::Provider(Provider::Chatgpt),
        Self::Provider(Provider::Claude),
        Self::Provider(Provider::Gemini),
        Self::Provider(Provider::Copilot),
        Self::Provider(Provider::Grok),
        Self::Provider(Provider::Deepseek),
        Self::Provider(Provider::Cursor),
    ];

    /// Returns the name, by which a caller asks for the format.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mg => "mg",
            Self::Jsonl => "jsonl",
            Self::Pam => "pam",
            Self::PamConversation => "pam-conversation",
            Self::PamEmbeddings => "pam-embeddings",
            Self::Aimem => "aimem",
            Self::AimemNdjson => "aimem-ndjson",
            Self::Omi => "omi",
            Self::OmiJsonl => "omi-jsonl",
            Self::Markdown => "markdown",
            Self::McpMemory => "mcp-memory",
            Self::Mem0 => "mem0",
            Self::MemoryList => "memory-list",
            Self::Langgraph => "langgraph",
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Graphiti => "graphiti",
            Self::Provider(provider) => provider.name(),
        }
    }

    /// Returns whether grains can be written in the format.
    pub(crate) const fn is_written(self) -> bool {
        matches!(
            self,
            Self::Mg
                | Self::Jsonl
                | Self::Pam
                | Self::Aimem
                | Self::AimemNdjson
                | Self::Omi
                | Self::OmiJsonl
                | Self::Markdown
        )
    }

    /// Returns the format of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Provider {
    /// OpenAI's ChatGPT.
    Chatgpt,
    /// Anthropic's Claude.
    Claude,
    /// Google's Gemini, by Takeout.
    Gemini,
    /// Microsoft's Copilot.
    Copilot,
    /// xAI's Grok.
    Grok,
    /// DeepSeek.
    Deepseek,
    /// The editor Cursor.
    Cursor,
}

impl Provider {
    /// Returns the name, which is also the platform's in PAM 11.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chatgpt => "chatgpt",
            Self::Claude => "claude",
            Self::Gemini => "gemini",
            Self::Copilot => "copilot",
            Self::Grok => "grok",
            Self::Deepseek => "deepseek",
            Self::Cursor => "cursor",
        }
    }
}
