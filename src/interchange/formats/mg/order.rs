//! The order of grains that the flags of an archive promise (OMS 11.3).

use crate::code::ErrorCode;
use std::collections::HashSet;

use crate::grain::{Grain, Time};

use super::fault;
use super::header::FileHeader;
use crate::interchange::{Error, Place};

/// Checks the grains of a file against its flags about their order.
pub(super) struct Order {
    sorted: bool,
    deduplicated: bool,
    last: Option<Time>,
    /// The first halves of addresses seen: 128 bits are enough to tell honest grains apart.
    seen: HashSet<[u8; 16]>,
    /// The same of encrypted grains, whose time is unknown.
    encrypted: HashSet<[u8; 16]>,
}

impl Order {
    pub(super) fn new(header: &FileHeader) -> Self {
        Self {
            sorted: header.sorted,
            deduplicated: header.deduplicated,
            last: None,
            seen: HashSet::new(),
            encrypted: HashSet::new(),
        }
    }

    /// Takes the next grain of the file.
    ///
    /// OMS 11.3 asks for ascending times and no more; grains of the same time may stand in any order.
    pub(super) fn check(&mut self, grain: &Grain, place: &Place) -> Result<(), Error> {
        let time = grain.created_at();
        if self.sorted && !grain.is_encrypted() {
            if self.last.is_some_and(|last| last > time) {
                let message = "flagged as sorted, but earlier than the grain before";
                return Err(fault(ErrorCode::MgFlags, place.clone(), message));
            }
            // Grains of another time have another address, so these need not be remembered.
            if self.last != Some(time) {
                self.seen.clear();
            }
            self.last = Some(time);
        }
        if self.deduplicated {
            let address = grain.address();
            let half = address.as_bytes().first_chunk().copied();
            let seen = match grain.is_encrypted() {
                true => &mut self.encrypted,
                false => &mut self.seen,
            };
            if !seen.insert(half.unwrap_or_default()) {
                let message = format!("flagged as free of duplicates, but {address} comes twice");
                return Err(fault(ErrorCode::MgFlags, place.clone(), message));
            }
        }
        Ok(())
    }
}
