//! Ledger entries other than grains: every body, with one encoding and one decoding
//! (docs/format.md, "Entry bodies").
//!
//! Pure: bytes and values in, bytes and values out. The effects of entries are in [`super::state`].

mod audit_records;
mod erasure_records;
mod fields;
mod frame;
mod grain_records;
mod key_records;
mod manifest;
mod policy_records;
mod salts;
mod sealed_record;
mod trust_records;

use crate::codec::{self, ContentAddress, Map};
use crate::ledger::Kind;

pub(crate) use audit_records::{
    ActorRecord, CheckpointRecord, ExportRecord, ImportRecord, ReadRecord,
};
pub use erasure_records::Until;
pub(crate) use erasure_records::{
    ErasedRecord, ErasingRecord, ProtectionTombstone, RestoredRecord, erased_rows,
};
#[cfg(feature = "sealing")]
pub(crate) use frame::FrameEntry;
pub(crate) use frame::{EntryBody, Frame, PendingPut};
pub(crate) use grain_records::{
    AliasRecord, EmbeddingRecord, FlagRecord, SignatureRecord, StatusRecord,
};
pub use key_records::BlindFields;
pub(crate) use key_records::{EscrowRecord, KeyEventRecord};
pub(crate) use manifest::{Announced, COPY, COPY_TEMPORARY, MANIFEST, Manifest, TEMPORARY};
pub use policy_records::RequiredConsent;
pub(crate) use policy_records::{
    CheckedRecord, ConsentEffectRecord, DenialRecord, HoldRecord, PolicyRecord, Reading,
    ReviewRecord,
};
pub(crate) use salts::{DrawnSalts, draw_salts};
#[cfg(feature = "sealing")]
pub(crate) use sealed_record::BlindTokens;
#[cfg(feature = "sealing")]
pub(crate) use sealed_record::EndedGrain;
pub(crate) use sealed_record::{SealedCard, SealedEntries, SealedRecord, Uid};
pub(crate) use trust_records::TrustRecord;

/// The body of one ledger entry that is not a grain.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Record {
    Status(StatusRecord),
    Flag(FlagRecord),
    Alias(AliasRecord),
    Embedding(EmbeddingRecord),
    ConsentEffect(ConsentEffectRecord),
    Hold(HoldRecord),
    Review(ReviewRecord),
    Denial(DenialRecord),
    Import(ImportRecord),
    Export(ExportRecord),
    Trust(TrustRecord),
    Policy(PolicyRecord),
    Actor(ActorRecord),
    KeyEvent(KeyEventRecord),
    Erasing(ErasingRecord),
    Erased(ErasedRecord),
    Restored(RestoredRecord),
    Checkpoint(CheckpointRecord),
    Signature(SignatureRecord),
    Read(ReadRecord),
    /// A body that this version does not understand; at most the grain it is about is known.
    Unknown(Kind, Option<ContentAddress>),
}

impl Record {
    /// Returns whether it changes a stored grain, what protects one, what a person is to decide, or a
    /// setting of the store.
    pub(crate) const fn is_change(&self) -> bool {
        match self {
            Self::Status(_) | Self::Hold(_) | Self::Erasing(_) => true,
            Self::Review(review) => matches!(review, ReviewRecord::Cleared { .. }),
            Self::Policy(policy) => policy.is_setting(),
            _ => false,
        }
    }

    /// Returns the kind of entry that carries the record.
    pub(crate) const fn kind(&self) -> Kind {
        match self {
            Self::Status(_) => Kind::Status,
            Self::Flag(_) => Kind::Flag,
            Self::Alias(_) => Kind::Alias,
            Self::Embedding(_) => Kind::Embedding,
            Self::ConsentEffect(_) => Kind::ConsentEffect,
            Self::Hold(_) => Kind::Hold,
            Self::Review(_) => Kind::Review,
            Self::Denial(_) => Kind::Denial,
            Self::Import(_) => Kind::Import,
            Self::Export(_) => Kind::Export,
            Self::Trust(_) => Kind::Trust,
            Self::Policy(_) => Kind::Policy,
            Self::Actor(_) => Kind::Actor,
            Self::KeyEvent(_) => Kind::KeyEvent,
            Self::Erasing(_) => Kind::Erasing,
            Self::Erased(_) => Kind::Erased,
            Self::Restored(_) => Kind::Restored,
            Self::Checkpoint(_) => Kind::Checkpoint,
            Self::Signature(_) => Kind::Signature,
            Self::Read(_) => Kind::Read,
            Self::Unknown(kind, _) => *kind,
        }
    }

    /// Returns the body of the entry that carries the record.
    ///
    /// # Errors
    /// `ERR_CORRUPT` and the like for text without a canonical form.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, codec::Error> {
        fields::encode(match self {
            Self::Status(record) => record.to_map(),
            Self::Flag(record) => record.to_map(),
            Self::Alias(record) => record.to_map(),
            Self::Embedding(record) => record.to_map(),
            Self::ConsentEffect(record) => record.to_map(),
            Self::Hold(record) => record.to_map(),
            Self::Review(record) => record.to_map(),
            Self::Denial(record) => record.to_map(),
            Self::Import(record) => record.to_map(),
            Self::Export(record) => record.to_map(),
            Self::Trust(record) => record.to_map(),
            Self::Policy(record) => record.to_map(),
            Self::Actor(record) => record.to_map(),
            Self::KeyEvent(record) => record.to_map(),
            Self::Erasing(record) => record.to_map(),
            Self::Erased(record) => record.to_map(),
            Self::Restored(record) => record.to_map(),
            Self::Checkpoint(record) => record.to_map(),
            Self::Signature(record) => record.to_map(),
            Self::Read(record) => record.to_map(),
            Self::Unknown(..) => Map::default(),
        })
    }

    /// Reads the body of an entry of a kind.
    ///
    /// `None` for a malformed body of a kind that every version understands and that the index
    /// cannot be folded without. Any other body that is not understood is ignored, since a later
    /// version may have written it.
    pub(crate) fn decode(kind: Kind, body: &[u8]) -> Option<Self> {
        let map = fields::decode(body);
        let known = map.as_deref().and_then(|map| Self::from_map(kind, map));
        let is_required = matches!(
            kind,
            Kind::Status | Kind::Alias | Kind::Erasing | Kind::Read
        );
        if known.is_some() || is_required {
            return known;
        }
        let of = map.and_then(|map| fields::address(&map, "a"));
        Some(Self::Unknown(kind, of))
    }

    fn from_map(kind: Kind, map: &Map) -> Option<Self> {
        Some(match kind {
            Kind::Status => Self::Status(StatusRecord::from_map(map)?),
            Kind::Flag => Self::Flag(FlagRecord::from_map(map)?),
            Kind::Alias => Self::Alias(AliasRecord::from_map(map)?),
            Kind::Embedding => Self::Embedding(EmbeddingRecord::from_map(map)?),
            Kind::ConsentEffect => Self::ConsentEffect(ConsentEffectRecord::from_map(map)?),
            Kind::Hold => Self::Hold(HoldRecord::from_map(map)?),
            Kind::Review => Self::Review(ReviewRecord::from_map(map)?),
            Kind::Denial => Self::Denial(DenialRecord::from_map(map)?),
            Kind::Import => Self::Import(ImportRecord::from_map(map)?),
            Kind::Export => Self::Export(ExportRecord::from_map(map)?),
            Kind::Trust => Self::Trust(TrustRecord::from_map(map)?),
            Kind::Policy => Self::Policy(PolicyRecord::from_map(map)?),
            Kind::Actor => Self::Actor(ActorRecord::from_map(map)?),
            Kind::Erasing => Self::Erasing(ErasingRecord::from_map(map)?),
            Kind::Erased => Self::Erased(ErasedRecord::from_map(map)?),
            Kind::Restored => Self::Restored(RestoredRecord::from_map(map)?),
            Kind::Checkpoint => Self::Checkpoint(CheckpointRecord::from_map(map)?),
            Kind::Signature => Self::Signature(SignatureRecord::from_map(map)?),
            Kind::Read => Self::Read(ReadRecord::from_map(map)?),
            Kind::KeyEvent => Self::KeyEvent(KeyEventRecord::from_map(map)?),
            Kind::Grain | Kind::SealedGrain => return None,
        })
    }

    /// Returns the grains that the record names.
    pub(crate) fn named(&self) -> Vec<ContentAddress> {
        let mut named: Vec<_> = self.about().into_iter().collect();
        match self {
            Self::Status(record) => named.extend(record.change.superseded_by),
            Self::ConsentEffect(record) => named.push(record.withdrawal),
            Self::Read(record) => named.extend(&record.addresses),
            _ => {}
        }
        named
    }

    /// Returns the grain that the record is about; `None` for one about the store, an actor, or
    /// several grains.
    pub(crate) const fn about(&self) -> Option<ContentAddress> {
        match self {
            Self::Status(record) => Some(record.of),
            Self::Flag(record) => Some(record.of),
            Self::Alias(record) => Some(record.of),
            Self::Embedding(record) => Some(record.of),
            Self::ConsentEffect(record) => Some(record.consent),
            Self::Hold(record) => Some(record.of),
            Self::Review(record) => Some(record.of()),
            Self::Denial(record) => record.of,
            Self::Signature(record) => Some(record.of),
            Self::Trust(TrustRecord::Signed { of, .. }) => Some(*of),
            Self::Unknown(_, of) => *of,
            Self::Import(_)
            | Self::Export(_)
            | Self::Trust(_)
            | Self::Policy(_)
            | Self::Actor(_)
            | Self::KeyEvent(_)
            | Self::Erasing(_)
            | Self::Erased(_)
            | Self::Restored(_)
            | Self::Checkpoint(_)
            | Self::Read(_) => None,
        }
    }
}
