//! Reads a file of any supported format and validates all of it, before anything is stored.
//!
//! Shared by `import`, `validate` and `convert`.

use std::io::{self, IsTerminal};
use std::path::Path;

use grainstore::interchange::{self, ImportFile, ReadOptions};

use super::format::ImportFormat;
#[cfg(feature = "sqlite")]
use super::sqlite;
use crate::error::CliError;
use crate::output::progress;
use crate::session::Session;

/// Reads a file, or stdin for `-`, and validates all of it, signatures included.
pub(super) fn read(
    path: &Path,
    format: ImportFormat,
    options: &ReadOptions,
    session: &Session,
) -> Result<ImportFile, CliError> {
    let spinner = progress::spinner(
        &session.out,
        format!("reading {}", path.display()),
        progress::NOTHING_CHANGED,
    );
    let stdin = Path::new("/dev/stdin");
    let is_stdin = path == Path::new("-");
    if is_stdin && io::stdin().is_terminal() {
        let message = "reading from the terminal: Ctrl-D ends the file";
        session.out.note(message);
    }
    let from = if is_stdin { stdin } else { path };
    #[cfg(feature = "sqlite")]
    if sqlite::is_database(from) {
        let reading = sqlite::read(from, format.format(), options);
        drop(spinner);
        return reading;
    }
    let reading = ImportFile::open(from, format.format(), options);
    drop(spinner);
    let mut reading = reading.map_err(|error| error_in(&error, path))?;
    // Records with invalid signatures are reported before anything is stored.
    reading.verify_signatures(&*session.resolver());
    Ok(reading)
}

fn error_in(error: &interchange::Error, path: &Path) -> CliError {
    let told = CliError::of(error).at(path.display());
    let is_empty = path
        .metadata()
        .is_ok_and(|it| it.is_file() && it.len() == 0);
    match is_empty {
        true => told.advising("nothing is in it: export or copy it again"),
        false => told,
    }
}
