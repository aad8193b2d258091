//! A thread that does something again and again, until its owner is gone.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::process::{Condvar, Mutex};

/// Ends the thread when dropped.
#[derive(Debug)]
pub(in crate::store::engine) struct Idle(Arc<(Mutex<bool>, Condvar)>);

impl Idle {
    /// Starts a thread that calls `tick` twice a second.
    pub(in crate::store::engine) fn start(tick: impl Fn() + Send + 'static) -> io::Result<Self> {
        let signal = Arc::new((Mutex::new(false), Condvar::new()));
        let seen = Arc::clone(&signal);
        let repeat = move || {
            let (has_ended, wake) = &*seen;
            loop {
                let has_ended = wake.wait_while_for(has_ended.lock(), |ended| !*ended, PERIOD);
                if *has_ended {
                    return;
                }
                drop(has_ended);
                tick();
            }
        };
        let thread = thread::Builder::new().name("grainstore-follow".to_owned());
        thread.spawn(repeat)?;
        Ok(Self(signal))
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        let (has_ended, wake) = &*self.0;
        *has_ended.lock() = true;
        wake.notify_one();
    }
}

/// How long an idle process may lag behind; an erased grain may be held open for 5 seconds.
const PERIOD: Duration = Duration::from_millis(500);
