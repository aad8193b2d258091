//! The identity of an agent: its owner and its capabilities (OMS 12.5.3, 28.5), and the original of
//! a disclosed view (OMS 10.4).

use crate::codec::ContentAddress;
use crate::grain::{Grain, HAS_CAPABILITY};
use crate::index::Snapshot;
use crate::store::read::{get, keep_readable, read_recorder};
use crate::store::view::{Version, Weight};
use crate::store::{Access, Error};

/// The stored owner and capabilities of an agent (OMS 12.5.3, 28.5).
#[derive(Debug, Clone, Default)]
pub struct AgentCard {
    /// The authoritative ownership grain: of the current ones, the one with the strongest
    /// signature; among equals, the first.
    pub owner: Option<Version>,
    /// The other ownership claims about the agent.
    pub other_owners: Vec<Version>,
    /// The claimed capabilities of the agent, oldest first.
    pub capabilities: Vec<Version>,
}

/// See [`Store::agent_card`](crate::Store::agent_card).
pub(crate) fn agent_card(store: &Access, agent: &str) -> Result<AgentCard, Error> {
    let snapshot = store.snapshot();
    let capabilities = store
        .engine
        .as_of(&snapshot)
        .identity(agent, HAS_CAPABILITY)?;
    let mut card = AgentCard {
        capabilities: keep_shown(store, &snapshot, capabilities)?,
        ..AgentCard::default()
    };
    let owners = store.engine.as_of(&snapshot).owners(agent)?;
    let mut owners = keep_shown(store, &snapshot, owners)?;
    // The sort is stable: among equals, the first that was stored stays first.
    owners.sort_by_key(|claim| std::cmp::Reverse(Weight::of(claim.signature.as_ref())));
    let mut owners = owners.into_iter();
    card.owner = owners.next();
    card.other_owners = owners.collect();
    let versions = card.owner.iter().chain(&card.other_owners);
    let versions = versions.chain(&card.capabilities);
    let grains = versions.map(|version| &version.grain);
    read_recorder(store, "agent_card").all(grains)?;
    Ok(card)
}

/// Leaves out grains that the handle does not see or may not read.
fn keep_shown(
    store: &Access,
    snapshot: &Snapshot,
    versions: Vec<Version>,
) -> Result<Vec<Version>, Error> {
    let mut shown = Vec::with_capacity(versions.len());
    for version in keep_readable(store, snapshot, versions)? {
        if store.sees(snapshot, &version.grain)? {
            shown.push(version);
        }
    }
    Ok(shown)
}

/// See [`original`](crate::original).
pub(crate) fn original(store: &Access, view: &Grain) -> Result<Option<Grain>, Error> {
    let named = view.text("_disclosure_of");
    let address = named.and_then(|text| ContentAddress::from_reference(text).ok());
    match address {
        Some(address) => get(store, &address),
        None => Ok(None),
    }
}
