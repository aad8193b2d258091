//! The violation of a clause of a regime.

use super::{Clause, Regime};

/// The clause of a regime that something would break.
///
/// ```
/// use grainstore::policy::Regime;
/// use grainstore::store::Authorization;
/// use grainstore::{Draft, Options, Store, store};
///
/// let store = Store::in_memory(Options::default())?;
/// let authorization = Authorization { reason: "we serve people in the EU", authority: "legal" };
/// store.admin()?.set_regimes(vec![Regime::preset("gdpr").expect("a preset")], authorization)?;
/// let refused = store.put(Draft::event("she likes tea").user("ada")).unwrap_err();
/// let store::Error::Violation(violation) = &refused else { panic!("{refused}") };
/// assert_eq!(violation.name(), "gdpr/lawful-basis");
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The name of the regime.
    pub regime: String,
    /// The name of the clause in it.
    pub clause: String,
    /// Where the law says so.
    pub cites: String,
    /// The requirement.
    pub says: String,
}

impl Violation {
    pub(crate) fn of((regime, clause): (&Regime, &Clause)) -> Self {
        Self {
            regime: regime.name().to_owned(),
            clause: clause.id.clone(),
            cites: clause.cites.clone(),
            says: clause.says.clone(),
        }
    }

    /// Returns the name of the clause, as denials in the ledger carry it.
    pub fn name(&self) -> String {
        format!("{}/{}", self.regime, self.clause)
    }
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}): {}", self.name(), self.cites, self.says)
    }
}
