//! One file per command: its arguments, whose doc comments are its help, and how it runs.

mod check;
mod completions;
mod demo;
mod exists;
mod export;
mod get;
mod grain;
mod history;
mod import;
mod init;
mod list;
mod put;
mod query;
mod search;
mod stats;
mod supersede;
mod validate;

pub(crate) use check::Check;
pub(crate) use completions::Completions;
pub(crate) use demo::Demo;
pub(crate) use exists::Exists;
pub(crate) use export::Export;
pub(crate) use get::Get;
pub(crate) use grain::GrainTool;
pub(crate) use history::History;
pub(crate) use import::Import;
pub(crate) use init::Init;
pub(crate) use list::List;
pub(crate) use put::Put;
pub(crate) use query::Query;
pub(crate) use search::Search;
pub(crate) use stats::Stats;
pub(crate) use supersede::Supersede;
pub(crate) use validate::Validate;
