pub(crate) mod erasure;
pub(crate) mod list;
pub(crate) mod rules;
