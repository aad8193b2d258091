//! The withdrawals of a recovery: where the entry of an effect is lost, the withdrawal itself tells it,
//! so that no data is served whose consent is withdrawn (OMS 8.10).

use std::collections::BTreeSet;

use crate::codec::Header;
use crate::grain::{Grain, Type};
use crate::ledger::Kind;
use crate::store::records::{ConsentEffectRecord, Record};
use crate::store::view::effect_of;

/// The effects that the withdrawals of a recovered store have, and those of which an entry tells.
#[derive(Debug, Default)]
pub(super) struct Withdrawals {
    stored: BTreeSet<ConsentEffectRecord>,
    told: BTreeSet<ConsentEffectRecord>,
}

impl Withdrawals {
    /// Takes in an entry that comes out.
    pub(super) fn see(&mut self, kind: Kind, body: &[u8]) {
        match kind {
            // Few grains are consents, and only those are read in full.
            Kind::Grain if is_consent(body) => {
                let grain = Grain::from_proven(body.to_vec()).ok();
                self.stored.extend(grain.as_ref().and_then(effect_of));
            }
            Kind::ConsentEffect => {
                if let Some(Record::ConsentEffect(effect)) = Record::decode(kind, body) {
                    self.told.insert(effect);
                }
            }
            _ => {}
        }
    }

    /// Returns the entries that stand for those that were lost.
    pub(super) fn lost_effects(&self) -> impl Iterator<Item = Record> {
        let lost = self.stored.difference(&self.told);
        lost.copied().map(Record::ConsentEffect)
    }
}

fn is_consent(body: &[u8]) -> bool {
    Header::read(body).is_ok_and(|header| Type::from_byte(header.type_byte) == Type::Consent)
}
