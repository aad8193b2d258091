//! The records of a file that are not stored: refused by a rule, or rejected for the one that is
//! here.

use crate::code::ErrorCode;
use crate::codec::ContentAddress;
use crate::grain::Grain;
use crate::interchange::{self, ForeignId, Place};
use crate::policy::{Operation, Rule};
use crate::store::Error;
use crate::store::records::{DenialRecord, Record as Entry};
use crate::store::txn::denial;

use super::Conflict;
use super::batch::Importer;

impl Importer<'_> {
    /// Refuses a record, and records that if a policy did.
    pub(super) fn deny(
        &mut self,
        grain: &Grain,
        place: Place,
        refused: &Error,
    ) -> Result<(), Error> {
        if let Some(denial) = denial(refused, Operation::Import.name()) {
            let person = self.engine.unlocked_person_of(grain);
            self.frame
                .record_about(&Entry::Denial(denial), self.caller.actor, person)?;
        }
        match refused {
            // OMS 8.10: it excludes the grain from every source.
            Error::Denied {
                rule: Rule::Consent,
                ..
            } => self.summary.refused.push(interchange::Error::Format {
                code: ErrorCode::Consent,
                place,
                message: "it rests on a consent that is withdrawn or does not allow it".into(),
            }),
            Error::Erased { .. } => self.summary.erased.push(place),
            refused => self.refuse(place, refused),
        }
        Ok(())
    }

    /// Counts a record whose earlier grain stays, since a rule protects that.
    pub(super) fn keep_earlier(
        &mut self,
        place: Place,
        existing: ContentAddress,
        error: Error,
    ) -> Result<(), Error> {
        match error {
            Error::Denied { rule, .. } => self.summary.denied.push((place, existing, rule)),
            refused @ (Error::Refused { .. }
            | Error::NotDerived { .. }
            | Error::Violation(_)
            | Error::Untrusted { .. }) => {
                if let Some(denial) = denial(&refused, Operation::Import.name()) {
                    let of = Some(existing);
                    self.frame
                        .record(&Entry::Denial(DenialRecord { of, ..denial }))?;
                }
                self.refuse(place, &refused);
            }
            error => return Err(error),
        }
        Ok(())
    }

    /// Counts a record as refused.
    pub(super) fn refuse(&mut self, place: Place, error: &Error) {
        self.summary.refused.push(interchange::Error::Format {
            code: error.code(),
            place,
            message: error.to_string(),
        });
    }

    /// Counts a record as a conflict of which nothing is stored (AIMEM 2.9).
    pub(super) fn reject(&mut self, place: Place, id: Option<ForeignId>, existing: ContentAddress) {
        self.summary.conflicts.push(Conflict {
            id,
            versions: vec![existing],
            place: Some(place),
        });
    }
}
