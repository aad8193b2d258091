//! The state of the vault for the operator: persons, epoch, escrow copies, and whether it opens.

use crate::grain::Time;
use crate::store::records::{BlindFields, EscrowRecord};
use crate::vault;

/// The state of the vault.
///
/// ```
/// use grainstore::{Options, Store};
///
/// let store = Store::in_memory(Options::default())?;
/// let status = store.admin()?.vault().status()?;
/// assert_eq!((status.persons, status.epoch), (0, 0));
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug)]
pub struct VaultStatus {
    /// The number of persons who have a key.
    pub persons: u64,
    /// The number of roots so far; 0 of a store without a vault.
    pub epoch: u64,
    /// The escrow copies that were made, in their order.
    pub escrows: Vec<Escrow>,
    /// The persons of whom a grain was deleted since their key was last renewed, by pseudonym, each
    /// with the time by which it is to be renewed: what a disk keeps of the grain is readable to a
    /// holder of the key until then.
    pub due: Vec<([u8; 16], Time)>,
    /// The fields of which sealed grains have blind tokens.
    pub blind_fields: BlindFields,
    /// The file system of the root; `None` where it cannot be told: on systems other than Linux, and of
    /// a root that lies elsewhere.
    pub file_system: Option<String>,
    /// Whether that file system writes in place what is overwritten, as erasing a key needs; `None`
    /// where it is unknown.
    pub overwrites: Option<bool>,
    /// Why the vault does not open; `None` if it does, or if there is none.
    pub fault: Option<vault::Error>,
}

/// An escrow copy of the root, as the ledger tells of it.
///
/// ```
/// use grainstore::Time;
/// use grainstore::store::Escrow;
///
/// let copy = Escrow {
///     id: [7; 16],
///     epoch: 1,
///     until: Time::from_ms(1_800_000_000_000),
///     recipient: "age1…".to_owned(),
/// };
/// assert!(copy.until > Time::from_ms(0));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Escrow {
    /// The number of the copy, drawn at random.
    pub id: [u8; 16],
    /// The epoch whose root it is: it opens the vault for as long as that is the vault's.
    pub epoch: u64,
    /// When its recipient is to have destroyed it.
    pub until: Time,
    /// The public key that it is encrypted to.
    pub recipient: String,
}

impl Escrow {
    /// Returns the number of the copy as receipts name it: 32 hexadecimal digits.
    pub fn name(&self) -> String {
        data_encoding::HEXLOWER.encode(&self.id)
    }
}

impl From<&EscrowRecord> for Escrow {
    fn from(record: &EscrowRecord) -> Self {
        Self {
            id: record.id,
            epoch: record.epoch,
            until: record.until,
            recipient: record.recipient.clone(),
        }
    }
}
