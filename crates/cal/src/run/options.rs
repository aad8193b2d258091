//! The circumstances of a statement: the user, the moment, the parameters.

use std::sync::Arc;
use std::time::Duration;

use grainstore::Time;
use serde_json::{Map, Value};

use crate::host::Host;

/// The user of a statement, its moment, and the values of its parameters.
///
/// ```
/// use grainstore::Time;
/// use grainstore_cal::Options;
///
/// let options = Options::at(Time::from_ms(1_768_471_200_000)).parameter("who", "alice");
/// assert_eq!(options.parameters["who"], "alice");
/// ```
#[derive(Debug, Clone)]
pub struct Options {
    /// The moment to which words such as "yesterday" refer.
    pub now: Time,
    /// The user of MY, where the handle is not that of a person.
    pub user: Option<String>,
    /// The values of the parameters, by their names without the sign.
    pub parameters: Map<String, Value>,
    /// How long a statement may take (CAL-E031).
    pub timeout: Duration,
    /// How many bytes of grains a statement may hold (CAL-E030).
    pub bytes_max: usize,
    /// Whether an ASSEMBLE without FORMAT is written as TOON where it would use more than 85 % of its
    /// budget (CAL-W005).
    pub auto_toon: bool,
    /// The host, which keeps templates between statements; without it none is kept.
    pub host: Option<Arc<Host>>,
}

impl Options {
    /// Returns the options of a moment: no parameters, 5 seconds, 256 MiB.
    pub fn at(now: Time) -> Self {
        Self {
            now,
            user: None,
            parameters: Map::new(),
            timeout: Duration::from_secs(5),
            bytes_max: 256 << 20,
            auto_toon: false,
            host: None,
        }
    }

    /// Adds the value of a parameter.
    #[must_use]
    pub fn parameter(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.parameters.insert(name.to_owned(), value.into());
        self
    }
}
