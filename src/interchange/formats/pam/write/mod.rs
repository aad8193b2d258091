//! Writing grains as a memory store, in the form that both validators of the format accept.

pub(super) mod checksum_form;
pub(super) mod document;
pub(super) mod embedded_memory;
mod envelope;
pub(super) mod exported_form;
mod plan;
mod record;
mod selection;
pub(super) mod store;
mod turn;
pub(super) mod uuid;
pub(super) mod zip;
