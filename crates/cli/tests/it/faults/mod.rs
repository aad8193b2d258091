//! Faults: hostile files, system calls that fail, kills and several processes at once.

#[cfg(target_os = "linux")]
mod bombs;
mod failures;
#[cfg(unix)]
mod histories;
mod kill;
#[cfg(target_os = "linux")]
mod pipes;
#[cfg(target_os = "linux")]
mod readers;
mod several;
#[cfg(target_os = "linux")]
mod system_calls;
#[cfg(target_os = "linux")]
mod tree_bombs;
