//! The parts of requests that HTTP and MCP both take.

mod calendar;
mod filter;
mod moment;

use grainstore::ErrorCode;

pub(crate) use calendar::CalendarBody;
pub(crate) use filter::FilterBody;
pub(crate) use moment::Moment;

/// A value that means nothing, with the code of the library.
#[derive(Debug)]
pub(crate) struct Invalid {
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
}

impl Invalid {
    fn filter(message: impl Into<String>) -> Self {
        Self {
            code: ErrorCode::Filter,
            message: message.into(),
        }
    }
}

impl From<Invalid> for crate::http::Failure {
    fn from(invalid: Invalid) -> Self {
        Self::of(invalid.code, invalid.message)
    }
}

impl From<Invalid> for crate::mcp::Failure {
    fn from(invalid: Invalid) -> Self {
        Self::new(invalid.code, invalid.message)
    }
}
