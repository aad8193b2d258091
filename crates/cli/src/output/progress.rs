//! Progress of long operations: shown on a terminal, absent from pipes and with `--quiet`.
//!
//! Progress goes to stderr and is never part of a result.

use std::fmt;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use super::stream::Output;

/// Shows a spinner for work of unknown length.
pub(crate) fn spinner(out: &Output, what: String) -> ProgressBar {
    if out.is_quiet() {
        return ProgressBar::hidden();
    }
    let spinner = ProgressBar::new_spinner().with_message(what);
    spinner.enable_steady_tick(Duration::from_millis(120));
    spinner
}

/// Shows the share of `total` grains that is done, the rate, and the time left.
pub(crate) fn bar(out: &Output, what: &'static str, total: u64) -> ProgressBar {
    styled(out, ProgressBar::new(total).with_message(what), GRAINS)
}

/// Shows the number of bytes written, and the rate.
pub(crate) fn bytes(out: &Output, what: &'static str) -> ProgressBar {
    styled(out, ProgressBar::no_length().with_message(what), BYTES)
}

fn styled(out: &Output, bar: ProgressBar, template: &str) -> ProgressBar {
    match ProgressStyle::with_template(template) {
        Ok(style) if !out.is_quiet() => bar.with_style(style.with_key("rate", rate)),
        _ => ProgressBar::hidden(),
    }
}

fn rate(state: &ProgressState, text: &mut dyn fmt::Write) {
    // A bar that cannot be drawn does not fail the command.
    let _ = write!(text, "{:.0}", state.per_sec());
}

const GRAINS: &str = "{msg} {wide_bar} {human_pos}/{human_len} grains, {rate}/s, {eta} left";
const BYTES: &str = "{msg}: {bytes} written, {bytes_per_sec}";
