//! Locks that have no state outside themselves: those of the standard library, less poisoning.
//!
//! The locks of parking_lot list the threads that wait in one table of the process. In a child that was
//! forked it lists threads of the parent, whose memory threads of the child get: a lock of its own then
//! waits for ever, or reads what is no thread.
//!
//! A panic while a lock is held leaves it usable: a panic is contained where a thread or a call ends, and
//! what is behind the lock is consistent between two statements.

use std::sync;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{PoisonError, TryLockError};
use std::time::Duration;

pub(crate) use std::sync::{MutexGuard, RwLockReadGuard, RwLockWriteGuard};

#[derive(Debug, Default)]
pub(crate) struct Mutex<T: ?Sized>(sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(sync::Mutex::new(value))
    }

    pub(crate) fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: ?Sized> Mutex<T> {
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `None` while another thread has it.
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Default)]
pub(crate) struct RwLock<T: ?Sized>(sync::RwLock<T>);

impl<T> RwLock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(sync::RwLock::new(value))
    }
}

impl<T: ?Sized> RwLock<T> {
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A condition that threads wait for. It changes under the mutex they wait with, before it is notified.
#[derive(Debug, Default)]
pub(crate) struct Condvar {
    condvar: sync::Condvar,
    /// How many threads wait. In a child that was forked the waiting threads of its parent count on: a
    /// call to the system more, and no signal less.
    waiting: AtomicUsize,
}

impl Condvar {
    pub(crate) const fn new() -> Self {
        Self {
            condvar: sync::Condvar::new(),
            waiting: AtomicUsize::new(0),
        }
    }

    pub(crate) fn notify_one(&self) {
        if self.is_waited_for() {
            self.condvar.notify_one();
        }
    }

    pub(crate) fn notify_all(&self) {
        if self.is_waited_for() {
            self.condvar.notify_all();
        }
    }

    /// Returns whether a signal may be missed: to notify asks the system even if no thread waits.
    fn is_waited_for(&self) -> bool {
        // A thread that saw the condition of before had counted itself when it gave the mutex to the
        // thread that changed it.
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Waits until it is notified, or for no reason.
    pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        let _counted = Counted::among(&self.waiting);
        let waited = self.condvar.wait(guard);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits as [`Condvar::wait`] does, and not for longer than `patience`.
    pub(crate) fn wait_for<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        patience: Duration,
    ) -> MutexGuard<'a, T> {
        let _counted = Counted::among(&self.waiting);
        let waited = self.condvar.wait_timeout(guard, patience);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Waits while `is_so`.
    pub(crate) fn wait_while<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        is_so: impl FnMut(&mut T) -> bool,
    ) -> MutexGuard<'a, T> {
        let _counted = Counted::among(&self.waiting);
        let waited = self.condvar.wait_while(guard, is_so);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits while `is_so`, and not for longer than `patience`.
    pub(crate) fn wait_while_for<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        is_so: impl FnMut(&mut T) -> bool,
        patience: Duration,
    ) -> MutexGuard<'a, T> {
        let _counted = Counted::among(&self.waiting);
        let waited = self.condvar.wait_timeout_while(guard, patience, is_so);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// A thread that waits.
struct Counted<'c>(&'c AtomicUsize);

impl<'c> Counted<'c> {
    fn among(waiting: &'c AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::Relaxed);
        Self(waiting)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    /// Panics while a lock is held.
    fn panic_with<G>(lock: impl FnOnce() -> G) {
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _guard = lock();
            panic!("on purpose");
        }));
        assert!(panicked.is_err());
    }

    #[test]
    fn a_panic_leaves_every_lock_usable() {
        let mut mutex = Mutex::new(1);
        panic_with(|| mutex.lock());
        *mutex.lock() += 1;
        *mutex.try_lock().unwrap() += 1;
        *mutex.get_mut() += 1;
        let condvar = Condvar::new();
        let guard = condvar.wait_for(mutex.lock(), Duration::ZERO);
        let guard = condvar.wait_while(guard, |_| false);
        drop(condvar.wait_while_for(guard, |_| true, Duration::ZERO));
        assert_eq!(*mutex.get_mut(), 4);
        assert_eq!(mutex.into_inner(), 4);

        let lock = RwLock::new(1);
        panic_with(|| lock.write());
        *lock.write() += 1;
        assert_eq!(*lock.read(), 2);
    }

    #[test]
    fn a_thread_that_waits_is_woken_and_counted_while_it_waits() {
        let (turn, condvar) = (Mutex::new(0_u32), Condvar::new());
        let pass = |mine: u32| {
            for _ in 0..500 {
                let mut turn = condvar.wait_while(turn.lock(), |turn| *turn % 3 != mine);
                *turn += 1;
                drop(turn);
                condvar.notify_all();
            }
        };
        std::thread::scope(|scope| (0..3).for_each(|n| drop(scope.spawn(move || pass(n)))));
        assert_eq!(*turn.lock(), 1_500);
        assert!(!condvar.is_waited_for());
    }

    #[test]
    fn a_mutex_that_is_held_is_not_taken_without_waiting() {
        let mutex = Mutex::new(());
        let guard = mutex.lock();
        assert!(mutex.try_lock().is_none());
        drop(guard);
        assert!(mutex.try_lock().is_some());
    }
}
