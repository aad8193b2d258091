//! Models for searching by meaning: a program of the user's, or a local model.
//!
//! A command that searches, embeds or serves takes the model that the options name; the others
//! leave what they store to it.

mod choice;
mod local;
mod program;

pub(crate) use choice::EmbedArgs;
pub(crate) use local::installed;
