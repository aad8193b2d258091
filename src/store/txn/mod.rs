//! Transactions: the one way by which an open store appends. A frame takes a grain only with the
//! proof that the table of rules admitted it, and nothing but a transaction appends a frame.

mod actor;
mod admission;
mod append;
mod frame;
mod group;
mod refusal;
#[cfg(feature = "sealing")]
mod seal;
mod transaction;

pub(crate) use actor::actor;
pub(crate) use frame::AdmittedFrame;
pub(crate) use group::put_all;
pub(crate) use refusal::authorize_put;
#[cfg(feature = "interchange")]
pub(crate) use refusal::denial;
pub(crate) use transaction::Transaction;
