use std::sync::atomic::Ordering;

use crate::codec::{self, Map, Value};
use crate::grain::Grain;
use crate::ledger::Kind;
use crate::policy::{Clause, Mode, Operation, Regime, Regimes};

use crate::store::commit::group::{Frame, Writer};
use crate::store::instance::open::Inner;
use crate::store::records::authorization::Mandate;
use crate::store::records::entry::{decode, encode, encode_denial, encode_refusal};
use crate::store::{Error, Store};

/// The clause of a regime that something would break.
///
/// ```
/// use grainstore::policy::Regime;
/// use grainstore::store::Mandate;
/// use grainstore::{Draft, Options, Store, store};
///
/// let store = Store::in_memory(Options::default())?;
/// let mandate = Mandate { reason: "we serve people in the EU", authority: "legal" };
/// store.set_regimes(vec![Regime::preset("gdpr").expect("a preset")], mandate)?;
/// let refused = store.put(Draft::event("she likes tea").user("ada")).unwrap_err();
/// let store::Error::Breach(breach) = &refused else { panic!("{refused}") };
/// assert_eq!(breach.name(), "gdpr/lawful-basis");
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    /// The name of the regime.
    pub regime: String,
    /// The name of the clause in it.
    pub clause: String,
    /// Where the law says so.
    pub cites: String,
    /// What it asks.
    pub says: String,
}

impl Breach {
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

impl std::fmt::Display for Breach {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}): {}", self.name(), self.cites, self.says)
    }
}

impl Store {
    /// Puts regimes in force, in place of those before; none lifts them. The documents and the
    /// reason go into the ledger. What is stored already stays as it is.
    ///
    /// # Errors
    /// `ERR_AUTHORITY` without a reason and an authority; storage errors.
    pub fn set_regimes(&self, regimes: Vec<Regime>, mandate: Mandate<'_>) -> Result<(), Error> {
        let inner = &*self.inner;
        let mandate = mandate.check()?;
        let texts: Vec<&str> = regimes.iter().map(Regime::text).collect();
        let mut map = Map::from_iter([("op", Value::from(REGIMES)), ("doc", texts.into())]);
        mandate.write(&mut map);
        let body = encode(map)?;
        let mut writer = inner.lead_alone();
        let mut frame = Frame::default();
        frame.record(Kind::Policy, body);
        inner.commit(&mut writer, &frame)?;
        inner.hold_to(Regimes::new(regimes));
        Ok(())
    }

    /// Returns the regimes in force.
    pub fn regimes(&self) -> Regimes {
        self.inner.regimes.read().clone()
    }
}

impl Inner {
    /// Learns which regimes are in force: the last entry says.
    ///
    /// # Errors
    /// `ERR_POLICY` for a document that this version cannot read: to pass over it would lift it.
    pub(crate) fn learn_regimes(&self) -> Result<(), Error> {
        let rows = self.index.snapshot().of_kind(Kind::Policy).rows()?;
        for row in rows.iter().rev() {
            if let Some(texts) = decode_regimes(&self.ledger.read(row)?.body) {
                let regimes = texts.iter().map(|text| Regime::parse(text));
                self.hold_to(Regimes::new(regimes.collect::<Result<_, _>>()?));
                break;
            }
        }
        Ok(())
    }

    fn hold_to(&self, regimes: Regimes) {
        let records_reads = regimes.record_reads();
        *self.regimes.write() = regimes;
        self.records_reads.store(records_reads, Ordering::Release);
    }

    /// Refuses a new grain that a regime forbids to store.
    pub(crate) fn refuse_breach(&self, grain: &Grain) -> Result<(), Error> {
        match self.regimes.read().refuses(grain) {
            Some(broken) => Err(Error::Breach(Breach::of(broken))),
            None => Ok(()),
        }
    }

    /// Refuses a change without a reason where a regime asks for one. Returns whether a person
    /// should look at the change afterwards.
    pub(crate) fn asks_why(&self, target: &Grain, reasons: &[Option<&str>]) -> Result<bool, Error> {
        let mut reasons = reasons.iter().flatten();
        let has_reason = reasons.any(|text| !text.trim().is_empty());
        let regimes = self.regimes.read();
        match regimes.asks_why(target).filter(|_| !has_reason) {
            Some(broken) => Err(Error::Breach(Breach::of(broken))),
            None => Ok(regimes.reviews(target)),
        }
    }

    /// As [`Inner::asks_why`], and records the refusal.
    pub(crate) fn demands(
        &self,
        writer: &mut Writer,
        frame: &Frame,
        operation: Operation,
        target: &Grain,
        reasons: [Option<&str>; 2],
    ) -> Result<bool, Error> {
        let asked = self.asks_why(target, &reasons);
        if let Err(Error::Breach(broken)) = &asked {
            let mut denial = Frame::by(frame.actor);
            let body = encode_denial(&target.address(), operation.name(), &broken.name())?;
            denial.record(Kind::Denial, body);
            self.commit(writer, &denial)?;
        }
        asked
    }

    /// Returns the clause that keeps a grain in the store.
    pub(crate) fn kept_by(&self, grain: &Grain) -> Option<Breach> {
        self.regimes.read().keeps(grain).map(Breach::of)
    }
}

impl Store {
    /// Returns whether a grain may not be taken away: on its own terms, or an operator's.
    pub(crate) fn is_on_hold(&self, grain: &Grain) -> bool {
        let inner = &*self.inner;
        inner.protection(grain).mode() == Mode::Hold || inner.is_held(&grain.address())
    }

    pub(crate) fn kept_here(&self, grain: &Grain) -> Option<Breach> {
        self.inner.kept_by(grain)
    }
}

impl Error {
    /// Returns the record of a grain that was refused, of what a ledger records.
    pub(crate) fn refusal(&self, operation: &str) -> Option<Result<Vec<u8>, codec::Error>> {
        Some(match self {
            Self::Refused { rule } => encode_refusal(operation, rule.name()),
            Self::Breach(breach) => encode_refusal(operation, &breach.name()),
            Self::Untrusted { .. } => encode_refusal(operation, "untrusted"),
            Self::ImpliedSupersession { address } => {
                encode_denial(address, operation, "implied_supersession")
            }
            _ => return None,
        })
    }
}

/// Returns the documents of an entry that puts regimes in force.
fn decode_regimes(body: &[u8]) -> Option<Vec<String>> {
    let map = decode(body)?;
    if map.get("op").and_then(Value::as_text) != Some(REGIMES) {
        return None;
    }
    Some(map.get("doc")?.texts().map(str::to_owned).collect())
}

const REGIMES: &str = "regimes";
