//! `grainstore validate`: checks a file against the rules of its format, without a store.
//!
//! Validation is strict: `import` accepts some violations that `validate` rejects.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use grainstore::interchange::{ReadOptions, omi};

use super::format::{AUTO, ImportFormat, import_format};
use super::reading::read;
use super::report::{report_errors, report_validation};
use crate::args::UnsealArgs;
use crate::error::Exit;
use crate::session::Session;

/// Validate a file: exit 0 if it follows every rule of its format, 1 if not
///
/// A PAM file is checked against its schema and against the rules in the text of the specification.
/// Validation is stricter than import, which reports violations that do not affect grains as
/// findings.
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  grainstore validate --format pam-conversation conversations/2026-01.json")]
pub(crate) struct Validate {
    /// File, directory of a PAM store, export of a provider as delivered, or - for stdin
    path: PathBuf,
    /// Input format
    #[arg(long, value_parser = import_format(), default_value = AUTO)]
    format: ImportFormat,
    /// Conformance level of an OMI file
    #[arg(long, value_enum, ignore_case = true, default_value_t = LevelArg::L0)]
    level: LevelArg,
    #[command(flatten)]
    decryption: UnsealArgs,
}

/// The levels of OMI 3.1.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum LevelArg {
    /// Core: id, content and time
    #[value(name = "L0")]
    L0,
    /// Interchange: also types, unique ids and subjects
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
            decryption: self.decryption.unseal()?,
            ..ReadOptions::default()
        };
        let reading = read(&self.path, self.format, &options, session)?;
        if reading.errors.is_empty() {
            report_validation(reading, &self.path, &mut session.out)?;
            Ok(Exit::Done)
        } else {
            report_errors(&reading, &self.path, &mut session.out)?;
            Ok(Exit::Nothing)
        }
    }
}
