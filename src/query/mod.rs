//! Queries: filters, plans, sort orders, pages, export, and the result envelope (OMS 28.1, 28.4).
//!
//! `Store::query`, `Store::find`, `Store::recall` and `Admin::export` are implemented here. Each
//! is evaluated on one snapshot, so concurrent writes do not show. The room decides what a caller
//! may see in a result; it changes no state but access counters and the audit of reads.

mod run_query;
use crate::store::Error;

mod changes;
mod condition;
#[cfg(feature = "interchange")]
mod consolidate;
mod cursor;
#[cfg(feature = "text")]
mod dated;
#[cfg(any(feature = "text", feature = "interchange"))]
mod day;
#[cfg(feature = "interchange")]
mod export;
mod filter;
mod groups;
mod names;
mod page;
mod plan;
#[cfg(feature = "text")]
mod recall;
mod search;
mod sort;
mod visible;
#[cfg(feature = "text")]
mod when;

pub use changes::Changes;
pub(crate) use changes::changes;
#[cfg(feature = "interchange")]
pub use consolidate::{CONSOLIDATION_TAG, Consolidated, Consolidation};
#[cfg(feature = "interchange")]
pub(crate) use consolidate::{consolidate, undo_consolidation};
pub use cursor::Cursor;
#[cfg(feature = "interchange")]
pub use export::ExportReport;
#[cfg(feature = "interchange")]
pub(crate) use export::{export, export_file, sync_tree};
pub use filter::Filter;
pub(crate) use groups::groups;
pub(crate) use names::also_believed;
pub use page::{Found, Page};
pub(crate) use plan::explain;
pub use plan::{PlanStep, QueryPlan};
#[cfg(feature = "text")]
pub use recall::Recall;
#[cfg(feature = "text")]
pub(crate) use recall::recall;
pub(crate) use run_query::{pages, query};
pub use search::Search;
pub(crate) use search::find;
pub use sort::{Sort, SortBy};
#[cfg(feature = "text")]
pub use when::period;
