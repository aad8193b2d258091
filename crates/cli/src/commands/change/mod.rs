//! Commands that store or correct a grain without JSON, and the schema for those that take JSON.

mod asked_program;
mod assignment;
mod consolidate;
mod correct;
mod editor;
mod own_changes;
mod remember;
mod schema;
mod undo;

pub(crate) use consolidate::Consolidate;
pub(crate) use correct::Correct;
pub(crate) use remember::Remember;
pub(crate) use schema::SchemaTool;
pub(crate) use undo::Undo;
