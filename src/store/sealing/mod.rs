//! Sealed persons (OMS 12.4, 20.2, 20.3): whose grains are sealed, the sealing of a frame, and the
//! unlocking and locking of a person.
//!
//! A sealed entry is folded as its card until its person is unlocked. Then the same fold as for
//! any entry puts it into an overlay of the index, which locking drops. Keys are in `vault`.

mod follow;
mod frame;
mod person;
mod unlock;
