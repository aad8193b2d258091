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
    /// The graph of the reference MCP memory server.
    McpMemory,
    /// The memories of Mem0.
    Mem0,
    /// The memories of OpenMemory; read only.
    OpenMemory,
    /// A list of memories as an assistant prints it, or ChatGPT's; read only.
    MemoryList,
    /// The rows of a LangGraph store.
    Langgraph,
    /// The memories of mcp-memory-service; read only.
    McpMemoryService,
    /// The observations of claude-mem; read only.
    ClaudeMem,
    /// An agent of Letta, or its archive; read only.
    Letta,
    /// The episodes, nodes and edges of Graphiti or Zep; read only.
    Graphiti,
    /// An archive of Cognee.
    Cogx,
    /// The documents of Hindsight; read only.
    Hindsight,
    /// The transcript of a session of Claude Code; read only.
    ClaudeCode,
    /// The rollout of a session of Codex; read only.
    Codex,
    /// The sessions of the OpenAI Agents SDK; read only.
    OpenaiAgents,
    /// The messages of OpenCode; read only.
    Opencode,
    /// A session of Gemini CLI; read only.
    GeminiCli,
    /// A session of Pi; read only.
    Pi,
    /// A session of Cursor's agent; read only.
    CursorAgent,
    /// The chats of Open WebUI; read only.
    OpenWebui,
    /// A conversation of LibreChat; read only.
    Librechat,
    /// The history of Chatbot UI; read only.
    ChatbotUi,
    /// A conversation of LM Studio; read only.
    LmStudio,
    /// A thread of Jan; read only.
    Jan,
    /// The chats of TypingMind; read only.
    Typingmind,
    /// The messages of Le Chat; read only.
    LeChat,
    /// A thread of Perplexity; read only.
    Perplexity,
    /// A prompt of Google AI Studio; read only.
    AiStudio,
    /// A chat session of Copilot in VS Code; read only.
    VscodeCopilot,
    /// The export of an assistant's provider; read only.
    Provider(Provider),
}

impl Format {
    /// Returns every format.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|entry| entry.format)
    }

    /// Returns the name, by which a caller asks for the format.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// Returns a line about a file of the format.
    pub fn about(self) -> &'static str {
        self.entry().about
    }

    /// Returns where another tool keeps such a file, or how it exports one.
    pub fn kept(self) -> Option<&'static str> {
        Some(self.entry().kept).filter(|kept| !kept.is_empty())
    }

    /// Returns the usual places of such files below the home directory; a `*` stands for one name.
    pub fn usual_places(self) -> &'static [&'static str] {
        self.entry().places
    }

    /// Returns the format of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|format| format.name() == name)
    }

    fn entry(self) -> &'static Entry {
        let mut entries = TABLE.iter();
        // The test below holds the table to every variant.
        entries
            .find(|entry| entry.format == self)
            .unwrap_or(&UNKNOWN)
    }
}

/// One format in the table.
#[derive(Clone, Copy)]
struct Entry {
    format: Format,
    name: &'static str,
    about: &'static str,
    kept: &'static str,
    places: &'static [&'static str],
}

const UNKNOWN: Entry = plain(Format::Jsonl, "unknown", "");

const fn plain(format: Format, name: &'static str, about: &'static str) -> Entry {
    of_tool(format, name, about, "")
}

/// A format of another tool, with where the tool keeps such a file, or how it exports one.
const fn of_tool(
    format: Format,
    name: &'static str,
    about: &'static str,
    kept: &'static str,
) -> Entry {
    Entry {
        format,
        name,
        about,
        kept,
        places: &[],
    }
}

/// A format whose files lie in usual places of a home directory.
const fn found(
    format: Format,
    name: &'static str,
    about: &'static str,
    places: &'static [&'static str],
) -> Entry {
    let kept = match places {
        [first, ..] => first,
        [] => "",
    };
    Entry {
        places,
        ..of_tool(format, name, about, kept)
    }
}

const fn provider(provider: Provider, about: &'static str, kept: &'static str) -> Entry {
    let name = provider.name();
    of_tool(Format::Provider(provider), name, about, kept)
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

/// Every format, what a file of it is, and where other tools keep it: the help, `scan` and the manual go by it.
static TABLE: [Entry; 45] = [
    plain(Format::Mg, "mg", "Archive of grains (OMS 1.3, section 11)"),
    plain(Format::Jsonl, "jsonl", "JSON lines, one grain per line"),
    plain(Format::Pam, "pam", "Portable AI Memory 1.0 store"),
    of_tool(
        Format::PamConversation,
        "pam-conversation",
        "PAM conversation file without its store",
        "",
    ),
    of_tool(
        Format::PamEmbeddings,
        "pam-embeddings",
        "PAM embeddings file without its store",
        "",
    ),
    plain(Format::Aimem, "aimem", "AIMEM bundle"),
    plain(
        Format::AimemNdjson,
        "aimem-ndjson",
        "AIMEM bundle as JSON lines",
    ),
    plain(Format::Omi, "omi", "OMI-AI 0.1 document"),
    plain(
        Format::OmiJsonl,
        "omi-jsonl",
        "OMI-AI 0.1 document as JSON lines",
    ),
    Entry {
        places: &[".openclaw/workspace", ".codex/memories", ".hermes/memories"],
        ..plain(Format::Markdown, "markdown", "Directory of Markdown notes")
    },
    of_tool(
        Format::McpMemory,
        "mcp-memory",
        "Reference MCP memory server: entities, observations, relations",
        "the file of MEMORY_FILE_PATH, else memory.jsonl beside the server",
    ),
    found(
        Format::Mem0,
        "mem0",
        "Mem0: get_all, the platform's answers, or history.db",
        &[".mem0/history.db"],
    ),
    of_tool(
        Format::OpenMemory,
        "openmemory",
        "OpenMemory: its export ZIP, memories.json, or openmemory.db",
        "openmemory/api/openmemory.db",
    ),
    of_tool(
        Format::MemoryList,
        "memory-list",
        "List of memories as an assistant prints it ([date] - memory), or ChatGPT's memory.json",
        "ask the assistant to list its memories",
    ),
    of_tool(
        Format::Langgraph,
        "langgraph",
        "LangGraph store: its SQLite file, or rows as JSON lines",
        "psql -Atc 'SELECT row_to_json(t) FROM store t'",
    ),
    found(
        Format::McpMemoryService,
        "mcp-memory-service",
        "mcp-memory-service: its SQLite file, or its JSON export",
        &[
            ".local/share/mcp-memory/sqlite_vec.db",
            "Library/Application Support/mcp-memory/sqlite_vec.db",
        ],
    ),
    found(
        Format::ClaudeMem,
        "claude-mem",
        "claude-mem: observations, summaries and prompts",
        &[".claude-mem/claude-mem.db"],
    ),
    of_tool(
        Format::Letta,
        "letta",
        "Letta: an agent file (.af), or pages of its archival memory",
        "the agent's export; /v1/agents/ID/archival-memory",
    ),
    of_tool(
        Format::Graphiti,
        "graphiti",
        "Graphiti or Zep: episodes, nodes and edges",
        "a dump of the graph as JSON",
    ),
    of_tool(
        Format::Cogx,
        "cogx",
        "Cognee: a COGX archive, as a directory, .tar.gz or ZIP",
        "cognee's export(dataset, format=\"cogx\")",
    ),
    of_tool(
        Format::Hindsight,
        "hindsight",
        "Hindsight: the ZIP of its documents and facts",
        "the export of a bank",
    ),
    found(
        Format::ClaudeCode,
        "claude-code",
        "Claude Code: transcripts of sessions",
        &[".claude/projects"],
    ),
    found(
        Format::Codex,
        "codex",
        "Codex: rollouts of sessions",
        &[".codex/sessions"],
    ),
    of_tool(
        Format::OpenaiAgents,
        "openai-agents",
        "OpenAI Agents: the file of SQLiteSession",
        "the path that SQLiteSession was given",
    ),
    found(
        Format::Opencode,
        "opencode",
        "OpenCode: messages of sessions",
        &[".local/share/opencode/storage"],
    ),
    found(
        Format::GeminiCli,
        "gemini-cli",
        "Gemini CLI: recorded sessions",
        &[".gemini/tmp"],
    ),
    found(
        Format::Pi,
        "pi",
        "Pi: sessions of the coding agent",
        &[".pi/agent/sessions"],
    ),
    found(
        Format::CursorAgent,
        "cursor-agent",
        "Cursor: transcripts of its agent",
        &[".cursor/projects"],
    ),
    of_tool(
        Format::OpenWebui,
        "open-webui",
        "Open WebUI: exported chats",
        "Settings > Data Controls > Export Chats",
    ),
    of_tool(
        Format::Librechat,
        "librechat",
        "LibreChat: an exported conversation",
        "Export of a conversation, as JSON",
    ),
    of_tool(
        Format::ChatbotUi,
        "chatbot-ui",
        "Chatbot UI: exported history",
        "Export data",
    ),
    found(
        Format::LmStudio,
        "lm-studio",
        "LM Studio: conversations",
        &[".lmstudio/conversations", ".cache/lm-studio/conversations"],
    ),
    found(
        Format::Jan,
        "jan",
        "Jan: the messages of threads",
        &[
            ".local/share/Jan/data/threads",
            "Library/Application Support/Jan/data/threads",
            "jan/threads",
        ],
    ),
    of_tool(
        Format::Typingmind,
        "typingmind",
        "TypingMind: exported chats",
        "Settings > Export",
    ),
    of_tool(
        Format::LeChat,
        "le-chat",
        "Le Chat: exported messages",
        "the data export of Mistral",
    ),
    of_tool(
        Format::Perplexity,
        "perplexity",
        "Perplexity: a thread",
        "the thread as JSON",
    ),
    of_tool(
        Format::AiStudio,
        "ai-studio",
        "Google AI Studio: prompts",
        "the folder Google AI Studio of Drive",
    ),
    of_tool(
        Format::VscodeCopilot,
        "vscode-copilot",
        "Copilot in VS Code: an exported chat",
        "Chat: Export Chat…",
    ),
    provider(
        Provider::Chatgpt,
        "ChatGPT export: a file of it, its directory or the ZIP file",
        "Settings > Data controls > Export data",
    ),
    provider(
        Provider::Claude,
        "Claude export",
        "Settings > Privacy > Export data",
    ),
    provider(
        Provider::Gemini,
        "Google Takeout of Gemini",
        "takeout.google.com: My Activity, as JSON",
    ),
    provider(
        Provider::Copilot,
        "Copilot CSV file",
        "the privacy dashboard of Microsoft",
    ),
    provider(
        Provider::Grok,
        "Grok export",
        "accounts.x.ai: Download account data",
    ),
    provider(
        Provider::Deepseek,
        "DeepSeek export",
        "Settings > Data > Export data",
    ),
    provider(
        Provider::Cursor,
        "Conversations of Cursor",
        "an export of its chats as JSON",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_one_format() {
        for format in Format::all() {
            assert_ne!(format.name(), UNKNOWN.name, "{format:?}");
            assert_eq!(Format::named(format.name()), Some(format), "{format:?}");
        }
    }
}
