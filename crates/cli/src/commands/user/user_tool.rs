//! `grainstore user`: the arguments that name a person, and the list of its commands.

use clap::{Args, Subcommand};
use grainstore::store::Person;

use super::alias::Alias;
use super::erase::Erase;
use super::keys::{Add, List, Rekey, Seal};
use super::receipt::Verify;
use super::report::Report;
use crate::error::Exit;
use crate::session::Session;

/// Report and erase everything about a person (GDPR Art. 15 and 17), and give a person a key
///
/// A grain is about the person if its user_id is theirs; or, without another user_id, its
/// subject, its subject_did or the owner of its foreign name. Other grains mention the person:
/// those of other users, those with the person in another field, and those derived from a grain
/// about the person. Whole values are compared; free text is not searched (see `search`).
///
/// A person who is added has a key that can be destroyed (see `vault`). A key stays in the memory of
/// one process, so there is nothing to lock between commands: a command opens keys with --key-file,
/// and they are gone when it ends.
#[derive(Debug, Args)]
#[command(after_long_help = r#"Example:
  grainstore user report alice --also did:web:alice.example
  grainstore user erase alice --dry-run --reason "request 17" --authority "the DPO""#)]
pub(crate) struct UserTool {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Add(Add),
    Alias(Alias),
    List(List),
    Seal(Seal),
    Rekey(Rekey),
    Report(Report),
    Erase(Erase),
    Verify(Verify),
}

/// A person, by their identifiers.
#[derive(Debug, Args)]
pub(super) struct PersonArgs {
    /// Identifier of the person: a user_id, a DID, a subject
    person: String,
    /// Another identifier of the same person; may be repeated
    #[arg(long, value_name = "ID")]
    also: Vec<String>,
}

impl PersonArgs {
    /// Returns the first of their identifiers.
    pub(super) fn name(&self) -> &str {
        &self.person
    }

    pub(super) fn person(&self) -> Person {
        let first = Person::new(&self.person);
        self.also.iter().fold(first, Person::also)
    }
}

impl UserTool {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        match self.action {
            Action::Add(action) => action.run(session),
            Action::Alias(action) => action.run(session),
            Action::List(action) => action.run(session),
            Action::Seal(action) => action.run(session),
            Action::Rekey(action) => action.run(session),
            Action::Report(action) => action.run(session),
            Action::Erase(action) => action.run(session),
            Action::Verify(action) => action.run(session),
        }
    }
}
