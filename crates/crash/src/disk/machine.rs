//! A simulated machine on which several processes run, one at a time: a seed says which goes on after
//! each operation of the disk, which one is killed, and which one stands still for a while.
//!
//! Each process is a thread. It has the baton while it runs, and hands it over at each operation of
//! its disk and where it waits. The time is simulated, too, so a wait costs nothing.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use grainstore::Time;
use grainstore::store::Clock;
use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::random::Random;

/// One life of a process: from a start to its end or its death.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Life {
    /// The process, which may be started again.
    pub(crate) process: usize,
    nth: u64,
}

/// The processes of one machine, and the locks that they hold.
pub(crate) struct Machine {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    random: Random,
    /// Of how many in a hundred operations another process goes on.
    switch_percent: usize,
    now_us: u64,
    running: Option<usize>,
    processes: Vec<Process>,
    locks: BTreeMap<String, Life>,
}

#[derive(Debug, Default)]
struct Process {
    nth: u64,
    /// The operations of this life.
    steps: u64,
    dies_at: Option<u64>,
    freezes_at: Option<u64>,
    is_dead: bool,
    is_done: bool,
    /// It waits or stands still until then.
    wakes_us: u64,
}

thread_local! {
    /// The process that a thread is. Other threads, which a store starts, take no turns.
    static PROCESS: Cell<Option<usize>> = const { Cell::new(None) };
}

impl Machine {
    /// A machine with this many processes, which wait for [`Machine::run`].
    pub(crate) fn new(seed: u64, processes: usize) -> Self {
        let mut random = Random::of(&[seed, 11]);
        let switch_percent = random.pick(&[3, 15, 50, 100]).copied().unwrap_or(50);
        Self {
            state: Mutex::new(State {
                random,
                switch_percent,
                now_us: 0,
                running: Some(0),
                processes: (0..processes).map(|_| Process::default()).collect(),
                locks: BTreeMap::new(),
            }),
            changed: Condvar::new(),
        }
    }

    /// Runs a process on this thread, whenever it is its turn.
    pub(crate) fn run(&self, process: usize, program: impl FnOnce()) {
        PROCESS.set(Some(process));
        self.wait_for_turn(self.state.lock(), process);
        program();
        PROCESS.set(None);
        let mut state = self.state.lock();
        if let Some(ended) = state.processes.get_mut(process) {
            ended.is_done = true;
        }
        state.choose();
        self.changed.notify_all();
    }

    /// Begins a new life of a process; `fate` draws the operations at which it dies and stands still.
    pub(crate) fn start(&self, process: usize, fate: &mut Random) -> Life {
        let mut draw = |percent: usize, within: &Range<usize>| {
            let at = within.start + fate.below(within.end - within.start);
            fate.percent(percent).then_some(at as u64)
        };
        let (dies_at, freezes_at) = (draw(45, &(1..500)), draw(40, &(1..300)));
        let mut state = self.state.lock();
        let nth = state.processes.get(process).map_or(0, |last| last.nth + 1);
        if let Some(place) = state.processes.get_mut(process) {
            *place = Process {
                nth,
                dies_at,
                freezes_at,
                ..Process::default()
            };
        }
        Life { process, nth }
    }

    /// Returns whether a life has ended with the death of the process.
    pub(crate) fn is_dead(&self, life: Life) -> bool {
        self.state.lock().is_dead(life)
    }

    /// Takes an operation of the disk: the process may die before it, or another may go first.
    ///
    /// # Errors
    /// For the operations of a process that is dead: they have no effect.
    pub(crate) fn step(&self, life: Life) -> io::Result<()> {
        if PROCESS.get().is_none() {
            return Ok(());
        }
        let mut state = self.state.lock();
        if state.is_dead(life) {
            return Err(killed());
        }
        state.now_us += STEP_US;
        let now_us = state.now_us;
        let mut is_dying = false;
        if let Some(process) = state.processes.get_mut(life.process) {
            process.steps += 1;
            is_dying = process.dies_at == Some(process.steps);
            process.is_dead = is_dying;
            if process.freezes_at == Some(process.steps) {
                process.wakes_us = now_us + FROZEN_US;
            }
        }
        if is_dying {
            // The system releases the locks of a process that dies.
            state.locks.retain(|_, holder| *holder != life);
            return Err(killed());
        }
        state.hand_over();
        self.wait_for_turn(state, life.process);
        Ok(())
    }

    /// Lets the others go on for a while.
    pub(crate) fn pause(&self, life: Life, duration: Duration) {
        if PROCESS.get().is_none() {
            return;
        }
        let mut state = self.state.lock();
        if state.is_dead(life) {
            return;
        }
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let wakes_us = state.now_us.saturating_add(micros);
        if let Some(process) = state.processes.get_mut(life.process) {
            process.wakes_us = wakes_us;
        }
        state.choose();
        self.wait_for_turn(state, life.process);
    }

    /// Takes a lock if no process has it; `is_shared` grants it in any case, which is a fault.
    pub(crate) fn lock(&self, name: &str, life: Life, is_shared: bool) -> bool {
        let mut state = self.state.lock();
        if state.locks.contains_key(name) && !is_shared {
            return false;
        }
        state.locks.insert(name.to_owned(), life);
        true
    }

    /// Releases a lock, if the process still has it.
    pub(crate) fn unlock(&self, name: &str, life: Life) {
        let mut state = self.state.lock();
        if state.locks.get(name) == Some(&life) {
            state.locks.remove(name);
        }
    }

    /// Returns whether a process has a lock.
    pub(crate) fn has_lock(&self, name: &str, life: Life) -> bool {
        self.state.lock().locks.get(name) == Some(&life)
    }

    fn wait_for_turn(&self, mut state: MutexGuard<'_, State>, process: usize) {
        if state.running != Some(process) {
            self.changed.notify_all();
            self.changed
                .wait_while(&mut state, |state| state.running != Some(process));
        }
    }
}

impl State {
    fn is_dead(&self, life: Life) -> bool {
        let process = self.processes.get(life.process);
        process.is_none_or(|process| process.nth != life.nth || process.is_dead)
    }

    /// Hands the baton over, or not.
    fn hand_over(&mut self) {
        let now_us = self.now_us;
        let running = self.running.and_then(|running| self.processes.get(running));
        let may_go_on = running.is_some_and(|process| process.wakes_us <= now_us);
        if may_go_on && !self.random.percent(self.switch_percent) {
            return;
        }
        self.choose();
    }

    /// Gives the baton to one of the processes that can go on. If all wait, time passes.
    fn choose(&mut self) {
        let waiting = self.processes.iter().filter(|process| !process.is_done);
        let first = waiting.map(|process| process.wakes_us).min();
        self.now_us = self.now_us.max(first.unwrap_or(0));
        let now_us = self.now_us;
        let ready = self.processes.iter().enumerate();
        let ready = ready.filter(|(_, process)| !process.is_done && process.wakes_us <= now_us);
        let ready: Vec<usize> = ready.map(|(process, _)| process).collect();
        self.running = self.random.pick(&ready).copied();
    }
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Machine")
    }
}

/// The clock of a process on a machine.
#[derive(Debug)]
pub(crate) struct MachineClock(pub(crate) Arc<Machine>, pub(crate) Life);

impl Clock for MachineClock {
    fn now(&self) -> Time {
        let since = self.monotonic().as_millis();
        Time::from_ms(1_700_000_000_000 + i64::try_from(since).unwrap_or(i64::MAX))
    }

    fn monotonic(&self) -> Duration {
        Duration::from_micros(self.0.state.lock().now_us)
    }

    fn pause(&self, duration: Duration) {
        self.0.pause(self.1, duration);
    }
}

fn killed() -> io::Error {
    io::Error::other("the process was killed")
}

/// How long an operation of the disk takes.
const STEP_US: u64 = 50;

/// How long a process stands still: longer than the others wait for it.
const FROZEN_US: u64 = 60_000;

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// Returns the order in which processes take their operations.
    fn order(seed: u64) -> Vec<usize> {
        let machine = Machine::new(seed, 3);
        let order = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for process in 0..3 {
                let (machine, order) = (&machine, &order);
                scope.spawn(move || {
                    machine.run(process, || {
                        let life = machine.start(process, &mut Random::of(&[seed, 5]));
                        for _ in 0..20 {
                            if machine.step(life).is_ok() {
                                order.lock().push(process);
                            }
                        }
                    });
                });
            }
        });
        order.into_inner()
    }

    #[test]
    fn a_seed_is_one_order_and_another_seed_another() {
        let orders: Vec<_> = (0..8).map(order).collect();
        let again: Vec<_> = (0..8).map(order).collect();
        assert_eq!(orders, again);
        assert!(orders.iter().any(|other| *other != orders[0]));
    }
}
