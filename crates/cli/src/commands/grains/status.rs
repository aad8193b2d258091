//! `grainstore status`: shows the status of a grain, or records a verification status.
//!
//! Status is kept by the store beside the immutable grain; it is not part of the address.

use clap::{Args, ValueEnum};
use grainstore::grain::Verification;
use grainstore::store::Justification;
use serde_json::json;

use super::state::status_json;
use crate::args::As;
use crate::args::address;
use crate::commands::signing::agree;
use crate::error::Exit;
use crate::session::Session;

/// Show the status of a grain, or record its verification status
///
/// `contested` and `retracted` weaken a grain, so its policy must allow them: exits with 3 if the
/// policy denies it. A denied attempt is recorded in the ledger.
#[derive(Debug, Args)]
pub(crate) struct Status {
    /// Address of the grain, or its first digits, 4 or more
    address: String,
    /// Record this verification status
    #[arg(long, value_enum, value_name = "STATUS")]
    verification: Option<VerificationArg>,
    /// Reason for the change; recorded with it
    #[arg(long, value_name = "TEXT", requires = "verification")]
    justification: Option<String>,
    /// File written by `grain agree --to STATUS`; may be repeated, once per signer
    #[arg(long, value_name = "FILE", requires = "verification")]
    auth: Vec<String>,
    #[command(flatten)]
    as_whom: As,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum VerificationArg {
    Unverified,
    Verified,
    Contested,
    Retracted,
}

impl From<VerificationArg> for Verification {
    fn from(word: VerificationArg) -> Self {
        match word {
            VerificationArg::Unverified => Self::Unverified,
            VerificationArg::Verified => Self::Verified,
            VerificationArg::Contested => Self::Contested,
            VerificationArg::Retracted => Self::Retracted,
        }
    }
}

impl Status {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = match self.verification {
            None => session.open_to_read()?,
            Some(_) => session.open()?,
        };
        let address = address::resolve(&store, &self.address)?;
        let handle = self.as_whom.narrow(&store)?;
        if let Some(word) = self.verification {
            let signatures = agree::read_all(&self.auth)?;
            let grounds = Justification {
                justification: self.justification.as_deref(),
                signatures: &signatures,
            };
            handle.set_verification(&address, word.into(), grounds)?;
        }
        let status = handle.status(&address)?;
        let accessed = store.maintenance()?.accesses(&address)?;
        if session.out.is_json() {
            session.out.json(&json!({
                "address": address.to_string(),
                "current": status.is_current(),
                "status": status_json(&status),
                "access_count": accessed.map(|accessed| accessed.count),
                "last_accessed_at": accessed.map(|accessed| accessed.last.ms()),
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
        if let Some(accessed) = accessed {
            let (count, last) = (accessed.count, accessed.last);
            session
                .out
                .line(format!("retrieved       {count} times, last {last}"))?;
        }
        Ok(Exit::Done)
    }
}
