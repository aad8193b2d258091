//! Withdrawn consents and locked persons: what rests on a consent is sealed, so it is looked for with
//! the master key, and else the person waits for their next unlocking (OMS 23.2, `consent_cascade`).

use std::collections::{BTreeMap, BTreeSet};

use crate::codec::ContentAddress;
use crate::store::Error;
use crate::store::engine::Engine;
use crate::store::records::Uid;

#[cfg(not(feature = "sealing"))]
pub(super) use keyless::{carry_out_locked, counts_of};
#[cfg(feature = "sealing")]
pub(super) use sealed::{carry_out_locked, carry_out_recorded, counts_of};

/// The locked persons who were not looked into since a consent was withdrawn.
#[derive(Debug, Default)]
pub(super) struct Unexamined {
    persons: BTreeSet<Uid>,
    #[cfg_attr(
        not(feature = "sealing"),
        expect(dead_code, reason = "no key is ever here")
    )]
    consents: BTreeSet<ContentAddress>,
}

impl Unexamined {
    pub(super) fn is_empty(&self) -> bool {
        self.persons.is_empty()
    }
}

/// The persons of whom grains may be due: the number of those that are, `None` where it is unknown.
type Waiting = BTreeMap<Uid, Option<u64>>;

/// Returns the locked persons who have anything sealed and were not looked into since the last
/// withdrawal.
///
/// # Errors
/// Storage errors.
pub(super) fn unexamined(engine: &Engine) -> Result<Unexamined, Error> {
    if engine.state().keys().persons() == 0 {
        return Ok(Unexamined::default());
    }
    let snapshot = engine.snapshot();
    let withdrawn = engine.as_of(&snapshot).withdrawn_consents()?;
    if withdrawn.is_empty() {
        return Ok(Unexamined::default());
    }
    let candidates: Vec<Uid> = {
        let state = engine.state();
        let (consents, run) = (state.consents(), state.consents().run());
        let is_new = withdrawn
            .iter()
            .any(|(by, _)| run.is_none_or(|run| !consents.is_before(&by.by, run.at)));
        let waits = |uid: &Uid| is_new || run.is_some_and(|run| run.waiting.contains(uid));
        let locked = state.keys().own().filter(|uid| !engine.keyring().has(uid));
        locked.filter(|uid| waits(uid)).copied().collect()
    };
    let mut persons = BTreeSet::new();
    for uid in candidates {
        if !snapshot.sealed_for(&uid).rows()?.is_empty() {
            persons.insert(uid);
        }
    }
    let consents = withdrawn.into_iter().map(|(_, consent)| consent).collect();
    Ok(Unexamined { persons, consents })
}

/// Looks into what is sealed of locked persons, if the master key is here: those of whom nothing is
/// due are left out.
///
/// # Errors
/// Storage errors.
pub(super) fn look_into(engine: &Engine, unexamined: &Unexamined) -> Result<Waiting, Error> {
    let counts = counts_of(engine, unexamined)?;
    let persons = unexamined.persons.iter();
    let persons = persons.map(|uid| (*uid, counts.get(uid).copied()));
    Ok(persons.filter(|(_, count)| *count != Some(0)).collect())
}

#[cfg(not(feature = "sealing"))]
mod keyless {
    use crate::store::Owner;
    use crate::store::erasure::withdrawn::ErasureReport;

    use super::*;

    #[expect(clippy::unnecessary_wraps, reason = "as with `sealing`")]
    pub(crate) fn counts_of(_: &Engine, _: &Unexamined) -> Result<BTreeMap<Uid, u64>, Error> {
        Ok(BTreeMap::new())
    }

    #[expect(clippy::unnecessary_wraps, reason = "as with `sealing`")]
    pub(crate) fn carry_out_locked(
        _: Owner<'_>,
        persons: Waiting,
        done: &mut ErasureReport,
    ) -> Result<(), Error> {
        done.waiting.extend(persons);
        Ok(())
    }
}

#[cfg(feature = "sealing")]
mod sealed {
    use crate::grain::{Grain, Type};
    use crate::ledger::{self, Kind};
    use crate::policy::Authorization;
    use crate::store::Owner;
    use crate::store::engine::{master_key, vault_of};
    use crate::store::erasure::unlocking::lock_person;
    use crate::store::erasure::withdrawn::{ErasureReport, carry_out, pending_and_damaged};
    use crate::store::keys::unlock_person;
    use crate::store::records::{PolicyRecord, Record, SealedRecord};
    use crate::store::state::place_of;
    use crate::vault::{Unlocked, User};

    use super::*;

    /// Returns the number of grains that are due of each person who can be looked into.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn counts_of(
        engine: &Engine,
        unexamined: &Unexamined,
    ) -> Result<BTreeMap<Uid, u64>, Error> {
        let mut counts = BTreeMap::new();
        for user in users_of(engine, &unexamined.persons) {
            match look(engine, &user.user) {
                Ok(keys) => {
                    let count = count_resting(engine, &user.uid, &keys, &unexamined.consents)?;
                    counts.insert(user.uid, count);
                }
                Err(error) => tracing::warn!(%error, "a person is not looked into"),
            }
        }
        Ok(counts)
    }

    /// Returns those of some persons who are in the vault; none without the master key, and of a vault
    /// that does not open, which `check` tells.
    fn users_of(engine: &Engine, persons: &BTreeSet<Uid>) -> Vec<User> {
        if persons.is_empty() || engine.options().master_key.is_none() {
            return Vec::new();
        }
        let listed = || -> Result<Vec<User>, Error> {
            match vault_of(engine)? {
                Some(vault) => Ok(vault.list(&master_key(engine)?)?),
                None => Ok(Vec::new()),
            }
        };
        let mut users = listed().unwrap_or_else(|error| {
            tracing::warn!(%error, "locked persons are not looked into");
            Vec::new()
        });
        users.retain(|user| persons.contains(&user.uid));
        users
    }

    fn look(engine: &Engine, user: &str) -> Result<Unlocked, Error> {
        let vault = vault_of(engine)?.ok_or(Error::Locked)?;
        Ok(vault.look(&master_key(engine)?, user)?)
    }

    /// Returns the number of the grains of a locked person that rest on one of some consents.
    fn count_resting(
        engine: &Engine,
        uid: &Uid,
        keys: &Unlocked,
        consents: &BTreeSet<ContentAddress>,
    ) -> Result<u64, Error> {
        let snapshot = engine.snapshot();
        let mut count = 0;
        for row in snapshot.sealed_for(uid).rows()?.iter() {
            let entry = match engine.ledger().read(row) {
                Err(ledger::Error::Erased { .. }) => continue,
                entry => entry?,
            };
            let sealed = SealedRecord::decode(&entry.body);
            // The index holds a hash of the pseudonym.
            let is_own = |of: &SealedRecord| of.card.uid == *uid && of.card.kind == Kind::Grain;
            let Some(sealed) = sealed.filter(is_own) else {
                continue;
            };
            let (purpose, place) = place_of(Kind::Grain);
            let keys = keys.keys().ok_or(Error::Locked)?;
            let Ok(body) = keys.open(purpose, &place, &sealed.envelope) else {
                continue;
            };
            let grain = Grain::from_proven(body.to_vec())?;
            let basis = grain.link("processing_basis");
            let rests = basis.is_some_and(|basis| consents.contains(&basis));
            count += u64::from(rests && grain.type_() != Type::Consent);
        }
        Ok(count)
    }

    /// Carries the recorded run out for locked persons who were looked into, one at a time, and locks
    /// each again. The others wait.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn carry_out_locked(
        admin: Owner<'_>,
        persons: Waiting,
        done: &mut ErasureReport,
    ) -> Result<(), Error> {
        let engine = admin.engine();
        let looked = persons.iter().filter(|(_, count)| count.is_some());
        let looked: BTreeSet<Uid> = looked.map(|(uid, _)| *uid).collect();
        let mut waiting = persons;
        for User { user, uid, .. } in users_of(engine, &looked) {
            if let Err(error) = unlock_person(engine, &user) {
                tracing::warn!(%error, "a person waits for their next unlocking");
                continue;
            }
            let carried_out = carry_out_recorded(admin, &uid);
            lock_person(engine, &user)?;
            let carried_out = carried_out?;
            waiting.remove(&uid);
            done.erased.extend(carried_out.erased);
            done.kept.extend(carried_out.kept);
            done.damaged.extend(carried_out.damaged);
        }
        done.waiting = waiting;
        Ok(())
    }

    /// Carries the last run out for a person who waited for it and is unlocked.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn carry_out_recorded(admin: Owner<'_>, uid: &Uid) -> Result<ErasureReport, Error> {
        let engine = admin.engine();
        let run = {
            let state = engine.state();
            let run = state.consents().run();
            run.filter(|run| run.waiting.contains(uid)).cloned()
        };
        let (Some(run), Ok(())) = (run, engine.authorize_changes()) else {
            return Ok(ErasureReport::default());
        };
        let (mut pending, damaged) = pending_and_damaged(admin)?;
        pending.retain(|one| {
            let is_before = |by| engine.state().consents().is_before(by, run.at);
            one.person == Some(*uid) && is_before(&one.due.withdrawal)
        });
        let mandate = Authorization {
            reason: &run.authorization.reason,
            authority: &run.authorization.authority,
        };
        let (done, kept) = carry_out(admin, (pending, damaged), mandate)?;
        if kept.is_empty() {
            let persons = vec![*uid];
            let mut txn = admin.begin()?;
            txn.record(&Record::Policy(PolicyRecord::ConsentRan { persons }))?;
            txn.commit()?;
        }
        Ok(done)
    }
}
