//! Keys: families, terms, and encodings whose order is that of the values.
//!
//! Which keys a grain has, `memory::batch` decides.

pub(super) mod encoding;
pub(super) mod family;
pub(super) mod term;
