//! `grainstore user alias`: two user ids of one person.

use clap::Args;
use serde_json::json;

use crate::args::AuthorizationArgs;
use crate::error::Exit;
use crate::session::Session;

/// State that two user ids are one person, such as the accounts of two exports
///
/// From then on --user, reports, erasures and keys of one find the other. A belief of each user says
/// so, which is in the audit log, in backups and in every copy of yours: `contradict` ends it. Grains
/// stay as they are; a token of one user stays with that one. Exits with 1 if it was known.
#[derive(Debug, Args)]
#[command(after_long_help = r#"Example:
  grainstore user alias mira user-7f3a --reason "her account" --authority mira"#)]
pub(super) struct Alias {
    /// user_id of the person
    user: String,
    /// Another user_id of the same person
    other: String,
    #[command(flatten)]
    authorization: AuthorizationArgs,
}

impl Alias {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        let authorization = self.authorization.as_given();
        let stated = store
            .admin()?
            .unite_users(&self.user, &self.other, authorization)?;
        if session.out.is_json() {
            let stated: Vec<_> = stated.iter().map(ToString::to_string).collect();
            session.out.json(&json!({ "stated": stated }))?;
        } else {
            for address in &stated {
                session.out.line(address)?;
            }
        }
        Ok(Exit::done_if(!stated.is_empty()))
    }
}
