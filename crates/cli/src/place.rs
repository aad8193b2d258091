//! The place of the store: a directory, or a shared ledger with a directory that is its cache.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use grainstore::ErrorCode;
use grainstore_shared::Sequence;

use crate::error::CliError;

// Hidden: the help fits one screen, and the manual has them.
/// How a shared ledger is used
#[derive(Debug, Default, Args)]
pub(crate) struct PlaceArgs {
    /// Directory for what is read from a shared ledger, in place of one in the user's cache
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        env = "GRAINSTORE_CACHE",
        hide_env = true,
        hide = true
    )]
    cache: Option<PathBuf>,
    /// Answer from what was read before if a shared ledger does not answer
    #[arg(long, global = true, hide = true)]
    stale_ok: bool,
}

/// The place of a run.
#[derive(Debug)]
pub(crate) struct Place {
    path: PathBuf,
    shared: Option<Arc<dyn Sequence>>,
    is_stale_ok: bool,
}

impl PlaceArgs {
    /// Returns the place that `store` names: an address of PostgreSQL, or a directory.
    pub(crate) fn of(self, store: PathBuf) -> Result<Place, CliError> {
        let url = store.to_str().filter(|text| is_shared(text));
        let (path, shared) = match (url, self.cache) {
            (None, _) => (store, None),
            (Some(url), Some(cache)) => (cache, Some(sequence_at(url)?)),
            (Some(url), None) => (default_cache(url)?, Some(sequence_at(url)?)),
        };
        Ok(Place {
            path,
            shared,
            is_stale_ok: self.stale_ok,
        })
    }
}

impl Place {
    /// Returns the directory.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the sequence of which the directory is a cache.
    pub(crate) fn shared(&self) -> Option<Arc<dyn Sequence>> {
        self.shared.clone()
    }

    pub(crate) const fn is_stale_ok(&self) -> bool {
        self.is_stale_ok
    }

    /// Returns a warning for the one who begins or serves a shared ledger.
    pub(crate) fn warning(&self) -> Option<&'static str> {
        let may_lose = self.shared.as_ref().and_then(|shared| shared.may_lose());
        (may_lose == Some(true)).then_some(
            "warning: the server commits without a standby (synchronous_standby_names is empty, or \
             synchronous_commit is off or local): if it is lost, what it acknowledged last may be, too",
        )
    }
}

/// Returns whether text is the address of a shared ledger.
pub(crate) fn is_shared(text: &str) -> bool {
    ["postgres://", "postgresql://"]
        .iter()
        .any(|scheme| text.starts_with(scheme))
}

/// Opens the sequence at an address; the password may be in `PGPASSWORD`.
#[cfg(feature = "postgres")]
pub(crate) fn sequence_at(url: &str) -> Result<Arc<dyn Sequence>, CliError> {
    let password = std::env::var_os("PGPASSWORD");
    let password = password.as_deref().and_then(std::ffi::OsStr::to_str);
    match grainstore_shared::postgres::PostgresSequence::open(url, password) {
        Ok(sequence) => Ok(Arc::new(sequence)),
        Err(error) => Err(CliError::new(ErrorCode::Usage, error)),
    }
}

#[cfg(not(feature = "postgres"))]
fn sequence_at(_url: &str) -> Result<Arc<dyn Sequence>, CliError> {
    let reason = "this build has no shared ledgers: it lacks the feature `postgres`";
    Err(CliError::new(ErrorCode::Unsupported, reason))
}

/// Returns the directory for an address, without the user and the password.
fn default_cache(url: &str) -> Result<PathBuf, CliError> {
    let folder = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let folder = folder.filter(|path| path.is_absolute());
    let folder = folder.or_else(|| Some(std::env::home_dir()?.join(".cache")));
    let missing = "there is no home directory for the cache; name one with --cache DIR";
    let folder = folder.ok_or_else(|| CliError::new(ErrorCode::Usage, missing))?;
    Ok(folder.join("grainstore").join(cache_name(url)))
}

fn cache_name(url: &str) -> String {
    let (_, place) = url.split_once("://").unwrap_or(("", url));
    let (place, parameters) = place.split_once('?').unwrap_or((place, ""));
    let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
    let mut stores = parameters
        .split('&')
        .filter_map(|it| it.strip_prefix("store="));
    let name = stores.next_back().unwrap_or("main");
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || "-_.".contains(c) {
            c
        } else {
            '-'
        }
    };
    format!("{place}-{name}").chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_cache_has_no_user_and_no_password() {
        let url = "postgres://bot:se@cret@db.example:5433/memory?sslmode=require&store=acme";
        assert_eq!(cache_name(url), "db.example-5433-memory-acme");
        assert_eq!(cache_name("postgresql://db/m"), "db-m-main");
    }

    #[test]
    fn an_address_is_no_directory() {
        assert!(is_shared("postgresql://db/m"));
        assert!(!is_shared("./postgres"));
    }
}
