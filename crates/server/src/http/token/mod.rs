//! Bearer tokens: what one may do (`grant`), the file of the operator that lists them (`file`), and
//! how a running server looks one up (`current`).
//!
//! A token is not in the ledger: it is access to this machine, not memory.

mod current;
mod delegated;
mod error;
mod file;
mod folder;
mod grant;

pub(crate) use current::{Holder, Tokens};
pub(crate) use delegated::{ACCESS_MS, Client as Delegate, Pair};
pub use error::TokenError;
pub use file::{IssuedToken, TokenFile, TokenRecord};
pub(crate) use folder::Open;
pub use grant::{Grant, Operation};
