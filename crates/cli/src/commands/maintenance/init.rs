use clap::Args;
use grainstore::store::{Create, Mandate};
use serde_json::json;

use crate::commands::policy::regime_args::{Chosen, regimes_json, tell_gaps};
use crate::error::Exit;
use crate::session::Session;

/// Create an empty store
///
/// `put` and `import` create the store too if it is missing; `init` fails if it is there. With a
/// preset the store holds to it from its first grain; what a preset asks for and this version does
/// not do is said. Example: grainstore init --preset gdpr --preset pci
#[derive(Debug, Args)]
pub(crate) struct Init {
    #[command(flatten)]
    chosen: Chosen,
}

impl Init {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        // Read before the store is made: a wrong file leaves none behind.
        let regimes = self.chosen.regimes()?;
        let store = session.open_or(Create::New)?;
        if !regimes.is_empty() {
            let mandate = Mandate {
                reason: "chosen when the store was created",
                authority: "whoever created it",
            };
            store.set_regimes(regimes, mandate)?;
        }
        let id = store.stats()?.store_id.to_string();
        let path = session.store_path().display().to_string();
        let regimes = store.regimes();
        if session.out.is_json() {
            let regimes = regimes_json(regimes.iter());
            let document = json!({ "path": path, "store_id": id, "regimes": regimes });
            session.out.json(&document)?;
        } else {
            session.out.line(format!("{id}  {path}"))?;
            session.out.flush()?;
            tell_gaps(regimes.iter(), &session.out);
        }
        Ok(Exit::Done)
    }
}
