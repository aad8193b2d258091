//! Closing a store: what is written then saves the next opening more than it costs.

use super::instance::Engine;
#[cfg(feature = "signatures")]
use super::note::note_if_due;
use super::text::close_text;

impl Drop for Engine {
    fn drop(&mut self) {
        close(self);
        if let Some(turns) = &self.peers().turns {
            turns.stop();
        }
    }
}

fn close(engine: &Engine) {
    if let Err(error) = engine.sync() {
        tracing::warn!(%error, "closing without knowing that the last writes are durable");
    }
    #[cfg(feature = "signatures")]
    note_if_due(engine, true);
    if let Some(shared) = &engine.peers().shared {
        shared.settle();
    }
    if !engine.is_keeper() {
        return;
    }
    close_text(engine);
    if let Some(counts) = engine.retrievals()
        && let Err(error) = counts.flush()
    {
        tracing::warn!(%error, "closing without writing the last counts of retrievals");
    }
    let active = engine.index().active_entries();
    if active.end.get() - active.start.get() >= WORTH_A_RUN {
        engine.freeze();
    }
}

/// From this many entries on, writing a run now is cheaper than applying them at every open.
const WORTH_A_RUN: u64 = 4_096;
