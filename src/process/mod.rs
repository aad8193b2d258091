//! The identity, the locks and the threads of a process.
//!
//! A child that was forked has the memory and the open files of its parent, and none of its threads and
//! rights. It may open stores of its own, so nothing outside a store may depend on a thread that only the
//! parent has.

mod id;
mod locks;
mod pool;

pub(crate) use id::ProcessId;
pub(crate) use locks::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard};
pub(crate) use pool::{drop_elsewhere, in_parallel, map_in_parallel};
pub(crate) use rayon::prelude as parallel;
