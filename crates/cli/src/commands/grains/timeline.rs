//! The versions of a lineage as a table, oldest first.
//!
//! Shared by `history` and the demo.

use grainstore::store::Version;

use crate::args::address::short;
use crate::output::Table;

/// Returns a timeline, oldest first.
pub(crate) fn timeline(versions: &[Version], indent: usize) -> Table {
    let mut table = Table::indented(indent);
    for version in versions {
        let status = &version.status;
        let state = match status.superseded_by {
            Some(by) => format!("superseded by {}", short(&by)),
            None if status.is_current() => "current".to_owned(),
            None => "no longer current".to_owned(),
        };
        let time = format!("{}  ", version.grain.event_time());
        table.add(time, &version.grain, &state);
    }
    table
}
