use std::path::Path;

use clap::{Args, ValueEnum};
use grainstore::codec::Compression;
use grainstore::interchange::{Format, mg};
use grainstore::query::Exported;
use grainstore::{Filter, Store};
use serde_json::json;

use super::import::{loss_json, loss_text};
use crate::exit::Exit;
use crate::filters::Filters;
use crate::output::is_screen;
use crate::problem::Problem;
use crate::progress;
use crate::session::Session;

/// Write grains to a file: everything, or what the filters say
///
/// Superseded grains and their status go along, so that an export of everything is a backup of
/// what the store knows. The same grains make the same bytes. A file is there whole or not at
/// all; archives past 4 GiB go on in NAME.001.mg and so on.
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
    /// Current grains only
    #[arg(long)]
    current: bool,
    #[command(flatten)]
    filters: Filters,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    /// An archive of grains (OMS 1.3, section 11)
    Mg,
    /// One JSON grain a line
    Jsonl,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CompressArg {
    None,
    Zstd,
    Lz4,
}

impl Export {
    pub(crate) fn run(mut self, session: &mut Session) -> anyhow::Result<Exit> {
        if self.format == FormatArg::Jsonl && self.compress != CompressArg::None {
            let message = "only archives (--format mg) are compressed";
            return Err(Problem::new("ERR_USAGE", message).into());
        }
        let is_stdout = self.output == "-";
        if is_stdout && self.format == FormatArg::Mg && is_screen() {
            let message = "an archive is no text for a terminal";
            return Err(Problem::new("ERR_TERMINAL", message).into());
        }
        let store = session.open()?;
        let filters = std::mem::take(&mut self.filters);
        let mut filter = filters.filter(&store)?;
        if !self.current {
            filter = filter.with_superseded();
        }
        if is_stdout {
            let bar = progress::bytes(&session.out, "exporting");
            let mut writer = bar.wrap_write(session.out.bytes());
            let exported = store.export(self.format(), &filter, self.options(), &mut writer)?;
            bar.finish_and_clear();
            session.out.flush()?;
            session.out.note(summary(&exported, "stdout"));
        } else {
            let exported = self.to_file(&store, &filter, session)?;
            if session.out.is_json() {
                session.out.json(&json!({
                    "path": self.output,
                    "grains": exported.grains,
                    "files": exported.files,
                    "loss": loss_json(&exported.loss),
                }))?;
            } else {
                session.out.line(summary(&exported, &self.output))?;
            }
        }
        Ok(Exit::Done)
    }

    fn to_file(
        &self,
        store: &Store,
        filter: &Filter,
        session: &Session,
    ) -> anyhow::Result<Exported> {
        let spinner = progress::spinner(&session.out, format!("writing {}", self.output));
        let path = Path::new(&self.output);
        let exported = store.export_file(self.format(), filter, self.options(), path);
        spinner.finish_and_clear();
        exported.map_err(|error| {
            let problem = Problem::of(&error).in_store(session.store_path());
            // What is not the store's fault is the file's.
            match problem.code() {
                "ERR_IO" => problem.at(&self.output).into(),
                _ => problem.into(),
            }
        })
    }

    const fn format(&self) -> Format {
        match self.format {
            FormatArg::Mg => Format::Mg,
            FormatArg::Jsonl => Format::Jsonl,
        }
    }

    fn options(&self) -> mg::WriteOptions {
        mg::WriteOptions {
            compression: match self.compress {
                CompressArg::None => Compression::None,
                CompressArg::Zstd => Compression::Zstd,
                CompressArg::Lz4 => Compression::Lz4,
            },
            ..mg::WriteOptions::default()
        }
    }
}

fn summary(exported: &Exported, to: &str) -> String {
    let mut text = format!("{} grains written to {to}", exported.grains);
    if exported.files > 1 {
        text.push_str(&format!(" and {} files more", exported.files - 1));
    }
    if !exported.loss.is_empty() {
        text.push_str(&format!("; not carried: {}", loss_text(&exported.loss)));
    }
    text
}
