use clap::{Args, ValueEnum};
use grainstore::grain::Verification;
use grainstore::store::Grounds;
use serde_json::json;

use super::state::status_json;
use crate::args::address;
use crate::commands::signing::agree;
use crate::door::As;
use crate::error::Exit;
use crate::session::Session;

/// Show what the store says about a grain, or record how far it is verified
///
/// Contested and retracted count against a grain, so its policy is asked: exit 3 if it forbids
/// that, and the attempt is recorded.
#[derive(Debug, Args)]
pub(crate) struct Status {
    /// The address of the grain, whole or its first 8 to 16 digits
    address: String,
    /// Record this verification status
    #[arg(long, value_enum, value_name = "STATUS")]
    verification: Option<Word>,
    /// Why; kept with the change
    #[arg(long, value_name = "TEXT", requires = "verification")]
    justification: Option<String>,
    /// A file with what `grain agree --to STATUS` wrote; once for each who agrees
    #[arg(long, value_name = "FILE", requires = "verification")]
    auth: Vec<String>,
    #[command(flatten)]
    as_whom: As,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Word {
    Unverified,
    Verified,
    Contested,
    Retracted,
}

impl From<Word> for Verification {
    fn from(word: Word) -> Self {
        match word {
            Word::Unverified => Self::Unverified,
            Word::Verified => Self::Verified,
            Word::Contested => Self::Contested,
            Word::Retracted => Self::Retracted,
        }
    }
}

impl Status {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        let address = address::resolve(&store, &self.address)?;
        let door = self.as_whom.door(&store)?;
        if let Some(word) = self.verification {
            let signatures = agree::read_all(&self.auth)?;
            let grounds = Grounds {
                justification: self.justification.as_deref(),
                signatures: &signatures,
            };
            door.set_verification(&address, word.into(), grounds)?;
        }
        let status = door.status(&address)?;
        if session.out.is_json() {
            session.out.json(&json!({
                "address": address.to_string(),
                "current": status.is_current(),
                "status": status_json(&status),
            }))?;
            return Ok(Exit::Done);
        }
        let current = if status.is_current() { "yes" } else { "no" };
        session.out.line(format!("current         {current}"))?;
        session
            .out
            .line(format!("verification    {}", status.verification.name()))?;
        if status.contradicted {
            session.out.line("contradicted    yes")?;
        }
        if let Some(by) = status.superseded_by {
            session.out.line(format!("superseded by   {by}"))?;
        }
        if let Some(time) = status.system_valid_to {
            session.out.line(format!("current until   {time}"))?;
        }
        Ok(Exit::Done)
    }
}
