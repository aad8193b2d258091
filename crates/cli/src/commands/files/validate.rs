use std::path::PathBuf;

use clap::{Args, ValueEnum};
use grainstore::interchange::{ReadOptions, omi};

use super::format::ImportFormat;
use super::reading::read;
use super::report::{report_errors, report_reading};
use crate::args::UnsealArgs;
use crate::error::Exit;
use crate::session::Session;

/// Judge a file without a store: exit 0 if it keeps every rule of its format, 1 if not
///
/// A PAM file is held to its schema and to all that the text says besides; an import takes what
/// breaks only rules that grains do not depend on, and tells it.
///
/// Example: grainstore validate --format pam-conversation conversations/2026-01.json
#[derive(Debug, Args)]
pub(crate) struct Validate {
    /// The file, the directory of a PAM store, or what a provider exports as it came
    path: PathBuf,
    /// What the file is
    #[arg(long, value_enum, default_value_t = ImportFormat::Auto)]
    format: ImportFormat,
    /// What an OMI file is held to
    #[arg(long, value_enum, ignore_case = true, default_value_t = LevelArg::L0)]
    level: LevelArg,
    #[command(flatten)]
    unseal: UnsealArgs,
}

/// The levels of OMI 3.1.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum LevelArg {
    /// Core: an id, a content and a time
    #[value(name = "L0")]
    L0,
    /// Interchange: types, unique ids and subjects besides
    #[value(name = "L1")]
    L1,
}

impl Validate {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let options = ReadOptions {
            omi_level: Some(match self.level {
                LevelArg::L0 => omi::Level::L0,
                LevelArg::L1 => omi::Level::L1,
            }),
            is_strict: true,
            unseal: self.unseal.unseal()?,
            ..ReadOptions::default()
        };
        let reading = read(&self.path, self.format, &options, &session.out)?;
        if reading.errors.is_empty() {
            report_reading(&reading, &self.path, &mut session.out)?;
            Ok(Exit::Done)
        } else {
            report_errors(&reading, &self.path, &mut session.out)?;
            Ok(Exit::Nothing)
        }
    }
}
