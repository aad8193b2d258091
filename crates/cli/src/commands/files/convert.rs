//! `grainstore convert`: a file of one format written as another, without a store on disk.
//!
//! Reading and writing are those of `import` and `export`, around a store in memory.

use grainstore::ErrorCode;
use std::path::PathBuf;

use clap::Args;
use grainstore::interchange::{Format, ReadOptions, WriteOptions};
use grainstore::store::{Clock, Durability, SystemClock};
use grainstore::{Filter, Options, Store};
use serde_json::json;

use super::format::{AUTO, ImportFormat, export_format, import_format};
use super::reading::read;
use super::report::{export_summary, loss_json, report_errors, report_import};
use super::target::Replace;
use crate::args::SealArgs;
use crate::error::{CliError, Exit};
use crate::session::Session;

/// Convert a file to another format, without a store
///
/// The conversion uses a temporary store, in files without names beside the output; for an encrypted
/// output, in memory. Fields that the output format cannot carry are
/// counted and named. If any record of the input is invalid, nothing is written.
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  grainstore convert conversations.json memory.omi.json")]
pub(crate) struct Convert {
    /// File, directory of a PAM store, export of a provider as delivered, or - for stdin
    input: PathBuf,
    /// Output file; for PAM with conversations a directory (NAME/) or a .zip file
    output: String,
    /// Input format
    #[arg(long, value_parser = import_format(), default_value = AUTO)]
    from: ImportFormat,
    /// Output format; by default taken from the name of the output
    #[arg(long, value_parser = export_format())]
    to: Option<Format>,
    /// Omit from PAM and OMI files, for sharing, the ids of accounts, messages and conversations on the
    /// platforms that records came from, and the grains embedded whole
    #[arg(long)]
    redact: bool,
    #[command(flatten)]
    replace: Replace,
    #[command(flatten)]
    encryption: SealArgs,
}

impl Convert {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let to = self.to.or_else(|| named(&self.output)).ok_or_else(|| {
            let endings = ENDINGS.map(|(ending, _)| ending).join(" ");
            let message = format!("{}: the name implies no format", self.output);
            let hint = "pass --to FORMAT, or a name with one of these endings";
            CliError::new(ErrorCode::Usage, format!("{message}; {hint}: {endings}"))
        })?;
        self.replace.check(&self.output)?;
        let options = WriteOptions {
            encryption: self.encryption.seal_for(to)?,
            with_embeddings: true,
            history: true,
            redact: self.redact,
            now: Some(SystemClock.now()),
            ..WriteOptions::default()
        };
        let reading = read(&self.input, self.from, &ReadOptions::default(), session)?;
        if !reading.errors.is_empty() {
            report_errors(&reading, &self.input, &mut session.out)?;
            return Ok(Exit::Failed);
        }
        let from = reading.format;
        let store = self.scratch(options.encryption.is_some())?;
        let imported = store.import(reading)?;
        if !session.out.is_json() {
            report_import(&imported, from, &self.input, &mut session.out)?;
        }
        let path = std::path::Path::new(&self.output);
        if self.output.ends_with('/') {
            std::fs::create_dir_all(path)?;
        }
        let filter = Filter::new().with_superseded();
        let exported = store.admin()?.export_file(to, &filter, &options, path);
        let exported = exported.map_err(|error| CliError::of(&error).at(&self.output))?;
        if session.out.is_json() {
            session.out.json(&json!({
                "from": from.name(),
                "to": to.name(),
                "path": self.output,
                "grains": exported.grains,
                "files": exported.files,
                "not_read": loss_json(&imported.loss),
                "loss": loss_json(&exported.loss),
            }))?;
        } else {
            session
                .out
                .line(export_summary(&exported, &self.output, to))?;
        }
        Ok(Exit::done_if(imported.is_complete()))
    }
}

impl Convert {
    /// Returns the store in between: in files without names beside the output, since the memory may
    /// not hold it. Of an encrypted output nothing is written in the clear, so its grains stay in
    /// memory.
    fn scratch(&self, is_secret: bool) -> anyhow::Result<Store> {
        let folder = std::path::Path::new(&self.output).parent();
        let folder = folder.filter(|folder| folder.is_dir());
        let folder = folder.unwrap_or(std::path::Path::new("."));
        Ok(Store::in_memory(Options {
            durability: Durability::Relaxed,
            // It is not searched.
            text: None,
            scratch: (!is_secret).then(|| folder.to_owned()),
            ..Options::default()
        })?)
    }
}

/// Returns the format that a file name implies, with or without `.age`.
fn named(output: &str) -> Option<Format> {
    let name = output.strip_suffix(".age").unwrap_or(output);
    let found = ENDINGS.iter().find(|(ending, _)| name.ends_with(ending));
    found.map(|(_, format)| *format)
}

/// The longer endings come before those that they end in.
const ENDINGS: [(&str, Format); 11] = [
    (".mg", Format::Mg),
    (".cogx.tar.gz", Format::Cogx),
    (".aimem.json", Format::Aimem),
    (".aimem.ndjson", Format::AimemNdjson),
    (".omi.json", Format::Omi),
    (".omi.jsonl", Format::OmiJsonl),
    (".jsonl", Format::Jsonl),
    (".pam.json", Format::Pam),
    ("memory-store.json", Format::Pam),
    (".zip", Format::Pam),
    ("/", Format::Pam),
];
