//! The file that a command writes: one that is there already is replaced with `--force` alone.

use std::path::Path;

use clap::Args;
use grainstore::ErrorCode;

use crate::error::CliError;

/// Whether a file that is there may be replaced.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct Replace {
    /// Replace an output file that exists
    #[arg(long, short)]
    force: bool,
}

impl Replace {
    /// Returns whether what is there may be replaced.
    pub(super) const fn is_forced(self) -> bool {
        self.force
    }

    /// Refuses an output that would replace a file, or the store in a directory of PAM or COGX.
    /// Devices and pipes are written to as they are, and the library refuses links.
    pub(super) fn check(self, output: &str) -> Result<(), CliError> {
        let path = Path::new(output);
        let mut files = match output.ends_with('/') {
            true => ["memory-store.json", "manifest.json"]
                .map(|name| path.join(name))
                .to_vec(),
            false => vec![path.to_owned()],
        };
        files.retain(|file| file.symlink_metadata().is_ok_and(|it| it.is_file()));
        let Some(file) = files.pop().filter(|_| !self.force) else {
            return Ok(());
        };
        let error = CliError::new(ErrorCode::Usage, "the file exists");
        Err(error.at(file.display()).advising("--force replaces it"))
    }
}
