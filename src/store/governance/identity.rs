//! What a store knows of an agent: its owner and its capabilities (OMS 12.5.3, 28.5).

use crate::codec::ContentAddress;
use crate::grain::{Grain, HAS_CAPABILITY, IDENTITY, OWNED_BY};
use crate::index::{Family, Pattern, Snapshot};
use crate::policy::{self, Trust};

use crate::store::instance::Inner;
use crate::store::{Error, Signature, Store, Version};

/// What a store knows of an agent: whom it belongs to and what it can do (OMS 12.5.3, 28.5).
#[derive(Debug, Clone, Default)]
pub struct AgentCard {
    /// The authoritative ownership grain: of those that are current, the one with the strongest
    /// signature, and of equals the first.
    pub owner: Option<Version>,
    /// What else claims to say who owns the agent.
    pub other_owners: Vec<Version>,
    /// What the agent is said to be able to do, oldest first.
    pub capabilities: Vec<Version>,
}

/// How much stands behind a claim; the more the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    Unsigned,
    Signed,
    Verified,
}

impl Weight {
    const fn of(signature: Option<&Signature>) -> Self {
        match signature {
            None => Self::Unsigned,
            Some(Signature {
                trust: Trust::Verified,
                ..
            }) => Self::Verified,
            Some(_) => Self::Signed,
        }
    }
}

impl Store {
    /// Returns what is known of an agent, by its DID, as far as it may be read: where the namespace
    /// demands consent, only what rests on one (OMS 8.10).
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
        let capabilities = self.inner.identity(&snapshot, agent, HAS_CAPABILITY)?;
        let mut card = AgentCard {
            capabilities: self.keep_shown(&snapshot, capabilities)?,
            ..AgentCard::default()
        };
        let owners = self.inner.owners(&snapshot, agent)?;
        let mut owners = self.keep_shown(&snapshot, owners)?;
        // The sort is stable: of equals the first that was stored stays first.
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

    /// Leaves out what the handle does not see, and what may not be read.
    fn keep_shown(
        &self,
        snapshot: &Snapshot,
        versions: Vec<Version>,
    ) -> Result<Vec<Version>, Error> {
        let mut shown = Vec::with_capacity(versions.len());
        for version in self.inner.keep_readable(snapshot, versions)? {
            if self.sees(snapshot, &version.grain)? {
                shown.push(version);
            }
        }
        Ok(shown)
    }
}

impl Inner {
    /// OMS 12.5.3: who owns an agent is said once. Only a stronger claim comes in beside another
    /// by putting it: whoever is first with a claim nobody signed must not keep the owner's out.
    pub(crate) fn authorize_owner_claim<'a>(
        &self,
        snapshot: &Snapshot,
        grain: &Grain,
        pending: impl Iterator<Item = &'a Grain>,
    ) -> Result<(), Error> {
        if !policy::is_ownership(grain) {
            return Ok(());
        }
        let weight = |grain: &Grain| Weight::of(self.signature_of(grain).as_ref());
        let subject = grain.text("subject").unwrap_or_default();
        let is_same =
            |other: &&Grain| policy::is_ownership(other) && other.text("subject") == Some(subject);
        let stored = self.owners(snapshot, subject)?;
        let stored = stored
            .iter()
            .map(|claim| (claim.grain.address(), weight(&claim.grain)));
        let pending = pending.filter(is_same);
        let pending = pending.map(|claim| (claim.address(), weight(claim)));
        let mut claims = stored.chain(pending);
        match claims.find(|(_, stands)| *stands >= weight(grain)) {
            Some((address, _)) => Err(Error::ImplicitSupersession { address }),
            None => Ok(()),
        }
    }

    /// Refuses what says who owns an agent and is not what the specification asks of it.
    pub(crate) fn refuse_false_owner(grain: &Grain) -> Result<(), Error> {
        policy::check_ownership(grain).map_err(|reason| Error::Ownership { reason })
    }

    fn owners(&self, snapshot: &Snapshot, agent: &str) -> Result<Vec<Version>, Error> {
        let mut owners = self.identity(snapshot, agent, OWNED_BY)?;
        // What an import kept from elsewhere may be no more than a claim.
        owners.retain(|claim| policy::check_ownership(&claim.grain).is_ok());
        Ok(owners)
    }

    /// Returns the current beliefs about an agent with a relation, oldest first.
    fn identity(
        &self,
        snapshot: &Snapshot,
        agent: &str,
        relation: &str,
    ) -> Result<Vec<Version>, Error> {
        let pattern = Pattern {
            subject: Some(agent),
            relation: Some(relation),
            object: None,
        };
        let mut rows = snapshot.triples(&pattern).rows()?;
        rows.intersect(&snapshot.with_text(Family::Namespace, IDENTITY).rows()?);
        let mut found = Vec::new();
        for row in rows.iter().filter(|row| snapshot.is_current(*row)) {
            let version = self.version_at(snapshot, row)?;
            // The index knows texts by their hashes.
            let text = |name: &str| version.grain.text(name);
            if text("subject") == Some(agent) && text("relation") == Some(relation) {
                found.push(version);
            }
        }
        Ok(found)
    }

    /// Ruling S13: a view stands for its original, and is no grain of its own.
    pub(crate) fn refuse_view(grain: &Grain) -> Result<(), Error> {
        match grain.field("_disclosure_of") {
            Some(_) => Err(Error::View {
                address: grain.address(),
            }),
            None => Ok(()),
        }
    }
}

impl Store {
    /// Returns the original of a disclosed view where it is here (OMS 10.4): the original speaks,
    /// to whoever may read it, and not the view.
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
