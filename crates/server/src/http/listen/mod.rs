//! The listener: connections, slow clients, and what is answered when there is no room for them.

mod patient;
mod serving;

pub use serving::{ServeError, Serving, serve};
