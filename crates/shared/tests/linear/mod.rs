//! Histories of concurrent clients, and whether one register for each address could have given them.
//!
//! | question | file |
//! | --- | --- |
//! | whether a history has an order that its answers allow (Wing and Gong) | `checker.rs` |
//! | how one address behaves | `register.rs` |
//! | how operations are written down, and by which reader an answer may be old | `history.rs` |
//! | clients that draw operations, and keep one history | `clients.rs` |

pub(crate) mod checker;
pub(crate) mod clients;
pub(crate) mod history;
#[path = "../../../replica/tests/it/random.rs"]
pub(crate) mod random;
pub(crate) mod register;
