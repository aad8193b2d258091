//! Questions: filters, plans, pages, and the envelope they are answered in (OMS 28.1, 28.4).
//!
//! `Store::query`, `Store::search` and `Store::export` live here. A question is answered from one
//! snapshot: what is written meanwhile does not show.

mod run_query;
mod condition;
mod cursor;
mod envelope;
mod export;
mod export_file;
mod filter;
mod nearest;
mod plan;
mod scoped;
mod recall;
mod search;
mod sort;
mod export_filter;

mod error;

pub use cursor::Cursor;
pub use envelope::{Envelope, Found};
pub use error::Error;
pub use export::ExportReport;
pub use filter::Filter;
pub use plan::{AccessPath, PlanStep, QueryPlan};
pub use recall::Recall;
pub use sort::{Sort, SortBy};
