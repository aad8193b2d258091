//! The view of a decision: the store as of a snapshot, with what follows from its entries by reading
//! alone. Nothing here appends, asks a person, or takes in what others wrote.

mod consents;
mod core;
mod delegation;
mod demand;
mod heads;
mod identity;
mod lookup;
mod origin;
#[cfg_attr(not(feature = "sealing"), path = "no_persons.rs")]
mod persons;
mod protection;
mod signers;
#[cfg(feature = "sealing")]
mod vault;
mod walk;

pub(crate) use self::core::{Core, CoreFiles, View};
pub(crate) use consents::{effect_of, rests_on, withdrawn_by};
pub(crate) use demand::{Demand, counts_for_party};
#[cfg(feature = "interchange")]
pub(crate) use heads::claims_to_replace;
pub(crate) use heads::{choose, declares_supersession, names, names_replaced, replaceable};
pub(crate) use identity::Weight;
pub use lookup::Version;
pub(crate) use origin::Origin;
#[cfg(feature = "sealing")]
pub(crate) use persons::sealable_ids;
pub(crate) use protection::EffectiveProtection;
pub use signers::Signature;
