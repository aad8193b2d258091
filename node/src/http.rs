//! The routes of `grainstore serve` for one store, behind a handler of a web framework: they are answered
//! on a port of the loopback, to which the handler passes its requests on.

use std::io;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use grainstore::crypto::OsRandom;
use grainstore::store::{Clock, SystemClock};
use grainstore::{ErrorCode, Store as Handle};
use grainstore_server::http::{App, Grant, Limits, Operation, TokenError, TokenFile};
use napi::bindgen_prelude::Result;
use napi_derive::napi;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::ask::{Ask, Promised};
use crate::failure;
use crate::filter::named;
use crate::held::Held;
use crate::store::Store;

/// Requests that are under way when it is closed have so long to end.
const CLOSING_TIME: Duration = Duration::from_secs(2);

/// The server of a handler. It ends when it is dropped: its thread has given the store back then.
struct Server {
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.end.take());
        // A thread that panicked has ended as well.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// Routes that are answered until they, or the store, are closed.
#[napi]
pub struct Routes {
    port: u16,
    server: Held<Server>,
}

#[napi]
impl Routes {
    /// The port of 127.0.0.1 that answers.
    #[napi(getter)]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Takes no more requests, and lets open ones end.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn close(&self) -> Promised<()> {
        let server = self.server.clone();
        Ask::promise(None, move || {
            server.empty();
            Ok(())
        })
    }
}

/// The rights of a token.
#[napi(object, object_to_js = false)]
pub struct Rights {
    /// The DID that the caller acts as.
    pub actor: String,
    /// `read`, `write` and others of `grainstore token new`.
    pub operations: Vec<String>,
    /// The person whose grains are reached; those of all by default.
    pub user: Option<String>,
    /// The namespaces that are reached; all by default.
    pub namespaces: Option<Vec<String>>,
}

#[napi]
impl Store {
    /// Answers the routes of the HTTP interface for callers with a token of the file.
    #[napi(ts_return_type = "Promise<Routes>")]
    pub fn routes(&self, tokens: Option<String>) -> Promised<Routes> {
        let handle = self.held().clone();
        Ask::promise(None, move || {
            let tokens = token_file(&handle, tokens)?;
            let store = handle.with(|store| Ok(store.clone()))?;
            let app = Arc::new(App::new(store, tokens, Limits::default(), |_| ()));
            let (began, is_begun) = channel();
            let (end, ended) = oneshot::channel();
            let thread = thread::Builder::new().spawn(move || run(&app, &began, ended));
            let server = Server {
                end: Some(end),
                thread: Some(thread.map_err(|error| failed(&error))?),
            };
            let port = is_begun
                .recv()
                .map_err(|_| failure::usage("the server ended"))?;
            Ok(Routes {
                port: port.map_err(|error| failed(&error))?,
                server: Held::new(server, handle.opening()),
            })
        })
    }

    /// Makes a token and returns its text, which is shown once and is in no file.
    #[napi(ts_return_type = "Promise<string>")]
    pub fn new_token(&self, rights: Rights, tokens: Option<String>) -> Result<Promised<String>> {
        let operations = rights.operations.iter();
        let operations = operations.map(|word| named("operation", word, Operation::named));
        let mut grant = Grant::new(rights.actor, operations.collect::<Result<Vec<_>>>()?);
        if let Some(user) = rights.user {
            grant = grant.for_user(user);
        }
        let namespaces = rights.namespaces.into_iter().flatten();
        let grant = namespaces.fold(grant, Grant::inside);
        let handle = self.held().clone();
        Ok(Ask::promise(None, move || {
            let file = token_file(&handle, tokens)?;
            let token = file.add(grant, None, SystemClock.now(), &OsRandom);
            let refused = |error: TokenError| failure::told(error.code(), &error.to_string(), None);
            Ok(token.map_err(refused)?.text.to_string())
        }))
    }
}

/// Returns the file of tokens that is named, or else that of the store.
fn token_file(handle: &Held<Handle>, named: Option<String>) -> Result<TokenFile> {
    match (named, handle.opening().folder()) {
        (Some(path), _) => Ok(TokenFile::at(PathBuf::from(path))),
        (None, Some(folder)) => Ok(TokenFile::in_store(folder)),
        (None, None) => Err(failure::usage(
            "a store in memory has no file of tokens: name one",
        )),
    }
}

/// Answers until the other end of `ended` is dropped, and then for a moment what is under way.
fn run(app: &Arc<App>, began: &Sender<io::Result<u16>>, ended: oneshot::Receiver<()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build();
    let served = runtime.and_then(|runtime| {
        let served = runtime.block_on(answer(app, began, ended));
        runtime.shutdown_timeout(CLOSING_TIME);
        served
    });
    if let Err(error) = served {
        // It began, and the caller knows, or it is told now.
        drop(began.send(Err(error)));
    }
}

async fn answer(
    app: &Arc<App>,
    began: &Sender<io::Result<u16>>,
    ended: oneshot::Receiver<()>,
) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    drop(began.send(Ok(listener.local_addr()?.port())));
    let (closing, is_closing) = oneshot::channel::<()>();
    let serving = axum::serve(listener, app.router()).with_graceful_shutdown(async move {
        drop(ended.await);
        drop(closing);
    });
    tokio::select! {
        served = serving => served,
        () = async {
            drop(is_closing.await);
            tokio::time::sleep(CLOSING_TIME).await;
        } => Ok(()),
    }
}

fn failed(error: &io::Error) -> napi::Error {
    failure::told(
        ErrorCode::Io,
        &format!("the routes are not answered: {error}"),
        None,
    )
}
