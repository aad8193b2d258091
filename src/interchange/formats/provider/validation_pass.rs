//! An export gone through before anything is made of it: whose it is, and what its files are.

use crate::codec::Value;
use crate::interchange::Error;
use crate::interchange::formats::pam::Told;
use crate::interchange::io::file_set::Files;
use crate::interchange::io::source_file::Part;
use crate::interchange::json::{Broken, Pieces, Spot};

use super::chatgpt::{self, Feedback};
use super::fact::Newest;
use super::gemini::Plan;
use super::item::Item;
use super::{
    BUFFER_LEN, OF_CLAUDE, OWNER_OF_GROK, PAGE_HEAD_LEN, Provider, code, copilot, fault, grok_fact,
    is_page, owner_of, syntax,
};

/// What is remembered of an export.
#[derive(Default)]
pub(super) struct Survey {
    /// What each of its files is.
    pub(super) kinds: Vec<Kind>,
    pub(super) owner: Option<String>,
    /// Whose the first conversation is that tells it.
    pub(super) account: Option<String>,
    pub(super) newest: Newest,
    pub(super) feedback: Feedback,
    pub(super) findings: Told,
    /// A file that is a web page, which is not read.
    page: Option<String>,
}

/// What a file of an export is.
pub(super) enum Kind {
    /// None that records are made of.
    Other,
    /// One with conversations, and perhaps with what is known.
    Items { has_facts: bool },
    /// A table of messages.
    Table,
    /// Exchanges, which are put together to conversations.
    Activity(Plan),
}

/// An element of a file, as far as the rest of the export depends on it.
struct Glance {
    spot: Spot,
    newest: Newest,
    account: Option<String>,
    has_facts: bool,
    is_other: bool,
}

impl Survey {
    /// Goes through an export.
    ///
    /// # Errors
    /// `PROVIDER_SYNTAX`, `PROVIDER_ZIP`, `ERR_IO`; `PROVIDER_SHAPE` where nothing is of this
    /// provider.
    pub(super) fn of(files: &Files, provider: Provider) -> Result<Self, Error> {
        let mut survey = Self::default();
        for file in files.each() {
            let (name, part) = file?;
            let kind = survey.file(provider, name, &part)?;
            survey.kinds.push(kind);
        }
        let is_other = |kind: &Kind| matches!(kind, Kind::Other);
        if survey.kinds.iter().all(is_other) {
            let message = match survey.page {
                Some(page) => format!(
                    "{page} is a web page: have Takeout export My Activity, Gemini Apps again, as JSON"
                ),
                None => format!("holds no export of {}", provider.name()),
            };
            return Err(fault(code::SHAPE, "", message));
        }
        Ok(survey)
    }

    fn file(&mut self, provider: Provider, name: &str, part: &Part) -> Result<Kind, Error> {
        let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
        if provider == Provider::Copilot && !last.ends_with(".json") {
            return self.table(name, part);
        }
        let head = part.head(u64::try_from(PAGE_HEAD_LEN).unwrap_or_default());
        let head = head.map_err(|source| part.wrong(name, source))?;
        if provider == Provider::Gemini && is_page(&head) {
            self.page = Some(name.to_owned());
            return Ok(Kind::Other);
        }
        let is_foreign = last.ends_with(".csv")
            || last.ends_with(".html")
            || (provider != Provider::Claude && OF_CLAUDE.contains(&last));
        if is_foreign {
            return Ok(Kind::Other);
        }
        match last {
            OWNER_OF_GROK if provider != Provider::Grok => {
                whole(name, part)?;
            }
            "user.json" | "users.json" | OWNER_OF_GROK => {
                let value = whole(name, part)?;
                self.owner = self.owner.take().or_else(|| owner_of(&value));
            }
            "message_feedback.json" => self.feedback = chatgpt::feedback(&whole(name, part)?),
            _ if provider == Provider::Gemini => return self.activity(name, part),
            _ => return self.items(provider, name, part),
        }
        Ok(Kind::Other)
    }

    fn table(&mut self, name: &str, part: &Part) -> Result<Kind, Error> {
        let bytes = part.bytes().map_err(|source| part.wrong(name, source))?;
        let (_, bad) = copilot::talks(&bytes).map_err(|message| syntax(name, message))?;
        for row in bad {
            let message = format!("row {row} of {name} has no time that can be read");
            self.findings.push(fault(code::TIME, name, message));
        }
        Ok(Kind::Table)
    }

    fn activity(&mut self, name: &str, part: &Part) -> Result<Kind, Error> {
        let mut plan = Plan::default();
        let make = |value: Value, spot: Spot| (super::gemini::glance(&value), spot);
        let arrays = Provider::Gemini.arrays();
        let value = read(name, part, arrays, make, |(glance, spot)| {
            plan.note(glance, spot.start);
        })?;
        if value.as_array().is_none() {
            return Ok(Kind::Other);
        }
        let skipped = plan.finish();
        if skipped > 0 {
            let message = format!("{skipped} records have no time or are no exchange");
            self.findings.push(fault(code::SHAPE, name, message));
        }
        Ok(Kind::Activity(plan))
    }

    fn items(&mut self, provider: Provider, name: &str, part: &Part) -> Result<Kind, Error> {
        let mut found = Self::default();
        let mut has_facts = false;
        let arrays = provider.arrays();
        let make = |value: Value, spot| glance(provider, &value, spot);
        let value = read(name, part, arrays, make, |glance: Glance| {
            has_facts |= glance.has_facts;
            found.newest.hear(glance.newest);
            found.account = found.account.take().or(glance.account);
            if glance.is_other {
                let error = other(arrays, name, glance.spot);
                found.findings.push(error);
            }
        })?;
        match (&value, provider) {
            (Value::Array(_), Provider::Chatgpt | Provider::Claude) => {}
            (Value::Map(map), Provider::Grok)
                if map.get("conversations").and_then(Value::as_array).is_some() =>
            {
                for (at, message) in grok_fact::unread(map) {
                    let at = format!("{name}#{at}");
                    found.findings.push(fault(code::SHAPE, &at, message));
                }
            }
            // What is not of this provider says nothing here.
            _ => return Ok(Kind::Other),
        }
        self.newest.hear(found.newest);
        self.account = self.account.take().or(found.account);
        self.findings.append(found.findings);
        Ok(Kind::Items { has_facts })
    }
}

fn glance(provider: Provider, value: &Value, spot: Spot) -> Glance {
    let mut glance = Glance {
        spot,
        newest: Newest::default(),
        account: None,
        has_facts: false,
        is_other: false,
    };
    match provider.item(value, spot) {
        Item::Talk(talk) => {
            glance.newest = Newest::of_talk(&talk);
            glance.account = talk.account;
        }
        Item::Facts(facts) => {
            glance.newest = Newest::of_facts(&facts);
            glance.has_facts = true;
        }
        Item::Other => glance.is_other = true,
    }
    glance
}

/// Says that an element is nothing that is read.
fn other(arrays: &[&str], name: &str, spot: Spot) -> Error {
    let number = spot.number;
    let (at, message) = match arrays.get(spot.array) {
        Some(array @ (&"media_posts" | &"projects")) => (
            format!("{name}#/{array}/{number}"),
            "says nothing that a memory could",
        ),
        _ => (format!("{name}#/{number}"), "is no conversation"),
    };
    fault(code::SHAPE, &at, message.to_owned())
}

/// Goes through a file; returns what stands beside its long arrays.
pub(super) fn read<T: Send>(
    name: &str,
    part: &Part,
    arrays: &'static [&'static str],
    make: impl Fn(Value, Spot) -> T + Sync,
    mut take: impl FnMut(T),
) -> Result<Value, Error> {
    let read = part.read(BUFFER_LEN, |input| {
        Pieces::stream(
            input,
            arrays,
            |_| true,
            make,
            |one| {
                take(one);
                true
            },
        )
    });
    let read = read.map_err(Broken::from).and_then(|read| read);
    let value = read.map_err(|error| broken(name, part, error))?;
    Ok(value.unwrap_or(Value::Nil))
}

pub(super) fn broken(name: &str, part: &Part, error: Broken) -> Error {
    match error {
        Broken::Flaw(_, message) => syntax(name, message),
        Broken::Io(source) => part.wrong(name, source),
    }
}

/// Reads a file that is not long.
fn whole(name: &str, part: &Part) -> Result<Value, Error> {
    read(name, part, &[], |_, _| (), |()| ())
}
