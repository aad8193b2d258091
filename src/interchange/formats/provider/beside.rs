//! The statements of an export about its conversations: its owner, its account, and ratings of messages. The
//! grains of the first conversation depend on them, wherever they stand.

use crate::codec::Value;
use crate::interchange::Error;
use crate::interchange::io::file_set::FileSet;
use crate::interchange::io::source_file::SourceFile;
use crate::interchange::json::{Position, stream_file};

use super::Provider;
use super::conversation;
use super::detect::BESIDE;
use super::item::{Item, arrays, item, names_account};
use super::kinds::chatgpt::{self, Feedback};
use super::validation_pass::{is_alone, read};

/// The statements of the files beside the conversations.
#[derive(Default)]
pub(super) struct Beside {
    pub(super) owner: Option<String>,
    pub(super) feedback: Feedback,
    /// For each file of the export why it cannot be read; `None` for one that is no such file.
    pub(super) read: Vec<Option<Result<(), Error>>>,
}

impl Beside {
    /// Reads these files of an export. An error of one is kept until `read` is asked for it.
    pub(super) fn of(files: &FileSet) -> Self {
        let mut beside = Self::default();
        for (name, file) in files.names().zip(files.each()) {
            let read = is_beside(name).then(|| file.and_then(|(_, part)| beside.file(name, &part)));
            beside.read.push(read);
        }
        beside
    }

    fn file(&mut self, name: &str, part: &SourceFile) -> Result<(), Error> {
        let value = read(name, part, &[], |_, _| (), |()| ())?;
        match last_of(name) {
            "message_feedback.json" => self.feedback = chatgpt::feedback(&value),
            _ => self.owner = self.owner.take().or_else(|| owner_of(&value)),
        }
        Ok(())
    }
}

/// Returns the account of the first conversation that names one. A flaw before it is found again.
pub(super) fn first_account(files: &FileSet, provider: Provider) -> Option<String> {
    if !names_account(provider) {
        return None;
    }
    let make = |value: Value, position| match item(provider, value, position) {
        Item::Conversation(conversation) => conversation.account,
        Item::Facts(_) | Item::Other => None,
    };
    let arrays = arrays(provider);
    for file in files.each() {
        let (name, part) = file.ok()?;
        if is_beside(name) {
            continue;
        }
        let mut account = None;
        let rest = stream_file(
            &part,
            arrays,
            |_| true,
            make,
            |one| {
                account = one;
                account.is_none()
            },
        );
        let alone = rest.ok()?.filter(|value| is_alone(value, arrays));
        let account = account.or_else(|| make(alone?, Position::default()));
        if account.is_some() {
            return account;
        }
    }
    None
}

fn is_beside(name: &str) -> bool {
    BESIDE.contains(&last_of(name))
}

pub(super) fn last_of(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or_default()
}

fn owner_of(value: &Value) -> Option<String> {
    let map = match value {
        Value::Array(items) => items.first()?.as_map()?,
        value => value.as_map()?,
    };
    if let Some(user) = map.get("user").and_then(Value::as_map) {
        return conversation::text(user, "userId").map(str::to_owned);
    }
    let names = ["id", "uuid", "user_id"];
    let id = names
        .into_iter()
        .find_map(|name| conversation::text(map, name));
    id.map(str::to_owned)
}
