use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::codec::ContentAddress;
use crate::grain::Time;
use crate::index::RowSet;
use crate::ledger::Kind;

use crate::store::Error;
use crate::store::consent::list::Withdrawal;
use crate::store::consent::rules::{Required, read_effect, read_required};
use crate::store::governance::hold::{Held, HoldEntry};
use crate::store::instance::open::Inner;

/// What the ledger says beside grains and their status: legal holds, withdrawn consents, what
/// namespaces demand. Little, and asked at every change, so it is kept in memory; a fold over the
/// ledger as everything else.
#[derive(Debug, Default)]
pub(crate) struct Standing {
    pub(crate) holds: BTreeMap<ContentAddress, Held>,
    /// What was withdrawn, under the consent it names, whether that is here or not.
    pub(crate) withdrawals: HashMap<ContentAddress, Vec<Withdrawal>>,
    pub(crate) required: BTreeMap<String, Required>,
    /// How long after a withdrawal what rests on it may stay, where the store says.
    pub(crate) deadline_ms: Option<i64>,
    /// Rows that rest on withdrawn consents; none until somebody asks.
    pub(crate) resting: Option<Arc<RowSet>>,
    /// How often that has changed.
    pub(crate) changes: u64,
}

impl Standing {
    /// Forgets which rows rest on withdrawn consents: it is gathered again when somebody asks.
    pub(crate) fn forget_resting(&mut self) {
        self.resting = None;
        self.changes += 1;
    }

    /// Takes in an entry; what it does not know says nothing.
    pub(crate) fn apply(&mut self, time: Time, kind: Kind, body: &[u8]) {
        match kind {
            Kind::Hold => {
                if let Some(entry) = HoldEntry::decode(body) {
                    self.holds.entry(entry.of).or_default().apply(time, entry);
                }
            }
            Kind::ConsentEffect => {
                if let Some((grant, withdrawal)) = read_effect(body) {
                    let known = self.withdrawals.entry(grant).or_default();
                    known.push(Withdrawal {
                        by: withdrawal,
                        at: time,
                    });
                    self.forget_resting();
                }
            }
            Kind::Policy => read_required(body, self),
            _ => {}
        }
    }
}

/// The kinds of entries that it is a fold of.
const STANDING: [Kind; 3] = [Kind::Hold, Kind::ConsentEffect, Kind::Policy];

impl Inner {
    /// Returns whether one of these entries says something of what stands.
    pub(crate) fn is_standing(&self, rows: &[u64]) -> Result<bool, Error> {
        let snapshot = self.index.snapshot();
        for kind in STANDING {
            let known = snapshot.of_kind(kind).rows()?;
            if rows.iter().any(|row| known.contains(*row)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Folds the ledger into what stands, from its beginning.
    pub(crate) fn load_standing(&self) -> Result<(), Error> {
        let snapshot = self.index.snapshot();
        let mut standing = Standing::default();
        for kind in STANDING {
            for row in snapshot.of_kind(kind).rows()?.iter() {
                let entry = self.ledger.read(row)?;
                standing.apply(Time::from_ms(entry.header.time_ms), kind, &entry.body);
            }
        }
        let mut now = self.standing.write();
        standing.changes = now.changes + 1;
        *now = standing;
        Ok(())
    }
}
