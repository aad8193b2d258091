//! The identity of an agent: its owner and its capabilities (OMS 12.5.3, 28.5), and the original of
//! a disclosed view (OMS 10.4).

use crate::codec::ContentAddress;
use crate::grain::{Grain, HAS_CAPABILITY};
use crate::index::Snapshot;
use crate::store::view::{Version, Weight};
use crate::store::{Error, Store};

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

impl Store {
    /// Returns the card of an agent, by its DID, as far as it may be read: where the namespace
    /// requires consent, only grains that rest on one (OMS 8.10).
    ///
    /// ```
    /// use grainstore::crypto::{Algorithm, OsRandom, SigningKey};
    /// use grainstore::grain::{Owner, OwnerKind, Time};
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let operator = SigningKey::generate(Algorithm::Ed25519, &OsRandom)?;
    /// let agent = "did:web:example.com:agents:7";
    /// let owner = Owner::new(OwnerKind::Org, "Example Corp");
    /// let draft = Draft::ownership(agent, &owner, operator.did().as_str());
    /// let grain = draft.created_at(Time::from_ms(1)).finish(Default::default())?;
    /// store.put(grain.sign(&operator, &operator.did(), None)?)?;
    /// let card = store.agent_card(agent)?;
    /// assert_eq!(card.owner.unwrap().grain.text("object"), Some("Example Corp"));
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// Storage errors.
    pub fn agent_card(&self, agent: &str) -> Result<AgentCard, Error> {
        let snapshot = self.snapshot();
        let capabilities = self
            .engine
            .as_of(&snapshot)
            .identity(agent, HAS_CAPABILITY)?;
        let mut card = AgentCard {
            capabilities: self.keep_shown(&snapshot, capabilities)?,
            ..AgentCard::default()
        };
        let owners = self.engine.as_of(&snapshot).owners(agent)?;
        let mut owners = self.keep_shown(&snapshot, owners)?;
        // The sort is stable: among equals, the first that was stored stays first.
        owners.sort_by_key(|claim| std::cmp::Reverse(Weight::of(claim.signature.as_ref())));
        let mut owners = owners.into_iter();
        card.owner = owners.next();
        card.other_owners = owners.collect();
        let versions = card.owner.iter().chain(&card.other_owners);
        let versions = versions.chain(&card.capabilities);
        let grains = versions.map(|version| &version.grain);
        self.read_recorder("agent_card").all(grains)?;
        Ok(card)
    }

    /// Leaves out grains that the handle does not see or may not read.
    fn keep_shown(
        &self,
        snapshot: &Snapshot,
        versions: Vec<Version>,
    ) -> Result<Vec<Version>, Error> {
        let mut shown = Vec::with_capacity(versions.len());
        for version in self.keep_readable(snapshot, versions)? {
            if self.sees(snapshot, &version.grain)? {
                shown.push(version);
            }
        }
        Ok(shown)
    }

    /// Returns the original of a disclosed view if it is stored (OMS 10.4) and the handle may read
    /// it.
    ///
    /// ```
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let address = store.put(Draft::belief("alice", "works_at", "ACME").confidence(1.0))?;
    /// let (view, _) = store.get(&address)?.unwrap().disclose(&["subject"])?;
    /// assert_eq!(store.put(view.clone()).unwrap_err().code(), "ERR_VIEW");
    /// assert_eq!(store.original(&view)?.map(|grain| grain.address()), Some(address));
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Store::get`].
    pub fn original(&self, view: &Grain) -> Result<Option<Grain>, Error> {
        let named = view.text("_disclosure_of");
        let address = named.and_then(|text| ContentAddress::from_reference(text).ok());
        match address {
            Some(address) => self.get(&address),
            None => Ok(None),
        }
    }
}
