//! How the store under test is opened: nothing comes from the machine.
//!
//! Clock and randomness come from the seed, so a run can be replayed.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use grainstore::crypto;
use grainstore::grain::Time;
use grainstore::index::IndexOptions;
use grainstore::store::{Clock, Options};
use grainstore::text;
use parking_lot::Mutex;

use crate::random::Random;

/// Options that depend on nothing but their arguments: `nth` counts the openings of one store.
///
/// Everything that makes files small, so that much happens between few operations, belongs here.
pub(crate) fn options(seed: u64, nth: u64) -> Options {
    let mut random = Random::of(&[seed, 1]);
    let segment_bytes = random.pick(&[700, 1_500, 4_000, 12_000]).copied();
    let flush_rows = random.pick(&[2, 5, 12, 65_536]).copied();
    // Some clocks go backwards between two openings. None leaps by a day in all of them: that would
    // be an entry of its own (ruling I21), of which the model knows nothing.
    let step = random.pick(&[10_000, 0, -10_000]).copied();
    let start = 1_700_000_000_000 + step.unwrap_or(0) * i64::try_from(nth).unwrap_or(0);
    Options {
        clock: Arc::new(Ticks(AtomicI64::new(start))),
        random: Arc::new(Seeded::of(&[seed, 2, nth])),
        segment_bytes: segment_bytes.unwrap_or(1_500),
        index: IndexOptions {
            flush_rows: flush_rows.unwrap_or(5),
            cache_bytes: 1 << 16,
            // A run must depend on the calls alone.
            background: false,
            ..IndexOptions::default()
        },
        text: Some(text::TextOptions {
            background: false,
            ..text::TextOptions::default()
        }),
        ballast_bytes: 0,
        ..Options::default()
    }
}

/// A clock that goes on by a millisecond each time it is read.
#[derive(Debug)]
struct Ticks(AtomicI64);

impl Clock for Ticks {
    fn now(&self) -> Time {
        Time::from_ms(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// Randomness that the seed decides.
#[derive(Debug)]
pub(crate) struct Seeded(Mutex<Random>);

impl Seeded {
    /// Randomness for one purpose.
    pub(crate) fn of(parts: &[u64]) -> Self {
        Self(Mutex::new(Random::of(parts)))
    }
}

impl crypto::Random for Seeded {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), crypto::Error> {
        let mut random = self.0.lock();
        for part in bytes.chunks_mut(8) {
            let drawn = random.next().to_be_bytes();
            for (byte, drawn) in part.iter_mut().zip(drawn) {
                *byte = drawn;
            }
        }
        Ok(())
    }
}
