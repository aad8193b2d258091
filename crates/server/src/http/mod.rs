//! HTTP: the store protocol of OMS 28.4 as JSON, and the AIMEM profile, for callers with a token.
//!
//! Each route is one row of a table (`route`), a plain function from a `Call` to an
//! answer; `dispatch` runs it on a thread that may block, and the description of the interface is
//! made from the same rows (`openapi`). A call reaches the store through the scope of its token
//! alone (`token_scope`). MCP has a route of its own (`mcp`), and so have the files of the inspector
//! (`ui`). The statuses of errors are in `failure`, the listener in `listen`, what callers share in
//! `load`, counters and spans in
//! `telemetry`.

mod answer;
mod api;
mod app;
mod call;
mod dispatch;
mod failure;
mod idempotency;
mod listen;
mod load;
mod mcp;
mod oauth;
mod openapi;
mod position;
mod route;
mod site;
mod telemetry;
mod token;
mod token_scope;
mod ui;
mod upload;

pub(crate) use answer::{ANSWER_LEN_MAX, bounded};
pub use app::App;
pub(crate) use failure::Failure;
pub use failure::status_of;
pub use listen::{ServeError, Serving, serve};
pub use load::Limits;
pub(crate) use load::{Caller, Places};
pub use site::{Site, SiteError};
pub use telemetry::{Traces, TracesError};
pub use token::{Grant, IssuedToken, Operation, TokenError, TokenFile, TokenRecord};
pub(crate) use token_scope::TokenScope;
