//! The kinds of ledger entries and their numbers (docs/format.md, "Entries").
//!
//! The ledger itself interprets one kind only: `Erasing`, which lists the entries it blanks.

/// The kind of an entry; its number is one byte of the entry header.
///
/// ```
/// use grainstore::ledger::Kind;
///
/// assert_eq!(Kind::from_byte(3), Some(Kind::Status));
/// assert_eq!(Kind::from_byte(0), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Kind {
    /// A plain blob; its SHA-256 is its content address.
    Grain = 1,
    /// A sealed envelope and its index card.
    SealedGrain = 2,
    /// A change of the index-layer status of a grain (supersession, validity, verification).
    Status = 3,
    /// A pin, zone, exportable or conflict flag.
    Flag = 4,
    /// A foreign identifier of a grain.
    Alias = 5,
    /// A vector that belongs to a grain.
    Embedding = 6,
    /// The effect of a consent grain.
    ConsentEffect = 7,
    /// A legal hold, set or lifted.
    Hold = 8,
    /// A review of a grain.
    Review = 9,
    /// A refused operation.
    Denial = 10,
    /// An import.
    Import = 11,
    /// An export.
    Export = 12,
    /// A change of trusted signers.
    Trust = 13,
    /// A change of policy.
    Policy = 14,
    /// An actor; other entries name it by its sequence.
    Actor = 15,
    /// An event in the life of a key.
    KeyEvent = 16,
    /// An erasure that has begun.
    Erasing = 17,
    /// An erasure that is complete.
    Erased = 18,
    /// A store restored from a backup.
    Restored = 19,
    /// A signed statement of the ledger's root.
    Checkpoint = 20,
    /// The signature of the grain in the entry before it.
    Signature = 21,
    /// A read of grains whose reads are recorded.
    Read = 22,
}

impl Kind {
    /// Every kind, in the order of their numbers.
    pub const ALL: [Self; 22] = [
        Self::Grain,
        Self::SealedGrain,
        Self::Status,
        Self::Flag,
        Self::Alias,
        Self::Embedding,
        Self::ConsentEffect,
        Self::Hold,
        Self::Review,
        Self::Denial,
        Self::Import,
        Self::Export,
        Self::Trust,
        Self::Policy,
        Self::Actor,
        Self::KeyEvent,
        Self::Erasing,
        Self::Erased,
        Self::Restored,
        Self::Checkpoint,
        Self::Signature,
        Self::Read,
    ];

    /// Returns the kind with this number; `None` if it belongs to a newer format.
    pub fn from_byte(byte: u8) -> Option<Self> {
        let index = usize::from(byte).checked_sub(1)?;
        Self::ALL.get(index).copied()
    }

    /// Returns the name of the kind in docs/format.md.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Grain => "grain",
            Self::SealedGrain => "sealed grain",
            Self::Status => "status",
            Self::Flag => "flag",
            Self::Alias => "alias",
            Self::Embedding => "embedding",
            Self::ConsentEffect => "consent effect",
            Self::Hold => "hold",
            Self::Review => "review",
            Self::Denial => "denial",
            Self::Import => "import",
            Self::Export => "export",
            Self::Trust => "trust",
            Self::Policy => "policy",
            Self::Actor => "actor",
            Self::KeyEvent => "key event",
            Self::Erasing => "erasing",
            Self::Erased => "erased",
            Self::Restored => "restored",
            Self::Checkpoint => "checkpoint",
            Self::Signature => "signature",
            Self::Read => "read",
        }
    }

    /// Returns the number of the kind.
    pub const fn to_byte(self) -> u8 {
        self as u8
    }
}

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn every_kind_comes_back_from_its_number_and_no_other_number_is_a_kind() {
        for kind in Kind::ALL {
            assert_eq!(Kind::from_byte(kind.to_byte()), Some(kind));
        }
        let known = (0..=u8::MAX).filter_map(Kind::from_byte).count();
        assert_eq!(known, Kind::ALL.len());
    }
}
