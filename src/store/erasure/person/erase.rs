//! The erasure of a person (GDPR Art. 17, AIMEM 5.2): one frame that begins it, one pass over the
//! files.

use super::report::{authorize_person, person_report};
use crate::codec::ContentAddress;
use crate::grain::Time;
use crate::index::Snapshot;
use crate::ledger::EntryId;
use crate::policy::{Authorization, Rule};
use crate::store::engine::Engine;
use crate::store::erasure::delete::{denied, kept_by_rule, kept_from_deletion};
use crate::store::erasure::erase::{ErasedPersons, HeldGrain, erase, resume_erasures_as};
use crate::store::erasure::keeper::await_erasures;
use crate::store::governance::recorded;
use crate::store::read::reaches;
use crate::store::records::Uid;
use crate::store::rules::{Deed, Guard, Permit};
use crate::store::txn::Transaction;
use crate::store::{Error, Owner};

use super::identity::Person;
#[cfg(feature = "sealing")]
use super::keys::destroyed_keys;
use super::keys::{is_vault_damage, unlock_sealed};
use super::scope::{Found, Selection};

/// The extent of the erasure of a person. By default only grains about the person go, and none if
/// one of them is kept.
///
/// ```
/// use grainstore::store::ErasureScope;
///
/// let scope = ErasureScope { mentions: true, ..ErasureScope::default() };
/// assert!(!scope.except_kept);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ErasureScope {
    /// Whether grains that only mention the person go too: of other users, and in other fields.
    pub mentions: bool,
    /// Whether the others go if holds, retention or consents keep some of the grains.
    pub except_kept: bool,
    /// Whether the grains of a sealed person that are kept stay under a hold key, while everything
    /// else of the person goes with their key. Without it such a grain refuses the erasure.
    pub reseal_held: bool,
}

/// The result of [`Admin::erase_person`](crate::Admin::erase_person).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonErasure {
    /// The person.
    pub person: Person,
    /// The erased grains, in the order of their addresses.
    pub erased: Vec<ContentAddress>,
    /// The grains that stay, in the order of storage, each with the rule that keeps it.
    pub kept: Vec<(ContentAddress, Rule)>,
    /// Those of the kept grains that are under a hold key now, which names the pseudonym of the person:
    /// `hold:` and 32 hexadecimal digits, as [`VaultAdmin::list`](crate::store::VaultAdmin::list)
    /// shows it. Unlocked under that name they are read, their holds lifted and they deleted; they
    /// answer to no user id.
    pub held: Vec<ContentAddress>,
    /// The grains that mention the person and stay because the scope does not include them.
    pub mentions: Vec<ContentAddress>,
    /// The number of other sealed persons who are locked: their grains may mention this one, and were
    /// not looked into.
    pub locked_persons: u64,
    /// Whether the vault is damaged, so that it is unknown whether the person has a key: if so, their
    /// sealed grains are still there.
    pub is_vault_damaged: bool,
    /// The number of entries that name the person and that no erasure removes.
    pub records: u64,
    /// Of a sealed person: the keys that were destroyed.
    #[cfg(feature = "sealing")]
    pub keys: Vec<crate::vault::ErasedKey>,
    /// The number of entries that were blanked: grains, and entries about them.
    pub blanked: u64,
    /// The entries that began the erasure; none if nothing was erased.
    pub begun: Vec<EntryId>,
    /// The number of entries of the ledger when it was complete.
    pub entries: u64,
    /// The last leaf of the ledger then.
    pub head: [u8; 32],
    /// When, by the store's clock.
    pub time: Time,
}

/// See [`Admin::erase_person`](crate::Admin::erase_person).
pub(crate) fn erase_person(
    owner: Owner<'_>,
    person: &Person,
    scope: ErasureScope,
    authorization: Authorization<'_>,
) -> Result<PersonErasure, Error> {
    let mut permit = Permit::of(Deed::Erase);
    permit.asks(Guard::Authority);
    recorded(authorization)?;
    authorize_extent(owner, person, scope)?;
    let (engine, caller) = (owner.engine(), owner.caller()?);
    let (person, uids, is_vault_damaged) = unlocked_whole(engine, person)?;
    let mut persons = ErasedPersons {
        uids,
        held: Vec::new(),
    };
    let mut selection = Selection::of(engine, &person)?;
    selection.leaves_locked = is_vault_damaged;
    // Most of the ledger is read before writers wait.
    selection.read_on()?;
    let mut txn = Transaction::begin(engine, caller)?;
    resume_erasures_as(engine, &mut txn)?;
    selection.read_on()?;
    let snapshot = engine.snapshot();
    let chosen = selection.finish(&snapshot, scope.mentions)?;
    authorize_all(owner, &snapshot, &chosen.grains)?;
    permit.asks(Guard::Policy);
    permit.asks(Guard::Retention);
    let (grains, uids) = (&chosen.grains, &persons.uids);
    let divided = divide(&mut txn, &snapshot, grains, scope, uids, authorization)?;
    let Divided {
        targets,
        kept,
        mentions,
        ..
    } = divided;
    persons.held = divided.held;
    if let Some((address, rule)) = divided.refused_by {
        txn.commit()?;
        return Err(kept_by_rule(engine, &address, rule));
    }
    let (begun, blanked) = if targets.is_empty() && persons.uids.is_empty() {
        txn.commit()?;
        (Vec::new(), 0)
    } else {
        erase(
            engine,
            &mut txn,
            &permit,
            &snapshot,
            &targets,
            &persons,
            authorization,
        )?
    };
    drop(txn);
    await_erasures(engine, &begun)?;
    let mut erased: Vec<_> = targets.into_iter().map(|(_, address)| address).collect();
    erased.sort_unstable();
    Ok(PersonErasure {
        person,
        erased,
        kept,
        held: persons.held.iter().map(|held| held.address).collect(),
        mentions,
        locked_persons: chosen.locked_persons,
        is_vault_damaged,
        records: chosen.records.len() as u64,
        #[cfg(feature = "sealing")]
        keys: destroyed_keys(engine, &persons.uids)?,
        blanked: blanked as u64,
        begun,
        entries: engine.ledger().len(),
        head: engine.ledger().head(),
        time: engine.entry_time(),
    })
}

/// Judges whether the handle of a part may ask for an erasure: of its own person, without the grains
/// of others that mention them, and before a key is taken for it.
///
/// # Errors
/// `ERR_ACCESS_DENIED`; as [`Admin::person_report`].
fn authorize_extent(owner: Owner<'_>, person: &Person, scope: ErasureScope) -> Result<(), Error> {
    if owner.is_whole() {
        return Ok(());
    }
    authorize_person(owner, person)?;
    let mut is_reached = !scope.mentions;
    for found in person_report(owner.store().owner()?, person)?.about {
        is_reached &= reaches(owner, &found.address)?;
    }
    let rule = Rule::Owner;
    match is_reached {
        true => Ok(()),
        false => Err(Error::Refused { rule }),
    }
}

/// Judges whether the handle of a part reaches all that an erasure takes: it takes all or nothing.
///
/// # Errors
/// `ERR_ACCESS_DENIED`; storage errors.
fn authorize_all(owner: Owner<'_>, snapshot: &Snapshot, grains: &[Found]) -> Result<(), Error> {
    let Some(handle) = owner.within().filter(|_| !owner.is_whole()) else {
        return Ok(());
    };
    for found in grains.iter().filter(|found| found.is_about) {
        let grain = owner.engine().as_of(snapshot).version_at(found.row)?.grain;
        if !handle.sees(snapshot, &grain)? {
            let rule = Rule::Owner;
            return Err(Error::Refused { rule });
        }
    }
    Ok(())
}

/// The grains of a person, by what becomes of them.
#[derive(Default)]
struct Divided {
    targets: Vec<(EntryId, ContentAddress)>,
    kept: Vec<(ContentAddress, Rule)>,
    held: Vec<HeldGrain>,
    mentions: Vec<ContentAddress>,
    /// The first grain that refuses the erasure.
    refused_by: Option<(ContentAddress, Rule)>,
}

/// Unlocks a sealed person with all their user ids: what one key opens may name another one. Also
/// returns whether the vault is damaged: grains in the clear are erased without a key.
fn unlocked_whole(engine: &Engine, person: &Person) -> Result<(Person, Vec<Uid>, bool), Error> {
    let mut person = person.whole(engine)?;
    loop {
        let uids = match unlock_sealed(engine, person.ids()) {
            Err(error) if is_vault_damage(&error) => return Ok((person, Vec::new(), true)),
            uids => uids?,
        };
        let whole = person.whole(engine)?;
        if whole == person {
            return Ok((person, uids, false));
        }
        person = whole;
    }
}

/// Divides the grains of a person, and adds each refusal to the frame.
fn divide(
    txn: &mut Transaction<'_>,
    snapshot: &Snapshot,
    grains: &[Found],
    scope: ErasureScope,
    persons: &[Uid],
    authorization: Authorization<'_>,
) -> Result<Divided, Error> {
    let mut divided = Divided::default();
    for found in grains {
        let (row, address) = (found.row, found.address);
        if !found.is_about && !scope.mentions {
            divided.mentions.push(address);
            continue;
        }
        let rule = kept_from_deletion(txn, snapshot, row, &address, authorization)?;
        let Some(rule) = rule else {
            divided.targets.push((row, address));
            continue;
        };
        txn.record(&denied(&address, rule))?;
        divided.kept.push((address, rule));
        let uid = snapshot.overlay_of(row);
        let is_refused = match uid.filter(|uid| persons.contains(uid)) {
            Some(uid) if scope.reseal_held => {
                divided.held.push(HeldGrain { uid, row, address });
                false
            }
            // It keeps the key of all.
            Some(_) => true,
            None => !scope.except_kept,
        };
        if is_refused && divided.refused_by.is_none() {
            divided.refused_by = Some((address, rule));
        }
    }
    Ok(divided)
}
