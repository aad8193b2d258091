//! An object storage that fails: errors before and after the effect, torn objects, stale lists, slow
//! answers, and the end of the process that asks, at any operation.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use tokio::sync::Notify;

use super::random::Random;

#[derive(Debug)]
pub(crate) struct Faulty {
    inner: Arc<InMemory>,
    state: Mutex<State>,
    killed: Notify,
}

#[derive(Debug)]
struct State {
    random: Random,
    /// Of a thousand operations, those that go wrong.
    faults: u64,
    /// After this many operations the process that asks ends.
    kill_in: Option<u64>,
    /// Whether every list is stale.
    is_frozen: bool,
    /// What a stale list shows, by folder.
    stale: BTreeMap<String, Vec<ObjectMeta>>,
}

enum Fault {
    Before,
    After,
    Torn,
    Slow,
}

impl Faulty {
    pub(crate) fn new(seed: u64) -> Arc<Self> {
        Arc::new(Self {
            inner: Arc::new(InMemory::new()),
            state: Mutex::new(State {
                random: Random::new(seed),
                faults: 0,
                kill_in: None,
                is_frozen: false,
                stale: BTreeMap::new(),
            }),
            killed: Notify::new(),
        })
    }

    pub(crate) fn fail(&self, of_thousand: u64) {
        self.state.lock().unwrap().faults = of_thousand;
    }

    pub(crate) fn kill_in(&self, operations: Option<u64>) {
        self.state.lock().unwrap().kill_in = operations;
    }

    /// From now on lists show what they showed last, or what is there.
    pub(crate) fn freeze_lists(&self, is_frozen: bool) {
        self.state.lock().unwrap().is_frozen = is_frozen;
    }

    /// Returns when the process ends.
    pub(crate) async fn killed(&self) {
        self.killed.notified().await;
    }

    /// Returns the bytes of all objects.
    pub(crate) async fn all(&self) -> BTreeMap<String, Vec<u8>> {
        let listed: Vec<_> = self.inner.list(None).collect().await;
        let mut all = BTreeMap::new();
        for meta in listed {
            let path = meta.unwrap().location;
            let bytes = self.inner.get(&path).await.unwrap().bytes().await.unwrap();
            all.insert(path.to_string(), bytes.to_vec());
        }
        all
    }

    /// Ends the process, if it is time: it never hears of this operation.
    async fn step(&self) -> Option<Fault> {
        let (ends, fault) = {
            let mut state = self.state.lock().unwrap();
            let ends = state.kill_in == Some(0);
            state.kill_in = state.kill_in.map(|left| left.saturating_sub(1));
            let faults = state.faults;
            let goes_wrong = state.random.below(1_000) < faults;
            let kind = state.random.below(4);
            let fault = match kind {
                0 => Fault::Before,
                1 => Fault::After,
                2 => Fault::Torn,
                _ => Fault::Slow,
            };
            (ends, goes_wrong.then_some(fault))
        };
        if ends {
            self.killed.notify_one();
            std::future::pending::<()>().await;
        }
        fault
    }

    /// The process may end after the effect, too.
    async fn after(&self) {
        let ends = {
            let mut state = self.state.lock().unwrap();
            let ends = state.kill_in == Some(0) && state.random.below(2) == 0;
            if ends {
                state.kill_in = None;
            }
            ends
        };
        if ends {
            self.killed.notify_one();
            std::future::pending::<()>().await;
        }
    }
}

fn failed() -> Error {
    Error::Generic {
        store: "faulty",
        source: "500".into(),
    }
}

#[async_trait]
impl ObjectStore for Faulty {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        match self.step().await {
            Some(Fault::Before) => return Err(failed()),
            Some(Fault::After) => {
                self.inner.put_opts(location, payload, options).await?;
                return Err(failed());
            }
            Some(Fault::Torn) => {
                let bytes: Vec<u8> = payload.iter().flat_map(|part| part.to_vec()).collect();
                let half = PutPayload::from(bytes[..bytes.len() / 2].to_vec());
                self.inner.put_opts(location, half, options).await?;
                return Err(failed());
            }
            Some(Fault::Slow) => tokio::time::sleep(Duration::from_secs(3)).await,
            None => {}
        }
        let done = self.inner.put_opts(location, payload, options).await;
        self.after().await;
        done
    }

    async fn put_multipart_opts(
        &self,
        _location: &Path,
        _options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        Err(failed())
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        match self.step().await {
            Some(Fault::Slow) => tokio::time::sleep(Duration::from_secs(3)).await,
            Some(_) => return Err(failed()),
            None => {}
        }
        self.inner.get_opts(location, options).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        // Without a way to wait here, a removal fails or does not.
        let mut state = self.state.lock().unwrap();
        let faults = state.faults;
        match state.random.below(1_000) < faults {
            true => stream::once(async { Err(failed()) }).boxed(),
            false => self.inner.delete_stream(locations),
        }
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let folder = prefix.map(ToString::to_string).unwrap_or_default();
        let inner = Arc::clone(&self.inner);
        let (is_stale, is_failed, before) = {
            let mut state = self.state.lock().unwrap();
            let faults = state.faults;
            let goes_wrong = state.random.below(1_000) < faults * 2;
            let is_stale = state.random.below(2) == 0;
            let before = state.stale.get(&folder).cloned().unwrap_or_default();
            let is_frozen = state.is_frozen;
            (
                is_frozen || goes_wrong && is_stale,
                goes_wrong && !is_stale && !is_frozen,
                before,
            )
        };
        if is_failed {
            return stream::once(async { Err(failed()) }).boxed();
        }
        if is_stale {
            return stream::iter(before.into_iter().map(Ok)).boxed();
        }
        let listed = inner.list(prefix);
        // The list of an in-memory store is there at once.
        let found: Vec<Result<ObjectMeta>> =
            futures_util::FutureExt::now_or_never(listed.collect::<Vec<_>>()).unwrap_or_default();
        let whole = found.iter().filter_map(|meta| meta.as_ref().ok().cloned());
        let whole = whole.collect();
        self.state.lock().unwrap().stale.insert(folder, whole);
        stream::iter(found).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("faulty")
    }
}
