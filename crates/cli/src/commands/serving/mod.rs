//! Faces for other programs: the store over HTTP, and the tokens of its callers.

mod serve;
mod token;
mod unit;

pub(crate) use serve::Serve;
pub(crate) use token::TokenTool;
