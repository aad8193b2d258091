//! What providers of assistants export: ChatGPT, Claude, Gemini, Copilot, Grok.
//!
//! Conversations become PAM conversation documents, and those become grains: an Event a message,
//! threaded by `parent_message_id`, and a State a conversation. Branches stay, ids are the
//! provider's or made of the record, what has no place of its own is kept as raw metadata, and a
//! time that is not told is not made up. A file, a directory or the ZIP as it came.

mod chatgpt;
mod claude;
mod code;
mod copilot;
mod gemini;
mod grok;
mod talk;

use std::path::Path;

use crate::codec::{Profile, Value};

use super::archive::{Bytes, files};
use super::first::First;
use super::pam::{self, Import};
use super::{Error, Format, Place, strict};

use talk::Talk;

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
    read_from(Bytes::At(path), provider, profile)
}

/// Reads the export of a provider from wherever it is.
pub(super) fn read_from(
    export: Bytes<'_>,
    provider: Provider,
    profile: Profile,
) -> Result<Import, Vec<Error>> {
    let files = files(export, is_part).map_err(|error| vec![error])?;
    let mut talks = Vec::new();
    let mut findings = Vec::new();
    let mut owner = None;
    let mut feedback = None;
    let mut is_found = false;
    for (name, bytes) in &files {
        let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
        let parsed = match last {
            _ if provider == Provider::Copilot && !last.ends_with(".json") => {
                is_found = true;
                read_csv(name, bytes, &mut talks, &mut findings).map_err(|it| vec![it])?;
                continue;
            }
            _ if last.ends_with(".csv") => continue,
            _ => strict::parse(bytes).map_err(|(_, message)| vec![syntax(name, message)])?,
        };
        match last {
            "user.json" | "users.json" => owner = owner.or(owner_of(&parsed)),
            "message_feedback.json" => feedback = Some(parsed),
            _ => is_found |= read_json(provider, name, &parsed, &mut talks, &mut findings),
        }
    }
    if !is_found {
        let message = format!("holds no export of {}", provider.name());
        return Err(vec![fault(code::SHAPE, "", message)]);
    }
    if let Some(feedback) = feedback {
        chatgpt::add_feedback(&mut talks, &feedback);
    }
    let account = talks.iter().find_map(|talk| talk.account.clone());
    let owner = owner.or(account).unwrap_or_else(|| "local".to_owned());
    let mut conversations = Vec::with_capacity(talks.len());
    for talk in talks {
        let id = talk.id.clone();
        match talk.into_pam(provider.name(), provider.importer()) {
            Some(pair) => conversations.push(pair),
            None => {
                let message = format!("conversation {id} has no time");
                findings.push(fault(code::TIME, "", message));
            }
        }
    }
    pam::import_conversations(&owner, conversations, provider.names(), profile, findings)
}

/// Returns whose export a directory or a ZIP archive is, from what its files say.
pub(super) fn detect(export: Bytes<'_>) -> Result<Option<Provider>, Error> {
    for (_, bytes) in files(export, is_talk)? {
        let first = First::read(bytes.as_slice()).map_err(|source| Error::Io {
            place: Place::File,
            source,
        })?;
        match first {
            First::Known(Format::Provider(provider)) => return Ok(Some(provider)),
            _ if is_copilot(&bytes) => return Ok(Some(Provider::Copilot)),
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
            "prod-grok-backend.json",
        ]
        .contains(&name)
        || name.to_ascii_lowercase().ends_with(".csv")
}

fn is_part(name: &str) -> bool {
    is_talk(name) || ["user.json", "users.json", "message_feedback.json"].contains(&name)
}

fn owner_of(value: &Value) -> Option<String> {
    let map = match value {
        Value::Array(items) => items.first()?.as_map()?,
        value => value.as_map()?,
    };
    let id = talk::text(map, "id").or_else(|| talk::text(map, "uuid"));
    id.map(str::to_owned)
}

/// Reads what one file holds; returns whether it is of this provider at all.
fn read_json(
    provider: Provider,
    name: &str,
    value: &Value,
    talks: &mut Vec<Talk>,
    findings: &mut Vec<Error>,
) -> bool {
    let (items, read): (_, fn(&crate::codec::Map) -> Option<Talk>) = match (provider, value) {
        (Provider::Chatgpt, Value::Array(items)) => (items.as_slice(), chatgpt::talk),
        (Provider::Claude, Value::Array(items)) => (items.as_slice(), claude::talk),
        (Provider::Grok, Value::Map(map)) => {
            let items = map.get("conversations").and_then(Value::as_array);
            let Some(items) = items else { return false };
            (items, grok::talk)
        }
        (Provider::Gemini, Value::Array(items)) => {
            let (found, skipped) = gemini::talks(items);
            if skipped > 0 {
                let message = format!("{skipped} records have no time or are no exchange");
                findings.push(fault(code::SHAPE, name, message));
            }
            talks.extend(found);
            return true;
        }
        _ => return false,
    };
    for (index, item) in items.iter().enumerate() {
        match item.as_map().and_then(read) {
            Some(talk) => talks.push(talk),
            None => {
                let at = format!("{name}#/{index}");
                let message = "is no conversation".to_owned();
                findings.push(fault(code::SHAPE, &at, message));
            }
        }
    }
    true
}

fn read_csv(
    name: &str,
    bytes: &[u8],
    talks: &mut Vec<Talk>,
    findings: &mut Vec<Error>,
) -> Result<(), Error> {
    let (found, bad) = copilot::talks(bytes).map_err(|message| syntax(name, message))?;
    for row in bad {
        let message = format!("row {row} of {name} has no time that can be read");
        findings.push(fault(code::TIME, name, message));
    }
    talks.extend(found);
    Ok(())
}

fn syntax(name: &str, message: String) -> Error {
    fault(code::SYNTAX, name, message)
}

fn fault(code: &'static str, at: &str, message: String) -> Error {
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
