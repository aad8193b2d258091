//! The families of keys, by number.
//!
//! A number names a section of a run, so none is ever reused: 1 to 6 were statements with all three
//! parts. A key is one component of 8 bytes, two for parts of a statement, and the row of the entry
//! that made it; sorted in its family, integers big-endian. Texts are terms: SipHash-2-4 under the
//! store's `term_key` of each text followed by `ff`, and 1 where that is 0; an object that is not text
//! is hashed as its canonical JSON. Grains are links: SipHash-2-4 under the same key of the 32 bytes of
//! an address. A time is milliseconds, the sign bit flipped; an ordered double is its bits, the sign bit
//! set, of a negative one all bits flipped. A verification is the row · 8 + 0 unverified, 1 verified,
//! 2 contested, 3 retracted.
//!
//! A sealed entry has keys from its card alone: under `User` the first 8 bytes of SipHash-2-4 over
//! `fe` and `uid`, and those of the token `u`; under `Session` those of `s`; under the pairs those
//! of `a`, `r` and `o`, 0 for one that it has not, 1 in the place of 0 in a token.

/// A family of keys: the value that a key indexes. Its number names the section in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Family {
    /// The type byte.
    Type = 7,
    /// A namespace and each of its `:` ancestors (OMS 28.2).
    Namespace = 8,
    /// The time of the event: `timestamp_ms`, else `created_at`, ordered (ruling P5).
    EventTime = 9,
    /// `valid_from`, ordered.
    ValidTime = 10,
    /// When the grain became active here, ordered (ruling I20).
    SystemTime = 11,
    /// `session_id`.
    Session = 12,
    /// `run_id`.
    Run = 13,
    /// `user_id`.
    User = 14,
    /// One of the `structural_tags`.
    Tag = 15,
    /// A grain that this one is derived from.
    DerivedFrom = 16,
    /// A grain that this one is related to.
    RelatedTo = 17,
    /// The consent that is the basis of this one.
    ProcessingBasis = 18,
    /// A superseding grain; the rows are of the status entries that name it.
    Lineage = 19,
    /// A grain; the rows are of the other entries that name it.
    Mentions = 20,
    /// A foreign identifier; the rows are of alias entries.
    ForeignId = 21,
    /// A grain's row; the rows are of its status entries.
    Status = 22,
    /// A grain's row; the rows are of the entries that made it not current.
    NotCurrent = 23,
    /// The first eight bytes of a grain's address.
    Address = 24,
    /// The number of a kind of entry; the rows are of its entries, but for grains, changes of
    /// status and foreign names, of which there are many.
    Kind = 25,
    /// The first eight bytes of a tombstone; the rows are of the erasures.
    Tombstone = 26,
    /// The row of an entry that was erased; the rows are of the erasures.
    Erased = 27,
    /// `valid_to`, ordered.
    ValidTo = 28,
    /// When a grain ceased to be current, ordered; the rows are of the status entries that say so.
    SystemValidTo = 29,
    /// A grain's row and its verification status; the rows are of its status entries that set it.
    Verification = 30,
    /// `confidence`, ordered.
    Confidence = 31,
    /// `importance`, ordered.
    Importance = 32,
    /// The name and the text of one of the fields of [`Family::FACETS`].
    Facet = 33,
    /// The row of an entry that was erased; the rows are of its fallback entries.
    Fallback = 34,
    /// The name and the text of one of the fields of [`Family::CONSENTS`]; the rows are of
    /// Consents.
    Consent = 35,
    /// 0; the rows are of the grains that have an `invalidation_policy`.
    Protected = 36,
    /// A grain that was read, or 0 for all of them; the rows are of the entries that record reads.
    Read = 37,
    /// `created_at` of a grain whose event has another time, ordered.
    CreatedAt = 38,
    /// Subject and relation of a statement.
    SubjectRelation = 39,
    /// Relation and object of a statement.
    RelationObject = 40,
    /// Object and subject of a statement.
    ObjectSubject = 41,
}

impl Family {
    /// The families of two components, in the order of their numbers: any one or two parts of a
    /// statement are the first of one of these.
    pub(in crate::index) const PAIRS: [Self; 3] = [
        Self::SubjectRelation,
        Self::RelationObject,
        Self::ObjectSubject,
    ];

    /// The families of one component, in the order of their numbers.
    pub(in crate::index) const SINGLES: [Self; 32] = [
        Self::Type,
        Self::Namespace,
        Self::EventTime,
        Self::ValidTime,
        Self::SystemTime,
        Self::Session,
        Self::Run,
        Self::User,
        Self::Tag,
        Self::DerivedFrom,
        Self::RelatedTo,
        Self::ProcessingBasis,
        Self::Lineage,
        Self::Mentions,
        Self::ForeignId,
        Self::Status,
        Self::NotCurrent,
        Self::Address,
        Self::Kind,
        Self::Tombstone,
        Self::Erased,
        Self::ValidTo,
        Self::SystemValidTo,
        Self::Verification,
        Self::Confidence,
        Self::Importance,
        Self::Facet,
        Self::Fallback,
        Self::Consent,
        Self::Protected,
        Self::Read,
        Self::CreatedAt,
    ];

    /// The fields of [`Family::Facet`]: fields with few distinct values, and those that partition
    /// grains by observer (OMS 17.3, 24).
    pub const FACETS: [&'static str; 8] = [
        "source_type",
        "epistemic_status",
        "recall_priority",
        "observer_type",
        "observer_id",
        "author_did",
        "subject_did",
        "entity_id",
    ];

    /// The fields of [`Family::Consent`] (OMS 8.10).
    pub const CONSENTS: [&'static str; 4] = ["subject_did", "grantee_did", "scope", "purpose"];

    /// One more than the highest number.
    pub(in crate::index) const END: usize = Self::ObjectSubject as usize + 1;

    /// Returns the number of components of the keys of the family with this number.
    pub(in crate::index) const fn parts_of(number: u8) -> usize {
        match number < Self::SubjectRelation as u8 {
            true => 1,
            false => 2,
        }
    }

    /// Returns whether keys have two components rather than one.
    pub(in crate::index) const fn is_pair(self) -> bool {
        Self::parts_of(self as u8) == 2
    }

    /// Returns the place among the families with as many components.
    pub(in crate::index) const fn slot(self) -> usize {
        match self {
            Self::SubjectRelation => 0,
            Self::RelationObject => 1,
            Self::ObjectSubject => 2,
            single => (single as u8 - Self::Type as u8) as usize,
        }
    }

    /// Returns the row of the grain that an entry is about, if the component says it.
    pub(in crate::index) const fn grain_in(self, part: u64) -> Option<u64> {
        match self {
            Self::Status | Self::NotCurrent => Some(part),
            Self::Verification => Some(part >> VERIFICATION_BITS),
            _ => None,
        }
    }

    /// Returns whether queries ask for a range rather than for one component.
    pub(in crate::index) const fn is_ordered(self) -> bool {
        matches!(
            self,
            Self::EventTime
                | Self::CreatedAt
                | Self::ValidTime
                | Self::SystemTime
                | Self::ValidTo
                | Self::SystemValidTo
                | Self::Confidence
                | Self::Importance
        )
    }
}

/// The number of bits behind the row of a grain that hold its verification status.
pub(in crate::index) const VERIFICATION_BITS: u32 = 3;

#[cfg(test)]
mod tests {
    use super::Family;

    #[test]
    fn every_family_knows_its_place() {
        for (slot, family) in Family::PAIRS.into_iter().enumerate() {
            assert!(family.is_pair() && family.slot() == slot);
        }
        for (slot, family) in Family::SINGLES.into_iter().enumerate() {
            assert!(!family.is_pair() && family.slot() == slot);
        }
    }
}
