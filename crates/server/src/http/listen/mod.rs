//! The listener: connections, slow clients, and what is answered when there is no room for them.

mod patient;
mod serving;
mod tls;

pub use serving::{ServeError, Serving, serve};
