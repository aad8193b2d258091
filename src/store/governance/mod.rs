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
pub(crate) use clock::{accept_clock, clock_state, repair_clock};
pub(crate) use explain::explain_policy;
pub use explain::{Asked, Explanation};
pub use handoff::{HandedOff, Handoff};
pub(crate) use handoff::{hand_back, hand_off, take_over, thread};
pub use hold::Hold;
pub(crate) use hold::{holds, lift_hold, place_hold};
pub use identity::AgentCard;
pub(crate) use identity::{agent_card, original};
pub use justification::Justification;
#[cfg(feature = "interchange")]
pub(crate) use regime::authorized;
#[cfg(feature = "interchange")]
pub(crate) use regime::holds_on;
#[cfg(feature = "interchange")]
pub(crate) use regime::{is_on_hold, kept_here};
pub(crate) use regime::{recorded, regimes, set, set_regimes};
pub(crate) use report::policy_report;
pub use report::{Article, ClauseReport, Coverage, PolicyReport};
pub(crate) use review::{awaits_review, clear_review, reviews};
#[cfg(feature = "signatures")]
pub(crate) use trust::{distrust, trust, trusted};
#[cfg(feature = "interchange")]
pub(crate) use verification::contradiction;
#[cfg(feature = "interchange")]
pub(crate) use verification::person;
pub(crate) use verification::{contradict, set_verification, set_verification_by, united};
