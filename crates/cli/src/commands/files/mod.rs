//! Commands that read and write files of other tools: import, export, trees in step, conversion,
//! validation, and the conflicts that imports leave.

mod arrival;
mod conflicts;
mod convert;
mod export;
mod format;
mod import;
mod merge;
mod reading;
pub(crate) mod report;
mod scan;
#[cfg(feature = "sqlite")]
mod sqlite;
mod sync;
mod target;
mod validate;

pub(crate) use conflicts::Conflicts;
pub(crate) use convert::Convert;
pub(crate) use export::Export;
pub(crate) use import::Import;
pub(crate) use merge::Merge;
pub(crate) use scan::Scan;
pub(crate) use sync::Sync;
pub(crate) use validate::Validate;
