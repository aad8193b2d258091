//! Records of key events: persons who got a key or another one, swaps of the root, escrow copies
//! (docs/format.md, "Key event").
//!
//! They name pseudonyms and epochs, and neither a person nor a key.

use crate::codec::{Map, Value};
use crate::grain::Time;

use super::fields::{count, flag, text, time};

/// An event in the life of keys; `epoch` is that of the vault after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeyEventRecord {
    /// Persons got their first keys. With `seals`, what they have in the clear is to be sealed, until
    /// `Sealed` names them.
    Added {
        uids: Vec<[u8; 16]>,
        epoch: u64,
        seals: bool,
    },
    /// The grains that persons had in the clear when they were added are sealed.
    Sealed { uids: Vec<[u8; 16]>, epoch: u64 },
    /// A person got a key of the next generation.
    Rekeyed {
        uid: [u8; 16],
        generation: u64,
        epoch: u64,
    },
    /// The root was swapped, for a fresh one or with a change that no other entry tells.
    RootRotated { epoch: u64 },
    /// The master key was replaced, with a swap of the root.
    MasterRotated { epoch: u64 },
    /// From here on sealed grains have the blind tokens of these fields.
    BlindFields { fields: BlindFields, epoch: u64 },
    /// A copy of the root was made for a recipient.
    Escrowed(EscrowRecord),
    /// The root came back from an escrow copy.
    RootRestored { epoch: u64 },
    /// The keys of a person were destroyed.
    Erased {
        uid: [u8; 16],
        key_check: [u8; 32],
        epoch: u64,
        /// Whether what is held of the person is kept under a hold key.
        is_held: bool,
    },
}

/// The fields of a sealed grain of which its card has blind tokens: what they tell a reader of the
/// files about a locked person (docs/security.md). Answers do not depend on it.
///
/// ```
/// use grainstore::store::BlindFields;
///
/// assert_eq!(BlindFields::default(), BlindFields::Ids);
/// assert_eq!(BlindFields::from_name("spo"), Some(BlindFields::Spo));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BlindFields {
    /// None.
    None,
    /// `user_id` and `session_id`.
    #[default]
    Ids,
    /// Also `subject`, `relation` and `object`.
    Spo,
}

impl BlindFields {
    /// Every choice, from the one that tells least.
    pub const ALL: [Self; 3] = [Self::None, Self::Ids, Self::Spo];

    /// Returns the name: `none`, `ids` or `spo`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Ids => "ids",
            Self::Spo => "spo",
        }
    }

    /// Returns the choice of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fields| fields.name() == name)
    }
}

/// An escrow copy of the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EscrowRecord {
    pub(crate) id: [u8; 16],
    /// The epoch whose root the copy is.
    pub(crate) epoch: u64,
    /// When the recipient is to have destroyed the copy.
    pub(crate) until: Time,
    /// The public key that it is encrypted to.
    pub(crate) recipient: String,
}

impl KeyEventRecord {
    /// Returns the epoch of the vault after the event.
    pub(crate) const fn epoch(&self) -> u64 {
        match self {
            Self::Added { epoch, .. }
            | Self::Sealed { epoch, .. }
            | Self::Rekeyed { epoch, .. }
            | Self::RootRotated { epoch }
            | Self::MasterRotated { epoch }
            | Self::BlindFields { epoch, .. }
            | Self::Escrowed(EscrowRecord { epoch, .. })
            | Self::RootRestored { epoch }
            | Self::Erased { epoch, .. } => *epoch,
        }
    }

    pub(super) fn to_map(&self) -> Map {
        let operation = match self {
            Self::Added { .. } | Self::Sealed { .. } => ADD,
            Self::Rekeyed { .. } => REKEY,
            Self::RootRotated { .. } => ROTATE,
            Self::MasterRotated { .. } => MASTER,
            Self::BlindFields { .. } => BLIND,
            Self::Escrowed(_) => ESCROW,
            Self::RootRestored { .. } => RESTORE,
            Self::Erased { .. } => ERASE,
        };
        let mut map = Map::from_iter([("op", Value::from(operation))]);
        map.insert("e", number(self.epoch()));
        match self {
            Self::Added { uids, seals, .. } => {
                if *seals {
                    map.insert("s", Value::Bool(true));
                }
                map.insert("u", Value::Bytes(uids.concat()))
            }
            // Of persons of an earlier `add`: a version that does not know the member adds no one by it.
            Self::Sealed { uids, .. } => {
                map.insert("s", Value::Bool(false));
                map.insert("u", Value::Bytes(uids.concat()))
            }
            Self::Rekeyed {
                uid, generation, ..
            } => {
                map.insert("u", Value::Bytes(uid.to_vec()));
                map.insert("g", number(*generation))
            }
            Self::BlindFields { fields, .. } => map.insert("b", fields.name()),
            Self::Escrowed(escrow) => {
                map.insert("id", Value::Bytes(escrow.id.to_vec()));
                map.insert("t", escrow.until.ms());
                map.insert("to", escrow.recipient.as_str())
            }
            Self::Erased {
                uid,
                key_check,
                is_held,
                ..
            } => {
                map.insert("u", Value::Bytes(uid.to_vec()));
                if *is_held {
                    map.insert("h", Value::Bool(true));
                }
                map.insert("kcv", Value::Bytes(key_check.to_vec()))
            }
            Self::RootRotated { .. } | Self::MasterRotated { .. } | Self::RootRestored { .. } => {
                None
            }
        };
        map
    }

    pub(super) fn from_map(map: &Map) -> Option<Self> {
        let epoch = count(map, "e")?;
        Some(match text(map, "op")? {
            ADD => {
                let (uids, rest) = map.get("u")?.as_bytes()?.as_chunks();
                let uids = rest.is_empty().then(|| uids.to_vec())?;
                match flag(map, "s") {
                    Some(false) => Self::Sealed { uids, epoch },
                    seals => Self::Added {
                        uids,
                        epoch,
                        seals: seals == Some(true),
                    },
                }
            }
            REKEY => Self::Rekeyed {
                uid: bytes_of(map, "u")?,
                generation: count(map, "g")?,
                epoch,
            },
            ROTATE => Self::RootRotated { epoch },
            MASTER => Self::MasterRotated { epoch },
            BLIND => Self::BlindFields {
                fields: BlindFields::from_name(text(map, "b")?)?,
                epoch,
            },
            ESCROW => Self::Escrowed(EscrowRecord {
                id: bytes_of(map, "id")?,
                epoch,
                until: time(map, "t")?,
                recipient: text(map, "to")?.to_owned(),
            }),
            RESTORE => Self::RootRestored { epoch },
            ERASE => Self::Erased {
                uid: bytes_of(map, "u")?,
                key_check: bytes_of(map, "kcv")?,
                epoch,
                is_held: map.get("h").is_some(),
            },
            _ => return None,
        })
    }
}

fn bytes_of<const N: usize>(map: &Map, key: &str) -> Option<[u8; N]> {
    map.get(key)?.as_bytes()?.try_into().ok()
}

fn number(number: u64) -> Value {
    // Epochs and generations count operations, so none is lost.
    Value::from(i64::try_from(number).unwrap_or(i64::MAX))
}

const ADD: &str = "add";
const REKEY: &str = "rekey";
const ROTATE: &str = "rotate";
const MASTER: &str = "master";
const BLIND: &str = "blind";
const ESCROW: &str = "escrow";
const RESTORE: &str = "restore";
const ERASE: &str = "erase";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Kind;
    use crate::store::records::Record;

    #[test]
    fn every_key_event_comes_back_from_its_body() {
        let (uid, epoch) = ([1; 16], 3);
        let escrow = EscrowRecord {
            id: [2; 16],
            epoch,
            until: Time::from_ms(4),
            recipient: "age1…".to_owned(),
        };
        let uids = vec![uid, [5; 16]];
        for event in [
            KeyEventRecord::Added {
                uids: uids.clone(),
                epoch,
                seals: false,
            },
            KeyEventRecord::Added {
                uids: uids.clone(),
                epoch,
                seals: true,
            },
            KeyEventRecord::Sealed { uids, epoch },
            KeyEventRecord::Rekeyed {
                uid,
                generation: 2,
                epoch,
            },
            KeyEventRecord::RootRotated { epoch },
            KeyEventRecord::BlindFields {
                fields: BlindFields::Spo,
                epoch,
            },
            KeyEventRecord::MasterRotated { epoch },
            KeyEventRecord::Escrowed(escrow),
            KeyEventRecord::RootRestored { epoch },
            KeyEventRecord::Erased {
                uid,
                key_check: [6; 32],
                epoch,
                is_held: false,
            },
            KeyEventRecord::Erased {
                uid,
                key_check: [6; 32],
                epoch,
                is_held: true,
            },
        ] {
            let record = Record::KeyEvent(event);
            let body = record.encode().unwrap();
            assert_eq!(Record::decode(Kind::KeyEvent, &body), Some(record));
        }
    }
}
