//! The events that the library reports while it works: on stderr with `-v` or `RUST_LOG`, and as a line on a
//! terminal while a store takes long to open.
//!
//! Its events have numbers, names of files and errors, and no content of grains. Events of other
//! crates, which may have some, are left out whatever `RUST_LOG` says.

use std::fmt;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use grainstore::ErrorCode;
use indicatif::ProgressBar;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::filter::{FilterFn, Targets, filter_fn};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use crate::error::CliError;
use crate::output::Output;

/// Starts writing events to stderr as `RUST_LOG` says, or all of them with `-v`.
///
/// # Errors
/// `ERR_USAGE` for a `RUST_LOG` that is no list of targets and levels.
pub(crate) fn start(is_verbose: bool) -> Result<(), CliError> {
    let named = std::env::var_os("RUST_LOG").and_then(|it| it.into_string().ok());
    let named = named.filter(|it| !it.is_empty());
    let levels = match (&named, is_verbose) {
        (Some(levels), _) => levels.as_str(),
        (None, true) => "debug",
        (None, false) => "off",
    };
    let targets: Targets = levels.parse().map_err(|error| {
        let message = format!("RUST_LOG: {error}");
        CliError::new(ErrorCode::Usage, message)
            .advising("levels are error, warn, info, debug and trace: RUST_LOG=grainstore=debug")
    })?;
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(false)
        .with_filter(targets)
        .with_filter(ours(|_| true));
    let steps = Steps.with_filter(ours(|event| *event.level() == Level::INFO));
    let started = tracing_subscriber::registry()
        .with(lines)
        .with(steps)
        .try_init();
    started.map_err(|error| CliError::new(ErrorCode::Usage, error))
}

/// Passes events of grainstore alone, of those the ones that `passes` does.
fn ours(passes: fn(&Metadata<'_>) -> bool) -> FilterFn<impl Fn(&Metadata<'_>) -> bool> {
    filter_fn(move |event| event.target().starts_with("grainstore") && passes(event))
}

/// Shows the steps of opening a store that takes long, until this is dropped.
#[derive(Debug)]
pub(crate) struct Opening(Instant);

/// The part of an opening that is shown.
enum Shown {
    /// The name of the store; no step has taken long so far.
    Name(String),
    Step(ProgressBar, String),
}

impl Opening {
    /// Begins to show the steps of opening the store of this name.
    pub(crate) fn of(name: String, out: &Output) -> Self {
        *current() = (!out.is_quiet()).then_some(Shown::Name(name));
        Self(Instant::now())
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        let ms = self.0.elapsed().as_millis();
        tracing::debug!(ms, "the store is open, or could not be opened");
        if let Some(Shown::Step(bar, _)) = current().take() {
            bar.finish_and_clear();
        }
    }
}

fn current() -> std::sync::MutexGuard<'static, Option<Shown>> {
    OPENING.lock().unwrap_or_else(PoisonError::into_inner)
}

static OPENING: Mutex<Option<Shown>> = Mutex::new(None);

/// Shows each step that the library announces.
struct Steps;

impl<S: Subscriber> Layer<S> for Steps {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut said = Said::default();
        event.record(&mut said);
        let step = |name: &str| format!("opening {name}: {}", said.0);
        let mut opening = current();
        let (bar, name) = match opening.take() {
            None => return,
            Some(Shown::Step(bar, name)) => {
                bar.set_message(step(&name));
                (bar, name)
            }
            Some(Shown::Name(name)) => {
                let bar = ProgressBar::new_spinner().with_message(step(&name));
                bar.enable_steady_tick(TICK);
                (bar, name)
            }
        };
        *opening = Some(Shown::Step(bar, name));
    }
}

/// The message of an event.
#[derive(Default)]
struct Said(String);

impl Visit for Said {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

const TICK: Duration = Duration::from_millis(120);
