//! The keys of sealed persons in a build without `sealing`: an erasure that destroys one waits for a
//! build that can.

use crate::store::Error;
use crate::store::engine::Engine;
use crate::store::records::Uid;
use crate::store::txn::Transaction;

#[expect(clippy::unnecessary_wraps, reason = "as with `sealing`")]
pub(super) const fn unlock_sealed(_: &Engine, _ids: &[String]) -> Result<Vec<Uid>, Error> {
    Ok(Vec::new())
}

pub(in crate::store::erasure) fn destroy_keys(
    engine: &Engine,
    _: &mut Transaction<'_>,
) -> Result<(), Error> {
    match engine.state().erasures().persons().next() {
        Some(_) => Err(Error::Locked),
        None => Ok(()),
    }
}

/// Returns whether an error says that the vault is damaged: no vault is opened.
pub(super) const fn is_vault_damage(_: &Error) -> bool {
    false
}
