//! The rules of consent (OMS 8.10): which grains may be stored, the effects of a withdrawal, and the
//! rows that rest on withdrawn consents. A consent that a namespace demands is judged in `demand`.

use std::sync::Arc;

use crate::index::RowSet;
use crate::store::Error;
use crate::store::engine::Engine;

/// Returns the rows that rest on withdrawn consents now, also for a query about an earlier
/// time.
pub(super) fn withdrawn_rows(engine: &Engine) -> Result<Arc<RowSet>, Error> {
    engine.caches().withdrawn.get_or(|| {
        let mut rows = RowSet::default();
        for (_, _, resting) in engine.as_of(&engine.snapshot()).cascades()? {
            resting.iter().for_each(|row| rows.insert(row));
        }
        Ok(rows)
    })
}
