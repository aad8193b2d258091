use std::path::Path;

use grainstore::crypto::Offline;
use grainstore::interchange::{self, ReadOptions, Reading};

use super::format::ImportFormat;
use crate::error::Problem;
use crate::output::{Output, progress};

/// Reads a file and judges everything in it.
pub(super) fn read(
    path: &Path,
    format: ImportFormat,
    options: &ReadOptions,
    out: &Output,
) -> Result<Reading, Problem> {
    let spinner = progress::spinner(out, format!("reading {}", path.display()));
    let reading = Reading::open(path, format.format(), options);
    spinner.finish_and_clear();
    let mut reading = reading.map_err(|error| problem_in(&error, path))?;
    // What would be refused is told before anything is stored.
    reading.verify_signatures(&Offline);
    Ok(reading)
}

fn problem_in(error: &interchange::Error, path: &Path) -> Problem {
    Problem::of(error).at(path.display())
}
