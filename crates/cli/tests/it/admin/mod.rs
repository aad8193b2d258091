//! Care of a store: settings, backup, recovery and advice.

mod care;
mod doctor;
mod recover;
mod replica;
mod settings;
#[cfg(feature = "postgres")]
mod shared;
