//! The threads among which one call shares its work.
//!
//! They are those of rayon's pool, of which a process has one. A child that was forked has the pool of
//! its parent without the threads: a call would wait for them without end. It gets a pool of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::{Mutex, ProcessId};

/// The process that may use the pool that rayon has for all; 0 before the first use.
static OF_ALL: AtomicU32 = AtomicU32::new(0);

/// The pool of a child that was forked after the first use.
static OF_CHILD: Mutex<Option<(ProcessId, Arc<ThreadPool>)>> = Mutex::new(None);

/// Runs work whose parallel iterators have threads that run.
pub(crate) fn in_parallel<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match threads(ProcessId::current(), &OF_ALL, &OF_CHILD) {
        Threads::OfAll => work(),
        Threads::Own(pool) => pool.install(work),
        Threads::None => {
            // A pool of this thread alone, which from then on shares no work.
            let alone = ThreadPoolBuilder::new().num_threads(1);
            drop(alone.use_current_thread().build());
            work()
        }
    }
}

/// Calls `make` with each element, on several threads, and returns the results in order.
///
/// The loop itself is compiled once: rayon's own is compiled for each closure.
pub(crate) fn map_in_parallel<E: Sync, T: Send>(
    elements: &[E],
    make: impl Fn(&E) -> T + Sync,
) -> Vec<T> {
    let made: Vec<Mutex<Option<T>>> = elements.iter().map(|_| Mutex::default()).collect();
    for_each_in_parallel(elements.len(), &|number| {
        if let (Some(element), Some(place)) = (elements.get(number), made.get(number)) {
            *place.lock() = Some(make(element));
        }
    });
    made.into_iter().filter_map(Mutex::into_inner).collect()
}

fn for_each_in_parallel(len: usize, each: &(dyn Fn(usize) + Sync)) {
    in_parallel(|| (0..len).into_par_iter().for_each(each));
}

/// Drops a value by another thread: to give much memory back takes a while.
pub(crate) fn drop_elsewhere<T: Send + 'static>(value: T) {
    match threads(ProcessId::current(), &OF_ALL, &OF_CHILD) {
        Threads::OfAll => rayon::spawn(move || drop(value)),
        Threads::Own(pool) => pool.spawn(move || drop(value)),
        Threads::None => drop(value),
    }
}

/// The threads that a process may give work to.
enum Threads {
    /// Those of the pool that rayon has for all.
    OfAll,
    Own(Arc<ThreadPool>),
    /// The system gives none.
    None,
}

type OwnPool = Mutex<Option<(ProcessId, Arc<ThreadPool>)>>;

/// Returns the threads of a process: the pool of all belongs to the first that asks.
fn threads(by: ProcessId, of_all: &AtomicU32, of_child: &OwnPool) -> Threads {
    let first = of_all.compare_exchange(0, by.number(), Ordering::Relaxed, Ordering::Relaxed);
    if first.is_ok() || first == Err(by.number()) {
        return Threads::OfAll;
    }
    // A thread of the parent may have held the lock when the child was forked.
    let mut of_child = of_child.try_lock();
    let known = of_child.as_deref().and_then(Option::as_ref);
    if let Some((_, pool)) = known.filter(|(of, _)| *of == by) {
        return Threads::Own(Arc::clone(pool));
    }
    let pool = match ThreadPoolBuilder::new().build() {
        Ok(pool) => Arc::new(pool),
        Err(error) => {
            tracing::warn!(%error, "the work is not shared among threads");
            return Threads::None;
        }
    };
    if let Some(of_child) = &mut of_child {
        // The pool of a parent, which would tell its threads to end, is left as it is.
        std::mem::forget(of_child.replace((by, Arc::clone(&pool))));
    }
    Threads::Own(pool)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(by: ProcessId, of_all: &AtomicU32, of_child: &OwnPool) -> Option<Arc<ThreadPool>> {
        match threads(by, of_all, of_child) {
            Threads::Own(pool) => Some(pool),
            Threads::OfAll | Threads::None => None,
        }
    }

    #[test]
    fn what_is_made_of_elements_comes_in_their_order() {
        for len in [0, 1, 1_000] {
            let elements: Vec<u32> = (0..len).collect();
            let made = map_in_parallel(&elements, ToString::to_string);
            let alone: Vec<String> = elements.iter().map(ToString::to_string).collect();
            assert_eq!(made, alone);
        }
    }

    #[test]
    fn the_pool_of_all_belongs_to_the_first_process_and_a_child_gets_its_own() {
        let (of_all, of_child) = (AtomicU32::new(0), OwnPool::default());
        let (parent, child) = (ProcessId::current(), ProcessId::of_child());
        assert!(own(parent, &of_all, &of_child).is_none());
        let pool = own(child, &of_all, &of_child).unwrap();
        let sum: u32 = pool.install(|| (0..100_u32).into_par_iter().sum());
        assert_eq!(sum, 4_950);
        let again = own(child, &of_all, &of_child).unwrap();
        assert!(Arc::ptr_eq(&pool, &again));
        assert!(own(parent, &of_all, &of_child).is_none());
    }

    #[test]
    fn a_child_whose_parent_held_the_lock_does_not_wait_for_it() {
        let (of_all, of_child) = (AtomicU32::new(0), OwnPool::default());
        assert!(own(ProcessId::current(), &of_all, &of_child).is_none());
        let _held = of_child.lock();
        assert!(own(ProcessId::of_child(), &of_all, &of_child).is_some());
    }
}
