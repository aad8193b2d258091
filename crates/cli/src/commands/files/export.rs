//! `grainstore export`: grains written to a file of any supported format.
//!
//! Encryption is in `args::encryption`, the report in `report`.

use grainstore::ErrorCode;
use std::path::Path;

use clap::{Args, ValueEnum};
use grainstore::codec::Compression;
use grainstore::interchange::{ExportKey, Format, WriteOptions, aimem};
use grainstore::ledger::EntryId;
use grainstore::policy::Purpose;
use grainstore::query::ExportReport;
use grainstore::store::{Clock, SystemClock};
use grainstore::{Filter, Store, Time};
use serde_json::json;

use super::format::{Dialect, export_format};
use super::report::{export_summary, loss_json};
use super::target::Replace;
use crate::args::{Filters, SealArgs, read_key, time_from};
use crate::commands::user::{knows, unknown};
use crate::error::{CliError, Exit};
use crate::output::{is_screen, progress};
use crate::session::Session;

/// Write grains to a file: all of them, or those that match the filters
///
/// An export includes superseded grains and their status, so that a full export is a complete copy
/// of the stored knowledge. The same grains give the same bytes; PAM, AIMEM and OMI state the time of the
/// export, which --at fixes. The file
/// is written atomically; archives above 4 GiB continue in NAME.001.mg and so on. Fields that the
/// format cannot carry are counted and named. A PAM store with its conversations requires a
/// directory (-o DIRECTORY/) or a ZIP file (-o NAME.zip), and either encryption or --plain
/// (PAM 21.1).
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  grainstore export --format pam --encrypt-to age1… -o memory.zip.age")]
pub(crate) struct Export {
    /// Output format
    #[arg(long, value_parser = export_format())]
    format: Format,
    /// Revision of OMS in whose words an archive or JSON lines are written. A grain in later words has
    /// another address; those that a signature binds to the words of 1.3 are counted
    #[arg(long, value_name = "REVISION", value_parser = ["1.3", "1.4", "1.5"], default_value = "1.3")]
    oms: String,
    /// Compression of the grains in an archive
    #[arg(long, value_enum, default_value_t = CompressArg::None)]
    compress: CompressArg,
    /// Output file, or - for stdout
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: String,
    /// Directory of a tree of Markdown; it must be empty, or hold such a tree
    #[arg(value_name = "DIR", conflicts_with = "output")]
    directory: Option<String>,
    /// Dialect of a tree of Markdown (default: okf)
    #[arg(long, value_enum)]
    dialect: Option<Dialect>,
    /// Producer whose chunks the bundle holds, if the store has several (AIMEM)
    #[arg(long, value_name = "NAME")]
    producer: Option<String>,
    /// Export only chunks that must not decay: DNA class and pinned (AIMEM)
    #[arg(long)]
    dna_only: bool,
    /// Include vectors; text can be inferred from them
    #[arg(long)]
    with_embeddings: bool,
    /// Sign with this key file: a PAM store inside the file, a bundle in a file beside it
    #[arg(long, value_name = "FILE")]
    sign: Option<String>,
    /// The export_id that an incremental PAM store (--since) is based on
    #[arg(long, value_name = "ID")]
    base: Option<String>,
    /// Omit grains marked as not exportable from archives and JSON lines too
    #[arg(long)]
    shareable: bool,
    /// Omit from PAM and OMI files, for sharing, the ids of accounts, messages and conversations on the
    /// platforms that records came from, and the grains embedded whole
    #[arg(long)]
    redact: bool,
    /// Export what was stored, or whose status changed, from this entry of the ledger on: the `next`
    /// that the export before printed with --json. --since TIME does the same from a time on
    #[arg(long, value_name = "ENTRY", conflicts_with = "since")]
    from: Option<u64>,
    /// Time of the export, which PAM, AIMEM and OMI files state (default: now): with the same TIME the
    /// same grains give the same bytes
    #[arg(long, value_name = "TIME", value_parser = time_from)]
    at: Option<Time>,
    /// Omit superseded grains
    #[arg(long)]
    current: bool,
    /// Include memories that were contradicted in a PAM store, which has no word for them, as
    /// retracted ones
    #[arg(long, conflicts_with = "current")]
    history: bool,
    /// Omit grains whose bytes are damaged, name their entries, and exit with 4
    #[arg(long)]
    skip_damaged: bool,
    /// Purpose of the export; grains that must not leave the store for it are omitted and counted
    #[arg(long, value_enum, default_value_t = PurposeArg::Transfer)]
    purpose: PurposeArg,
    #[command(flatten)]
    replace: Replace,
    #[command(flatten)]
    encryption: SealArgs,
    #[command(flatten)]
    filters: Filters,
}

/// The purpose of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PurposeArg {
    /// To another system, or to the data subject
    Transfer,
    /// Sale or data broker: omits consumers who opted out (OMS A.6)
    Sale,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CompressArg {
    None,
    Zstd,
    Lz4,
}

impl Export {
    pub(crate) fn run(mut self, session: &mut Session) -> anyhow::Result<Exit> {
        if self.format != Format::Mg && self.compress != CompressArg::None {
            let message = "--compress requires --format mg";
            return Err(CliError::new(ErrorCode::Usage, message).into());
        }
        self.check_directory()?;
        // Stdout is written to as it is, even where it is a file that others append to.
        let is_stdout = ["-", "/dev/stdout", "/dev/fd/1"].contains(&self.output.as_str());
        let seal = self.encryption.seal_for(self.format)?;
        let is_binary = matches!(self.format, Format::Mg | Format::Cogx) || seal.is_some();
        if is_stdout && is_binary && is_screen() {
            let message = "the export is binary data, and stdout is a terminal";
            return Err(CliError::new(ErrorCode::Terminal, message).into());
        }
        if !is_stdout && self.format != Format::Markdown {
            self.replace.check(&self.output)?;
        }
        let store = session.open_to_read()?;
        let damaged: Vec<u64>;
        let filters = std::mem::take(&mut self.filters);
        let mut options = self.options(filters.since());
        options.encryption = seal;
        if let Some(file) = &self.sign {
            options.sign = Some(ExportKey::new(read_key(file)?));
        }
        let named = filters.named_person();
        let filters = self.increment(filters, &store, &mut options)?;
        let mut filter = filters.filter(&store)?;
        if let Some(told) = unknown_person(&store, named, &filter)? {
            session.out.note(told);
            return Ok(Exit::Nothing);
        }
        // A tree is what is believed now.
        if !self.current && self.format != Format::Markdown {
            filter = filter.with_superseded();
        }
        if is_stdout {
            let bar = progress::bytes(&session.out, "exporting");
            let mut writer = bar.wrap_write(session.out.bytes());
            let exported = store
                .admin()?
                .export(self.format, &filter, &options, &mut writer)
                .map_err(|error| failed(&error, session.store_path()))?;
            damaged = exported.loss.damaged().collect();
            drop(bar);
            session.out.flush()?;
            session
                .out
                .note(export_summary(&exported, "stdout", self.format));
        } else {
            let exported = self.to_file(&store, &filter, &options, session)?;
            damaged = exported.loss.damaged().collect();
            if session.out.is_json() {
                session.out.json(&json!({
                    "path": self.output,
                    "grains": exported.grains,
                    "files": exported.files,
                    "loss": loss_json(&exported.loss),
                    "damaged_entries": damaged,
                    "next": exported.next,
                }))?;
            } else {
                session
                    .out
                    .line(export_summary(&exported, &self.output, self.format))?;
            }
        }
        for entry in &damaged {
            let message = format!("entry {entry} is damaged; its grain is not exported");
            session.out.note(message);
        }
        Ok(Exit::unless_damaged(!damaged.is_empty()))
    }

    fn to_file(
        &self,
        store: &Store,
        filter: &Filter,
        options: &WriteOptions,
        session: &Session,
    ) -> anyhow::Result<ExportReport> {
        let what = format!("writing {}", self.output);
        let spinner = progress::spinner(&session.out, what, progress::NOTHING_CHANGED);
        let path = Path::new(&self.output);
        if matches!(self.format, Format::Pam | Format::Cogx) && self.output.ends_with('/') {
            std::fs::create_dir_all(path)?;
        }
        let exported = store
            .admin()?
            .export_file(self.format, filter, options, path);
        drop(spinner);
        exported.map_err(|error| {
            let error = failed(&error, session.store_path());
            // An I/O error that is not of the store is of the output file.
            match error.code() {
                ErrorCode::Io => error.at(&self.output).into(),
                _ => error.into(),
            }
        })
    }

    /// Takes the directory of a tree for the output, and refuses it where a file is written.
    fn check_directory(&mut self) -> Result<(), CliError> {
        let is_tree = self.format == Format::Markdown;
        if let Some(directory) = self.directory.take() {
            self.output = directory;
        } else if !is_tree || self.output != "-" {
            return match self.dialect {
                Some(_) if !is_tree => Err(CliError::new(
                    ErrorCode::Usage,
                    "--dialect requires --format markdown",
                )),
                _ => Ok(()),
            };
        }
        match is_tree && self.output != "-" {
            true => Ok(()),
            false if is_tree => Err(CliError::new(
                ErrorCode::Usage,
                "--format markdown requires DIR",
            )),
            false => Err(CliError::new(
                ErrorCode::Usage,
                "DIR requires --format markdown",
            )),
        }
    }

    /// Chooses an increment by the order of storage: grains that came late and those that ended since
    /// are in it. A bundle has the chunks that were created since (AIMEM 3).
    fn increment(
        &self,
        filters: Filters,
        store: &Store,
        options: &mut WriteOptions,
    ) -> anyhow::Result<Filters> {
        options.changed_from = self.from;
        let is_bundle = matches!(self.format, Format::Aimem | Format::AimemNdjson);
        let Some(since) = filters.since().filter(|_| !is_bundle) else {
            return Ok(filters);
        };
        let changes = store.changes(EntryId::FIRST).since(since)?;
        options.changed_from = Some(changes.position().get());
        Ok(filters.at_any_time())
    }

    fn options(&self, since: Option<Time>) -> WriteOptions {
        let compression = match self.compress {
            CompressArg::None => Compression::None,
            CompressArg::Zstd => Compression::Zstd,
            CompressArg::Lz4 => Compression::Lz4,
        };
        WriteOptions {
            revision: Some(self.oms.clone()),
            compression,
            scope: match since {
                _ if self.dna_only => aimem::Scope::DnaOnly,
                Some(since) => aimem::Scope::Since(since),
                None => aimem::Scope::Full,
            },
            producer: self.producer.clone(),
            with_embeddings: self.with_embeddings,
            shareable: self.shareable,
            redact: self.redact,
            skip_damaged: self.skip_damaged,
            history: self.history,
            purpose: match self.purpose {
                PurposeArg::Transfer => Purpose::Transfer,
                PurposeArg::Sale => Purpose::Sale,
            },
            base: self.base.clone(),
            dialect: self.dialect.and_then(Dialect::name),
            replace_edited: self.replace.is_forced(),
            now: Some(self.at.unwrap_or_else(|| SystemClock.now())),
            ..WriteOptions::default()
        }
    }
}

/// Returns the error of an export; one of damage names the option that goes past it.
fn failed(error: &grainstore::Error, store: &Path) -> CliError {
    let failed = CliError::of(error).in_store(store);
    match error.code() {
        ErrorCode::StorageDamaged => failed.advising(SKIP),
        _ => failed,
    }
}

const SKIP: &str = "--skip-damaged exports the rest; `grainstore check --deep` names all that is \
                    damaged, and `grainstore recover DIR NEW` makes a sound store";

/// Returns a note if the store has no grain of the person whose grains are asked for: a file without
/// grains would look like an answer.
fn unknown_person(
    store: &Store,
    named: Option<String>,
    of: &Filter,
) -> anyhow::Result<Option<String>> {
    let Some(id) = named else {
        return Ok(None);
    };
    let all = of.clone().with_superseded().with_expired();
    let is_known = knows(store, &id)? || store.query(&all, 1, None)?.total > 0;
    (!is_known).then(|| unknown(store, &id)).transpose()
}
