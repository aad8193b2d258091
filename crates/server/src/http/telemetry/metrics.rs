//! Counters of requests by route and status, as Prometheus reads them.
//!
//! They count what all tokens do, so that only a token with `admin` reads them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

#[derive(Debug, Default)]
pub(crate) struct Metrics {
    routes: Mutex<BTreeMap<(&'static str, &'static str, u16), Count>>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Count {
    requests: u64,
    time: Duration,
    /// Requests within each of [`BOUNDS_MS`].
    within: [u64; BOUNDS_MS.len()],
}

impl Metrics {
    pub(crate) fn count(
        &self,
        (method, path): (&'static str, &'static str),
        status: u16,
        took: Duration,
    ) {
        let mut routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        let count = routes.entry((method, path, status)).or_default();
        count.requests = count.requests.saturating_add(1);
        count.time = count.time.saturating_add(took);
        for (within, bound) in count.within.iter_mut().zip(BOUNDS_MS) {
            *within += u64::from(took <= Duration::from_millis(bound));
        }
    }

    /// Returns the counters in the text format of Prometheus.
    pub(crate) fn render(&self, in_flight: usize) -> String {
        let routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::from("# TYPE grainstore_http_requests_in_flight gauge\n");
        // Writing to a string does not fail.
        let _ = writeln!(text, "grainstore_http_requests_in_flight {in_flight}");
        text.push_str("# TYPE grainstore_http_request_duration_seconds histogram\n");
        for ((method, path, status), count) in routes.iter() {
            let name = "grainstore_http_request_duration_seconds";
            let labels = format!("method=\"{method}\",route=\"{path}\",status=\"{status}\"");
            for (within, bound) in count.within.iter().zip(BOUNDS_MS) {
                let bound = Duration::from_millis(bound).as_secs_f64();
                let _ = writeln!(text, "{name}_bucket{{{labels},le=\"{bound}\"}} {within}");
            }
            let _ = writeln!(
                text,
                "{name}_bucket{{{labels},le=\"+Inf\"}} {}",
                count.requests
            );
            let _ = writeln!(text, "{name}_sum{{{labels}}} {}", count.time.as_secs_f64());
            let _ = writeln!(text, "{name}_count{{{labels}}} {}", count.requests);
        }
        text
    }
}

const BOUNDS_MS: [u64; 8] = [1, 5, 10, 50, 100, 500, 1_000, 10_000];
