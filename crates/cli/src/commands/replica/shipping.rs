//! Shipping without end: by `replicate`, and by a server beside its requests.

use std::convert::Infallible;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use grainstore_replica::{ShipOptions, Shipped, Shipper};

use super::place::{Pace, failed, open, runtime};
use crate::error::CliError;

/// An event between two passes.
pub(super) enum Told<'a> {
    /// A pass shipped or removed something, or other erasures wait than before.
    Passed(&'a Shipped),
    /// A pass failed and is tried again.
    Waits(String),
}

/// Ships until an error that does not pass.
pub(super) async fn go_on(
    shipper: &mut Shipper,
    url: &str,
    every: Duration,
    mut tell: impl FnMut(Told<'_>) -> io::Result<()>,
) -> Result<Infallible, CliError> {
    let mut pace = Pace::of(every);
    let mut checked = Instant::now();
    let mut waited = 0;
    loop {
        pace.begin();
        let mut passed = shipper.pass().await;
        if passed.is_ok() && checked.elapsed() > CHECKED_EVERY {
            checked = Instant::now();
            passed = shipper.check().await.and(passed);
        }
        let told = match passed {
            Ok(shipped) => {
                let is_news = shipped.added > 0 || shipped.erased > 0 || shipped.waits != waited;
                waited = shipped.waits;
                let told = is_news.then(|| tell(Told::Passed(&shipped)));
                pace.rest().await;
                told
            }
            Err(error) => {
                let told = tell(Told::Waits(pace.bear(&error, url)?));
                pace.wait().await;
                Some(told)
            }
        };
        told.transpose().map_err(|error| CliError::of(&error))?;
    }
}

/// Ships a store to a URL on a thread of its own, and says on `log` whatever keeps it from that.
///
/// # Errors
/// The place cannot be opened, or its copy is refused.
pub(crate) fn ship_beside(
    store: PathBuf,
    url: String,
    log: impl Fn(&str) + Send + Sync + 'static,
) -> Result<(), CliError> {
    let (bucket, runtime) = (open(&url)?, runtime()?);
    let (begun, begins) = mpsc::channel();
    let ship = async move {
        let opened = Shipper::open(&store, bucket, ShipOptions::default()).await;
        let mut shipper = match opened.map_err(|error| failed(&error, &url)) {
            Ok(shipper) => shipper,
            Err(error) => return drop(begun.send(Err(error))),
        };
        drop(begun.send(Ok(())));
        let ended = go_on(&mut shipper, &url, EVERY, |told| {
            if let Told::Waits(text) = told {
                log(&text);
            }
            Ok(())
        });
        let Err(error) = ended.await;
        log(&format!("error: {error}; no more is shipped to {url}"));
    };
    let thread = thread::Builder::new().name("grainstore-ship".to_owned());
    let spawned = thread.spawn(move || runtime.block_on(ship));
    spawned.map_err(|error| CliError::of(&error))?;
    // The thread answers before it ends, if it does not panic.
    begins.recv().map_err(|error| CliError::of(&error))?
}

const EVERY: Duration = Duration::from_millis(500);
const CHECKED_EVERY: Duration = Duration::from_secs(600);
