//! The formats that can be read and written, as argument values.
//!
//! Detection by content is done by the library.

use clap::ValueEnum;
use grainstore::interchange::Format;
use grainstore::interchange::provider::Provider;

/// A format that can be read, or detection by content.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum ImportFormat {
    /// Detect the format from the content
    Auto,
    /// Archive of grains (OMS 1.3, section 11)
    Mg,
    /// JSON lines, one grain per line
    Jsonl,
    /// Portable AI Memory 1.0 store
    Pam,
    /// PAM conversation file without its store
    PamConversation,
    /// PAM embeddings file without its store
    PamEmbeddings,
    /// AIMEM bundle
    Aimem,
    /// AIMEM bundle as JSON lines
    AimemNdjson,
    /// OMI-AI 0.1 document
    Omi,
    /// OMI-AI 0.1 document as JSON lines
    OmiJsonl,
    /// Directory of Markdown notes
    Markdown,
    /// Memory of the reference MCP server: memory.jsonl
    McpMemory,
    /// Mem0: what get_all or the platform returned
    Mem0,
    /// List of memories as an assistant prints it ([date] - memory), or ChatGPT's memory.json
    MemoryList,
    /// Rows of a LangGraph store: SELECT row_to_json(t) FROM store t
    Langgraph,
    /// Transcripts of Claude Code: ~/.claude/projects/*/*.jsonl
    ClaudeCode,
    /// Rollouts of Codex: ~/.codex/sessions
    Codex,
    /// Episodes, nodes and edges of Graphiti or Zep
    Graphiti,
    /// ChatGPT export: a file of it, its directory or the ZIP file
    Chatgpt,
    /// Claude export
    Claude,
    /// Google Takeout of Gemini
    Gemini,
    /// Copilot CSV file
    Copilot,
    /// Grok export
    Grok,
    /// DeepSeek export
    Deepseek,
    /// Conversations of Cursor
    Cursor,
}

impl ImportFormat {
    /// Returns the format; `None` if the content decides.
    pub(super) const fn format(self) -> Option<Format> {
        match self {
            Self::Auto => None,
            Self::Mg => Some(Format::Mg),
            Self::Jsonl => Some(Format::Jsonl),
            Self::Pam => Some(Format::Pam),
            Self::PamConversation => Some(Format::PamConversation),
            Self::PamEmbeddings => Some(Format::PamEmbeddings),
            Self::Aimem => Some(Format::Aimem),
            Self::AimemNdjson => Some(Format::AimemNdjson),
            Self::Omi => Some(Format::Omi),
            Self::OmiJsonl => Some(Format::OmiJsonl),
            Self::Markdown => Some(Format::Markdown),
            Self::McpMemory => Some(Format::McpMemory),
            Self::Mem0 => Some(Format::Mem0),
            Self::MemoryList => Some(Format::MemoryList),
            Self::Langgraph => Some(Format::Langgraph),
            Self::ClaudeCode => Some(Format::ClaudeCode),
            Self::Codex => Some(Format::Codex),
            Self::Graphiti => Some(Format::Graphiti),
            Self::Chatgpt => Some(Format::Provider(Provider::Chatgpt)),
            Self::Claude => Some(Format::Provider(Provider::Claude)),
            Self::Gemini => Some(Format::Provider(Provider::Gemini)),
            Self::Copilot => Some(Format::Provider(Provider::Copilot)),
            Self::Grok => Some(Format::Provider(Provider::Grok)),
            Self::Deepseek => Some(Format::Provider(Provider::Deepseek)),
            Self::Cursor => Some(Format::Provider(Provider::Cursor)),
        }
    }
}

/// A dialect of a tree of Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Dialect {
    /// Open Knowledge Format: a file for each subject, conversation and day
    Okf,
    /// A vault of Obsidian
    Obsidian,
    /// Basic Memory: observations and relations
    BasicMemory,
    /// The memory of Claude Code
    ClaudeCode,
    /// The memories of Codex
    Codex,
    /// The workspace of OpenClaw
    Openclaw,
    /// The memories of Hermes: entries without frontmatter
    Hermes,
}

impl Dialect {
    /// Returns the name that the library has for it.
    pub(super) fn name(self) -> Option<String> {
        self.to_possible_value()
            .map(|value| value.get_name().to_owned())
    }
}

/// A format that can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ExportFormat {
    /// Archive of grains (OMS 1.3, section 11)
    Mg,
    /// JSON lines, one grain per line
    Jsonl,
    /// Portable AI Memory 1.0 store
    Pam,
    /// AIMEM bundle
    Aimem,
    /// AIMEM bundle as JSON lines
    AimemNdjson,
    /// OMI-AI 0.1 document
    Omi,
    /// OMI-AI 0.1 document as JSON lines
    OmiJsonl,
    /// Directory of Markdown notes
    Markdown,
}

impl ExportFormat {
    pub(super) const fn format(self) -> Format {
        match self {
            Self::Mg => Format::Mg,
            Self::Jsonl => Format::Jsonl,
            Self::Pam => Format::Pam,
            Self::Aimem => Format::Aimem,
            Self::AimemNdjson => Format::AimemNdjson,
            Self::Omi => Format::Omi,
            Self::OmiJsonl => Format::OmiJsonl,
            Self::Markdown => Format::Markdown,
        }
    }
}
