//! `grainstore init`: creates an empty store, with its regimes.
//!
//! `put` and `import` create a missing store as well, without regimes.

use clap::Args;
use grainstore::store::{Authorization, Create};
use serde_json::json;

use crate::commands::policy::regime_args::{RegimeArgs, regimes_json, report_gaps};
use crate::error::Exit;
use crate::session::Session;

/// Create an empty store
///
/// `put` and `import` create a missing store too; `init` fails if the store exists. With a preset,
/// its rules apply from the first grain on; clauses that this version does not enforce are listed.
/// A ledger on PostgreSQL has its frames of more than 2,000 bytes in objects, if `--bodies` says where.
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  grainstore init --preset gdpr --preset pci")]
pub(crate) struct Init {
    #[command(flatten)]
    regimes: RegimeArgs,
    /// Put long frames of a shared ledger into objects: s3://BUCKET/PREFIX, file:///DIRECTORY
    #[arg(long, value_name = "URL")]
    bodies: Option<String>,
}

impl Init {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        // Read before the store is created: an invalid document creates no store.
        let regimes = self.regimes.read()?;
        if let Some(bodies) = &self.bodies {
            session.put_bodies_in(bodies)?;
        }
        let store = session.open_or(Create::New)?;
        if !regimes.is_empty() {
            let mandate = Authorization {
                reason: "chosen when the store was created",
                authority: "the creator of the store",
            };
            store.admin()?.set_regimes(regimes, mandate)?;
        }
        let id = store.maintenance()?.stats()?.store_id.to_string();
        let path = session.store_path().display().to_string();
        let regimes = store.admin()?.regimes();
        if session.out.is_json() {
            let regimes = regimes_json(regimes.iter());
            let document = json!({ "path": path, "store_id": id, "regimes": regimes });
            session.out.json(&document)?;
        } else {
            session.out.line(format!("{id}  {path}"))?;
            session.out.flush()?;
            report_gaps(regimes.iter(), &session.out);
        }
        Ok(Exit::Done)
    }
}
