//! A second signature of a stored grain. A grain without an author may be signed by anyone, so the
//! signature that came first proves nothing about who wrote it: a signer who is trusted more takes
//! its place, and the put of any other signer fails with `ERR_UNTRUSTED`.

use crate::grain::Grain;
use crate::policy::Trust;
use crate::store::Error;
use crate::store::records::{Record, TrustRecord};
use crate::store::view::{Core, View};

use super::trust::authorize_signer;

/// Returns the record of a signature that is to be shown for a stored grain from now on; `None`
/// if the grain is unsigned or has a signature of this signer.
///
/// `pending` is the stored grain if it is in a frame that is not written yet.
///
/// # Errors
/// `ERR_UNTRUSTED` for another signer who is not trusted more; storage errors.
pub(crate) fn stronger_signature(
    view: &View<'_>,
    pending: Option<&Grain>,
    new: &Grain,
) -> Result<Option<Record>, Error> {
    let Some(envelope) = new.envelope() else {
        return Ok(None);
    };
    let address = new.address();
    let stored = match (pending, view.locate(&address)?) {
        (Some(pending), _) => Some(signature_strength(view, pending)),
        (None, Some(row)) => {
            let grain = view.version_at(row)?.grain;
            Some(signature_strength(view, &grain))
        }
        (None, None) => None,
    };
    let Some((signer, strength)) = stored else {
        return Ok(None);
    };
    let (own, own_strength) = signature_strength(view, new);
    if signer.is_some() && signer == own {
        return Ok(None);
    }
    authorize_signer(view, new)?;
    if own_strength <= strength {
        return Err(Error::Untrusted {
            address,
            reason: "it is stored with the signature of another signer, trusted as much",
        });
    }
    Ok(Some(Record::Trust(TrustRecord::Signed {
        of: address,
        envelope: envelope.to_vec(),
    })))
}

/// Returns the signer of a grain and the strength of the signature: that of a trusted signer is
/// the strongest, then that of the grain's author, then any, then none.
fn signature_strength(core: &Core, grain: &Grain) -> (Option<String>, u8) {
    let Some(signature) = core.signature_of(grain) else {
        return (None, 0);
    };
    let signer = signature.signer.as_str();
    let strength = match signature.trust {
        Trust::Verified => 3,
        Trust::Untrusted(_) if grain.text("author_did") == Some(signer) => 2,
        Trust::Untrusted(_) => 1,
    };
    (Some(signer.to_owned()), strength)
}
