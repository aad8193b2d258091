pub(crate) mod authorization;
pub(crate) mod entry;
