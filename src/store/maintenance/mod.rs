pub(crate) mod backup;
pub(crate) mod check;
pub(crate) mod checkpoint;
pub(crate) mod compact;
pub(crate) mod repair;
pub(crate) mod restore;
pub(crate) mod stats;
