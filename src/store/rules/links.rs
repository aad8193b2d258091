//! Links of a grain that a token writes: no rule is asked about a grain that the token does not see,
//! since its answer would tell whether that is stored, and how it is protected.

use crate::codec::ContentAddress;
use crate::grain::Grain;
use crate::policy::Capability;
use crate::store::Error;
use crate::store::view::View;

/// Refuses a grain that names, in any of its fields, a grain out of sight of the token that writes it.
/// `pending` finds grains of the same frame, which are the token's own.
///
/// # Errors
/// `ERR_NOT_FOUND`, whether the other one is stored or not; storage errors.
pub(crate) fn refuse_links_out_of_sight<'f>(
    view: &View<'_>,
    grain: &Grain,
    pending: &dyn Fn(&ContentAddress) -> Option<&'f Grain>,
    capability: Option<&Capability>,
) -> Result<(), Error> {
    let confined = capability.filter(|it| it.token().is_some() && it.is_confined());
    let Some(capability) = confined else {
        return Ok(());
    };
    for address in grain.named() {
        if pending(&address).is_some() {
            continue;
        }
        let is_seen = match view.locate(&address)? {
            Some(row) => view.sees(capability, &view.grain_at(row, &address)?)?,
            None => false,
        };
        if !is_seen {
            return Err(Error::NotFound { address });
        }
    }
    Ok(())
}
