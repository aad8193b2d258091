//! A vault that rots in what a crash left: nothing panics, plain persons keep every grain and are
//! erased as ever, and no erased person comes back.

use grainstore::Maintenance;
use grainstore::store::{ErasureScope, Person};

use crate::disk::image::Image;
use crate::disk::sim_disk::SimDisk;
use crate::random::Random;
use crate::workload::oracle::Verdict;

use super::recovery::grains;
use super::workload::{ASKED, Run, open, text};

impl Run {
    /// Overwrites parts of the vault's files, and holds the store to what does not need the vault.
    pub(super) fn rot(&self, state: usize, mut image: Image, random: &mut Random) -> Verdict {
        let present = self.states.get(state).ok_or("no such state")?;
        let files = image.files.iter_mut();
        for (_, bytes) in files.filter(|(name, _)| name.starts_with("vault/")) {
            for _ in 0..random.below(4) {
                let at = random.below(bytes.len().max(1));
                let rest = bytes.iter_mut().skip(at).take(64);
                rest.for_each(|byte| *byte ^= 0x5a);
            }
        }
        let disk = SimDisk::new(&image);
        let store = open(&disk, self.seed, 104)?;
        let unlocks = |user: &str| store.admin().and_then(|admin| admin.unlock(user)).is_ok();
        for (user, of) in &present.persons {
            let is_plain = of.uid.is_none();
            if is_plain && grains(&store, user)? != of.grains {
                return Err(format!("a rotten vault costs {user} a grain"));
            }
            if !is_plain && unlocks(user) && !of.grains.is_subset(&grains(&store, user)?) {
                return Err(format!("a rotten vault unlocks {user} without a grain"));
            }
        }
        for user in self.gone(state)?.into_keys() {
            if unlocks(user) || !grains(&store, user)?.is_empty() {
                return Err(format!("a rotten vault brings {user} back"));
            }
        }
        store
            .maintenance()
            .and_then(Maintenance::check)
            .map_err(text)?;
        let admin = store.admin().map_err(text)?;
        for (user, _) in present.persons.iter().filter(|(_, of)| of.uid.is_none()) {
            let person = Person::new(user);
            let erased = admin.erase_person(&person, ErasureScope::default(), ASKED);
            erased.map_err(text)?;
            if !grains(&store, user)?.is_empty() {
                return Err(format!("{user} is erased and there"));
            }
        }
        Ok(())
    }
}
