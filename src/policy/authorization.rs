//! The reason and the authority of a decision about a store or its grains, as callers give them and
//! as records hold them.

use crate::codec::{Map, Value};

/// The reason for a decision about a store or its grains, and the authority it rests on. Both stay
/// in the ledger (ruling I19).
///
/// ```
/// use grainstore::store::Authorization;
/// use grainstore::{Draft, Options, Store};
///
/// let store = Store::in_memory(Options::default())?;
/// let address = store.put(Draft::event("my number is 555 0100"))?;
/// let officer = Authorization { reason: "GDPR Art. 17", authority: "the data protection officer" };
/// store.admin()?.delete(&address, officer)?;
/// assert!(!store.exists(&address)?);
/// assert_eq!(store.search("number", &Default::default(), 10)?.total, 0);
///
/// let address = store.put(Draft::event("the contract was signed"))?;
/// store.admin()?.place_hold(&address, Authorization { reason: "Doe v. Acme", authority: "legal" })?;
/// let anonymous = Authorization { reason: "settled", authority: "" };
/// assert_eq!(store.admin()?.lift_hold(&address, anonymous).unwrap_err().code(), "ERR_AUTHORITY");
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Authorization<'a> {
    /// The reason, in words; it must not repeat deleted content.
    pub reason: &'a str,
    /// The authority that decided: a person, an office, a DID.
    pub authority: &'a str,
}

/// An [`Authorization`] as the ledger keeps it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordedAuthorization {
    /// The reason, in words.
    pub reason: String,
    /// The authority that decided.
    pub authority: String,
}

impl Authorization<'_> {
    /// Returns the authorization as the ledger keeps it; `None` without a reason or an authority,
    /// since such a decision could not be audited.
    pub(crate) fn recorded(self) -> Option<RecordedAuthorization> {
        let is_blank = self.reason.trim().is_empty() || self.authority.trim().is_empty();
        (!is_blank).then(|| RecordedAuthorization {
            reason: self.reason.to_owned(),
            authority: self.authority.to_owned(),
        })
    }
}

impl RecordedAuthorization {
    /// Adds the members of a ledger's record.
    pub(crate) fn write(&self, mut map: Map) -> Map {
        map.insert("why", self.reason.as_str());
        map.insert("by", self.authority.as_str());
        map
    }

    /// Reads them.
    pub(crate) fn read(map: &Map) -> Option<Self> {
        let text = |name: &str| map.get(name).and_then(Value::as_text).map(str::to_owned);
        Some(Self {
            reason: text("why")?,
            authority: text("by")?,
        })
    }
}
