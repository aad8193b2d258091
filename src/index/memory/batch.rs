//! A batch: the keys of the next ledger entries, on their way into a memtable.
//!
//! The one place that decides which keys a grain or an entry about a grain has.

use crate::codec::{ContentAddress, Value};
use crate::grain::{ForeignId, Grain, Namespace, StatusChange, Time, Type, Verification};
use crate::ledger::{EntryId, Kind};

use super::memtable::Memtable;
use crate::index::key::encoding::{
    Key, Pair, Single, first_part, ordered, ordered_number, prefix_of, token_part,
};
use crate::index::key::family::VERIFICATION_BITS;
use crate::index::{Family, TermKey};

/// The keys of consecutive ledger entries, before they are published.
///
/// ```
/// use grainstore::grain::{Draft, Time};
/// use grainstore::index::{Batch, TermKey};
/// use grainstore::ledger::EntryId;
///
/// let grain = Draft::event("hello").created_at(Time::from_ms(1)).finish(Default::default())?;
/// let mut batch = Batch::new(TermKey::new([7; 16]));
/// batch.grain(EntryId::new(0), &grain, 1);
/// assert_eq!(batch.row_of(&grain.address()), Some(EntryId::new(0)));
/// # Ok::<(), grainstore::grain::Error>(())
/// ```
#[derive(Debug)]
pub struct Batch {
    terms: TermKey,
    keys: Memtable,
    addresses: Vec<(ContentAddress, EntryId)>,
}

impl Batch {
    /// Starts an empty batch.
    pub fn new(terms: TermKey) -> Self {
        Self {
            terms,
            keys: Memtable::default(),
            addresses: Vec::new(),
        }
    }

    /// Returns the row of a grain of this batch.
    pub fn row_of(&self, address: &ContentAddress) -> Option<EntryId> {
        // Entries about a new grain usually follow it.
        let mut latest = self.addresses.iter().rev();
        latest.find(|(of, _)| of == address).map(|(_, row)| *row)
    }

    /// Adds a grain that the ledger holds as entry `row`, stored at `stored_at_ms`.
    pub fn grain(&mut self, row: EntryId, grain: &Grain, stored_at_ms: i64) {
        let address = grain.address();
        self.addresses.push((address, row));
        self.keys.grains.push(row.get());
        self.single(Family::Address, prefix_of(&address), row);
        self.single(Family::Type, u64::from(grain.type_().byte()), row);
        let (mut created_at, mut event_time) = (0, None);
        // Ruling I20: the blob's own `system_valid_from` counts, else the time it was stored.
        let mut active_from = stored_at_ms;
        let mut statement = [None; 3];
        let is_consent = grain.type_() == Type::Consent;
        // One pass over the fields: a dozen look-ups would cost more than the keys.
        for (name, value) in grain.fields().iter() {
            match name {
                "created_at" => created_at = value.as_i64().unwrap_or(0),
                "timestamp_ms" => event_time = value.as_i64(),
                "system_valid_from" => active_from = value.as_i64().unwrap_or(stored_at_ms),
                "valid_from" => self.time(Family::ValidTime, value, row),
                "valid_to" => self.time(Family::ValidTo, value, row),
                "confidence" => self.number(Family::Confidence, value, row),
                "importance" => self.number(Family::Importance, value, row),
                "namespace" => {
                    for namespace in value.as_text().into_iter().flat_map(Namespace::ancestors) {
                        self.text(Family::Namespace, namespace, row);
                    }
                }
                "session_id" => self.texts(Family::Session, value.as_text(), row),
                "run_id" => self.texts(Family::Run, value.as_text(), row),
                "user_id" => self.texts(Family::User, value.as_text(), row),
                "structural_tags" => self.texts(Family::Tag, value.texts(), row),
                "derived_from" => self.links(Family::DerivedFrom, grain.derived_from(), row),
                "related_to" => self.links(Family::RelatedTo, grain.related_to(), row),
                "processing_basis" => {
                    self.links(Family::ProcessingBasis, grain.link("processing_basis"), row);
                }
                "subject" => statement[0] = Some(self.part(value)),
                "relation" => statement[1] = Some(self.part(value)),
                "object" => statement[2] = Some(self.part(value)),
                "invalidation_policy" => self.single(Family::Protected, 0, row),
                _ => {
                    if Family::FACETS.contains(&name) {
                        self.named(Family::Facet, name, value.as_text(), row);
                    }
                    if is_consent && Family::CONSENTS.contains(&name) {
                        let texts = value.as_text().into_iter().chain(value.texts());
                        self.named(Family::Consent, name, texts, row);
                    }
                }
            }
        }
        let time = event_time.unwrap_or(created_at);
        self.single(Family::EventTime, ordered(time), row);
        if time != created_at {
            self.single(Family::CreatedAt, ordered(created_at), row);
        }
        self.single(Family::SystemTime, ordered(active_from), row);
        // Revision 1.6, 28.4.4: a grain with a subject alone must be found through it.
        if statement.iter().any(Option::is_some) {
            self.statement(statement.map(Option::unwrap_or_default), row);
        }
    }

    /// Adds a change of status of the grain at `target`, recorded as entry `row` at `at_ms`.
    /// `target_row` is the row of that grain; without one nothing is added.
    pub fn status(
        &mut self,
        row: EntryId,
        at_ms: i64,
        target: &ContentAddress,
        target_row: Option<EntryId>,
        change: &StatusChange,
    ) {
        let Some(grain_row) = target_row.map(EntryId::get) else {
            return;
        };
        self.single(Family::Status, grain_row, row);
        self.mention(row, target);
        if let Some(new) = &change.superseded_by {
            self.links(Family::Lineage, Some(*new), row);
            self.mention(row, new);
        }
        if change.superseded_by.is_some() || change.system_valid_to.is_some() {
            self.single(Family::NotCurrent, grain_row, row);
            let end = change.system_valid_to.map_or(at_ms, Time::ms);
            self.single(Family::SystemValidTo, ordered(end), row);
        }
        if let Some(verification) = change.verification {
            let part = grain_row << VERIFICATION_BITS | number_of(verification);
            self.single(Family::Verification, part, row);
        }
    }

    /// Adds entry `row` as the fallback of an erased entry: views of moments before the erasure see
    /// it in its place.
    pub fn fallback(&mut self, row: EntryId, erased: EntryId) {
        self.single(Family::Fallback, erased.get(), row);
    }

    /// Adds a foreign identifier of the grain at `target`, which is entry `row`.
    pub fn alias(&mut self, row: EntryId, target: &ContentAddress, id: &ForeignId) {
        let term = self.terms.hash(&id.parts());
        self.single(Family::ForeignId, term, row);
        self.mention(row, target);
    }

    /// Adds any other entry about the grain at `target`, which is entry `row`.
    pub fn mention(&mut self, row: EntryId, target: &ContentAddress) {
        self.links(Family::Mentions, Some(*target), row);
    }

    /// Adds a recorded read, which is entry `row`; without grains it is a read of all.
    pub fn read(&mut self, row: EntryId, grains: &[ContentAddress]) {
        if grains.is_empty() {
            self.single(Family::Read, 0, row);
        }
        for grain in grains {
            self.links(Family::Read, Some(*grain), row);
        }
    }

    /// Adds entry `row` to the entries that are found by their kind.
    pub fn kind(&mut self, row: EntryId, kind: Kind) {
        self.single(Family::Kind, u64::from(kind.to_byte()), row);
    }

    /// Adds an entry that is sealed for a person, by pseudonym, with the blind tokens of its grain:
    /// all that is known of it while the person is locked.
    pub fn sealed<'t>(
        &mut self,
        row: EntryId,
        uid: &[u8; 16],
        tokens: impl IntoIterator<Item = (Family, &'t [u8])>,
    ) {
        let person = self.terms.hash_person(uid);
        self.single(Family::User, person, row);
        for (family, token) in tokens {
            self.single(family, token_part(token), row);
        }
    }

    /// Adds the blind tokens of subject, relation and object of a sealed grain.
    pub fn sealed_statement(&mut self, row: EntryId, tokens: &[Option<[u8; 16]>; 3]) {
        if tokens.iter().any(Option::is_some) {
            let part = |token: Option<[u8; 16]>| token.map(|token| token_part(&token));
            self.statement(tokens.map(|token| part(token).unwrap_or_default()), row);
        }
    }

    /// Adds the end of the grain at `target_row`, which the sealed entry `row` brings about: all that is
    /// known of its successor while the person is locked. Without a row nothing is added.
    pub fn ended(&mut self, row: EntryId, target_row: Option<EntryId>, end: Time) {
        if let Some(target) = target_row {
            self.single(Family::NotCurrent, target.get(), row);
            self.single(Family::SystemValidTo, ordered(end.ms()), row);
        }
    }

    /// Adds an erasure, which is entry `row`: the entries it blanks, and the tombstones.
    pub fn erasure(&mut self, row: EntryId, erased: &[EntryId], tombstones: &[[u8; 32]]) {
        for entry in erased {
            self.single(Family::Erased, entry.get(), row);
        }
        for tombstone in tombstones {
            self.single(Family::Tombstone, first_part(tombstone), row);
        }
    }

    /// Brings the keys into their order, so that publishing the batch takes less time.
    pub(crate) fn sort(&mut self) {
        self.keys.sort();
    }

    /// Returns the keys in order, and the grains with their rows; the batch covers `rows`.
    pub(in crate::index) fn finish(
        self,
        rows: std::ops::Range<u64>,
    ) -> (Memtable, Vec<(ContentAddress, EntryId)>) {
        let mut keys = self.keys;
        // Sorted keys take one pass.
        keys.sort();
        keys.rows = rows;
        (keys, self.addresses)
    }

    fn single(&mut self, family: Family, part: u64, row: EntryId) {
        self.keys.push(family, Single::new([part, 0], row.get()));
    }

    fn time(&mut self, family: Family, value: &Value, row: EntryId) {
        if let Some(ms) = value.as_i64() {
            self.single(family, ordered(ms), row);
        }
    }

    fn number(&mut self, family: Family, value: &Value, row: EntryId) {
        if let Some(number) = value.as_f64() {
            self.single(family, ordered_number(number), row);
        }
    }

    fn named<'a>(
        &mut self,
        family: Family,
        name: &str,
        texts: impl IntoIterator<Item = &'a str>,
        row: EntryId,
    ) {
        for text in texts {
            let term = self.terms.hash(&[name, text]);
            self.single(family, term, row);
        }
    }

    fn text(&mut self, family: Family, text: &str, row: EntryId) {
        let term = self.terms.hash(&[text]);
        self.single(family, term, row);
    }

    fn texts<'a>(
        &mut self,
        family: Family,
        texts: impl IntoIterator<Item = &'a str>,
        row: EntryId,
    ) {
        for text in texts {
            self.text(family, text, row);
        }
    }

    fn links(
        &mut self,
        family: Family,
        addresses: impl IntoIterator<Item = ContentAddress>,
        row: EntryId,
    ) {
        for address in addresses {
            let term = self.terms.hash_link(&address);
            self.single(family, term, row);
        }
    }

    /// Returns the term of a part of a triple, whose text is as [`Grain::triple`] has it.
    fn part(&self, value: &Value) -> u64 {
        match value {
            Value::Text(text) => self.terms.hash(&[text]),
            other => self.terms.hash(&[&other.to_json()]),
        }
    }

    fn statement(&mut self, [s, p, o]: [u64; 3], row: EntryId) {
        let pairs = [[s, p], [p, o], [o, s]];
        for (family, parts) in Family::PAIRS.into_iter().zip(pairs) {
            self.keys.push(family, Pair::new(parts, row.get()));
        }
    }
}

/// Returns the number of a verification status in a component.
pub(in crate::index) const fn number_of(verification: Verification) -> u64 {
    match verification {
        Verification::Unverified => 0,
        Verification::Verified => 1,
        Verification::Contested => 2,
        Verification::Retracted => 3,
    }
}
