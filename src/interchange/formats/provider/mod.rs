//! Exports of the providers of assistants: ChatGPT, Claude, Gemini, Copilot, Grok.
//!
//! Conversations become PAM conversation documents, and those become grains: an Event a message,
//! threaded by `parent_message_id`, and a State a conversation. Branches are kept; ids are the
//! provider's, or derived from the record; members without a place of their own are kept as raw
//! metadata; an absent time is never invented. The facts that an assistant knows become PAM
//! memories. An export is a file, a directory or a ZIP archive.

mod chatgpt;
mod claude;
mod code;
mod claude_memory;
mod copilot;
mod export;
mod fact;
mod gemini;
mod grok;
mod grok_fact;
mod item;
mod reader;
mod validation_pass;
mod conversation;

use crate::code::ErrorCode;
use std::path::Path;

use crate::codec::{Profile, Value};

use crate::interchange::formats::pam::{self, Import};
use crate::interchange::io::file_set::FileSet;
use crate::interchange::io::source_file::Input;
use crate::interchange::model::record_set::RecordSource as _;
use crate::interchange::{Error, Place};

use export::{Export, Validation};
pub(in crate::interchange) use reader::Providers;

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
        }
    }

    /// The version of this reader: another one may build other grains.
    const fn importer(self) -> &'static str {
        match self {
            Self::Chatgpt => "chatgpt/2026.01",
            Self::Claude => "claude/2026.01",
            Self::Gemini => "gemini/2026.01",
            Self::Copilot => "copilot/2026.01",
            Self::Grok => "grok/2026.01",
        }
    }

    const fn names(self) -> pam::Names {
        match self {
            Self::Chatgpt => pam::Names::new("chatgpt", "chatgpt:conversation", "chatgpt:message"),
            Self::Claude => pam::Names::new("claude", "claude:conversation", "claude:message"),
            Self::Gemini => pam::Names::new("gemini", "gemini:conversation", "gemini:message"),
            Self::Copilot => pam::Names::new("copilot", "copilot:conversation", "copilot:message"),
            Self::Grok => pam::Names::new("grok", "grok:conversation", "grok:message"),
        }
    }
}

/// Reads the export of a provider.
///
/// # Errors
/// `PROVIDER_ZIP`, `PROVIDER_SYNTAX`, `PROVIDER_SHAPE`, `ERR_IO`. A conversation that cannot be
/// read is a finding, and counted.
pub fn read(path: &Path, provider: Provider, profile: Profile) -> Result<Import, Vec<Error>> {
    let (mut export, validated) = open(Input::Path(path), provider, profile)?;
    Ok(Import {
        records: export.collect().map_err(|error| vec![error])?,
        findings: validated.findings.list,
        unlisted: validated.findings.more,
        loss: validated.loss,
        ..Import::default()
    })
}

/// Validates the export of a provider; its records are built when they are asked for.
fn open(
    export: Input<'_>,
    provider: Provider,
    profile: Profile,
) -> Result<(Export, Validation), Vec<Error>> {
    let files = FileSet::list(export, is_part).map_err(|error| vec![error])?;
    Export::open(files, provider, profile)
}

fn is_conversation_file(name: &str) -> bool {
    let is_shard = name
        .strip_prefix("conversations-")
        .and_then(|rest| rest.strip_suffix(".json"))
        .is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    is_shard
        || [
            "conversations.json",
            "MyActivity.json",
            "MyActivity.html",
            "prod-grok-backend.json",
        ]
        .contains(&name)
        || OF_CLAUDE.contains(&name)
        || name.to_ascii_lowercase().ends_with(".csv")
}

fn is_part(name: &str) -> bool {
    let beside = [
        "user.json",
        "users.json",
        "message_feedback.json",
        OWNER_OF_GROK,
    ];
    is_conversation_file(name) || beside.contains(&name)
}

/// Returns whether this is a web page, in which only Gemini exports conversations.
fn is_page(bytes: &[u8]) -> bool {
    let head = bytes.get(..PAGE_HEAD_LEN).unwrap_or(bytes);
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let head = head.trim_start_matches('\u{feff}').trim_start();
    head.starts_with("<!doctype html") || head.starts_with("<html")
}

fn owner_of(value: &Value) -> Option<String> {
    let map = match value {
        Value::Array(items) => items.first()?.as_map()?,
        value => value.as_map()?,
    };
    if let Some(user) = map.get("user").and_then(Value::as_map) {
        return conversation::text(user, "userId").map(str::to_owned);
    }
    let id = conversation::text(map, "id").or_else(|| conversation::text(map, "uuid"));
    id.map(str::to_owned)
}

fn syntax(name: &str, message: String) -> Error {
    fault(code::SYNTAX, name, message)
}

fn fault(code: ErrorCode, at: &str, message: String) -> Error {
    Error::format(code, Place::pointer(at), message)
}

/// The files with the facts that Claude knows.
const OF_CLAUDE: [&str; 2] = ["memories.json", "projects.json"];
/// The file with the owner of an export of Grok.
const OWNER_OF_GROK: &str = "prod-mc-auth-mgmt-api.json";
/// The bytes that a web page is recognised by.
const PAGE_HEAD_LEN: usize = 256;
