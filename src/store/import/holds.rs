//! The legal holds of a file: a copy of the owner's own places them, and no other file does (ruling
//! I28). No file lifts any: OMS 23.2 asks that a hold is lifted explicitly.

use std::mem;

use crate::interchange::Record;
use crate::policy::Authorization;
use crate::store::Error;
use crate::store::governance::authorized;
use crate::store::import::batch::Importer;
use crate::store::records::{HoldRecord, Record as Entry};
use crate::store::rules::Deed;

impl Importer<'_> {
    /// Notes the holds of a record. They are placed when all records are stored and corrected, since
    /// nothing that the file says of a held grain would count.
    pub(super) fn note_holds(&mut self, record: &mut Record) {
        let of = record.grain.address();
        for hold in mem::take(&mut record.holds) {
            if self.is_own {
                self.holds.insert((of, hold), record.place.clone());
                continue;
            }
            // A file proves nothing of its writer, who could keep grains here from erasure.
            self.summary.loss.count("hold");
            let message = "is under a legal hold in the file, which places none here";
            self.findings.note(record.place.clone(), message);
        }
    }

    /// Places the holds that were noted on the grains that are here.
    pub(super) fn hold(&mut self) -> Result<(), Error> {
        for ((read, hold), place) in mem::take(&mut self.holds) {
            let of = self.renamed.get(&read).unwrap_or(read);
            // The record of one that is not here is refused, and told.
            if !self.is_here(&of)? || self.engine.state().holds().on(&of).any(|it| *it == hold) {
                continue;
            }
            if self.engine.state().holds().lifted(&of, &hold) {
                let message = "is under a legal hold in the file, which was lifted here";
                self.findings.note(place, message);
                continue;
            }
            let said = Authorization {
                reason: &hold.reason,
                authority: &hold.authority,
            };
            match authorized(Deed::Hold, said) {
                Ok((permit, authorization)) => {
                    let placed = HoldRecord {
                        of,
                        is_placed: true,
                        authorization,
                    };
                    self.frame.change(&permit, &Entry::Hold(placed))?;
                    self.summary.held += 1;
                }
                Err(refused) => self.refuse(place, &refused),
            }
        }
        Ok(())
    }
}
