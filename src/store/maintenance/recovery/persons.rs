//! The sealed persons of a recovery: a lost key event must not close grains that came out and whose keys
//! are in the vault.

use std::collections::BTreeSet;

use crate::ledger::Kind;
use crate::store::records::{KeyEventRecord, Record, SealedRecord, Uid};

/// The persons for whom grains of a recovered store are sealed, and those that its key events record.
#[derive(Debug, Default)]
pub(super) struct Persons {
    sealed: BTreeSet<Uid>,
    /// The persons that a key event adds, or records as erased whole.
    recorded: BTreeSet<Uid>,
    /// The highest epoch of the vault in a key event.
    epoch: u64,
}

impl Persons {
    /// Takes in an entry that comes out.
    pub(super) fn see(&mut self, kind: Kind, body: &[u8]) {
        if kind == Kind::SealedGrain {
            let record = SealedRecord::decode(body);
            self.sealed.extend(record.map(|record| record.card.uid));
        }
        if kind != Kind::KeyEvent {
            return;
        }
        if let Some(Record::KeyEvent(event)) = Record::decode(kind, body) {
            self.epoch = self.epoch.max(event.epoch());
            match event {
                KeyEventRecord::Added { uids, .. } | KeyEventRecord::Sealed { uids, .. } => {
                    self.recorded.extend(uids);
                }
                KeyEventRecord::Erased {
                    uid,
                    is_held: false,
                    ..
                } => self.recorded.extend([uid]),
                _ => {}
            }
        }
    }

    /// Returns the key event that stands for those that were lost. It opens nothing by itself: the keys
    /// of an erased person are in no vault.
    pub(super) fn lost_event(&self) -> Option<Record> {
        let uids: Vec<Uid> = self.sealed.difference(&self.recorded).copied().collect();
        let epoch = self.epoch.max(1);
        (!uids.is_empty()).then_some(Record::KeyEvent(KeyEventRecord::Added {
            uids,
            epoch,
            seals: false,
        }))
    }
}
