//! Progress of long operations: shown on a terminal, absent from pipes and with `--quiet`.
//!
//! Progress goes to stderr and is never part of a result. While it is shown, Ctrl-C says how far the
//! operation is.

use std::ops::Deref;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::pace::Pace;
use super::stream::Output;
use crate::interrupt::{self, Interrupted};

/// The progress of an operation, which is gone from the screen when this is dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    _interrupted: Interrupted,
}

/// Shows a spinner for work of unknown length; `interrupted` is what Ctrl-C says.
pub(crate) fn spinner(out: &Output, what: String, interrupted: &str) -> Progress {
    let bar = if out.is_quiet() {
        ProgressBar::hidden()
    } else {
        ProgressBar::new_spinner().with_message(what)
    };
    let progress = Progress::new(bar, interrupted.to_owned());
    // Drawn once Ctrl-C is answered: a person presses it when something is shown.
    progress.bar.enable_steady_tick(TICK);
    progress
}

/// Shows the share of `total` records that is stored, the rate of the last seconds, and the time
/// left for that; [`closing`] comes after it.
pub(crate) fn storing(out: &Output, total: u64) -> Progress {
    let bar = ProgressBar::new(total).with_message("1/2 storing");
    let bar = styled(out, bar, RECORDS);
    let seen = bar.clone();
    let _interrupted = interrupt::telling(move || {
        let done = seen.position();
        interrupted(&format!("{done} of {total} stored"))
    });
    // Without it the rate would stay as it was while nothing moves.
    bar.enable_steady_tick(TICK);
    Progress { bar, _interrupted }
}

/// Shows the number of bytes written, and the rate.
pub(crate) fn bytes(out: &Output, what: &'static str) -> Progress {
    let bar = ProgressBar::no_length().with_message(what);
    Progress::new(styled(out, bar, BYTES), NOTHING_CHANGED.to_owned())
}

/// Closes a store after [`storing`], and shows it while the text index is committed: that may take a
/// third as long as the storing, and longer.
pub(crate) fn closing(out: &Output, store: grainstore::Store) {
    let what = "2/2 closing the text index".to_owned();
    let shown = spinner(out, what, "interrupted: everything is stored");
    drop(store);
    drop(shown);
}

impl Progress {
    fn new(bar: ProgressBar, interrupted: String) -> Self {
        Self {
            bar,
            _interrupted: interrupt::telling(move || interrupted.clone()),
        }
    }
}

impl Deref for Progress {
    type Target = ProgressBar;

    fn deref(&self) -> &ProgressBar {
        &self.bar
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn styled(out: &Output, bar: ProgressBar, template: &str) -> ProgressBar {
    match ProgressStyle::with_template(template) {
        Ok(style) if !out.is_quiet() => bar.with_style(style.with_key("pace", Pace::default())),
        _ => ProgressBar::hidden(),
    }
}

/// The message of Ctrl-C for work that changes no store.
pub(crate) const NOTHING_CHANGED: &str =
    "interrupted: the store is as it was; the same command can be run again";

/// The message of Ctrl-C for work on files that are derived or are written beside their place.
pub(crate) const NOTHING_LOST: &str =
    "interrupted: no grain is lost; the same command can be run again";

/// Returns the message of Ctrl-C for work that stores: how far it is, and what to do.
pub(crate) fn interrupted(stored: &str) -> String {
    format!("interrupted: {stored}. {AGAIN}")
}

const AGAIN: &str = "Run the same command again: what is stored is not stored twice";

const TICK: Duration = Duration::from_millis(120);

const RECORDS: &str = "{msg} {wide_bar} {human_pos}/{human_len} records, {pace}";
const BYTES: &str = "{msg}: {bytes} written, {bytes_per_sec}";
