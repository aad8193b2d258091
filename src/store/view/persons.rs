//! Whose grains are sealed: those with the `user_id` of a person who has a key, but for the grains
//! that the store must enforce while the person is locked.

use std::collections::HashMap;

use crate::codec::{ContentAddress, Map, Value, nfc};
use crate::crypto::Did;
use crate::grain::{GRAIN_URN, Grain, Type, about, foreign_record, user_of_urn};
use crate::policy::Delegation;
use crate::store::Error;
use crate::store::records::{Record, Uid};
use crate::store::view::{Core, View};

impl View<'_> {
    /// Returns the unlocked person for whom a stored grain is sealed.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn person_of_stored(&self, address: &ContentAddress) -> Result<Option<Uid>, Error> {
        let row = self.locate(address)?;
        Ok(row.and_then(|row| self.snapshot().overlay_of(row)))
    }

    /// Returns the unlocked person whose grain a record names: one that is stored, or in its frame.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn person_named_by(
        &self,
        in_frame: &HashMap<ContentAddress, Uid>,
        record: &Record,
    ) -> Result<Option<Uid>, Error> {
        if self.keyring().is_empty() {
            return Ok(None);
        }
        // The first one that it names: for a supersession, the grain that is replaced.
        for address in record.named() {
            if let Some(uid) = in_frame.get(&address) {
                return Ok(Some(*uid));
            }
            if let Some(uid) = self.person_of_stored(&address)? {
                return Ok(Some(uid));
            }
        }
        Ok(None)
    }

    /// Refuses a grain in the clear that names a sealed one: its address is a hash of what is
    /// sealed, and would stay in the clear when the person is erased.
    ///
    /// # Errors
    /// `ERR_POLICY_DENIED`; as [`Core::person_of`](super::Core::person_of).
    pub(crate) fn refuse_naming_sealed<'g>(
        &self,
        grain: &Grain,
        pending: impl Iterator<Item = &'g Grain>,
    ) -> Result<(), Error> {
        if self.keyring().is_empty() || self.person_of(grain)?.is_some() {
            return Ok(());
        }
        let mut named = Vec::new();
        for (name, value) in grain.fields().iter() {
            collect_addresses(value, &mut named);
            let members = value.as_map().filter(|_| name == "context");
            for (member, value) in members.into_iter().flat_map(Map::iter) {
                if let Some(record) = foreign_record(member, value) {
                    collect_addresses(&record, &mut named);
                }
            }
        }
        if named.is_empty() {
            return Ok(());
        }
        for other in pending {
            let address = other.address();
            if named.contains(&address) && self.person_of(other)?.is_some() {
                return Err(Error::NamesSealed { address });
            }
        }
        for address in named {
            if self.person_of_stored(&address)?.is_some() {
                return Err(Error::NamesSealed { address });
            }
        }
        Ok(())
    }
}

impl Core {
    /// Returns the person for whom a grain is sealed; `None` for a grain in the clear. Called with
    /// the right to write: persons are added by the thread that has it.
    ///
    /// # Errors
    /// `ERR_LOCKED` for a sealed person who is locked, and where it is unknown whether a person is
    /// sealed, since the store was opened without its master key; as `vault_of`.
    pub(crate) fn person_of(&self, grain: &Grain) -> Result<Option<Uid>, Error> {
        if self.keyring().is_empty() && self.known_state().keys().persons() == 0 {
            return Ok(None);
        }
        let mut person = None;
        for id in sealable_ids(grain) {
            let uid = self.person_with(&id)?;
            person = person.or(uid);
        }
        Ok(person)
    }

    /// Returns the unlocked person with an identifier; `None` for no sealed person.
    ///
    /// # Errors
    /// As [`Core::person_of`].
    pub(crate) fn person_with(&self, id: &str) -> Result<Option<Uid>, Error> {
        if let Some(uid) = self.keyring().uid_of(id) {
            // The name of a hold key is no user id.
            return match self.is_hold(&uid) {
                true => Err(Error::Locked),
                false => Ok(Some(uid)),
            };
        }
        let plain = &self.caches().plain_users;
        if plain.knows(id) {
            return Ok(None);
        }
        let Some(vault) = self.vault_as_applied()? else {
            return Ok(None);
        };
        let is_unknown = self.options().master_key.is_none();
        if is_unknown || vault.has(&vault.master_key(self.key_source()?)?, id)? {
            return Err(Error::Locked);
        }
        plain.learn(id);
        Ok(None)
    }

    /// Returns the unlocked person for whom a grain is sealed, also without the right to write.
    pub(crate) fn unlocked_person_of(&self, grain: &Grain) -> Option<Uid> {
        if self.keyring().is_empty() {
            return None;
        }
        let ids = sealable_ids(grain);
        ids.iter().find_map(|id| self.keyring().uid_of(id))
    }

    /// Returns whether a pseudonym is that of an erased person, of whom only held grains remain.
    pub(crate) fn is_hold(&self, uid: &Uid) -> bool {
        self.known_state().keys().is_hold(uid)
    }

    /// Returns every form in which the tombstone of a grain or of a name may be recorded: as `mark`,
    /// and as the alias under the key of each unlocked person, which earlier stores have.
    pub(crate) fn tombstones_for(&self, mark: [u8; 32], sealed: &[u8; 32]) -> Vec<[u8; 32]> {
        let uids = self.keyring().uids().into_iter();
        let aliases = uids.filter_map(|uid| self.alias_for(&uid, sealed).ok());
        [mark].into_iter().chain(aliases).collect()
    }

    fn alias_for(&self, uid: &Uid, bytes: &[u8; 32]) -> Result<[u8; 32], Error> {
        let person = self.keyring().get(uid).ok_or(Error::Locked)?;
        let keys = person.keys.keys().ok_or(Error::Locked)?;
        Ok(keys.blind().alias(bytes))
    }
}

fn collect_addresses(value: &Value, found: &mut Vec<ContentAddress>) {
    match value {
        Value::Text(text) => {
            let bare = text.strip_prefix(GRAIN_URN).unwrap_or(text);
            found.extend(ContentAddress::from_reference(bare).ok());
        }
        Value::Array(values) => values.iter().for_each(|one| collect_addresses(one, found)),
        Value::Map(map) => map.iter().for_each(|(name, one)| {
            found.extend(ContentAddress::from_reference(name).ok());
            collect_addresses(one, found);
        }),
        _ => {}
    }
}

/// Returns the identifiers under which a person would have the key that seals a grain: those of
/// whom it is about. Consents and delegations decide about others while their person is locked, and
/// stay in the clear (docs/security.md).
pub(crate) fn sealable_ids(grain: &Grain) -> Vec<String> {
    let is_enforced =
        grain.type_() == Type::Consent || grain.text("relation") == Some(Delegation::RELATION);
    if is_enforced {
        return Vec::new();
    }
    let ids = about(grain).into_iter();
    let ids = ids.map(|id| match id.starts_with("did:") {
        true => Did::bare(&id).to_owned(),
        false => user_of_urn(&id).unwrap_or_else(|| nfc(&id).into_owned()),
    });
    ids.collect()
}
