pub(crate) mod heads;
pub(crate) mod implicit;
pub(crate) mod supersede;
