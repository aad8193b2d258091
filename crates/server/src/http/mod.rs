//! HTTP: the store protocol of OMS 28.4 as JSON, and the AIMEM profile, for callers with a token.
//!
//! Each route is one row of a table (`route`), a plain function from a `Call` to an
//! answer; `dispatch` runs it on a thread that may block, and the description of the interface is
//! made from the same rows (`openapi`). A call reaches the store through the scope of its token
//! alone (`token_scope`). MCP has a route of its own (`mcp`), and so have the files of the inspector
//! (`ui`). The statuses of errors are in `failure`, the listener in `serve`, counters and spans in
//! `telemetry`.

mod answer;
mod api;
mod app;
mod call;
mod dispatch;
mod failure;
mod idempotency;
mod mcp;
mod openapi;
mod position;
mod route;
mod serve;
mod telemetry;
mod token;
mod token_scope;
mod ui;

pub use app::{App, Limits};
pub(crate) use failure::Failure;
pub use failure::status_of;
pub use serve::{ServeError, Serving, serve};
pub use telemetry::{Traces, TracesError};
pub use token::{Grant, IssuedToken, Operation, TokenError, TokenFile, TokenRecord};
pub(crate) use token_scope::TokenScope;
