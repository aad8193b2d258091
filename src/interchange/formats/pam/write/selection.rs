//! The selection of the grains that a store is written of: one version of each record, the newest.

use std::collections::{HashMap, HashSet};

use crate::codec::{ContentAddress, Value};
use crate::grain::{Grain, Status, Time, Type};
use crate::interchange::Entry;
use crate::interchange::model::rfc3339::parse_rfc3339;

use super::super::types::residual::{is_relation, residual};
use super::uuid::uuid;

/// A grain, its status in the store, and the record it was built from.
pub(super) struct Candidate<'a> {
    pub(super) grain: &'a Grain,
    pub(super) status: &'a Status,
    pub(super) record: Option<Value>,
}

impl<'a> Candidate<'a> {
    pub(super) fn of((grain, status): &'a Entry) -> Self {
        Self {
            grain,
            status,
            record: residual(grain),
        }
    }

    fn id(&self) -> Option<&str> {
        self.record.as_ref()?.as_map()?.get("id")?.as_text()
    }

    /// Returns the identity of a grain that came from PAM, among those of its kind.
    fn identity(&self) -> Option<(u8, &str, &str)> {
        let id = self.id()?;
        // The ids of messages are unique in their conversation.
        let session = || self.grain.text("session_id").unwrap_or_default();
        Some(match self.grain.type_() {
            Type::State => (0, "", id),
            Type::Event => (1, session(), id),
            _ if is_relation(self.grain) => (2, "", id),
            _ => (3, "", id),
        })
    }
}

/// Returns the PAM id of every grain that will have one.
pub(super) fn names(known: &[Candidate<'_>]) -> HashMap<ContentAddress, String> {
    let ids = known.iter().map(|one| {
        let address = one.grain.address();
        let id = one.id().map_or_else(|| uuid(address), str::to_owned);
        (address, id)
    });
    ids.collect()
}

/// Returns whether a store of another version than 1.0 is among these (PAM 22.3).
pub(super) fn is_later(known: &[Candidate<'_>]) -> bool {
    let states = known.iter().filter(|one| one.grain.type_() == Type::State);
    let mut versions = states.filter_map(|one| {
        let record = one.record.as_ref()?.as_map()?;
        record.get("schema_version")?.as_text()
    });
    versions.any(|version| version != "1.0")
}

/// Returns the grains whose id another grain has in the file, and why: a file has one version of
/// each record, the newest.
pub(super) fn superfluous(known: &[Candidate<'_>]) -> HashMap<ContentAddress, &'static str> {
    let ids: HashMap<_, _> = known
        .iter()
        .filter_map(|one| Some((one.grain.address(), one.identity()?)))
        .collect();
    let mut superfluous = HashMap::new();
    for one in known {
        let id = ids.get(&one.grain.address());
        let earlier = one.grain.derived_from();
        for earlier in earlier.filter(|earlier| id.is_some() && ids.get(earlier) == id) {
            superfluous.insert(earlier, "earlier version");
        }
    }
    let mut taken = HashSet::new();
    for one in known {
        let address = one.grain.address();
        if let Some(id) = ids.get(&address)
            && !superfluous.contains_key(&address)
            && !taken.insert(id)
        {
            superfluous.insert(address, "conflicting version");
        }
    }
    superfluous
}

/// Returns whether a grain was created, or its record updated or ended, at a time or later.
pub(super) fn is_changed_since(
    grain: &Grain,
    record: Option<&Value>,
    status: &Status,
    since: Time,
) -> bool {
    let temporal = record.and_then(|record| {
        let temporal = record.as_map()?.get("temporal")?.as_map()?;
        parse_rfc3339(temporal.get("updated_at")?.as_text()?).ok()
    });
    let times = [Some(grain.created_at()), temporal, status.system_valid_to];
    times.into_iter().flatten().any(|time| time >= since)
}
