//! `grainstore exists`: whether a grain is stored, as an exit code.
//!
//! A grain outside the scope of the caller does not exist for them.

use clap::Args;
use serde_json::json;

use crate::args::As;
use crate::args::address;
use crate::error::{CliError, Exit};
use crate::session::Session;

/// Check whether a grain is stored: exit 0 if it is, 1 if not
#[derive(Debug, Args)]
pub(crate) struct Exists {
    /// Address of the grain, or its first digits, 4 or more
    address: String,
    #[command(flatten)]
    as_whom: As,
}

impl Exists {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open_to_read()?;
        let exists = match address::resolve(&store, &self.address) {
            Ok(address) => self.as_whom.narrow(&store)?.exists(&address)?,
            Err(error) if CliError::of(error.as_ref()).exit() == Exit::Nothing => false,
            Err(error) => return Err(error),
        };
        if session.out.is_json() {
            let document = json!({ "address": self.address, "exists": exists });
            session.out.json(&document)?;
        } else {
            session.out.line(if exists { "yes" } else { "no" })?;
        }
        Ok(Exit::done_if(exists))
    }
}
