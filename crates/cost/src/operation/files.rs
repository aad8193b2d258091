//! Operations that read or write a file of 1,000 grains: of each format, all of it.

use std::io::sink;
use std::path::Path;

use grainstore::Filter;
use grainstore::interchange::{Format, ImportFile, ReadOptions, WriteOptions};

use super::Rounds;
use crate::Result;
use crate::fixture::{EXPORTED_GRAINS as GRAINS, Fixture};

/// A file is validated and its grains stored, in a store without text.
pub(super) fn import(fixture: &Fixture, rounds: Rounds, format: Format) -> Result<()> {
    imported(fixture, rounds, &fixture.file(format), Some(format))
}

/// An export of ChatGPT is validated and its grains stored, in a store without text.
pub(super) fn import_chatgpt(fixture: &Fixture, rounds: Rounds) -> Result<()> {
    imported(fixture, rounds, &fixture.conversations(), None)
}

fn imported(fixture: &Fixture, rounds: Rounds, path: &Path, format: Option<Format>) -> Result<()> {
    for round in rounds {
        let store = fixture.empty(round, false)?;
        let reading = ImportFile::open(path, format, &ReadOptions::default())?;
        let summary = store.import(reading)?;
        // A file may hold more than its grains: of a PAM store, its owner.
        if summary.inserted < GRAINS as u64 || !summary.is_complete() {
            return Err(format!("{} of {GRAINS} came in", summary.inserted).into());
        }
    }
    Ok(())
}

/// The grains are read and written as a file.
pub(super) fn export(fixture: &Fixture, rounds: Rounds, format: Format) -> Result<()> {
    let store = fixture.exported()?;
    for _ in rounds {
        store.admin()?.export(
            format,
            &Filter::new(),
            &WriteOptions::default(),
            &mut sink(),
        )?;
    }
    Ok(())
}
