//! Records of policy decisions: legal holds, effects of withdrawn consents, reviews, refusals, and
//! the operator's decisions for the store (required consents, regimes, the clock).

use std::fmt;

use crate::codec::{ContentAddress, Map, Value};
use crate::grain::Time;
use crate::ledger::EntryId;
use crate::policy::RecordedAuthorization;

use super::Uid;
use super::fields::{address, bytes, count, flag, row, sequence, text, texts, time, uids};

/// A legal hold on one grain, placed or lifted (OMS 23.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HoldRecord {
    pub(crate) of: ContentAddress,
    pub(crate) is_placed: bool,
    pub(crate) authorization: RecordedAuthorization,
}

impl HoldRecord {
    pub(super) fn to_map(&self) -> Map {
        let placed = Value::Bool(self.is_placed);
        let map = Map::from_iter([("a", bytes(&self.of)), ("on", placed)]);
        self.authorization.write(map)
    }

    pub(super) fn from_map(map: &Map) -> Option<Self> {
        Some(Self {
            of: address(map, "a")?,
            is_placed: flag(map, "on")?,
            authorization: RecordedAuthorization::read(map)?,
        })
    }
}

/// The effect of a withdrawal: it names the consent, which need not be stored (rulings I7, I8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ConsentEffectRecord {
    pub(crate) consent: ContentAddress,
    pub(crate) withdrawal: ContentAddress,
}

impl ConsentEffectRecord {
    pub(super) fn to_map(self) -> Map {
        Map::from_iter([("a", bytes(&self.consent)), ("w", bytes(&self.withdrawal))])
    }

    pub(super) fn from_map(map: &Map) -> Option<Self> {
        Some(Self {
            consent: address(map, "a")?,
            withdrawal: address(map, "w")?,
        })
    }
}

/// A review by a person: opened, or cleared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReviewRecord {
    Opened {
        of: ContentAddress,
        operation: String,
    },
    Cleared {
        of: ContentAddress,
        /// The entry that opened it.
        opened: EntryId,
        authorization: RecordedAuthorization,
    },
}

impl ReviewRecord {
    /// The operation of a review that a grain itself requires before anything relies on it
    /// (OMS 6.1).
    pub(crate) const RELY: &'static str = "rely";

    pub(crate) fn opened(of: ContentAddress, operation: &str) -> Self {
        let operation = operation.to_owned();
        Self::Opened { of, operation }
    }

    pub(super) const fn of(&self) -> ContentAddress {
        match self {
            Self::Opened { of, .. } | Self::Cleared { of, .. } => *of,
        }
    }

    pub(super) fn to_map(&self) -> Map {
        match self {
            Self::Opened { of, operation } => {
                Map::from_iter([("a", bytes(of)), ("op", operation.as_str().into())])
            }
            Self::Cleared {
                of,
                opened,
                authorization,
            } => {
                let map = Map::from_iter([("a", bytes(of)), ("c", sequence(*opened))]);
                authorization.write(map)
            }
        }
    }

    pub(super) fn from_map(map: &Map) -> Option<Self> {
        let of = address(map, "a")?;
        if map.get("c").is_none() {
            return Some(Self::opened(of, text(map, "op")?));
        }
        Some(Self::Cleared {
            of,
            opened: row(map, "c")?,
            authorization: RecordedAuthorization::read(map)?,
        })
    }
}

/// A refused operation: the rule, the grain it is about if the store has it, and no content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DenialRecord {
    pub(crate) of: Option<ContentAddress>,
    pub(crate) operation: String,
    pub(crate) rule: String,
}

impl DenialRecord {
    pub(crate) fn new(of: Option<ContentAddress>, operation: &str, rule: &str) -> Self {
        Self {
            of,
            operation: operation.to_owned(),
            rule: rule.to_owned(),
        }
    }

    pub(super) fn to_map(&self) -> Map {
        let mut map = Map::from_iter([
            ("op", self.operation.as_str()),
            ("rule", self.rule.as_str()),
        ]);
        if let Some(of) = &self.of {
            map.insert("a", bytes(of));
        }
        map
    }

    pub(super) fn from_map(map: &Map) -> Option<Self> {
        let of = address(map, "a");
        Some(Self::new(of, text(map, "op")?, text(map, "rule")?))
    }
}

/// The consents that a namespace requires.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RequiredConsent {
    /// Reading requires a consent with `retrieve` in its scope.
    pub read: bool,
    /// Storing requires a consent with `store` in its scope.
    pub write: bool,
}

/// A decision of an operator for the whole store, or an observation of the clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PolicyRecord {
    /// A namespace requires consents.
    ConsentRequired {
        namespace: String,
        required: RequiredConsent,
        authorization: RecordedAuthorization,
    },
    /// How long after a withdrawal the grains that rest on it may stay.
    ConsentDeadline {
        ms: i64,
        authorization: RecordedAuthorization,
    },
    /// The withdrawals up to here are to be carried out. Locked persons could not be looked into: for
    /// them they are carried out at their next unlocking.
    ConsentRun {
        waiting: Vec<Uid>,
        authorization: RecordedAuthorization,
    },
    /// The last run was carried out for these persons, who waited for it.
    ConsentRan { persons: Vec<Uid> },
    /// The regimes in force from here on, each as its document.
    Regimes {
        documents: Vec<String>,
        authorization: RecordedAuthorization,
    },
    /// The clock leapt, and is trusted no further than this.
    ClockLeapt(Time),
    /// The clock was followed to this time while the entries were dated ahead of it, or after a
    /// leap that it went back from.
    ClockFollowed(Time),
    /// The steady clock of this start of the machine: later readings are compared with it.
    ClockMeasured(Reading),
    /// An operator accepted the clock when it showed this.
    ClockAccepted {
        reading: Reading,
        authorization: RecordedAuthorization,
    },
    /// An operator set the time of the ledger to the clock's: later entries are dated from it, also
    /// where earlier ones are dated ahead.
    ClockRepaired {
        reading: Reading,
        authorization: RecordedAuthorization,
    },
    /// The store was checked.
    Checked(CheckedRecord),
}

/// A check of the store, and what it found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CheckedRecord {
    /// Whether every byte was read.
    pub(crate) is_deep: bool,
    pub(crate) warnings: u64,
    pub(crate) damage: u64,
    /// The number of entries of the note that the ledger was compared with.
    pub(crate) anchor: Option<u64>,
}

impl CheckedRecord {
    fn write(self, mut map: Map) -> Map {
        map.insert("deep", Value::Bool(self.is_deep));
        map.insert("warn", self.warnings);
        map.insert("dmg", self.damage);
        if let Some(anchor) = self.anchor {
            map.insert("n", anchor);
        }
        map
    }

    fn read(map: &Map) -> Option<Self> {
        Some(Self {
            is_deep: flag(map, "deep")?,
            warnings: count(map, "warn")?,
            damage: count(map, "dmg")?,
            anchor: count(map, "n"),
        })
    }
}

impl fmt::Display for CheckedRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extent = if self.is_deep {
            "every byte"
        } else {
            "structure"
        };
        let (warnings, damage) = (self.warnings, self.damage);
        write!(
            f,
            "{extent}: {warnings} warnings, {damage} findings of damage"
        )?;
        match self.anchor {
            Some(entries) => write!(f, ", against a checkpoint of {entries} entries"),
            None => f.write_str(", unanchored"),
        }
    }
}

/// The time on both clocks at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reading {
    /// The time of day.
    pub(crate) told: Time,
    /// The steady clock.
    pub(crate) steady_ms: i64,
    /// The start of the machine that the steady clock counts from. Without it the steady clock is
    /// of no use to another process, and is not recorded.
    pub(crate) boot: Option<[u8; 16]>,
}

impl Reading {
    fn write(self, map: Map) -> Map {
        let mut map = at(map, self.told);
        if let Some(boot) = self.boot {
            map.insert("m", self.steady_ms);
            map.insert("b", Value::from(boot.to_vec()));
        }
        map
    }

    fn read(map: &Map) -> Option<Self> {
        let boot = map.get("b").and_then(Value::as_bytes);
        Some(Self {
            told: time(map, "t")?,
            steady_ms: map.get("m").and_then(Value::as_i64).unwrap_or_default(),
            boot: boot.map(<[u8; 16]>::try_from).transpose().ok()?,
        })
    }
}

impl PolicyRecord {
    /// Returns whether it is a decision of an operator.
    pub(super) const fn is_setting(&self) -> bool {
        match self {
            Self::ConsentRequired { .. }
            | Self::ConsentDeadline { .. }
            | Self::ConsentRun { .. }
            | Self::Regimes { .. }
            | Self::ClockAccepted { .. }
            | Self::ClockRepaired { .. } => true,
            Self::ConsentRan { .. }
            | Self::ClockLeapt(_)
            | Self::ClockFollowed(_)
            | Self::ClockMeasured(_)
            | Self::Checked(_) => false,
        }
    }

    /// Returns whether an operator set the trusted time: the clock is measured from there on.
    pub(crate) const fn sets_clock(&self) -> bool {
        matches!(
            self,
            Self::ClockAccepted { .. } | Self::ClockRepaired { .. }
        )
    }

    pub(super) fn to_map(&self) -> Map {
        let operation = |name: &str| Map::from_iter([("op", Value::from(name))]);
        match self {
            Self::ConsentRequired {
                namespace,
                required,
                authorization,
            } => {
                let mut map = operation(REQUIRED);
                map.insert("ns", namespace.as_str());
                map.insert("rd", Value::Bool(required.read));
                map.insert("wr", Value::Bool(required.write));
                authorization.write(map)
            }
            Self::ConsentDeadline { ms, authorization } => {
                let mut map = operation(DEADLINE);
                map.insert("ms", *ms);
                authorization.write(map)
            }
            Self::ConsentRun {
                waiting,
                authorization,
            } => {
                let mut map = operation(RUN);
                map.insert("u", Value::Bytes(waiting.concat()));
                authorization.write(map)
            }
            Self::ConsentRan { persons } => {
                let mut map = operation(RAN);
                map.insert("u", Value::Bytes(persons.concat()));
                map
            }
            Self::Regimes {
                documents,
                authorization,
            } => {
                let mut map = operation(REGIMES);
                map.insert("doc", documents.clone());
                authorization.write(map)
            }
            Self::ClockLeapt(time) => at(operation(LEAPT), *time),
            Self::ClockFollowed(time) => at(operation(FOLLOWED), *time),
            Self::ClockMeasured(reading) => reading.write(operation(MEASURED)),
            Self::ClockAccepted {
                reading,
                authorization,
            } => authorization.write(reading.write(operation(ACCEPTED))),
            Self::ClockRepaired {
                reading,
                authorization,
            } => authorization.write(reading.write(operation(REPAIRED))),
            Self::Checked(check) => check.write(operation(CHECKED)),
        }
    }

    pub(super) fn from_map(map: &Map) -> Option<Self> {
        let authorization = RecordedAuthorization::read(map);
        let is_set = |key: &str| flag(map, key) == Some(true);
        Some(match text(map, "op")? {
            REQUIRED => Self::ConsentRequired {
                namespace: text(map, "ns")?.to_owned(),
                required: RequiredConsent {
                    read: is_set("rd"),
                    write: is_set("wr"),
                },
                authorization: authorization?,
            },
            DEADLINE => Self::ConsentDeadline {
                ms: map.get("ms")?.as_i64()?,
                authorization: authorization?,
            },
            RUN => Self::ConsentRun {
                waiting: uids(map, "u")?,
                authorization: authorization?,
            },
            RAN => Self::ConsentRan {
                persons: uids(map, "u")?,
            },
            REGIMES => Self::Regimes {
                documents: texts(map, "doc")?,
                authorization: authorization?,
            },
            LEAPT => Self::ClockLeapt(time(map, "t")?),
            FOLLOWED => Self::ClockFollowed(time(map, "t")?),
            MEASURED => Self::ClockMeasured(Reading::read(map)?),
            ACCEPTED => Self::ClockAccepted {
                reading: Reading::read(map)?,
                authorization: authorization?,
            },
            REPAIRED => Self::ClockRepaired {
                reading: Reading::read(map)?,
                authorization: authorization?,
            },
            CHECKED => Self::Checked(CheckedRecord::read(map)?),
            _ => return None,
        })
    }
}

fn at(mut map: Map, time: Time) -> Map {
    map.insert("t", time.ms());
    map
}

const REQUIRED: &str = "consent required";
const DEADLINE: &str = "consent deadline";
const RUN: &str = "consent run";
const RAN: &str = "consent ran";
const REGIMES: &str = "regimes";
const LEAPT: &str = "clock leapt";
const FOLLOWED: &str = "clock followed";
const MEASURED: &str = "clock measured";
const ACCEPTED: &str = "clock accepted";
const REPAIRED: &str = "clock repaired";
const CHECKED: &str = "check";
