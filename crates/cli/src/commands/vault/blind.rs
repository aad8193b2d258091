//! `grainstore vault blind-index`: the fields of which sealed grains have blind tokens.

use clap::Args;
use clap::builder::PossibleValuesParser;
use grainstore::ErrorCode;
use grainstore::store::BlindFields;

use crate::error::{CliError, Exit};
use crate::session::Session;

/// Choose the fields of which sealed grains have blind tokens
///
/// A token is a keyed hash that tells a reader of the files which grains of a locked person have the
/// same value, and not which value. `ids`, the default, is for user_id and session_id; `spo` also for
/// subject, relation and object. Answers do not depend on it. The choice is for what is sealed from
/// now on; cards that are stored do not change.
#[derive(Debug, Args)]
pub(super) struct BlindIndex {
    #[arg(value_parser = PossibleValuesParser::new(BlindFields::ALL.map(BlindFields::name)))]
    fields: String,
}

impl BlindIndex {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let fields = BlindFields::from_name(&self.fields);
        let fields = fields.ok_or_else(|| CliError::new(ErrorCode::Usage, "no such choice"))?;
        let store = session.open()?;
        store.admin()?.vault().set_blind_fields(fields)?;
        session.report_change("blind_index", fields.name())
    }
}
