//! Work on libuv's pool, as promises.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use napi::bindgen_prelude::{AsyncTask, Result, ToNapiValue, TypeName};
use napi::{Env, Task};
use napi_derive::napi;

use crate::failure;

/// A promise of an outcome.
pub type Promised<T> = AsyncTask<Ask<T>>;

type Work<T> = Box<dyn FnOnce() -> Result<T> + Send>;

/// Work that is done once, on a thread that may block.
pub struct Ask<T>(Option<Work<T>>);

impl<T: Send + ToNapiValue + TypeName + 'static> Ask<T> {
    /// Promises the outcome of work; if the caller gives up before it begins, it is not begun.
    pub(crate) fn promise(
        abort: Option<&Abort>,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Promised<T> {
        let is_given_up = abort.map(|abort| Arc::clone(&abort.0));
        AsyncTask::new(Self(Some(Box::new(move || {
            if is_given_up.is_some_and(|it| it.load(Ordering::Acquire)) {
                return Err(failure::usage("given up before it began"));
            }
            work()
        }))))
    }
}

impl<T: Send + ToNapiValue + TypeName + 'static> Task for Ask<T> {
    type Output = T;
    type JsValue = T;

    fn compute(&mut self) -> Result<T> {
        match self.0.take() {
            Some(work) => work(),
            None => Err(failure::usage("the work was done before")),
        }
    }

    fn resolve(&mut self, _: Env, output: T) -> Result<T> {
        Ok(output)
    }
}

/// Tells work that waits for its turn that the caller has given up.
#[napi]
#[derive(Default)]
pub struct Abort(Arc<AtomicBool>);

#[napi]
impl Abort {
    /// Returns the sign, not yet given.
    #[napi(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives it.
    #[napi]
    pub fn abort(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub(crate) fn sign(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}
