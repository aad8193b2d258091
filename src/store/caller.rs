use std::collections::HashMap;

use parking_lot::Mutex;

use crate::crypto::Did;
use crate::grain::{Grain, Time};
use crate::index::Snapshot;
use crate::ledger::Kind;
use crate::policy::{Capability, DelegatedOperation, Rule};

use super::commit::{Frame, Writer};
use super::entry::{ActorEntry, encode_refusal};
use super::open::Inner;
use super::{Error, Version};

/// Who asks: the store's owner, or whoever holds a handle with a capability.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Caller<'a> {
    /// None of the owner, who may do what the grains themselves allow.
    pub(super) capability: Option<&'a Capability>,
    /// The ledger entry that says who acts.
    pub(super) actor: Option<u64>,
}

/// The authors that the ledger knows by the sequence of their entry.
#[derive(Debug, Default)]
pub(super) struct Actors(Mutex<HashMap<String, u64>>);

impl Caller<'_> {
    /// Judges whether a new grain may be written.
    pub(super) fn admits(&self, grain: &Grain) -> Result<(), Rule> {
        self.capability
            .map_or(Ok(()), |capability| capability.authorize_put(grain))
    }

    /// Returns whether nobody asked for what is done.
    pub(super) fn is_job(&self) -> bool {
        self.capability.is_some_and(Capability::is_job)
    }

    /// Judges whether something may be said about a grain that is here.
    pub(super) fn may_write(&self) -> Result<(), Rule> {
        self.capability.map_or(Ok(()), Capability::authorize_write)
    }

    /// Returns whether a grain may be seen.
    pub(super) fn sees(&self, grain: &Grain) -> bool {
        self.capability
            .is_none_or(|capability| capability.sees(grain))
    }

    /// Returns the grain that is asked about, unless the caller must not know that it is here.
    pub(super) fn shown(&self, version: Version) -> Result<Version, Error> {
        match self.sees(&version.grain) {
            true => Ok(version),
            false => Err(Error::NotFound {
                address: version.grain.address(),
            }),
        }
    }
}

impl Inner {
    /// Returns the entry that says who acts, and writes it if this is the first time.
    ///
    /// Asked before the turn to write: an entry names only those before it.
    pub(super) fn actor(&self, did: &Did) -> Result<u64, Error> {
        let known = |actors: &Actors| actors.0.lock().get(did.as_str()).copied();
        if let Some(row) = known(&self.actors) {
            return Ok(row);
        }
        let mut writer = self.lead_alone();
        self.learn_actors(&self.index.snapshot())?;
        if let Some(row) = known(&self.actors) {
            return Ok(row);
        }
        let mut frame = Frame::default();
        let entry = ActorEntry {
            did: did.as_str().to_owned(),
        };
        frame.record(Kind::Actor, entry.encode()?);
        let row = self.commit(&mut writer, &frame)?.start;
        self.actors.0.lock().insert(entry.did, row);
        Ok(row)
    }

    /// Returns as whom an entry was written, if as anybody.
    pub(super) fn actor_of(&self, row: u64) -> Result<Option<String>, Error> {
        let actor = self.ledger.read(row)?.header.actor;
        actor.map(|actor| self.actor_named(actor)).transpose()
    }

    fn actor_named(&self, row: u64) -> Result<String, Error> {
        let entry = ActorEntry::decode(&self.ledger.read(row)?.body);
        let entry = entry.ok_or_else(|| Error::damaged(format!("entry {row}"), "not an actor"))?;
        Ok(entry.did)
    }

    fn learn_actors(&self, snapshot: &Snapshot) -> Result<(), Error> {
        for row in snapshot.of_kind(Kind::Actor).rows()?.iter() {
            let did = self.actor_named(row)?;
            self.actors.0.lock().entry(did).or_insert(row);
        }
        Ok(())
    }

    /// Refuses a change to a grain that is here, where the caller only reads or the author's
    /// delegations do not reach the grain; the refusal is recorded.
    pub(super) fn allow(
        &self,
        writer: &mut Writer,
        snapshot: &Snapshot,
        caller: Caller<'_>,
        author: Option<&str>,
        target: &Grain,
    ) -> Result<(), Error> {
        let own = caller
            .capability
            .and_then(Capability::acts_as)
            .map(Did::as_str);
        let judged = match (caller.may_write(), author.or(own)) {
            (Ok(()), Some(author)) => {
                let now = self.now().max(writer.last);
                self.authority(snapshot, author, &DelegatedOperation::touch(target), now)?
            }
            (judged, _) => judged,
        };
        judged.or_else(|rule| {
            self.record_refusal(writer, caller, "change", rule)?;
            Err(Error::Refused { rule })
        })
    }

    /// Refuses a new grain that its author's delegations do not cover or a regime forbids; the
    /// refusal is recorded.
    pub(super) fn admit_author(
        &self,
        writer: &mut Writer,
        snapshot: &Snapshot,
        caller: Caller<'_>,
        grain: &Grain,
    ) -> Result<(), Error> {
        let now = self.now().max(writer.last);
        let judged = self.refuse_undelegated(snapshot, grain, now)?;
        let judged = judged.map_err(|rule| Error::Refused { rule });
        let judged = judged.and_then(|()| self.refuse_breach(grain));
        self.recorded(writer, caller, judged)
    }

    /// Hands a judgement of a new grain on, and records it if it is a refusal.
    pub(super) fn recorded(
        &self,
        writer: &mut Writer,
        caller: Caller<'_>,
        judged: Result<(), Error>,
    ) -> Result<(), Error> {
        let Err(error) = judged else {
            return Ok(());
        };
        if let Some(body) = error.refusal("put") {
            let mut frame = Frame::by(caller.actor);
            frame.record(Kind::Denial, body?);
            self.commit(writer, &frame)?;
        }
        Err(error)
    }

    pub(super) fn now(&self) -> Time {
        self.options.clock.now()
    }

    /// Records what was refused although it is about no grain of the store: the rule, who asked,
    /// and nothing of what was to be written.
    pub(super) fn record_refusal(
        &self,
        writer: &mut Writer,
        caller: Caller<'_>,
        operation: &str,
        rule: Rule,
    ) -> Result<(), Error> {
        let mut frame = Frame::by(caller.actor);
        frame.record(Kind::Denial, encode_refusal(operation, rule.name())?);
        self.commit(writer, &frame)?;
        Ok(())
    }
}
