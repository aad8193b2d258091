//! OAuth 2.1 for `/mcp`, as the protocol asks: an authorization server for one's own store.
//!
//! | what | where |
//! | --- | --- |
//! | what is announced (RFC 8414, RFC 9728), and pages of other origins | `metadata.rs` |
//! | clients, which register themselves and are remembered by nobody (RFC 7591) | `client.rs` |
//! | the page on which a person shows a token and lets a client in, with PKCE | `authorize.rs`, `page.rs` |
//! | codes and tokens | `tokens.rs` |
//!
//! The person proves who they are by a token of `grainstore token add`. The client never sees it: it gets
//! one of its own, with these rights or fewer, that ends with it.

mod authorize;
mod client;
mod metadata;
mod page;
mod tokens;

pub(super) use metadata::{challenge, router, with_cors};
pub(super) use tokens::Codes;
