//! Places that callers share: of requests, threads, files and followers.
//!
//! A token has at most a part of them, and so have all tokens of one tenant together, so that some are
//! left for every other. Who waits is let in by need: first the tenant, then the token that has the
//! fewest. A waiting caller holds no thread, and waits for a bounded time.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::http::failure::Failure;
use crate::http::token::Holder;

/// Whose request it is: what shares are counted by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    token: Arc<str>,
    tenant: Arc<str>,
}

/// A number of places.
#[derive(Debug, Clone)]
pub(crate) struct Places(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// What the places are for, in a refusal.
    what: &'static str,
    total: usize,
    of_token: usize,
    of_tenant: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    taken: usize,
    of_token: HashMap<Arc<str>, usize>,
    of_tenant: HashMap<Arc<str>, usize>,
    /// In the order of their coming.
    waiting: VecDeque<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    caller: Caller,
    place: oneshot::Sender<Place>,
}

/// A place that is taken, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    shared: Arc<Shared>,
    caller: Caller,
}

impl Caller {
    pub(crate) fn of(holder: &Holder) -> Self {
        let grant = &holder.grant;
        Self {
            token: holder.id.as_str().into(),
            tenant: format!("{:?} {:?}", grant.user, grant.namespaces).into(),
        }
    }
}

impl Places {
    /// Makes places of which a token takes up to a half, and a tenant up to three quarters.
    pub(crate) fn new(what: &'static str, total: usize) -> Self {
        Self::with_share(what, total, (total / 2).max(1))
    }

    /// Makes places of which a token takes up to so many.
    pub(crate) fn with_share(what: &'static str, total: usize, of_token: usize) -> Self {
        Self(Arc::new(Shared {
            what,
            total,
            of_token,
            of_tenant: (total - total / 4).max(1),
            state: Mutex::default(),
        }))
    }

    /// Takes a place, if one is free.
    ///
    /// # Errors
    /// Status 429 for a caller who has its share, 503 where all are taken.
    pub(crate) fn try_take(&self, caller: &Caller) -> Result<Place, Failure> {
        let mut state = self.0.lock();
        match self.0.has_room(&state, caller) {
            true => Ok(self.0.take(&mut state, caller.clone())),
            false => Err(self.0.refusal(&state, caller)),
        }
    }

    /// Takes a place, and waits for it up to `patience`.
    ///
    /// # Errors
    /// As [`Places::try_take`].
    pub(crate) async fn take(&self, caller: &Caller, patience: Duration) -> Result<Place, Failure> {
        let coming = {
            let mut state = self.0.lock();
            if self.0.has_room(&state, caller) {
                return Ok(self.0.take(&mut state, caller.clone()));
            }
            let (place, coming) = oneshot::channel();
            let caller = caller.clone();
            state.waiting.retain(|it| !it.place.is_closed());
            state.waiting.push_back(Waiting { caller, place });
            coming
        };
        match tokio::time::timeout(patience, coming).await {
            Ok(Ok(place)) => Ok(place),
            _ => Err(self.0.refusal(&self.0.lock(), caller)),
        }
    }

    /// Returns how many places are taken.
    pub(crate) fn taken(&self) -> usize {
        self.0.lock().taken
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_within_share(&self, state: &State, caller: &Caller) -> bool {
        state.tokens(caller) < self.of_token && state.tenants(caller) < self.of_tenant
    }

    fn has_room(&self, state: &State, caller: &Caller) -> bool {
        state.taken < self.total && self.is_within_share(state, caller)
    }

    fn take(self: &Arc<Self>, state: &mut State, caller: Caller) -> Place {
        state.taken += 1;
        let Caller { token, tenant } = &caller;
        *state.of_token.entry(Arc::clone(token)).or_default() += 1;
        *state.of_tenant.entry(Arc::clone(tenant)).or_default() += 1;
        Place {
            shared: Arc::clone(self),
            caller,
        }
    }

    fn refusal(&self, state: &State, caller: &Caller) -> Failure {
        let what = self.what;
        match self.total > 0 && !self.is_within_share(state, caller) {
            true => {
                let message = format!("this token or its tenant has its share of {what}");
                Failure::busy(429, "ERR_BUSY", &message)
            }
            false => {
                let message = format!("too many {what} are under way");
                Failure::busy(503, "ERR_BUSY", &message)
            }
        }
    }

    /// Lets in those who wait, as far as there is room.
    fn let_in(self: &Arc<Self>) {
        loop {
            let mut state = self.lock();
            let waiting = state.waiting.iter().enumerate();
            let needs = |(at, it): (usize, &Waiting)| {
                let has_room = !it.place.is_closed() && self.has_room(&state, &it.caller);
                has_room.then(|| (state.tenants(&it.caller), state.tokens(&it.caller), at))
            };
            let Some((_, _, next)) = waiting.filter_map(needs).min() else {
                return;
            };
            let Some(next) = state.waiting.remove(next) else {
                return;
            };
            let place = self.take(&mut state, next.caller);
            // A place that nobody takes any more is free again, which needs the lock.
            drop(state);
            drop(next.place.send(place));
        }
    }
}

impl State {
    fn tokens(&self, caller: &Caller) -> usize {
        self.of_token.get(&caller.token).copied().unwrap_or(0)
    }

    fn tenants(&self, caller: &Caller) -> usize {
        self.of_tenant.get(&caller.tenant).copied().unwrap_or(0)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.taken = state.taken.saturating_sub(1);
        let State {
            of_token,
            of_tenant,
            ..
        } = &mut *state;
        for (counts, name) in [
            (of_token, &self.caller.token),
            (of_tenant, &self.caller.tenant),
        ] {
            if let Some(count) = counts.get_mut(name) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    counts.remove(name);
                }
            }
        }
        drop(state);
        self.shared.let_in();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(token: &str, tenant: &str) -> Caller {
        Caller {
            token: token.into(),
            tenant: tenant.into(),
        }
    }

    #[test]
    fn a_token_and_a_tenant_have_a_part_and_the_rest_is_left_for_others() {
        let places = Places::new("files", 8);
        let (one, two, other) = (caller("a", "x"), caller("b", "x"), caller("c", "y"));
        let mut held: Vec<_> = (0..4).map(|_| places.try_take(&one).unwrap()).collect();
        assert_eq!(places.try_take(&one).unwrap_err().status, 429);
        held.extend((0..2).map(|_| places.try_take(&two).unwrap()));
        assert_eq!(places.try_take(&two).unwrap_err().status, 429);
        held.extend((0..2).map(|_| places.try_take(&other).unwrap()));
        assert_eq!(places.taken(), 8);
        assert_eq!(places.try_take(&caller("d", "z")).unwrap_err().status, 503);
        held.clear();
        assert_eq!(places.taken(), 0);
        places.try_take(&one).unwrap();
    }

    #[test]
    fn who_has_the_fewest_is_let_in_first_and_who_left_takes_nothing() {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let places = Places::new("threads", 4);
            let (one, two, other) = (caller("a", "x"), caller("b", "y"), caller("c", "z"));
            let _of_one: Vec<_> = (0..2).map(|_| places.try_take(&one).unwrap()).collect();
            let mut of_two: Vec<_> = (0..2).map(|_| places.try_take(&two).unwrap()).collect();
            let minute = Duration::from_secs(60);
            // This one leaves before its turn.
            let left = tokio::time::timeout(Duration::ZERO, places.take(&other, minute)).await;
            assert!(left.is_err());
            let wait = |caller: Caller| {
                let places = places.clone();
                tokio::spawn(async move { places.take(&caller, minute).await })
            };
            let (earlier, later) = (wait(two.clone()), wait(other));
            tokio::task::yield_now().await;
            drop(of_two.pop());
            let place = later.await.unwrap().unwrap();
            // The time is that of the runtime, which passes when nothing else can happen.
            assert_eq!(earlier.await.unwrap().unwrap_err().status, 503);
            drop(place);
            assert_eq!(places.taken(), 3);
        });
    }
}
