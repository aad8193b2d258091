//! The identity of an agent: its owner and its capabilities (OMS 12.5.3, 28.5), and the original of
//! a disclosed view (OMS 10.4).

use crate::codec::ContentAddress;
use crate::grain::{Grain, HAS_CAPABILITY, IDENTITY, OWNED_BY};
use crate::index::{Family, Pattern, Snapshot};
use crate::policy::{self, Trust};

use crate::store::instance::Inner;
use crate::store::{Error, Signature, Store, Version};

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

/// The strength of a claim; a stronger claim is greater.
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
        let capabilities = self.inner.identity(&snapshot, agent, HAS_CAPABILITY)?;
        let mut card = AgentCard {
            capabilities: self.keep_shown(&snapshot, capabilities)?,
            ..AgentCard::default()
        };
        let owners = self.inner.owners(&snapshot, agent)?;
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

impl Inner {
    /// OMS 12.5.3: an agent has one ownership claim. A put accepts a second one only if it is
    /// stronger: an unsigned claim that came first must not block the owner's. The claim that it
    /// supersedes by name is not another.
    pub(crate) fn authorize_owner_claim<'a>(
        &self,
        snapshot: &Snapshot,
        grain: &Grain,
        pending: impl Iterator<Item = &'a Grain>,
        replaces: &dyn Fn(&ContentAddress) -> bool,
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
        let mut claims = stored
            .chain(pending)
            .filter(|(address, _)| !replaces(address));
        match claims.find(|(_, stands)| *stands >= weight(grain)) {
            Some((address, _)) => Err(Error::ImplicitSupersession { address }),
            None => Ok(()),
        }
    }

    /// Refuses an ownership claim that violates the specification, or that the agent makes under
    /// another name of its key (ruling P11).
    pub(crate) fn refuse_false_owner(&self, grain: &Grain) -> Result<(), Error> {
        let checked = policy::check_ownership(grain);
        let checked = checked.and_then(|()| match self.is_own_claim(grain) {
            true => Err("an agent cannot say itself who owns it"),
            false => Ok(()),
        });
        checked.map_err(|reason| Error::Ownership { reason })
    }

    fn is_own_claim(&self, grain: &Grain) -> bool {
        if !policy::is_ownership(grain) {
            return false;
        }
        let keys = |name| {
            grain
                .text(name)
                .map_or_else(Vec::new, |did| self.keys_of(did))
        };
        let own = keys("subject");
        keys("author_did").iter().any(|key| own.contains(key))
    }

    fn owners(&self, snapshot: &Snapshot, agent: &str) -> Result<Vec<Version>, Error> {
        let mut owners = self.identity(snapshot, agent, OWNED_BY)?;
        // A grain from an import may be an invalid claim.
        owners.retain(|claim| self.refuse_false_owner(&claim.grain).is_ok());
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
            // The index holds hashes of texts.
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
