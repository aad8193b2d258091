//! What a person sees: the manual, mistakes, output forms and terminals.

mod demo;
mod files;
mod forms;
mod mistakes;
#[cfg(unix)]
mod outputs;
#[cfg(unix)]
mod readme;
mod sync;
#[cfg(target_os = "linux")]
mod terminal;
