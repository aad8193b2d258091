//! Governance: who may do what, what protects grains beside their own policy, and how the store
//! stands to the law.

mod authorization;
mod clock;
mod delegation;
mod explain;
mod goal_dependencies;
mod hold;
mod identity;
mod justification;
mod regime;
mod report;
mod review;
mod trust;
mod verification;

pub use clock::ClockState;
pub use explain::{Asked, Explanation};
pub use hold::Hold;
pub use identity::AgentCard;
pub use justification::Justification;
pub(crate) use regime::recorded;
pub use report::{Article, ClauseReport, Coverage, PolicyReport};
pub use review::Review;
pub(crate) use review::requires_review;
