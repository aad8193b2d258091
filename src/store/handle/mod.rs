pub(crate) mod access;
pub(crate) mod handoff;
