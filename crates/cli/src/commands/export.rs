use std::path::Path;

use clap::{Args, ValueEnum};
use grainstore::codec::Compression;
use grainstore::interchange::{ExportKey, Format, WriteOptions, aimem, mg};
use grainstore::policy::Purpose;
use grainstore::query::Exported;
use grainstore::store::{Clock, SystemClock};
use grainstore::{ErrorCode, Filter, Store, Time};
use serde_json::json;

use super::imported::{loss_json, loss_text};
use crate::exit::Exit;
use crate::filters::Filters;
use crate::key_file;
use crate::output::is_screen;
use crate::problem::Problem;
use crate::progress;
use crate::secret::SealArgs;
use crate::session::Session;

/// Write grains to a file: everything, or what the filters say
///
/// Superseded grains and their status go along, so that an export of everything is a backup of
/// what the store knows. The same grains make the same bytes. A file is there whole or not at
/// all; archives past 4 GiB go on in NAME.001.mg and so on. What a format cannot carry is counted
/// and named. A PAM store with its conversations needs a directory, -o DIRECTORY/, or -o NAME.zip;
/// it is encrypted, or --plain says that it is not (PAM 21.1).
///
/// Example: grainstore export --format pam --encrypt-to age1… -o memory.zip.age
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The format to write
    #[arg(long, value_enum)]
    format: FormatArg,
    /// How the grains of an archive are compressed
    #[arg(long, value_enum, default_value_t = CompressArg::None)]
    compress: CompressArg,
    /// The file, or - for stdout
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: String,
    /// Whose chunks a bundle holds, where there are those of several producers (AIMEM)
    #[arg(long, value_name = "NAME")]
    producer: Option<String>,
    /// What must not decay alone: DNA-class and pinned chunks (AIMEM)
    #[arg(long)]
    dna_only: bool,
    /// Write vectors too, from which text can be guessed (AIMEM)
    #[arg(long)]
    with_embeddings: bool,
    /// Sign a PAM store, or put a signature beside a bundle: a key file, as `did new` writes it
    #[arg(long, value_name = "FILE")]
    sign: Option<String>,
    /// The export_id that an incremental PAM store (--since) goes on from
    #[arg(long, value_name = "ID")]
    base: Option<String>,
    /// Leave out of archives and JSON lines too what its owner does not let leave the store
    #[arg(long)]
    shareable: bool,
    /// Current grains only
    #[arg(long)]
    current: bool,
    /// What it is for: what must not leave the store for that is left out and counted
    #[arg(long, value_enum, default_value_t = PurposeArg::Transfer)]
    purpose: PurposeArg,
    #[command(flatten)]
    seal: SealArgs,
    #[command(flatten)]
    filters: Filters,
}

/// What an export is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PurposeArg {
    /// Another system, or the person it is about
    Transfer,
    /// A sale or a data broker: nothing of consumers who opted out (OMS A.6)
    Sale,
}

/// A format that can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum FormatArg {
    /// An archive of grains (OMS 1.3, section 11)
    Mg,
    /// One JSON grain a line
    Jsonl,
    /// A Portable AI Memory 1.0 store
    Pam,
    /// An AIMEM bundle
    Aimem,
    /// An AIMEM bundle as a stream of lines
    AimemNdjson,
    /// An OMI-AI 0.1 document
    Omi,
    /// An OMI-AI 0.1 document as JSON lines
    OmiJsonl,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CompressArg {
    None,
    Zstd,
    Lz4,
}

impl FormatArg {
    pub(super) const fn format(self) -> Format {
        match self {
            Self::Mg => Format::Mg,
            Self::Jsonl => Format::Jsonl,
            Self::Pam => Format::Pam,
            Self::Aimem => Format::Aimem,
            Self::AimemNdjson => Format::AimemNdjson,
            Self::Omi => Format::Omi,
            Self::OmiJsonl => Format::OmiJsonl,
        }
    }
}

impl Export {
    pub(crate) fn run(mut self, session: &mut Session) -> anyhow::Result<Exit> {
        if self.format != FormatArg::Mg && self.compress != CompressArg::None {
            let message = "only archives (--format mg) are compressed";
            return Err(Problem::new(ErrorCode::Usage, message).into());
        }
        let is_stdout = self.output == "-";
        let seal = self.seal.seal_for(self.format())?;
        let is_binary = self.format == FormatArg::Mg || seal.is_some();
        if is_stdout && is_binary && is_screen() {
            let message = "this is no text for a terminal";
            return Err(Problem::new(ErrorCode::Terminal, message).into());
        }
        let store = session.open()?;
        let filters = std::mem::take(&mut self.filters);
        let mut options = self.options(filters.since());
        options.seal = seal;
        if let Some(file) = &self.sign {
            options.sign = Some(ExportKey::new(key_file::read_file(file)?));
        }
        // Of an incremental store the format decides: what was updated counts as well.
        let filters = match self.format {
            FormatArg::Pam => filters.at_any_time(),
            _ => filters,
        };
        let mut filter = filters.filter(&store)?;
        if !self.current {
            filter = filter.with_superseded();
        }
        if is_stdout {
            let bar = progress::bytes(&session.out, "exporting");
            let mut writer = bar.wrap_write(session.out.bytes());
            let exported = store.export(self.format(), &filter, &options, &mut writer)?;
            bar.finish_and_clear();
            session.out.flush()?;
            session.out.note(summary(&exported, "stdout", self.format));
        } else {
            let exported = self.to_file(&store, &filter, &options, session)?;
            if session.out.is_json() {
                session.out.json(&json!({
                    "path": self.output,
                    "grains": exported.grains,
                    "files": exported.files,
                    "loss": loss_json(&exported.loss),
                }))?;
            } else {
                session
                    .out
                    .line(summary(&exported, &self.output, self.format))?;
            }
        }
        Ok(Exit::Done)
    }

    fn to_file(
        &self,
        store: &Store,
        filter: &Filter,
        options: &WriteOptions,
        session: &Session,
    ) -> anyhow::Result<Exported> {
        let spinner = progress::spinner(&session.out, format!("writing {}", self.output));
        let path = Path::new(&self.output);
        if self.format == FormatArg::Pam && self.output.ends_with('/') {
            std::fs::create_dir_all(path)?;
        }
        let exported = store.export_file(self.format(), filter, options, path);
        spinner.finish_and_clear();
        exported.map_err(|error| {
            let problem = Problem::of(&error).in_store(session.store_path());
            // What is not the store's fault is the file's.
            match problem.code() {
                ErrorCode::Io => problem.at(&self.output).into(),
                _ => problem.into(),
            }
        })
    }

    const fn format(&self) -> Format {
        self.format.format()
    }

    fn options(&self, since: Option<Time>) -> WriteOptions {
        let compression = match self.compress {
            CompressArg::None => Compression::None,
            CompressArg::Zstd => Compression::Zstd,
            CompressArg::Lz4 => Compression::Lz4,
        };
        WriteOptions {
            mg: mg::WriteOptions {
                compression,
                ..mg::WriteOptions::default()
            },
            scope: match since {
                _ if self.dna_only => aimem::Scope::DnaOnly,
                Some(since) => aimem::Scope::Since(since),
                None => aimem::Scope::Full,
            },
            producer: self.producer.clone(),
            with_embeddings: self.with_embeddings,
            shareable: self.shareable,
            purpose: match self.purpose {
                PurposeArg::Transfer => Purpose::Transfer,
                PurposeArg::Sale => Purpose::Sale,
            },
            base: self.base.clone(),
            now: Some(SystemClock.now()),
            ..WriteOptions::default()
        }
    }
}

/// What is counted: formats of other tools have records, several of which may be one grain's.
const fn unit(format: FormatArg) -> &'static str {
    match format {
        FormatArg::Mg | FormatArg::Jsonl => "grains",
        _ => "records",
    }
}

pub(super) fn summary(exported: &Exported, to: &str, format: FormatArg) -> String {
    let mut text = format!("{} {} written to {to}", exported.grains, unit(format));
    if exported.files > 1 {
        text.push_str(&format!(" and {} files more", exported.files - 1));
    }
    if !exported.loss.is_empty() {
        text.push_str(&format!("; not carried: {}", loss_text(&exported.loss)));
    }
    text
}
