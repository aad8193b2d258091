use std::path::PathBuf;

use clap::Args;
use grainstore::interchange::ReadOptions;

use super::import::{FormatArg, read, report_errors, report_reading};
use crate::exit::Exit;
use crate::session::Session;

/// Judge a file without a store: exit 0 if an import would take all of it, 1 if not
#[derive(Debug, Args)]
pub(crate) struct Validate {
    /// The file, or the directory of a PAM store
    path: PathBuf,
    /// What the file is
    #[arg(long, value_enum, default_value_t = FormatArg::Auto)]
    format: FormatArg,
}

impl Validate {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let reading = read(
            &self.path,
            self.format,
            &ReadOptions::default(),
            &session.out,
        )?;
        if reading.errors.is_empty() {
            report_reading(&reading, &self.path, &mut session.out)?;
            Ok(Exit::Done)
        } else {
            report_errors(&reading, &self.path, &mut session.out)?;
            Ok(Exit::Nothing)
        }
    }
}
