//! Governance: permissions of callers, protection of grains besides their own policy (holds,
//! reviews, regimes, trust), tasks handed from agent to agent, and the report on laws. Decisions
//! themselves are made in `policy`.

mod clock;
mod explain;
mod handoff;
mod hold;
mod identity;
mod justification;
mod regime;
mod report;
mod review;
#[cfg(feature = "signatures")]
mod trust;
mod verification;

pub use clock::ClockState;
pub use explain::{Asked, Explanation};
pub use handoff::{HandedBack, HandedOff, Handoff};
pub use hold::Hold;
pub use identity::AgentCard;
pub use justification::Justification;
#[cfg(feature = "interchange")]
pub(crate) use regime::authorized;
pub(crate) use regime::recorded;
pub use report::{Article, ClauseReport, Coverage, PolicyReport};
pub use review::Review;
#[cfg(feature = "interchange")]
pub(crate) use verification::contradiction;
pub(crate) use verification::set_verification;
