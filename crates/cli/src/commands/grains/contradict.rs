use clap::Args;
use grainstore::store::Grounds;
use serde_json::json;

use crate::args::address;
use crate::commands::signing::agree;
use crate::door::As;
use crate::error::Exit;
use crate::session::Session;

/// Mark a grain as contradicted, and no longer current
///
/// Exit 3 if a policy forbids it, as it would forbid replacing the grain; the attempt is recorded.
#[derive(Debug, Args)]
pub(crate) struct Contradict {
    /// The address of the grain, whole or its first 8 to 16 digits
    address: String,
    /// Why; kept with the change
    #[arg(long, value_name = "TEXT")]
    justification: Option<String>,
    /// A file with what `grain agree --to contradict` wrote; once for each who agrees
    #[arg(long, value_name = "FILE")]
    auth: Vec<String>,
    #[command(flatten)]
    as_whom: As,
}

impl Contradict {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        let address = address::resolve(&store, &self.address)?;
        let signatures = agree::read_all(&self.auth)?;
        let grounds = Grounds {
            justification: self.justification.as_deref(),
            signatures: &signatures,
        };
        self.as_whom.door(&store)?.contradict(&address, grounds)?;
        if session.out.is_json() {
            session
                .out
                .json(&json!({ "contradicted": address.to_string() }))?;
        } else {
            session.out.line(address)?;
        }
        Ok(Exit::Done)
    }
}
