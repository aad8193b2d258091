//! The limits of a server, each with its default.

use std::time::Duration;

/// How much a server takes at a time.
///
/// ```
/// use grainstore_server::http::Limits;
///
/// assert!(Limits::default().body_bytes < Limits::default().file_bytes);
/// ```
#[derive(Debug, Clone)]
pub struct Limits {
    /// The longest JSON body, in bytes.
    pub body_bytes: usize,
    /// The longest file that is imported, in bytes.
    pub file_bytes: usize,
    /// The longest time from the head of a request to the head of its answer.
    pub time: Duration,
    /// The longest time that a client may take for the head of a request.
    pub head_time: Duration,
    /// How long open requests may go on after a signal to end.
    pub closing_time: Duration,
    /// The longest time that a request waits for its turn.
    pub waiting_time: Duration,
    /// How long a client may take nothing of an answer.
    pub reading_time: Duration,
    /// Requests that are under way at a time, until their answers were taken. As of all that is
    /// shared, the tokens of one tenant have three quarters at most.
    pub requests: usize,
    /// Those of one token; of the following it has a half at most.
    pub requests_of_token: usize,
    /// Imports, exports, and what else reads much, at a time.
    pub bulk: usize,
    /// Followers of changes at a time.
    pub feeds: usize,
    /// Calls of the library at a time.
    pub threads: usize,
    /// Open connections.
    pub connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 2 << 20,
            file_bytes: 64 << 20,
            time: Duration::from_secs(30),
            head_time: Duration::from_secs(10),
            closing_time: Duration::from_secs(10),
            waiting_time: Duration::from_secs(5),
            reading_time: Duration::from_secs(30),
            requests: 256,
            requests_of_token: 64,
            bulk: 4,
            feeds: 256,
            threads: 16,
            connections: 16_384,
        }
    }
}
