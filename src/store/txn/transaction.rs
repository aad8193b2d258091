//! A transaction: the view of a decision, the frame that follows from it, and the right to append
//! that alone.

use std::cell::OnceCell;
use std::mem;
use std::ops::{Deref, Range};

use crate::codec::{self, ContentAddress};
use crate::grain::Grain;
use crate::index::Snapshot;
use crate::ledger::EntryId;
use crate::policy::TrustedNow;
use crate::process::drop_elsewhere;
use crate::store::Error;
use crate::store::engine::{Caller, Engine, Exclusive, Reach};
use crate::store::records::Record;
use crate::store::rules::{Admitted, Permit, Proposed, admit};
use crate::store::view::View;

use super::append::append;
use super::frame::AdmittedFrame;

/// The right to change the store, held from a decision to its acknowledgement: no other thread and
/// no other process writes meanwhile.
pub(crate) struct Transaction<'a> {
    engine: &'a Engine,
    right: Exclusive<'a>,
    caller: Caller<'a>,
    /// The store as of the last commit, from the first question on.
    snapshot: OnceCell<Snapshot>,
    frame: AdmittedFrame,
}

impl Deref for Transaction<'_> {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        self.engine
    }
}

impl<'a> Transaction<'a> {
    /// Waits until no other thread and no other process writes.
    ///
    /// # Errors
    /// As [`Engine::exclusive`].
    pub(crate) fn begin(engine: &'a Engine, caller: Caller<'a>) -> Result<Self, Error> {
        Ok(Self::with(engine, engine.exclusive(Reach::Turn)?, caller))
    }

    /// Makes a transaction of a right that is held.
    pub(super) fn with(engine: &'a Engine, right: Exclusive<'a>, caller: Caller<'a>) -> Self {
        Self {
            engine,
            right,
            caller,
            snapshot: OnceCell::new(),
            frame: AdmittedFrame::by(caller.actor),
        }
    }

    pub(crate) const fn caller(&self) -> Caller<'a> {
        self.caller
    }

    /// Returns the store as it is: no other thread changes it meanwhile.
    pub(crate) fn view(&self) -> View<'_> {
        let snapshot = self.snapshot.get_or_init(|| self.engine.snapshot());
        self.engine.as_of(snapshot)
    }

    /// Returns what the next [`Transaction::commit`] appends.
    pub(crate) const fn frame(&self) -> &AdmittedFrame {
        &self.frame
    }

    /// Returns that for adding to it.
    pub(crate) const fn frame_mut(&mut self) -> &mut AdmittedFrame {
        &mut self.frame
    }

    /// Takes the frame, for a step that is tried again.
    pub(crate) fn take_frame(&mut self) -> AdmittedFrame {
        mem::replace(&mut self.frame, AdmittedFrame::by(self.caller.actor))
    }

    /// Asks a proposed grain the rules of its way in; `pending` finds a grain in the frame.
    ///
    /// # Errors
    /// As [`admit`].
    pub(crate) fn admit<'f>(
        &'f self,
        pending: &dyn Fn(&ContentAddress) -> Option<&'f Grain>,
        proposed: &Proposed<'_>,
    ) -> Result<Admitted, Error> {
        admit(&self.view(), &self.frame, pending, proposed)
    }

    /// Adds the effects of a grain that was just added to the frame.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn record_consequences(
        &mut self,
        grain: &Grain,
        moment: Option<TrustedNow>,
    ) -> Result<(), Error> {
        let snapshot = self.snapshot.get_or_init(|| self.engine.snapshot());
        let view = self.engine.as_of(snapshot);
        self.frame.record_consequences(&view, grain, moment)
    }

    /// Adds a record of the caller.
    ///
    /// # Errors
    /// As [`Record::encode`].
    pub(crate) fn record(&mut self, record: &Record) -> Result<(), codec::Error> {
        self.frame.record(record)
    }

    /// Adds the record of a change, every rule of which was asked.
    ///
    /// # Errors
    /// As [`Record::encode`].
    pub(crate) fn change(&mut self, permit: &Permit, record: &Record) -> Result<(), codec::Error> {
        self.frame.change(permit, record)
    }

    /// Appends the frame, makes it durable as the options require, and applies it.
    ///
    /// # Errors
    /// As [`Transaction::append`].
    pub(crate) fn commit(&mut self) -> Result<Range<EntryId>, Error> {
        let frame = self.take_frame();
        let appended = self.append(&frame);
        // To give the memory of a thousand grains back takes longer than to write them.
        if frame.len() >= DROPPED_ELSEWHERE_MIN {
            drop_elsewhere(frame);
        }
        appended
    }

    /// Appends a frame of its own, as [`Transaction::commit`] does.
    ///
    /// # Errors
    /// `ERR_STORAGE_HALTED`, `ERR_STORE_LOCKED`, `ERR_STORAGE_FULL`, `ERR_STORAGE_IO`;
    /// `ERR_STORAGE_DAMAGED` if a file of the store was removed or replaced.
    pub(crate) fn append(&mut self, frame: &AdmittedFrame) -> Result<Range<EntryId>, Error> {
        self.snapshot.take();
        append(self.engine, &mut self.right, frame)
    }
}

/// A frame of so many entries is dropped by another thread, while the caller has its answer.
const DROPPED_ELSEWHERE_MIN: usize = 256;
