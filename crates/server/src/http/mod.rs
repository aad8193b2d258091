//! HTTP: the store protocol of OMS 28.4 as JSON, and the AIMEM profile, for callers with a token.
//!
//! Each route is one row of a table (`route`), a plain function from a `Call` to an
//! answer; `dispatch` runs it on a thread that may block, and the description of the interface is
//! made from the same rows (`openapi`). A call reaches the store through the scope of its token
//! alone (`scope`). The statuses of errors are in `failure`, the listener in `serve`.

mod answer;
mod api;
mod app;
mod call;
mod dispatch;
mod failure;
mod idempotency;
mod metrics;
mod openapi;
mod position;
mod route;
mod scope;
mod serve;
mod token;

pub use app::{App, Limits};
pub use failure::status_of;
pub use serve::{ServeError, Serving, serve};
pub use token::{Grant, IssuedToken, Operation, TokenError, TokenFile, TokenRecord};
