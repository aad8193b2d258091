//! The state of the store, as Prometheus reads it.

use std::fmt::Write;

use grainstore::{Error, Store};

/// Returns how much is in a store and what waits in it, in the text format of Prometheus.
///
/// # Errors
/// Storage errors.
pub(crate) fn store_metrics(store: &Store, disk_free: Option<u64>) -> Result<String, Error> {
    let (stats, admin) = (store.maintenance()?.stats()?, store.admin()?);
    let waiting = stats.embedders.iter().map(|model| model.waiting).sum();
    let reviews = admin.reviews()?.len();
    let due = admin.pending_erasures()?.len();
    let backup = stats.last_backup.map_or(0, |at| at.ms() / 1_000);
    let gauges: [(&str, u64); 11] = [
        ("grains", stats.grains),
        ("grains_current", stats.current),
        ("entries", stats.entries),
        ("ledger_bytes", stats.ledger_bytes),
        ("index_bytes", stats.index_bytes),
        (
            "text_unavailable",
            u64::from(stats.text_unavailable.is_some()),
        ),
        ("text_uncommitted", stats.text_uncommitted),
        ("embeddings_waiting", waiting),
        ("reviews_open", reviews as u64),
        (
            "erasures_due",
            stats.erasures_waiting.saturating_add(due as u64),
        ),
        // 0: never, as far as the store knows.
        (
            "last_backup_timestamp_seconds",
            u64::try_from(backup).unwrap_or(0),
        ),
    ];
    // Only where the system tells it.
    let gauges = gauges
        .into_iter()
        .chain(disk_free.map(|free| ("disk_free_bytes", free)));
    let mut text = String::new();
    for (name, value) in gauges {
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "# TYPE grainstore_{name} gauge\ngrainstore_{name} {value}\n"
        );
    }
    Ok(text)
}
