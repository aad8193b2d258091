//! `import_conversation`: messages as Events of one session, or the file of another tool.

use grainstore::Draft;
use grainstore::interchange::{ImportFile, ReadOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, Effect, Tool};
use crate::Scope;
use crate::mcp::failure::Failure;
use crate::wire::Moment;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ImportConversation {
    /// Oldest first.
    #[serde(default)]
    messages: Vec<Message>,
    /// Its name; needed with messages.
    session: Option<String>,
    user: Option<String>,
    namespace: Option<String>,
    /// The text of an export, in place of messages.
    document: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Message {
    role: String,
    content: String,
    /// With it, a second import changes nothing.
    time: Option<Moment>,
}

#[derive(Debug, Serialize)]
pub(super) struct Imported {
    /// Grains that are new.
    stored: u64,
    /// Records that were there already.
    unchanged: u64,
    /// Records that were refused, with the first reasons.
    refused: u64,
    reasons: Vec<String>,
    /// Records that contradict what is stored; the owner decides.
    conflicts: u64,
}

impl Tool for ImportConversation {
    const NAME: &'static str = "import_conversation";
    const TITLE: &'static str = "Import a conversation";
    const ABOUT: &'static str = "Stores a conversation, or the export of another tool.";
    const EFFECT: Effect = Effect::Adds;
    type Output = Imported;

    fn run(self, scope: &Scope) -> Result<Answer<Imported>, Failure> {
        let imported = match (&self.document, self.messages.is_empty()) {
            (None, false) => self.messages(scope)?,
            (Some(document), true) => self.document(scope, document)?,
            _ => return Err(Failure::usage("give either messages or document")),
        };
        let mut text = format!(
            "{} stored, {} unchanged, {} refused, {} conflicts.\n",
            imported.stored, imported.unchanged, imported.refused, imported.conflicts
        );
        imported
            .reasons
            .iter()
            .for_each(|reason| text.push_str(&format!("- {reason}\n")));
        Ok(Answer {
            text,
            output: imported,
        })
    }
}

impl ImportConversation {
    fn messages(&self, scope: &Scope) -> Result<Imported, Failure> {
        let session = self
            .session
            .as_deref()
            .filter(|session| !session.is_empty());
        let session = session.ok_or_else(|| Failure::usage("name the session"))?;
        let mut drafts = Vec::new();
        for (at, message) in self.messages.iter().enumerate() {
            let mut draft = Draft::event(&message.content).session(session);
            draft = draft.role(message.role.as_str());
            if let Some(said) = &message.time {
                let said = said
                    .first()
                    .map_err(|error| Failure::usage(format!("message {at}: {}", error.message)))?;
                draft = draft.created_at(said);
            }
            draft = self.user.iter().fold(draft, Draft::user);
            draft = self.namespace.iter().fold(draft, Draft::namespace);
            drafts.push(draft);
        }
        let stored = scope.store().put_batch(drafts)?;
        let stored = stored.iter().filter(|put| put.is_new).count() as u64;
        Ok(Imported {
            stored,
            unchanged: (self.messages.len() as u64).saturating_sub(stored),
            refused: 0,
            reasons: Vec::new(),
            conflicts: 0,
        })
    }

    /// Imports a file, which only an owner may: its records name their own authors and persons.
    fn document(&self, scope: &Scope, document: &str) -> Result<Imported, Failure> {
        let store = scope.importer()?;
        let options = ReadOptions {
            scope: self.user.clone(),
            ..ReadOptions::default()
        };
        let read = ImportFile::of_bytes(document.as_bytes(), None, &options);
        let file = read.map_err(|error| Failure::new(error.code(), error.to_string()))?;
        let summary = store.import(file)?;
        let reasons = summary.refused.iter().take(REASONS_MAX);
        Ok(Imported {
            stored: summary.inserted + summary.updated,
            unchanged: summary.unchanged,
            refused: summary.refusals(),
            reasons: reasons.map(ToString::to_string).collect(),
            conflicts: summary.conflicts.len() as u64,
        })
    }
}

const REASONS_MAX: usize = 5;
