//! `grainstore audit export`: the trail in a file for an independent verifier.

use std::io::{BufWriter, Write as _};
use std::path::Path;

use clap::Args;
use serde_json::json;

use crate::args::{create_private, read_key};
use crate::error::{CliError, Exit};
use crate::session::Session;

/// Write the trail to a file for a verifier without the store: tools/verify_audit.py
///
/// The file has the header of every entry, what each erasure blanked, the entries of the grains of holds
/// and of withdrawn consents, the signed checkpoints and a checksum, signed with --key. It has no content
/// and no address, and no name but in reasons and authorities, and stays valid when content is erased.
#[derive(Debug, Args)]
pub(super) struct Export {
    /// Output file, which must not exist, or - for stdout
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: String,
    /// Sign with this Ed25519 key file
    #[arg(long, value_name = "FILE")]
    key: Option<String>,
}

impl Export {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let key = self.key.as_deref().map(read_key).transpose()?;
        let store = session.open_to_read()?;
        let audit = store.maintenance()?.audit();
        if self.output == "-" {
            audit.export(key.as_ref(), session.out.bytes())?;
            return Ok(Exit::Done);
        }
        let failed = |error| CliError::of(&error).at(&self.output);
        let file = create_private(Path::new(&self.output)).map_err(failed)?;
        let mut file = BufWriter::new(file);
        let note = audit.export(key.as_ref(), &mut file)?;
        file.flush().map_err(failed)?;
        let out = &mut session.out;
        match out.is_json() {
            true => out.json(&json!({ "path": self.output, "entries": note.entries() }))?,
            false => out.line(format!(
                "{} entries written to {}",
                note.entries(),
                self.output
            ))?,
        }
        Ok(Exit::Done)
    }
}
