pub(crate) mod group;
pub(crate) mod put;
