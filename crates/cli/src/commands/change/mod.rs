//! Commands that store or correct a grain without JSON, and the schema for those that take JSON.

mod assignment;
mod correct;
mod editor;
mod own_changes;
mod remember;
mod schema;
mod undo;

pub(crate) use correct::Correct;
pub(crate) use remember::Remember;
pub(crate) use schema::SchemaTool;
pub(crate) use undo::Undo;
