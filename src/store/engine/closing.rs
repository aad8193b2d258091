//! Closing a store: what is written then saves the next opening more than it costs.

use super::instance::Engine;
#[cfg(feature = "signatures")]
use super::note::note_if_due;
use super::text::close_text;

impl Drop for Engine {
    fn drop(&mut self) {
        if let Err(error) = self.sync() {
            tracing::warn!(%error, "closing without knowing that the last writes are durable");
        }
        #[cfg(feature = "signatures")]
        note_if_due(self, true);
        if let Some(shared) = &self.peers().shared {
            shared.settle();
        }
        if !self.is_keeper() {
            return;
        }
        close_text(self);
        if let Some(counts) = self.retrievals()
            && let Err(error) = counts.flush()
        {
            tracing::warn!(%error, "closing without writing the last counts of retrievals");
        }
        let active = self.index().active_entries();
        if active.end.get() - active.start.get() >= WORTH_A_RUN {
            self.freeze();
        }
    }
}

/// From this many entries on, writing a run now is cheaper than applying them at every open.
const WORTH_A_RUN: u64 = 4_096;
