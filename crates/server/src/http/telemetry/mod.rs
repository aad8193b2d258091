//! Counters and spans of requests, which operators read besides the log. They have no content.

mod gauges;
mod metrics;
mod traces;

pub(super) use gauges::store_metrics;
pub(super) use metrics::Metrics;
pub(super) use traces::{Request, TraceContext};
pub use traces::{Traces, TracesError};
