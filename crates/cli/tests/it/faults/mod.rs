//! Faults: hostile files, system calls that fail, kills and several processes at once.

#[cfg(target_os = "linux")]
mod bombs;
mod failures;
mod kill;
#[cfg(target_os = "linux")]
mod pipes;
mod several;
#[cfg(target_os = "linux")]
mod system_calls;
#[cfg(target_os = "linux")]
mod tree_bombs;
