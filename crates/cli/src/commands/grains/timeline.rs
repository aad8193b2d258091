//! The versions of a lineage as a table, oldest first.
//!
//! Shared by `history` and the demo.

use grainstore::store::Version;

use crate::args::address::short;
use crate::commands::browse::minute;
use crate::output::{Table, width};

/// Returns a timeline, oldest first.
pub(crate) fn timeline(versions: &[Version], indent: usize) -> Table {
    let mut table = Table::indented(indent);
    let is_narrow = width() < WIDE;
    for version in versions {
        let status = &version.status;
        let state = match status.superseded_by {
            Some(_) if is_narrow => "superseded".to_owned(),
            Some(by) => format!("superseded by {}", short(&by)),
            None if status.is_current() => "current".to_owned(),
            None => "no longer current".to_owned(),
        };
        let time = version.grain.event_time();
        let time = match is_narrow {
            true => format!("{}  ", minute(time)),
            false => format!("{time}  "),
        };
        table.add(time, &version.grain, &state);
    }
    table
}

/// The width at which a version fits beside its whole time and the address of its successor.
const WIDE: usize = 100;
