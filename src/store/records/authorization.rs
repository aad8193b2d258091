use crate::codec::{Map, Value};

use crate::store::Error;

/// Why something is decided about a store or its grains, and on whose authority. Both stay in the
/// ledger.
///
/// ```
/// use grainstore::store::Mandate;
/// use grainstore::{Draft, Options, Store};
///
/// let store = Store::in_memory(Options::default())?;
/// let address = store.put(Draft::event("the contract was signed"))?;
/// store.place_hold(&address, Mandate { reason: "Doe v. Acme", authority: "legal" })?;
/// let nobody = Mandate { reason: "settled", authority: "" };
/// assert_eq!(store.lift_hold(&address, nobody).unwrap_err().code(), "ERR_AUTHORITY");
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mandate<'a> {
    /// Why, in words.
    pub reason: &'a str,
    /// Who decided it: a person, an office, a DID.
    pub authority: &'a str,
}

/// A mandate as an entry keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// Why, in words.
    pub reason: String,
    /// Who decided it.
    pub authority: String,
}

impl Mandate<'_> {
    /// Refuses one that says nothing: what is decided by nobody for no reason cannot be audited.
    pub(crate) fn check(self) -> Result<Self, Error> {
        if self.reason.trim().is_empty() || self.authority.trim().is_empty() {
            return Err(Error::NoMandate);
        }
        Ok(self)
    }

    pub(crate) fn write(self, map: &mut Map) {
        map.insert("why", self.reason);
        map.insert("by", self.authority);
    }
}

impl Decided {
    pub(crate) fn read(map: &Map) -> Option<Self> {
        let text = |key: &str| map.get(key).and_then(Value::as_text).map(str::to_owned);
        Some(Self {
            reason: text("why")?,
            authority: text("by")?,
        })
    }
}
