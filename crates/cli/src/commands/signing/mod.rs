//! Commands on keys and signatures: DIDs, signed grains, agreements, selective disclosure, trust in
//! signers, and who owns an agent.
//!
//! `did` and `grain` need no store; `trust` and `agent` act on one.

mod agent;
pub(crate) mod agree;
mod cosign;
mod did;
mod disclose;
mod encode;
mod grain;
mod handoff;
mod line_by_line;
mod sign;
mod signer;
mod trust;

pub(crate) use agent::AgentTool;
pub(crate) use did::DidTool;
pub(crate) use grain::GrainTool;
pub(crate) use trust::TrustTool;
