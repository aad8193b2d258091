use clap::Args;
use grainstore::store::Create;
use serde_json::json;

use crate::exit::Exit;
use crate::session::Session;

/// Create an empty store
///
/// `put` and `import` create the store too if it is missing; `init` fails if it is there.
#[derive(Debug, Args)]
pub(crate) struct Init {}

impl Init {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let Self {} = self;
        let store = session.open_or(Create::New)?;
        let id = store.stats()?.store_id.to_string();
        let path = session.store_path().display().to_string();
        if session.out.is_json() {
            session.out.json(&json!({ "path": path, "store_id": id }))?;
        } else {
            session.out.line(format!("{id}  {path}"))?;
        }
        Ok(Exit::Done)
    }
}
