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
    /// The address of a shared ledger.
    url: Option<String>,
    shared: Option<Arc<dyn Sequence>>,
    is_stale_ok: bool,
}

impl PlaceArgs {
    /// Returns the place that `store` names: an address of PostgreSQL, or a directory.
    pub(crate) fn of(self, store: PathBuf) -> Result<Place, CliError> {
        let url = store.to_str().filter(|text| is_shared(text));
        let url = url.map(str::to_owned);
        let path = match (&url, self.cache) {
            (None, _) => store,
            (Some(_), Some(cache)) => cache,
            (Some(url), None) => default_cache(url)?,
        };
        let shared = url
            .as_deref()
            .map(|url| sequence_at(url, None))
            .transpose()?;
        Ok(Place {
            path,
            url,
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

    /// Names where the long frames of a shared ledger lie that is to be created.
    pub(crate) fn put_bodies_in(&mut self, bodies: &str) -> Result<(), CliError> {
        let reason = "--bodies is for a shared ledger: --store postgres://…";
        let url = self.url.as_deref();
        let url = url.ok_or_else(|| CliError::new(ErrorCode::Usage, reason))?;
        self.shared = Some(sequence_at(url, Some(bodies))?);
        Ok(())
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

/// Opens the sequence at an address; the password may be in `PGPASSWORD`. One that is created has its long
/// frames in `bodies`.
#[cfg(feature = "postgres")]
pub(crate) fn sequence_at(url: &str, bodies: Option<&str>) -> Result<Arc<dyn Sequence>, CliError> {
    let password = std::env::var_os("PGPASSWORD");
    let password = password.as_deref().and_then(std::ffi::OsStr::to_str);
    match grainstore_shared::postgres::PostgresSequence::open(url, password) {
        Ok(rows) => with_bodies(Arc::new(rows), bodies),
        Err(error) => Err(CliError::new(ErrorCode::Usage, error)),
    }
}

#[cfg(not(feature = "postgres"))]
pub(crate) fn sequence_at(_: &str, _: Option<&str>) -> Result<Arc<dyn Sequence>, CliError> {
    let reason = "this build has no shared ledgers: it lacks the feature `postgres`";
    Err(CliError::new(ErrorCode::Unsupported, reason))
}

/// Returns a sequence that reads long frames where they lie.
#[cfg(all(feature = "postgres", feature = "replica"))]
fn with_bodies(
    rows: Arc<dyn Sequence>,
    bodies: Option<&str>,
) -> Result<Arc<dyn Sequence>, CliError> {
    use grainstore::crypto::OsRandom;
    use grainstore_replica::{BodySequence, Bucket};

    let open = |url: &str| Bucket::open(url, variables());
    let sequence = BodySequence::new(rows, Box::new(open), Arc::new(OsRandom));
    let Some(url) = bodies else {
        return Ok(Arc::new(sequence));
    };
    // Text that is no address is the caller's mistake, and not the ledger's.
    open(url).map_err(|error| CliError::new(error.code(), error))?;
    Ok(Arc::new(sequence.for_new(url)))
}

#[cfg(all(feature = "postgres", not(feature = "replica")))]
fn with_bodies(
    rows: Arc<dyn Sequence>,
    bodies: Option<&str>,
) -> Result<Arc<dyn Sequence>, CliError> {
    let reason = "this build has no objects: it lacks the feature `replica`";
    match bodies {
        Some(_) => Err(CliError::new(ErrorCode::Unsupported, reason)),
        None => Ok(rows),
    }
}

/// Returns the variables of the environment, of which each storage of objects has its own.
#[cfg(feature = "replica")]
pub(crate) fn variables() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(name, value)| {
        // A variable that is no text is no key.
        Some((name.into_string().ok()?, value.into_string().ok()?))
    })
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
