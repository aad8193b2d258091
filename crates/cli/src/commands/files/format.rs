use clap::ValueEnum;
use grainstore::interchange::Format;
use grainstore::interchange::provider::Provider;

/// A format that can be read, or the one that the content says it is.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum ImportFormat {
    /// What the content says it is
    Auto,
    /// An archive of grains (OMS 1.3, section 11)
    Mg,
    /// One JSON grain a line
    Jsonl,
    /// A Portable AI Memory 1.0 store
    Pam,
    /// A conversation of PAM without its store
    PamConversation,
    /// The embeddings file of PAM without its store
    PamEmbeddings,
    /// An AIMEM bundle
    Aimem,
    /// An AIMEM bundle as a stream of lines
    AimemNdjson,
    /// An OMI-AI 0.1 document
    Omi,
    /// An OMI-AI 0.1 document as JSON lines
    OmiJsonl,
    /// An export of ChatGPT: a file of it, its directory or its ZIP
    Chatgpt,
    /// An export of Claude
    Claude,
    /// A Google Takeout of Gemini
    Gemini,
    /// A CSV file of Copilot
    Copilot,
    /// An export of Grok
    Grok,
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
            Self::Chatgpt => Some(Format::Provider(Provider::Chatgpt)),
            Self::Claude => Some(Format::Provider(Provider::Claude)),
            Self::Gemini => Some(Format::Provider(Provider::Gemini)),
            Self::Copilot => Some(Format::Provider(Provider::Copilot)),
            Self::Grok => Some(Format::Provider(Provider::Grok)),
        }
    }
}

/// A format that can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ExportFormat {
    /// An archive of grains (OMS 1.3, section 11)
    Mg,
    /// One JSON grain a line
    Jsonl,
    /// A Portable AI Memory 1.0 store
    Pam,
    /// An AIMEM bundle
    Aimem,
    /// An AIMEM bundle as a stream of lines
    AimemNdjson,
    /// An OMI-AI 0.1 document
    Omi,
    /// An OMI-AI 0.1 document as JSON lines
    OmiJsonl,
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
        }
    }
}
