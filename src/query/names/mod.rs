//! Other names and spellings: of what a question asks for, and of what a belief is about.

#[cfg(feature = "text")]
mod alias;
mod also_believed;

#[cfg(feature = "text")]
pub(super) use alias::with_aliases;
pub(crate) use also_believed::also_believed;
