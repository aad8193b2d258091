//! What providers of assistants export: ChatGPT, Claude, Gemini, Copilot, Grok.
//!
//! Conversations become PAM conversation documents, and those become grains: an Event a message,
//! threaded by `parent_message_id`, and a State a conversation. Branches stay, ids are the
//! provider's or made of the record, what has no place of its own is kept as raw metadata, and a
//! time that is not told is not made up. What an assistant knows becomes PAM memories. A file, a directory or the ZIP as it came.

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
mod survey;
mod talk;

use std::path::Path;

use crate::code::ErrorCode;
use crate::codec::{Profile, Value};

use super::archive::{Bytes, Files};
use super::first::First;
use super::pam::{self, Import};
use super::pieces::BUFFER_LEN;
use super::{Error, Format, Place};

pub(super) use export::{Export, Judged};

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

    /// Which reading of the export this is: another one may make other grains.
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
    let (mut export, judged) = open(Bytes::At(path), provider, profile)?;
    let mut records = Vec::new();
    let read = export.each(&mut |record| {
        records.push(record);
        true
    });
    read.map_err(|error| vec![error])?;
    Ok(Import {
        records,
        findings: judged.findings.list,
        unlisted: judged.findings.more,
        loss: judged.loss,
        ..Import::default()
    })
}

/// Judges the export of a provider, wherever it is; its records are made when they are asked for.
///
/// # Errors
/// As [`read`].
pub(super) fn open(
    export: Bytes<'_>,
    provider: Provider,
    profile: Profile,
) -> Result<(Export, Judged), Vec<Error>> {
    let files = Files::list(export, is_part).map_err(|error| vec![error])?;
    Export::open(files, provider, profile)
}

/// Returns whose export a directory or a ZIP archive is, from what its files say.
pub(super) fn detect(export: Bytes<'_>) -> Result<Option<Provider>, Error> {
    for file in Files::list(export, is_talk)?.each() {
        let (name, part) = file?;
        let read = part
            .read(BUFFER_LEN, |input| First::read(input))
            .and_then(|first| first);
        let read = read.and_then(|first| Ok((first, part.head(HEAD_LEN)?)));
        let (first, head) = read.map_err(|source| part.wrong(name, source))?;
        match first {
            First::Known(Format::Provider(provider)) => return Ok(Some(provider)),
            _ if is_copilot(&head) => return Ok(Some(Provider::Copilot)),
            _ if is_page(&head) => return Ok(Some(Provider::Gemini)),
            _ => {}
        }
    }
    Ok(None)
}

/// Returns whether text starts with a header of Copilot's tables.
pub(super) fn is_copilot(head: &[u8]) -> bool {
    let end = head
        .iter()
        .position(|byte| *byte == b'\n')
        .unwrap_or(head.len());
    head.get(..end).is_some_and(copilot::is_header)
}

fn is_talk(name: &str) -> bool {
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
    is_talk(name) || beside.contains(&name)
}

/// Returns whether this is a web page, in which nobody but Gemini exports what was said.
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
        return talk::text(user, "userId").map(str::to_owned);
    }
    let id = talk::text(map, "id").or_else(|| talk::text(map, "uuid"));
    id.map(str::to_owned)
}

fn syntax(name: &str, message: String) -> Error {
    fault(code::SYNTAX, name, message)
}

fn fault(code: ErrorCode, at: &str, message: String) -> Error {
    Error::Format {
        code,
        place: if at.is_empty() {
            Place::File
        } else {
            Place::Pointer(at.to_owned())
        },
        message,
    }
}

/// What Claude knows, beside its conversations.
const OF_CLAUDE: [&str; 2] = ["memories.json", "projects.json"];
/// Whose an export of Grok is.
const OWNER_OF_GROK: &str = "prod-mc-auth-mgmt-api.json";
/// Where a web page says that it is one.
const PAGE_HEAD_LEN: usize = 256;
/// More than the first line of a table takes.
const HEAD_LEN: u64 = 4096;
