use std::path::PathBuf;

use clap::Args;
use grainstore::interchange::{ReadOptions, WriteOptions};
use grainstore::store::{Clock, SystemClock};
use grainstore::{ErrorCode, Filter, Options, Store};
use serde_json::json;

use super::export::{self, summary};
use super::import::{self, read};
use super::imported::{loss_json, report, report_errors};
use crate::exit::Exit;
use crate::problem::Problem;
use crate::secret::SealArgs;
use crate::session::Session;

/// Write what a file holds in another format, without a store
///
/// The file goes through a store in memory, which is gone afterwards. What the other format cannot
/// carry is counted and named. If anything in the file is wrong, nothing is written.
///
/// Example: grainstore convert conversations.json memory.omi.json
#[derive(Debug, Args)]
pub(crate) struct Convert {
    /// The file, the directory of a PAM store, or what a provider exports as it came
    input: PathBuf,
    /// The file to write; a directory (NAME/) or a .zip for PAM with its conversations
    output: String,
    /// What the input is
    #[arg(long, value_enum, default_value_t = import::FormatArg::Auto)]
    from: import::FormatArg,
    /// What to write; without it, what the name of the output says
    #[arg(long, value_enum)]
    to: Option<export::FormatArg>,
    #[command(flatten)]
    seal: SealArgs,
}

impl Convert {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let to = self.to.or_else(|| named(&self.output)).ok_or_else(|| {
            let message = "the name of the output tells no format: say it with --to";
            Problem::new(ErrorCode::Usage, message)
        })?;
        let options = WriteOptions {
            seal: self.seal.seal_for(to.format())?,
            with_embeddings: true,
            now: Some(SystemClock.now()),
            ..WriteOptions::default()
        };
        let reading = read(
            &self.input,
            self.from,
            &ReadOptions::default(),
            &session.out,
        )?;
        if !reading.errors.is_empty() {
            report_errors(&reading, &self.input, &mut session.out)?;
            return Ok(Exit::Failed);
        }
        let from = reading.format;
        let store = Store::in_memory(Options::default())?;
        let imported = store.import(reading)?;
        if !session.out.is_json() {
            report(&imported, from, &self.input, &mut session.out)?;
        }
        let path = std::path::Path::new(&self.output);
        if self.output.ends_with('/') {
            std::fs::create_dir_all(path)?;
        }
        let filter = Filter::new().with_superseded();
        let exported = store.export_file(to.format(), &filter, &options, path);
        let exported = exported.map_err(|error| Problem::of(&error).at(&self.output))?;
        if session.out.is_json() {
            session.out.json(&json!({
                "from": from.name(),
                "to": to.format().name(),
                "path": self.output,
                "grains": exported.grains,
                "files": exported.files,
                "not_read": loss_json(&imported.loss),
                "loss": loss_json(&exported.loss),
            }))?;
        } else {
            session.out.line(summary(&exported, &self.output, to))?;
        }
        Ok(Exit::done_if(imported.is_complete()))
    }
}

/// Returns the format that a name says, encrypted or not.
fn named(output: &str) -> Option<export::FormatArg> {
    use export::FormatArg;

    let name = output.strip_suffix(".age").unwrap_or(output);
    let endings = [
        (".mg", FormatArg::Mg),
        (".aimem.json", FormatArg::Aimem),
        (".aimem.ndjson", FormatArg::AimemNdjson),
        (".omi.json", FormatArg::Omi),
        (".omi.jsonl", FormatArg::OmiJsonl),
        (".jsonl", FormatArg::Jsonl),
        (".pam.json", FormatArg::Pam),
        ("memory-store.json", FormatArg::Pam),
        (".zip", FormatArg::Pam),
        ("/", FormatArg::Pam),
    ];
    let found = endings.iter().find(|(ending, _)| name.ends_with(ending));
    found.map(|(_, format)| *format)
}
