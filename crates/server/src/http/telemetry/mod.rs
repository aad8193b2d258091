//! What operators learn of requests besides the log: counters and spans, without content.

mod metrics;
mod traces;

pub(super) use metrics::Metrics;
pub(super) use traces::{Request, TraceContext};
pub use traces::{Traces, TracesError};
