//! The selection of the grains that a store is written of: one version of each record, the newest.

use crate::codec::{ContentAddress, Value};
use crate::grain::{Grain, Status, Time, Type};
use crate::interchange::Entries;
use crate::interchange::model::compact_table::CompactTable;
use crate::interchange::model::rfc3339::parse_rfc3339;

use super::super::types::residual::is_relation;

/// Returns the identity of a grain that came from PAM, among those of its kind.
pub(super) fn identity<'a>(
    grain: &'a Grain,
    record: Option<&'a Value>,
) -> Option<(u8, &'a str, &'a str)> {
    let id = record?.as_map()?.get("id")?.as_text()?;
    // The ids of messages are unique in their conversation.
    let session = || grain.text("session_id").unwrap_or_default();
    Some(match grain.type_() {
        Type::State => (0, "", id),
        Type::Event => (1, session(), id),
        _ if is_relation(grain) => (2, "", id),
        _ => (3, "", id),
    })
}

/// Finds the grains whose id another grain has in the file: a file has one version of each record,
/// the newest.
#[derive(Default)]
pub(super) struct Superfluous {
    /// The hashes of the identities, by number; 0 for grains without one.
    identities: Vec<u64>,
    /// The earlier versions of some.
    earlier: Vec<(u32, ContentAddress)>,
}

impl Superfluous {
    /// Adds the next grain, with the hash of its identity and its earlier versions.
    pub(super) fn add(&mut self, number: u32, identity: Option<(u64, Vec<ContentAddress>)>) {
        let Some((identity, earlier)) = identity else {
            return;
        };
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        if self.identities.len() <= at {
            self.identities.resize(at.saturating_add(1), 0);
        }
        if let Some(slot) = self.identities.get_mut(at) {
            *slot = identity;
        }
        let earlier = earlier.into_iter().map(|address| (number, address));
        self.earlier.extend(earlier);
    }

    fn identity(&self, number: u32) -> Option<u64> {
        let at = usize::try_from(number).ok()?;
        self.identities.get(at).copied().filter(|hash| *hash != 0)
    }

    /// Returns the numbers of the superfluous grains in their order, and why they are.
    pub(super) fn find<E: Entries + ?Sized>(
        self,
        entries: &E,
    ) -> Result<Vec<(u32, &'static str)>, E::Error> {
        let mut superfluous = Vec::new();
        for (number, earlier) in &self.earlier {
            if let Some(earlier) = entries.find(earlier)?
                && self.identity(earlier) == self.identity(*number)
            {
                superfluous.push((earlier, "earlier version"));
            }
        }
        superfluous.sort_unstable();
        superfluous.dedup();
        let mut taken = CompactTable::new();
        let mut conflicting = Vec::new();
        for (number, identity) in (0..).zip(&self.identities) {
            let is_earlier = superfluous.binary_search_by_key(&number, |(number, _)| *number);
            if *identity != 0 && is_earlier.is_err() && !taken.add(*identity) {
                conflicting.push((number, "conflicting version"));
            }
        }
        superfluous.extend(conflicting);
        superfluous.sort_unstable();
        Ok(superfluous)
    }
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
