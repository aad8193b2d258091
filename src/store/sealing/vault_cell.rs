//! PROVISIONAL: the vault of a store, until the room `keys` gives it.

use std::sync::Arc;

use crate::crypto::{KeySource, MasterKey};
use crate::store::instance::Inner;
use crate::store::{Error, Store};
use crate::vault::{FileShredRoot, User, Vault, VaultFiles};

impl Inner {
    pub(crate) fn vault(&self) -> Result<Option<Arc<Vault>>, Error> {
        Ok(self.vault_cell().lock().clone())
    }

    pub(crate) fn master_key(&self) -> Result<MasterKey, Error> {
        let source = KeySource::Callback(Box::new(|| Ok(vec![7; 32].into())));
        Ok(source.master_key(None)?)
    }
}

impl Store {
    #[doc(hidden)]
    pub fn add_person(&self, users: &[&str]) -> Result<Vec<User>, Error> {
        let inner = &self.inner;
        let _writer = inner.exclusive();
        let mut cell = inner.vault_cell().lock();
        if cell.is_none() {
            let disk = Arc::clone(inner.disk_handle());
            let store = inner.store_id();
            let random = Arc::clone(&inner.options().random);
            let root =
                || FileShredRoot::new(Arc::clone(&disk), "vault/root", store, Arc::clone(&random));
            let files = || VaultFiles {
                disk: Arc::clone(&disk),
                store,
                root: Arc::new(root()),
                random: Arc::clone(&random),
                ballast: inner.ballast().clone(),
            };
            let source = KeySource::Callback(Box::new(|| Ok(vec![7; 32].into())));
            let vault = match Vault::open(files())? {
                Some(vault) => vault,
                None => Vault::create(files(), &source)?.0,
            };
            *cell = Some(Arc::new(vault));
        }
        let vault = cell.clone().ok_or(Error::Locked)?;
        drop(cell);
        inner.caches().plain_users.forget();
        Ok(vault.add(&inner.master_key()?, users, inner.entry_time())?)
    }

    #[doc(hidden)]
    pub fn open_vault(&self) -> Result<(), Error> {
        self.add_person(&[]).map(drop)
    }
}
