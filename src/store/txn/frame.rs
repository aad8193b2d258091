//! A frame that may be appended: it takes a grain with the proof that the table of rules admitted
//! it, and in no other way.

use std::ops::Deref;

use crate::codec::{self, ContentAddress};
use crate::grain::Grain;
#[cfg(feature = "sealing")]
use crate::grain::Time;
use crate::ledger::EntryId;
#[cfg(feature = "sealing")]
use crate::ledger::{Kind, Ledger};
use crate::policy::{Operation, TrustedNow};
use crate::store::Error;
#[cfg(any(feature = "interchange", feature = "sealing"))]
use crate::store::records::EntryBody;
#[cfg(feature = "interchange")]
use crate::store::records::StatusRecord;
use crate::store::records::{Frame, PendingPut, Record, Uid};
use crate::store::rules::{Admitted, Permit, record_consequences};
use crate::store::view::View;

/// The entries of one atomic batch that a transaction may append.
#[derive(Debug, Default)]
pub(crate) struct AdmittedFrame(Frame);

impl Deref for AdmittedFrame {
    type Target = Frame;

    fn deref(&self) -> &Frame {
        &self.0
    }
}

impl AdmittedFrame {
    /// Starts a frame of the actor that the entry `actor` names.
    pub(crate) fn by(actor: Option<EntryId>) -> Self {
        Self(Frame::by(actor))
    }

    /// Adds an admitted grain, and behind it its signature.
    ///
    /// # Errors
    /// As [`Record::encode`].
    pub(crate) fn grain(&mut self, admitted: &Admitted, grain: Grain) -> Result<(), codec::Error> {
        admitted.assert_of(&grain);
        self.0.grain(grain)
    }

    /// Adds an admitted grain that was prepared before, and behind it its signature.
    pub(super) fn put(&mut self, admitted: &Admitted, put: PendingPut) {
        admitted.assert_of(&put.grain);
        self.0.put(put);
    }

    /// Adds the entry that stands for a stored one in the clear, sealed for a person, with its time
    /// and its actor. A read is divided instead.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`; storage errors.
    #[cfg(feature = "sealing")]
    pub(crate) fn seal_anew(
        &mut self,
        ledger: &Ledger,
        row: EntryId,
        person: Uid,
    ) -> Result<(), Error> {
        let entry = ledger.read(row)?;
        let (kind, actor) = (entry.header.kind, entry.header.actor);
        let since = Time::from_ms(entry.header.time_ms);
        let body = match kind {
            Kind::Grain => {
                let address = ContentAddress::new(entry.hash);
                let grain = Grain::from_verified(entry.body.into_owned(), address)?;
                EntryBody::Grain(Box::new(grain), None)
            }
            Kind::Read => return Ok(()),
            kind => EntryBody::record(
                &Record::decode(kind, &entry.body).ok_or_else(|| Error::malformed(row, kind))?,
            )?,
        };
        self.0.seal_anew(body, actor, person, since);
        Ok(())
    }

    /// Adds the effects of a grain that was just added, as [`record_consequences`] has them.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn record_consequences(
        &mut self,
        view: &View<'_>,
        grain: &Grain,
        moment: Option<TrustedNow>,
    ) -> Result<(), Error> {
        record_consequences(view, &mut self.0, grain, moment)
    }

    /// Adds a record of the frame's actor that changes no stored grain.
    ///
    /// # Errors
    /// As [`Record::encode`].
    pub(crate) fn record(&mut self, record: &Record) -> Result<(), codec::Error> {
        assert_no_change(record);
        self.0.record(record)
    }

    /// Adds the record of a change, every rule of which was asked.
    ///
    /// # Errors
    /// As [`Record::encode`].
    pub(crate) fn change(&mut self, permit: &Permit, record: &Record) -> Result<(), codec::Error> {
        permit.assert_whole();
        self.0.record(record)
    }

    /// Adds the statement of a file about a grain that it brings, which nothing protects yet.
    ///
    /// # Errors
    /// As [`Record::encode`].
    #[cfg(feature = "interchange")]
    pub(crate) fn brought(&mut self, status: StatusRecord) -> Result<(), codec::Error> {
        self.0.record(&Record::Status(StatusRecord {
            is_imported: true,
            ..status
        }))
    }

    /// Adds a record of another actor.
    ///
    /// # Errors
    /// As [`Record::encode`].
    pub(crate) fn record_by(
        &mut self,
        record: &Record,
        actor: Option<EntryId>,
    ) -> Result<(), codec::Error> {
        assert_no_change(record);
        self.0.record_by(record, actor)
    }

    /// Adds a record of another actor about a sealed person: about a grain that is not stored, or
    /// about several.
    ///
    /// # Errors
    /// As [`Record::encode`].
    pub(crate) fn record_about(
        &mut self,
        record: &Record,
        actor: Option<EntryId>,
        person: Option<Uid>,
    ) -> Result<(), codec::Error> {
        assert_no_change(record);
        self.0.record_about(record, actor, person)
    }

    /// Adds a record that was encoded before.
    ///
    /// # Panics
    /// If it is a grain or a change: it would pass no rule.
    #[cfg(feature = "interchange")]
    pub(crate) fn push(&mut self, body: EntryBody) {
        match &body {
            EntryBody::Record(record, _) => assert_no_change(record),
            EntryBody::Grain(..) => unreachable!("a grain is admitted first"),
        }
        self.0.push(body);
    }

    /// Opens a review of a change by a person.
    ///
    /// # Errors
    /// As [`Record::encode`].
    pub(crate) fn review(
        &mut self,
        target: &ContentAddress,
        operation: Operation,
    ) -> Result<(), codec::Error> {
        self.0.review(target, operation)
    }

    /// Replaces the actor of the entries that follow, and returns the one before.
    pub(super) const fn act_as(&mut self, actor: Option<EntryId>) -> Option<EntryId> {
        self.0.act_as(actor)
    }

    /// Takes back every entry from the `len`th on.
    pub(super) fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }
}

/// Checks that a record changes no stored grain, so that the table of changes has no rule for it.
///
/// # Panics
/// If it does: a door would change what no rule was asked about.
fn assert_no_change(record: &Record) {
    assert!(!record.is_change(), "a change is permitted first");
}
