//! The place of a copy as the commands name it, and the runtime that speaks to it.

use std::time::{Duration, Instant};

use clap::Args;
use grainstore::ErrorCode;
use grainstore::crypto::Did;
use grainstore_replica::{Bucket, Error, FollowOptions, Identities, TrustedSigner};
use tokio::runtime::{Builder, Runtime};

use crate::args::read_document;
use crate::error::CliError;
use crate::place::variables;
use crate::session::Session;

/// Opens the place that a URL names, with the variables of the environment.
pub(super) fn open(url: &str) -> Result<Bucket, CliError> {
    Bucket::open(url, variables()).map_err(|error| failed(&error, url))
}

/// Returns a runtime on this thread.
pub(super) fn runtime() -> Result<Runtime, CliError> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| CliError::of(&error))
}

/// How a copy is opened.
#[derive(Debug, Default, Args)]
pub(crate) struct OpenArgs {
    /// Decrypt a copy with the keys in this age identity file
    #[arg(long, value_name = "FILE")]
    identity: Option<String>,
    /// Believe a copy only if this signer (did:key:… or did:web:…) has signed its manifest
    #[arg(long, value_name = "DID")]
    signer: Option<String>,
}

impl OpenArgs {
    pub(super) fn options(&self, session: &Session) -> Result<FollowOptions, CliError> {
        let did = self.signer.as_ref().map(|text| text.parse::<Did>());
        let did = did.transpose().map_err(|error| CliError::of(&error))?;
        Ok(FollowOptions {
            identities: identities(self.identity.as_deref())?,
            signer: did.map(|did| TrustedSigner::new(did, session.resolver())),
        })
    }
}

/// Reads the keys that open an encrypted copy.
fn identities(file: Option<&str>) -> Result<Option<Identities>, CliError> {
    let parsed = file.map(|file| {
        let text = read_document(file)?;
        Identities::parse(&text).map_err(|error| CliError::new(error.code(), &error).at(file))
    });
    parsed.transpose()
}

/// Returns the error of a copy, with what to do.
pub(super) fn failed(error: &Error, url: &str) -> CliError {
    if let Error::Store(error) = error {
        return CliError::of(error);
    }
    let said = CliError::new(error.code(), crate::error::with_causes(error)).at(url);
    match (error, error.code()) {
        (Error::Url { .. }, _) => CliError::new(ErrorCode::Usage, error).advising(URLS),
        (Error::Lost { .. } | Error::RolledBack { .. }, _) => said.advising(ANEW),
        (_, ErrorCode::BackupDiverged) => said.advising(DIVERGED),
        (_, ErrorCode::StorageDamaged) => said.advising(ANEW),
        (Error::Objects { .. }, _) => said.advising(NETWORK),
        (Error::NoCopy, _) => said.advising("`grainstore replicate` makes one"),
        (Error::NotAFollower(_), _) => said.advising("name a directory that is new or empty"),
        _ => said,
    }
}

/// The pause between two passes: longer after an error that may pass.
pub(super) struct Pace {
    every: Duration,
    pause: Duration,
    began: Instant,
}

impl Pace {
    pub(super) fn of(every: Duration) -> Self {
        Self {
            every,
            pause: every,
            began: Instant::now(),
        }
    }

    /// Begins a pass.
    pub(super) fn begin(&mut self) {
        self.began = Instant::now();
    }

    /// Waits after a pass that was done.
    pub(super) async fn rest(&mut self) {
        self.pause = self.every;
        let left = self.every.saturating_sub(self.began.elapsed());
        tokio::time::sleep(left).await;
    }

    /// Returns why a pass failed that is tried again; an error that does not pass is one.
    pub(super) fn bear(&mut self, error: &Error, url: &str) -> Result<String, CliError> {
        if !error.is_passing() {
            return Err(failed(error, url));
        }
        self.pause = (self.pause * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE);
        let text = crate::error::with_causes(error);
        Ok(format!("note: {url}: {text}; trying again"))
    }

    /// Waits after a pass that failed.
    pub(super) async fn wait(&self) {
        tokio::time::sleep(self.pause).await;
    }
}

const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

const URLS: &str = "a copy lies at file:///DIRECTORY, s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or \
                    az://CONTAINER/PREFIX";
const ANEW: &str = "find out who changed the copy; `grainstore replicate URL --anew` ships all of the \
                    ledger again, and a follower begins in a new directory";
const DIVERGED: &str = "nothing was changed; ship this store to another place, and follow the copy of the \
                        other history from a new directory";
const NETWORK: &str = "check address, credentials and network: the variables of the service, such as \
                       AWS_ACCESS_KEY_ID, AWS_REGION and AWS_ENDPOINT";
