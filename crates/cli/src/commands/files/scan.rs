//! `grainstore scan`: the memories and logs of other tools in the usual places of the home directory.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use grainstore::ErrorCode;
use grainstore::interchange::Format;
use serde_json::json;

use super::format::{ImportFormat, import_format};
use super::import::Import;
use crate::error::{CliError, Exit};
use crate::session::Session;

/// Look for memories and logs of other tools in their usual places of the home directory
///
/// Names what is there, with the number of files and their size. Nothing is opened, and nothing is
/// stored unless --import names a source. Exits with 1 if nothing is there.
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  grainstore scan --import claude-code")]
pub(crate) struct Scan {
    /// Import what is there of this source
    #[arg(long, value_name = "SOURCE", value_parser = import_format())]
    import: Option<ImportFormat>,
    /// Directory in whose usual places to look (default: the home directory)
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
}

/// The files of a usual place.
struct Found {
    format: Format,
    path: PathBuf,
    files: u64,
    bytes: u64,
}

impl Scan {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let home = self.home.or_else(std::env::home_dir).ok_or_else(|| {
            let message = "no home directory is known; --home names one";
            CliError::new(ErrorCode::Usage, message)
        })?;
        let mut found = Vec::new();
        for format in Format::all() {
            for place in format.usual_places() {
                let path = home.join(place);
                let (files, bytes) = count(&path, DEPTH_MAX);
                if files > 0 {
                    found.push(Found {
                        format,
                        path,
                        files,
                        bytes,
                    });
                }
            }
        }
        let Some(wanted) = self.import else {
            return list(&found, session);
        };
        found.retain(|it| wanted.format() == Some(it.format));
        let mut exit = Exit::done_if(!found.is_empty());
        for found in found {
            let done = Import::of(found.path, found.format).run(session)?;
            if done != Exit::Done {
                exit = done;
            }
        }
        Ok(exit)
    }
}

fn list(found: &[Found], session: &mut Session) -> anyhow::Result<Exit> {
    if session.out.is_json() {
        let found = found.iter().map(|it| {
            json!({
                "bytes": it.bytes,
                "files": it.files,
                "path": it.path,
                "source": it.format.name(),
            })
        });
        let found: Vec<_> = found.collect();
        session.out.json(&json!({ "found": found }))?;
        return Ok(Exit::done_if(!found.is_empty()));
    }
    for it in found {
        let (name, path) = (it.format.name(), it.path.display());
        let plural = if it.files == 1 { "" } else { "s" };
        let size = it.bytes.div_ceil(1024);
        let line = format!("{name:20} {path}  {} file{plural}, {size} KiB", it.files);
        session.out.line(line)?;
    }
    session.out.note(match found {
        [] => "nothing is in the usual places; `grainstore import --help` says where each tool keeps it",
        _ => "`grainstore scan --import SOURCE` imports one; `import --dry-run PATH` shows what it brings",
    });
    Ok(Exit::done_if(!found.is_empty()))
}

/// Returns the number of files below a path and their bytes; links are not followed.
fn count(path: &Path, depth_left: usize) -> (u64, u64) {
    let Ok(metadata) = path.symlink_metadata() else {
        return (0, 0);
    };
    if metadata.is_file() {
        return (1, metadata.len());
    }
    let Some(below) = depth_left.checked_sub(1).filter(|_| metadata.is_dir()) else {
        return (0, 0);
    };
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.fold((0, 0), |(files, bytes), entry| {
        let (more, len) = count(&entry.path(), below);
        (files + more, bytes + len)
    })
}

/// As deep as an import looks.
const DEPTH_MAX: usize = 8;
