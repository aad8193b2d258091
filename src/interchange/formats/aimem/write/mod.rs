//! Writing grains as a bundle, of one producer and one tenant.

pub(super) mod bundle;
pub(super) mod foreign;
mod survey;
