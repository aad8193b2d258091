//! The owner of an agent as a value (OMS 12.5.1), and the relations that name one.
//!
//! Whether a grain may state an owner is judged in `policy`.

use crate::codec::Map;

/// The owner of an agent: a LegalEntity (OMS 12.5.1).
///
/// ```
/// use grainstore::Draft;
/// use grainstore::grain::{Owner, OwnerKind, Time};
///
/// let owner = Owner {
///     jurisdiction: Some("US-DE".into()),
///     did: Some("did:web:acmelabs.io".into()),
///     ..Owner::new(OwnerKind::Org, "Acme Labs LLC")
/// };
/// let draft = Draft::ownership("did:web:acmelabs.io:agents:7", &owner, "did:web:acmelabs.io");
/// let grain = draft.created_at(Time::from_ms(1)).finish(Default::default())?;
/// assert_eq!(grain.text("object"), Some("Acme Labs LLC"));
/// assert!(grain.is_signed(), "it is to be signed");
/// # Ok::<(), grainstore::grain::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// A person, or an organisation.
    pub kind: OwnerKind,
    /// The registered legal name.
    pub name: String,
    /// The legal structure of an organisation (OMS 12.5.2; an open list).
    pub entity_form: Option<String>,
    /// ISO 3166-2.
    pub jurisdiction: Option<String>,
    /// The registration, with its kind before it: `EIN:47-1234567`.
    pub reg_id: Option<String>,
    /// The owner's DID.
    pub did: Option<String>,
}

/// The kind of an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnerKind {
    /// A natural person.
    Human,
    /// A juridical person.
    Org,
}

impl Owner {
    /// Names an owner, without further details.
    pub fn new(kind: OwnerKind, name: impl Into<String>) -> Self {
        Self {
            kind,
            name: name.into(),
            entity_form: None,
            jurisdiction: None,
            reg_id: None,
            did: None,
        }
    }

    pub(super) fn to_map(&self) -> Map {
        let kind = match self.kind {
            OwnerKind::Human => "human",
            OwnerKind::Org => "org",
        };
        let mut map = Map::from_iter([("type", kind), ("name", self.name.as_str())]);
        let rest = [
            ("entity_form", &self.entity_form),
            ("jurisdiction", &self.jurisdiction),
            ("reg_id", &self.reg_id),
            ("did", &self.did),
        ];
        for (name, text) in rest {
            if let Some(text) = text {
                map.insert(name, text.as_str());
            }
        }
        map
    }
}

/// The relation of ownership grains (ruling T6), that of capabilities (OMS 28.5), and where both
/// stand.
pub(crate) const OWNED_BY: &str = "mg:owned_by";
pub(crate) const HAS_CAPABILITY: &str = "mg:has_capability";
pub(crate) const IDENTITY: &str = "agent:identity";
