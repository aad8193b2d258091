//! Writing grains as a memory store, in the form that both validators of the format accept.

pub(super) mod checksum_form;
pub(super) mod document;
pub(super) mod embedded_memory;
mod embedding;
mod envelope;
pub(super) mod exported_form;
mod selection;
mod sides;
pub(super) mod uuid;
mod zip;
