//! Stretches: whole frames that follow one another in one segment, as copies elsewhere hold them.

pub(super) mod blank;
pub(super) mod bytes;
pub(super) mod source;
