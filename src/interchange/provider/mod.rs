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
mod fact;
mod gemini;
mod grok;
mod grok_fact;
mod talk;

use std::path::Path;

use crate::codec::{Map, Profile, Value};

use super::archive::{Bytes, files};
use super::first::First;
use super::pam::{self, Import};
use super::{Error, Format, Place, strict};

use fact::Fact;
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
    let mut read = Export::default();
    for (name, bytes) in &files {
        read.file(provider, name, bytes).map_err(|it| vec![it])?;
    }
    if !read.is_found {
        let message = match read.page {
            Some(page) => format!(
                "{page} is a web page: have Takeout export My Activity, Gemini Apps again, as JSON"
            ),
            None => format!("holds no export of {}", provider.name()),
        };
        return Err(vec![fault(code::SHAPE, "", message)]);
    }
    if let Some(feedback) = &read.feedback {
        chatgpt::add_feedback(&mut read.talks, feedback);
    }
    read.into_import(provider, profile)
}

/// What the files of an export say.
#[derive(Default)]
struct Export {
    talks: Vec<Talk>,
    facts: Vec<Fact>,
    findings: Vec<Error>,
    owner: Option<String>,
    feedback: Option<Value>,
    /// A file that is a web page, which is not read.
    page: Option<String>,
    /// Whether anything is of this provider at all.
    is_found: bool,
}

impl Export {
    fn file(&mut self, provider: Provider, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
        if provider == Provider::Copilot && !last.ends_with(".json") {
            self.is_found = true;
            return read_csv(name, bytes, &mut self.talks, &mut self.findings);
        }
        if provider == Provider::Gemini && is_page(bytes) {
            self.page = Some(name.to_owned());
            return Ok(());
        }
        let is_foreign = last.ends_with(".csv")
            || last.ends_with(".html")
            || (provider != Provider::Claude && OF_CLAUDE.contains(&last));
        if is_foreign {
            return Ok(());
        }
        let parsed = strict::parse(bytes).map_err(|(_, message)| syntax(name, message))?;
        match last {
            OWNER_OF_GROK if provider != Provider::Grok => {}
            "user.json" | "users.json" | OWNER_OF_GROK => {
                self.owner = self.owner.take().or(owner_of(&parsed));
            }
            "message_feedback.json" => self.feedback = Some(parsed),
            _ => self.is_found |= self.json(provider, name, &parsed),
        }
        Ok(())
    }

    /// Reads what one file holds; returns whether it is of this provider at all.
    fn json(&mut self, provider: Provider, name: &str, value: &Value) -> bool {
        let (items, read): (_, fn(&Map) -> Option<Talk>) = match (provider, value) {
            (Provider::Chatgpt, Value::Array(items)) => (items.as_slice(), chatgpt::talk),
            (Provider::Claude, Value::Array(items)) => (items.as_slice(), claude::talk),
            (Provider::Grok, Value::Map(map)) => {
                let items = map.get("conversations").and_then(Value::as_array);
                let Some(items) = items else { return false };
                for (at, message) in grok_fact::facts(map, &mut self.facts) {
                    let at = format!("{name}#{at}");
                    self.findings.push(fault(code::SHAPE, &at, message));
                }
                (items, grok::talk)
            }
            (Provider::Gemini, Value::Array(items)) => {
                let (found, skipped) = gemini::talks(items);
                if skipped > 0 {
                    let message = format!("{skipped} records have no time or are no exchange");
                    self.findings.push(fault(code::SHAPE, name, message));
                }
                self.talks.extend(found);
                return true;
            }
            _ => return false,
        };
        for (index, item) in items.iter().enumerate() {
            let map = item.as_map();
            let facts = || {
                let map = map.filter(|_| provider == Provider::Claude)?;
                claude_memory::memories(map).or_else(|| claude_memory::project(map))
            };
            if let Some(talk) = map.and_then(read) {
                self.talks.push(talk);
            } else if let Some(facts) = facts() {
                self.facts.extend(facts);
            } else {
                let at = format!("{name}#/{index}");
                let message = "is no conversation".to_owned();
                self.findings.push(fault(code::SHAPE, &at, message));
            }
        }
        true
    }

    fn into_import(self, provider: Provider, profile: Profile) -> Result<Import, Vec<Error>> {
        let Self {
            talks,
            facts,
            mut findings,
            ..
        } = self;
        let account = talks.iter().find_map(|talk| talk.account.clone());
        let owner = self.owner.or(account).unwrap_or_else(|| "local".to_owned());
        let newest = fact::newest(&talks, &facts);
        let (name, importer) = (provider.name(), provider.importer());
        let mut conversations = Vec::with_capacity(talks.len());
        for talk in talks {
            let id = talk.id.clone();
            match talk.into_pam(name, importer) {
                Some(pair) => conversations.push(pair),
                None => {
                    let message = format!("conversation {id} has no time");
                    findings.push(fault(code::TIME, "", message));
                }
            }
        }
        let mut memories = Vec::with_capacity(facts.len());
        for fact in facts {
            let id = fact.id.clone();
            match fact.into_pam(name, importer, newest.as_deref()) {
                Some(memory) => memories.push(memory),
                None => {
                    let message = format!("{id} has no time, and nothing it came with has one");
                    findings.push(fault(code::TIME, "", message));
                }
            }
        }
        let made = pam::Made {
            owner,
            conversations,
            memories,
        };
        pam::import_made(made, provider.names(), profile, findings)
    }
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
            _ if is_page(&bytes) => return Ok(Some(Provider::Gemini)),
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

/// What Claude knows, beside its conversations.
const OF_CLAUDE: [&str; 2] = ["memories.json", "projects.json"];
/// Whose an export of Grok is.
const OWNER_OF_GROK: &str = "prod-mc-auth-mgmt-api.json";
/// Where a web page says that it is one.
const PAGE_HEAD_LEN: usize = 256;
