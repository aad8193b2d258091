//! A sequence in memory: for tests, and the plainest statement of the rules.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::{Appended, Error, Head, Identity, Node, Proposal, Sequence, StoredFrame, Turn};

/// A sequence in memory. Clones are handles on one sequence.
///
/// [`Sequence`] has an example.
#[derive(Debug, Clone, Default)]
pub struct MemorySequence(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<Option<State>>,
    moved: Condvar,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, Option<State>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct State {
    identity: Identity,
    head: Head,
    frames: Vec<StoredFrame>,
    turn: Option<(Node, Instant)>,
}

impl State {
    fn turn_of_another(&self, node: Node) -> bool {
        let now = Instant::now();
        self.turn
            .is_some_and(|(holder, until)| holder != node && until > now)
    }
}

impl MemorySequence {
    fn with<T>(&self, step: impl FnOnce(&mut State) -> T) -> Result<T, Error> {
        let mut state = self.0.state();
        let state = state
            .as_mut()
            .ok_or_else(|| Error::Missing("memory".to_owned()))?;
        Ok(step(state))
    }
}

impl Sequence for MemorySequence {
    fn identity(&self) -> Result<Option<Identity>, Error> {
        let state = self.0.state();
        Ok(state.as_ref().map(|state| state.identity.clone()))
    }

    fn create(&self, identity: &Identity) -> Result<bool, Error> {
        let mut state = self.0.state();
        if state.is_some() {
            return Ok(false);
        }
        *state = Some(State {
            identity: identity.clone(),
            head: identity.origin,
            frames: Vec::new(),
            turn: None,
        });
        Ok(true)
    }

    fn head(&self) -> Result<Head, Error> {
        self.with(|state| state.head)
    }

    fn append(&self, proposal: &Proposal<'_>) -> Result<Appended, Error> {
        self.with(|state| {
            if state.head != proposal.expected || state.turn_of_another(proposal.node) {
                return Appended::No;
            }
            state.frames.push(StoredFrame {
                first: proposal.expected.entries,
                version: 0,
                bytes: proposal.frame.to_vec(),
            });
            state.head = proposal.end;
            self.0.moved.notify_all();
            Appended::Yes
        })
    }

    fn read(&self, from: u64, max: usize) -> Result<Vec<StoredFrame>, Error> {
        self.with(|state| {
            if from >= state.head.entries {
                return Vec::new();
            }
            let after = state.frames.partition_point(|frame| frame.first <= from);
            let mut taken: Vec<StoredFrame> = Vec::new();
            let mut bytes = 0_usize;
            for frame in state.frames.iter().skip(after.saturating_sub(1)) {
                bytes = bytes.saturating_add(frame.bytes.len());
                if bytes > max && !taken.is_empty() {
                    break;
                }
                taken.push(frame.clone());
            }
            taken
        })
    }

    fn wait(&self, entries: u64, patience: Duration) -> Result<Head, Error> {
        let state = self.0.state();
        let is_old = |state: &mut Option<State>| {
            state
                .as_ref()
                .is_some_and(|state| state.head.entries <= entries)
        };
        let waited = self.0.moved.wait_timeout_while(state, patience, is_old);
        let state = waited.unwrap_or_else(PoisonError::into_inner).0;
        let state = state
            .as_ref()
            .ok_or_else(|| Error::Missing("memory".to_owned()))?;
        Ok(state.head)
    }

    fn replace(&self, frame: &StoredFrame) -> Result<bool, Error> {
        self.with(|state| {
            let found = state
                .frames
                .iter_mut()
                .find(|found| found.first == frame.first);
            let Some(found) = found.filter(|found| found.version == frame.version) else {
                return Ok(false);
            };
            if found.bytes.len() != frame.bytes.len() {
                return Err(Error::refused("a frame keeps its length"));
            }
            found.bytes.clone_from(&frame.bytes);
            found.version = found.version.saturating_add(1);
            Ok(true)
        })?
    }

    fn take_turn(&self, node: Node, lease: Duration) -> Result<Turn, Error> {
        self.with(|state| {
            if state.turn_of_another(node) {
                return Turn::Waits;
            }
            state.turn = Some((node, Instant::now() + lease));
            Turn::Taken(state.head)
        })
    }

    fn end_turn(&self, node: Node) {
        let ended = self.with(|state| {
            if state.turn.is_some_and(|(holder, _)| holder == node) {
                state.turn = None;
            }
        });
        drop(ended);
        self.0.moved.notify_all();
    }
}
