//! Queries: filters, plans, sort orders, pages, export, and the result envelope (OMS 28.1, 28.4).
//!
//! `Store::query`, `Store::search`, `Store::recall` and `Admin::export` are implemented here. Each
//! is evaluated on one snapshot, so concurrent writes do not show. The room decides what a caller
//! may see in a result; it changes no state but access counters and the audit of reads.

mod run_query;
use crate::store::Error;

#[cfg(feature = "text")]
mod alias;
mod changes;
mod condition;
mod cursor;
#[cfg(feature = "text")]
mod dated;
mod envelope;
#[cfg(feature = "interchange")]
mod export;
mod filter;
#[cfg(feature = "text")]
mod hybrid;
mod nearest;
mod plan;
#[cfg(feature = "text")]
mod recall;
#[cfg(feature = "text")]
mod search;
mod sort;
mod visible;
#[cfg(feature = "text")]
mod when;

pub use changes::Changes;
pub use cursor::Cursor;
pub use envelope::{Envelope, Found};
#[cfg(feature = "interchange")]
pub use export::ExportReport;
pub use filter::Filter;
pub use plan::{AccessPath, PlanStep, QueryPlan};
#[cfg(feature = "text")]
pub use recall::Recall;
pub use sort::{Sort, SortBy};
