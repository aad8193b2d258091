//! The Model Context Protocol: a store as tools, resources and prompts.
//!
//! | what | where |
//! | --- | --- |
//! | one server, its capabilities and how requests reach the tools | `server.rs` |
//! | messages before the first request, stdio | `transport.rs` |
//! | the tools, each in a file | `tools/` |
//! | the confirmation of a deletion by a person | `confirm.rs` |
//! | refusals that a model can read | `failure.rs` |
//! | the size of answers | `budget.rs` |
//! | hidden characters of stored text | `shown.rs` |
//! | resources and prompts | `resources.rs`, `prompts.rs` |
//!
//! Nothing a client sends stops the server, and no refusal of the store is an error of the
//! protocol: it is an answer that names its code and what to do.

mod budget;
mod confirm;
mod failure;
mod prompts;
mod resources;
mod server;
mod shown;
mod tools;
mod transport;

pub use failure::Failure;
pub use server::Server;
pub(crate) use server::SharedThreads;
pub use transport::{ServeError, serve, serve_stdio};
