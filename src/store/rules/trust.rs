//! The rules of trust: which signers may write and change which grains.

use crate::crypto::kid;
use crate::grain::Grain;
use crate::store::Error;
use crate::store::view::Core;

/// Refuses a grain that its signer may not write here, or that must be signed; its signature
/// has been checked.
///
/// # Errors
/// `ERR_UNTRUSTED`.
pub(crate) fn authorize_signer(core: &Core, grain: &Grain) -> Result<(), Error> {
    let signer = match grain.is_signed() {
        true => Some(kid(grain)?),
        false => None,
    };
    let admitted = core
        .known_state()
        .trust()
        .all()
        .authorize_put(signer.as_ref(), grain);
    admitted.map_err(|reason| Error::Untrusted {
        address: grain.address(),
        reason,
    })
}

/// Refuses a change to a stored grain that none of its signers may write there.
///
/// # Errors
/// `ERR_UNTRUSTED`.
pub(crate) fn authorize_signers(
    core: &Core,
    signers: &[Vec<String>],
    target: &Grain,
) -> Result<(), Error> {
    let state = core.known_state();
    let admitted = state.trust().all().authorize_change(signers, target);
    admitted.map_err(|reason| Error::Untrusted {
        address: target.address(),
        reason,
    })
}

/// Refuses a successor of a stored grain whose signer may not replace it.
///
/// # Errors
/// `ERR_UNTRUSTED`; as [`kid`](crate::crypto::kid).
pub(crate) fn authorize_successor(
    core: &Core,
    agreed: &[Vec<String>],
    new: &Grain,
    target: &Grain,
) -> Result<(), Error> {
    let signer = new.envelope().map(|_| kid(new)).transpose()?;
    let signer = signer.map(|signer| vec![signer.as_str().to_owned()]);
    let signers: Vec<_> = signer.into_iter().chain(agreed.iter().cloned()).collect();
    authorize_signers(core, &signers, target)
}
