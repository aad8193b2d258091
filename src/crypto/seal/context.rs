//! The kind and the place of a sealed value, bound to its bytes as associated data.
//!
//! A value that is moved to another store, person, generation, purpose or row does not open there
//! (threat T24).

/// The kind of a sealed value; its number is part of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Purpose {
    /// The blob of a grain.
    Grain = 1,
    /// The data key of a person, wrapped.
    Slot = 3,
    /// The key of a bucket, wrapped.
    Bucket = 4,
    /// An entry about grains of a person.
    Row = 6,
    /// Keys of single messages of a person.
    Retained = 8,
}

/// Where a sealed value belongs.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The store.
    pub store: [u8; 16],
    /// The kind of the value.
    pub purpose: Purpose,
    /// The pseudonym of the person; zeros for a value of the store.
    pub uid: [u8; 16],
    /// The generation of the key; 0 for a key that has none.
    pub generation: u32,
    /// The key of the row that holds it; empty for a grain.
    pub row: &'a [u8],
}

impl Context<'_> {
    /// Returns the associated data of the value.
    pub(super) fn associated_data(&self) -> Vec<u8> {
        let mut bytes = Vec::from(&b"grainstore/v1/aad\0"[..]);
        bytes.extend_from_slice(&self.store);
        bytes.push(self.purpose as u8);
        bytes.extend_from_slice(&self.uid);
        bytes.extend_from_slice(&self.generation.to_be_bytes());
        bytes.extend_from_slice(self.row);
        bytes
    }
}
