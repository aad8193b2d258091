//! A consent that a namespace demands (OMS 8.10, ruling P10): whether it is in force, for the person
//! that a grain is about, and given to the party that stores or reads it.

use std::sync::Arc;

use crate::codec::ContentAddress;
use crate::grain::{Grain, Type};
use crate::index::{RowSet, Snapshot};
use crate::policy::Party;
use crate::store::view::Version;
use crate::store::{Error, Store};

use super::rules::withdrawn_rows;

impl Store {
    /// Returns the rows that no query of this handle shows for want of a consent.
    pub(crate) fn unconsented(&self, snapshot: &Snapshot) -> Result<Arc<RowSet>, Error> {
        let withdrawn = withdrawn_rows(&self.engine)?;
        let view = self.engine.as_of(snapshot);
        view.unconsented(&Party::of(self.capability()), withdrawn)
    }

    /// Returns whether a consent may keep any grain from this handle.
    pub(crate) fn is_consent_asked_to_read(&self) -> bool {
        let state = self.engine.known_state();
        let consents = state.consents();
        consents.is_any_required_to_read()
            || (self.capability().is_some() && !consents.withdrawals().is_empty())
    }

    /// Refuses to show a grain that rests on a withdrawn consent to a narrowed handle, and to any
    /// handle a grain without the consent that its namespace requires.
    ///
    /// # Errors
    /// `ERR_CONSENT`; storage errors.
    pub(crate) fn authorize_read(&self, snapshot: &Snapshot, grain: &Grain) -> Result<(), Error> {
        // Checked before any field of the grain is read: fields are decoded on first use.
        if !self.is_consent_asked_to_read() || grain.type_() == Type::Consent {
            return Ok(());
        }
        let party = Party::of(self.capability());
        self.engine.as_of(snapshot).authorize_read(grain, &party)
    }

    /// Returns whether the Consent that a grain rests on is stored here, applies to it, and was not
    /// withdrawn (OMS A.3, A.6). One that cannot be read documents nothing.
    pub(crate) fn is_documented(&self, grain: &Grain, consent: &ContentAddress) -> bool {
        self.engine
            .as_of(&self.engine.snapshot())
            .is_documented(grain, consent)
            .unwrap_or(false)
    }

    /// Leaves out grains that this handle may not read.
    pub(crate) fn keep_readable(
        &self,
        snapshot: &Snapshot,
        versions: Vec<Version>,
    ) -> Result<Vec<Version>, Error> {
        let mut kept = Vec::with_capacity(versions.len());
        for version in versions {
            match self.authorize_read(snapshot, &version.grain) {
                Err(Error::Denied { .. }) => {}
                allowed => {
                    allowed?;
                    kept.push(version);
                }
            }
        }
        Ok(kept)
    }
}
