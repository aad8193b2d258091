use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::output::Output;

/// Shows that something of unknown length goes on: on a terminal only.
pub(crate) fn spinner(out: &Output, what: String) -> ProgressBar {
    if out.is_quiet() {
        return ProgressBar::hidden();
    }
    let spinner = ProgressBar::new_spinner().with_message(what);
    spinner.enable_steady_tick(Duration::from_millis(120));
    spinner
}

/// Shows how many of `total` grains are done, how fast, and how long the rest takes.
pub(crate) fn bar(out: &Output, what: &'static str, total: u64) -> ProgressBar {
    if out.is_quiet() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(total).with_message(what);
    match ProgressStyle::with_template(GRAINS) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Shows how many of `total` bytes are done, how fast, and how long the rest takes.
pub(crate) fn bytes(out: &Output, what: String) -> ProgressBar {
    if out.is_quiet() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::no_length().with_message(what);
    match ProgressStyle::with_template(BYTES) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

const GRAINS: &str = "{msg} {wide_bar} {human_pos}/{human_len} grains, {per_sec}, {eta} left";
const BYTES: &str = "{msg}: {bytes} written, {bytes_per_sec}";
