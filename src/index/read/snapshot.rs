//! Snapshots: a view of the index that later writes do not change.
//!
//! They answer with rows. Hashes can collide, so the caller checks the grains.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use roaring::RoaringTreemap;

use crate::codec::{ContentAddress, nfc};
use crate::grain::{ForeignId, Time, Type};
use crate::ledger::{EntryId, Kind};

use super::key_range::KeyRange;
use super::scan::Scan;
use crate::index::engine::shared::Engine;
use crate::index::engine::version::Version;
use crate::index::key::encoding::{
    Key, Pair, Single, first_part, ordered, ordered_number, prefix_of, token_part,
};
use crate::index::run::{Run, RunKey, Stream};
use crate::index::{Error, Family, RowSet, Rows};

/// A view of the index at one moment: later writes, flushes and merges do not change it. Erased
/// rows disappear from every view.
///
/// It owns its version: cheap to clone, and usable from any thread.
#[derive(Clone)]
pub struct Snapshot {
    engine: Arc<Engine>,
    version: Arc<Version>,
    /// In a view of an earlier moment, the runs that reach past it: each one's number, and the rows
    /// that entries visible in the view made not current.
    boundary_runs: Vec<(u64, Arc<RoaringTreemap>)>,
}

/// A triple pattern; an absent part matches anything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pattern<'a> {
    /// The subject.
    pub subject: Option<&'a str>,
    /// The relation.
    pub relation: Option<&'a str>,
    /// The object; the JSON of an object that is a map.
    pub object: Option<&'a str>,
}

impl Snapshot {
    pub(in crate::index) const fn new(engine: Arc<Engine>, version: Arc<Version>) -> Self {
        Self {
            engine,
            version,
            boundary_runs: Vec::new(),
        }
    }

    /// Returns the view as of the moment when the ledger had this many entries, without the rows
    /// erased since.
    ///
    /// # Errors
    /// `ERR_INDEX_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn as_of(&self, entries: u64) -> Result<Self, Error> {
        if entries >= self.watermark() {
            return Ok(self.clone());
        }
        let fallbacks = self.fallbacks_since(entries)?;
        let is_seen = |rows: &Range<u64>| {
            rows.start < entries || fallbacks.iter().any(|entry| rows.contains(&entry))
        };
        let mut version = Version::clone(&self.version);
        version.runs.retain(|run| is_seen(&run.rows));
        version.memtables.retain(|memtable| is_seen(&memtable.rows));
        version.immutable.clear();
        version.watermark = entries;
        version.fallbacks = (!fallbacks.is_empty()).then(|| Arc::new(fallbacks));
        let mut view = Self::new(Arc::clone(&self.engine), Arc::new(version));
        let runs = view.version.runs.iter().rev();
        for run in runs.take_while(|run| run.rows.end > entries) {
            let mut not_current = RoaringTreemap::new();
            let mut keys = Stream::<Single>::new(Arc::clone(run), Family::NotCurrent);
            while let Some(key) = keys.next()? {
                if view.version.is_visible(key.row()) {
                    let [grain, ..] = key.parts();
                    not_current.insert(grain);
                }
            }
            view.boundary_runs.push((run.number, Arc::new(not_current)));
        }
        Ok(view)
    }

    /// Returns the fallback entries from `entries` on of erased ones before it. Without them a
    /// grain whose successor was erased would seem to have been current then.
    fn fallbacks_since(&self, entries: u64) -> Result<RoaringTreemap, Error> {
        let (low, high) = (0, entries.saturating_sub(1));
        let low = Single::new([low, 0], entries);
        let high = Single::new([high, 0], u64::MAX);
        let mut keys = self.key_range::<Single>(Family::Fallback, low, high);
        let mut rows = RoaringTreemap::new();
        while let Some(key) = keys.next_key()? {
            if key.row() >= entries {
                rows.insert(key.row());
            }
        }
        Ok(rows)
    }

    pub(in crate::index) fn parts(&self) -> (&Engine, &Version) {
        (&self.engine, &self.version)
    }

    pub(super) const fn version(&self) -> &Arc<Version> {
        &self.version
    }

    /// Returns the number of ledger entries that this view covers.
    pub fn watermark(&self) -> u64 {
        self.version.watermark
    }

    /// Returns the rows of grains that may have an address, lowest first: the one that has it, if
    /// there is one, and rarely others. The caller reads the ledger.
    ///
    /// # Errors
    /// `ERR_INDEX_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn candidates(&self, address: &ContentAddress) -> Result<Rows, Error> {
        self.engine.candidates(&self.version, address)
    }

    /// Returns the rows of grains whose addresses may be from one to another, both included: those whose
    /// first eight bytes are. The caller reads the ledger.
    ///
    /// # Errors
    /// `ERR_INDEX_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn candidates_between(
        &self,
        first: &ContentAddress,
        last: &ContentAddress,
    ) -> Result<Rows, Error> {
        let bounds = [first, last].map(prefix_of);
        self.engine.candidates_between(&self.version, bounds)
    }

    /// Returns whether the grain of a row is current.
    pub fn is_current(&self, row: EntryId) -> bool {
        let row = row.get();
        // Only entries after a grain can make it not current.
        let mut memtables = self.version.in_memory();
        let runs = self.version.runs.iter().rev();
        let mut runs = runs.take_while(|run| run.rows.end > row);
        !memtables
            .any(|memtable| memtable.is_not_current(row, |entry| self.version.is_visible(entry)))
            && !runs.any(|run| self.not_current_in(run).contains(row))
    }

    /// Returns the rows that entries of a run made not current.
    pub(super) fn not_current_in<'a>(&'a self, run: &'a Run) -> &'a RoaringTreemap {
        let boundary_runs = self.boundary_runs.iter();
        let mut boundary_runs = boundary_runs.filter(|(number, _)| *number == run.number);
        boundary_runs
            .next()
            .map_or(&run.not_current, |(_, not_current)| not_current)
    }

    /// Returns the rows of all grains.
    pub fn grains(&self) -> RowSet {
        let mut rows = RoaringTreemap::new();
        for run in &self.version.runs {
            rows |= &run.grains;
        }
        for memtable in self.version.in_memory() {
            let follows = |a: &u64, b: &u64| a.checked_add(1) == Some(*b);
            for run in memtable.grains.chunk_by(follows) {
                if let (Some(first), Some(last)) = (run.first(), run.last()) {
                    rows.insert_range(*first..=*last);
                }
            }
        }
        let mut rows = RowSet(rows);
        rows.remove_from(self.watermark()..);
        if let Some(erased) = self.engine.erased() {
            rows.0 -= &*erased;
        }
        rows
    }

    /// Returns the rows of grains from a row on, lowest first, without collecting them.
    pub fn grains_from(&self, row: EntryId) -> impl Iterator<Item = EntryId> {
        let row = row.get();
        let in_runs = self.version.runs.iter().flat_map(move |run| {
            let mut rows = run.grains.iter();
            rows.advance_to(row);
            rows
        });
        let in_memory = self.version.memtables.iter().flat_map(move |memtable| {
            let rows = &memtable.grains;
            let skipped = rows.partition_point(|at| *at < row);
            rows.iter().skip(skipped).copied()
        });
        let erased = self.engine.erased();
        let overlays = self.version.overlays.iter();
        let overlaid = overlays.flat_map(|overlay| overlay.memtable.grains.iter().copied());
        let mut overlaid: Vec<u64> = overlaid.filter(|at| *at >= row).collect();
        overlaid.sort_unstable();
        in_order(in_runs.chain(in_memory), overlaid)
            .take_while(|row| *row < self.watermark())
            .filter(move |row| !erased.as_ref().is_some_and(|erased| erased.contains(*row)))
            .map(EntryId::new)
    }

    /// Returns the rows of grains that match a triple pattern.
    pub fn triples(&self, pattern: &Pattern<'_>) -> Scan<'_> {
        // Stored text is in NFC; query text need not be.
        let term = |text: Option<&str>| text.map(|text| self.engine.terms.hash(&[&nfc(text)]));
        let (s, p, o) = (
            term(pattern.subject),
            term(pattern.relation),
            term(pattern.object),
        );
        // The family of which the bound parts are the first.
        match (s, p, o) {
            (Some(s), Some(p), Some(o)) => Scan::statement([
                self.pair_range(Family::SubjectRelation, [Some(s), Some(p)]),
                self.pair_range(Family::RelationObject, [Some(p), Some(o)]),
                self.pair_range(Family::ObjectSubject, [Some(o), Some(s)]),
            ]),
            (_, None, Some(_)) => Scan::pairs(self.pair_range(Family::ObjectSubject, [o, s])),
            (None, Some(_), _) => Scan::pairs(self.pair_range(Family::RelationObject, [p, o])),
            (_, _, None) => Scan::pairs(self.pair_range(Family::SubjectRelation, [s, p])),
        }
    }

    /// Returns the rows of grains of a type.
    pub fn of_type(&self, of: Type) -> Scan<'_> {
        self.exact(Family::Type, u64::from(of.byte()))
    }

    /// Returns the rows whose field of `family` is `text`; of a namespace, also those inside it.
    pub fn with_text(&self, family: Family, text: &str) -> Scan<'_> {
        self.exact(family, self.engine.terms.hash(&[&nfc(text)]))
    }

    /// Returns the rows that point at a grain through `family`.
    pub fn pointing_at(&self, family: Family, address: &ContentAddress) -> Scan<'_> {
        self.exact(family, self.engine.terms.hash_link(address))
    }

    /// Returns the rows of alias entries for a foreign identifier.
    pub fn foreign(&self, id: &ForeignId) -> Scan<'_> {
        self.exact(Family::ForeignId, self.engine.terms.hash(&id.parts()))
    }

    /// Returns the rows of the status entries of the grain at `row`, oldest first.
    pub fn status_entries(&self, row: EntryId) -> Scan<'_> {
        self.exact(Family::Status, row.get())
    }

    /// Returns the rows whose time of `family` is in `from..=to`; an open end is unbounded.
    pub fn in_time(&self, family: Family, from: Option<Time>, to: Option<Time>) -> Scan<'_> {
        let bound = |time: Option<Time>, open: i64| ordered(time.map_or(open, Time::ms));
        let (low, high) = (bound(from, i64::MIN), bound(to, i64::MAX));
        self.scan(
            family,
            Single::new([low, 0], 0),
            Single::new([high, 0], u64::MAX),
        )
    }

    /// Returns the rows whose number of `family` is in `from..=to`; an open end is unbounded.
    pub fn in_numbers(&self, family: Family, from: Option<f64>, to: Option<f64>) -> Scan<'_> {
        let low = from.map_or(0, ordered_number);
        let high = to.map_or(u64::MAX, ordered_number);
        self.scan(
            family,
            Single::new([low, 0], 0),
            Single::new([high, 0], u64::MAX),
        )
    }

    /// Returns the rows whose field, one of [`Family::FACETS`], is `text`.
    pub fn with_facet(&self, field: &str, text: &str) -> Scan<'_> {
        let term = self.engine.terms.hash(&[field, &nfc(text)]);
        self.exact(Family::Facet, term)
    }

    /// Returns the rows of the Consents of which a field, one of [`Family::CONSENTS`], is or
    /// contains `text`.
    pub fn with_consent(&self, field: &str, text: &str) -> Scan<'_> {
        let term = self.engine.terms.hash(&[field, &nfc(text)]);
        self.exact(Family::Consent, term)
    }

    /// Returns the rows of the recorded reads of everything.
    pub fn read_in_full(&self) -> Scan<'_> {
        self.exact(Family::Read, 0)
    }

    /// Returns the rows of the grains that have an `invalidation_policy`.
    pub fn protected(&self) -> Scan<'_> {
        self.exact(Family::Protected, 0)
    }

    /// Calls `visit` with component and row of every key of a family; equal components come in the
    /// order of rows.
    pub(in crate::index) fn each(
        &self,
        family: Family,
        visit: &mut dyn FnMut(u64, u64),
    ) -> Result<(), Error> {
        let (low, high) = (Single::new([0; 2], 0), Single::new([u64::MAX; 2], u64::MAX));
        let mut keys = self.key_range::<Single>(family, low, high);
        if self.version.overlays.is_empty() {
            while let Some(key) = keys.next_key()? {
                let [part, ..] = key.parts();
                visit(part, key.row());
            }
            return Ok(());
        }
        let mut all = Vec::new();
        while let Some(key) = keys.next_key()? {
            all.push(key);
        }
        all.sort_unstable();
        for key in all {
            let [part, ..] = key.parts();
            visit(part, key.row());
        }
        Ok(())
    }

    /// Returns the person in whose overlay the grain of a row is; `None` for one in the clear.
    pub fn overlay_of(&self, row: EntryId) -> Option<[u8; 16]> {
        let mut overlays = self.version.overlays.iter();
        let is_in = |grains: &[u64]| grains.binary_search(&row.get()).is_ok();
        let found = overlays.find(|overlay| is_in(&overlay.memtable.grains));
        found.map(|overlay| overlay.uid)
    }

    /// Returns the snapshot without the overlays of some persons.
    #[cfg(feature = "sealing")]
    pub(crate) fn without_overlays(&self, uids: &[[u8; 16]]) -> Self {
        let mut version = Version::clone(&self.version);
        version
            .overlays
            .retain(|overlay| !uids.contains(&overlay.uid));
        Self {
            version: Arc::new(version),
            ..self.clone()
        }
    }

    /// Returns the rows of the entries that are sealed for a person, by pseudonym.
    pub fn sealed_for(&self, uid: &[u8; 16]) -> Scan<'_> {
        self.exact(Family::User, self.engine.terms.hash_person(uid))
    }

    /// Returns the rows of sealed grains with a blind token in `family`.
    pub fn with_token(&self, family: Family, token: &[u8]) -> Scan<'_> {
        self.exact(family, token_part(token))
    }

    /// Returns the rows of the entries of a kind. Grains, changes of status and foreign names are
    /// not indexed by kind, but for grains that were damaged when the index was built.
    pub fn of_kind(&self, kind: Kind) -> Scan<'_> {
        self.exact(Family::Kind, u64::from(kind.to_byte()))
    }

    /// Returns the rows of erasures that may have left this tombstone.
    pub fn tombstones(&self, position: &[u8; 32]) -> Scan<'_> {
        self.exact(Family::Tombstone, first_part(position))
    }

    /// Returns the entries that erasures have blanked, in no order.
    ///
    /// # Errors
    /// `ERR_INDEX_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn erased_entries(&self) -> Result<Vec<EntryId>, Error> {
        let mut rows = Vec::new();
        let mut add = |key: &Single| {
            let [row, ..] = key.parts();
            rows.push(EntryId::new(row));
        };
        for run in &self.version.runs {
            let mut keys = Stream::<Single>::new(Arc::clone(run), Family::Erased);
            while let Some(key) = keys.next()? {
                add(&key);
            }
        }
        for memtable in &self.version.memtables {
            memtable
                .keys::<Single>(Family::Erased)
                .iter()
                .for_each(&mut add);
        }
        Ok(rows)
    }

    fn exact(&self, family: Family, part: u64) -> Scan<'_> {
        self.scan(
            family,
            Single::new([part, 0], 0),
            Single::new([part, 0], u64::MAX),
        )
    }

    fn scan(&self, family: Family, low: Single, high: Single) -> Scan<'_> {
        if family.is_pair() {
            let [part, _] = low.parts();
            return Scan::pairs(self.pair_range(family, [Some(part), None]));
        }
        Scan::singles(self.key_range(family, low, high))
    }

    fn pair_range(&self, family: Family, bound: [Option<u64>; 2]) -> KeyRange<'_, Pair> {
        let low = bound.map(|part| part.unwrap_or(0));
        let high = bound.map(|part| part.unwrap_or(u64::MAX));
        self.key_range(family, Pair::new(low, 0), Pair::new(high, u64::MAX))
    }

    fn key_range<K: RunKey>(&self, family: Family, low: K, high: K) -> KeyRange<'_, K> {
        let erased = self.engine.erased();
        let mut overlaid = Vec::new();
        for overlay in &self.version.overlays {
            let keys = overlay.memtable.range(family, low, high).iter().copied();
            overlaid.extend(keys.filter(|key| {
                let row = key.row();
                let is_erased = erased.as_ref().is_some_and(|erased| erased.contains(row));
                self.version.is_visible(row) && !is_erased
            }));
        }
        overlaid.sort_unstable_by_key(|key| key.row());
        KeyRange {
            engine: &self.engine,
            version: &self.version,
            erased,
            overlaid: overlaid.into_iter(),
            held: None,
            family,
            low,
            high,
            // A range of times or numbers rarely recurs.
            is_cacheable: !family.is_ordered(),
            done: 0,
            at: None,
        }
    }
}

/// Returns rows in order and others, which are few, in one order.
fn in_order(rows: impl Iterator<Item = u64>, others: Vec<u64>) -> impl Iterator<Item = u64> {
    let (mut rows, mut others) = (rows.peekable(), others.into_iter().peekable());
    std::iter::from_fn(move || match (rows.peek(), others.peek()) {
        (Some(row), Some(other)) if other < row => others.next(),
        (Some(_), _) => rows.next(),
        (None, _) => others.next(),
    })
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("watermark", &self.watermark())
            .field("runs", &self.version.runs)
            .finish_non_exhaustive()
    }
}
