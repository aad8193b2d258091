//! The rules for a new grain: one table of which rule holds for which way in, and the function that
//! asks them. A rule is a function of the view; a change of a stored grain is decided by
//! `policy::decide`.

mod admit;
mod changes;
mod consent;
mod goals;
mod implicit;
mod links;
mod regimes;
mod review;
mod signature;
mod stored;
mod table;
mod trust;
mod turn;

pub(crate) use admit::{Admitted, Proposed, admit};
pub(crate) use changes::{Deed, Guard, Permit};
pub(crate) use consent::{has_consequences, record_consequences};
pub(crate) use implicit::non_superseding_parents;
pub(crate) use regimes::{kept_by, required_reason};
pub(crate) use review::{authorize_unreviewed, requires_review};
pub(crate) use signature::stronger_signature;
#[cfg(feature = "interchange")]
pub(crate) use stored::{was_deleted, was_named, was_said};
pub(crate) use table::Way;
pub use table::describe;
pub(crate) use trust::{authorize_signers, authorize_successor};
pub(crate) use turn::Turn;
