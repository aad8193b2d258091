pub(crate) mod caller;
pub(crate) mod manifest;
pub(crate) mod open;
pub(crate) mod queue;
pub(crate) mod replay;
pub(crate) mod text_feed;
