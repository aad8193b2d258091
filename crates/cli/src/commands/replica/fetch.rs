//! Fetching a copy into a directory beside the new store, for `restore`.

use std::path::{Path, PathBuf};

use grainstore_replica::Follower;

use super::place::{OpenArgs, failed, open, runtime};
use crate::error::CliError;
use crate::session::Session;

/// A copy that was fetched; its directory is removed when the restore is done.
pub(crate) struct Fetched {
    pub(crate) path: PathBuf,
}

/// Returns whether a backup is a copy on object storage.
pub(crate) fn is_url(backup: &Path) -> bool {
    backup.to_str().is_some_and(|text| text.contains("://"))
}

/// Fetches the copy at `url` into a directory beside `to`, verified from the first entry to the last.
/// One that an interrupted restore left goes on.
pub(crate) fn fetched(
    url: &Path,
    to: &Path,
    args: &OpenArgs,
    session: &Session,
) -> Result<Fetched, CliError> {
    let url = url.to_string_lossy();
    let mut name = to.as_os_str().to_owned();
    name.push(".fetched");
    let path = PathBuf::from(name);
    let (bucket, options) = (open(&url)?, args.options(session)?);
    let fetched = runtime()?.block_on(async {
        let mut follower = Follower::open(bucket, &path, options).await?;
        follower.pass().await
    });
    if let Err(error) = fetched {
        if path.exists() {
            let path = path.display();
            session.out.note(format!(
                "the same command goes on with {path}; remove it to give up"
            ));
        }
        return Err(failed(&error, &url));
    }
    Ok(Fetched { path })
}

impl Fetched {
    /// Removes the directory.
    pub(crate) fn remove(self) -> std::io::Result<()> {
        std::fs::remove_dir_all(self.path)
    }
}
