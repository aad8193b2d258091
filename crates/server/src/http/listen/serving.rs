//! Listening, and an end that loses nothing.
//!
//! A token in the clear is everyone's on the way, so that beyond this machine one is taken with TLS,
//! behind a proxy that ends it, or not at all.

use std::fs::File;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use std::{future, io};

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

use super::patient::Patient;
use super::tls::Tls;
use crate::http::App;

/// A listener that was opened, before anything is answered.
///
/// ```
/// use grainstore_server::http::Serving;
///
/// let serving = Serving::on("127.0.0.1:0".parse()?, false)?;
/// assert_ne!(serving.address().port(), 0);
/// assert!(Serving::on("0.0.0.0:0".parse()?, false).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Serving {
    listener: TcpListener,
    at: SocketAddr,
    tls: Option<Tls>,
}

/// A server that cannot begin, or could not go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// An address beyond this machine, where tokens would be sent in the clear.
    #[error(
        "{at} is not a loopback address, and tokens would be sent in the clear: name a certificate \
         with --tls-cert and --tls-key, or put a proxy that ends TLS before it and say so with \
         --behind-proxy"
    )]
    Exposed {
        /// The address.
        at: SocketAddr,
    },
    /// A file of the certificate that cannot be used.
    #[error("{}: no certificate and its key: {reason}", path.display())]
    Tls {
        /// The file.
        path: PathBuf,
        /// The fault.
        reason: String,
    },
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Serving {
    /// Listens on an address; port 0 is any that is free.
    ///
    /// # Errors
    /// [`ServeError::Exposed`] beyond loopback, unless a proxy is before it; errors of the system.
    pub fn on(at: SocketAddr, is_behind_proxy: bool) -> Result<Self, ServeError> {
        if !at.ip().is_loopback() && !is_behind_proxy {
            return Err(ServeError::Exposed { at });
        }
        let listener = TcpListener::bind(at)?;
        listener.set_nonblocking(true)?;
        let at = listener.local_addr()?;
        Ok(Self {
            listener,
            at,
            tls: None,
        })
    }

    /// Listens on an address with the certificate and the key of PEM files, which are read again when
    /// they were renewed.
    ///
    /// # Errors
    /// [`ServeError::Tls`]; errors of the system.
    pub fn with_tls(
        at: SocketAddr,
        certificate: impl Into<PathBuf>,
        key: impl Into<PathBuf>,
    ) -> Result<Self, ServeError> {
        let tls = Tls::read(certificate.into(), key.into())?;
        Ok(Self {
            tls: Some(tls),
            ..Self::on(at, true)?
        })
    }

    /// Returns whether it speaks TLS.
    pub const fn has_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Returns the address, with its port.
    pub const fn address(&self) -> SocketAddr {
        self.at
    }
}

/// Answers until the process is asked to end (SIGTERM, SIGINT), then lets open requests end. All
/// that was acknowledged is in the store; a request that is under way when the time is over is cut
/// off, and its caller does not know the outcome.
///
/// # Errors
/// [`ServeError::Io`].
pub fn serve(app: App, serving: Serving) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        // Calls of the library, the pieces of streams, and jobs behind their answers.
        .max_blocking_threads(
            app.limits
                .threads
                .saturating_add(app.limits.bulk)
                .saturating_add(8),
        )
        .enable_all()
        .build()?;
    let wait = app.limits.closing_time;
    let ended = runtime.block_on(accept(Arc::new(app), serving, asked_to_end()));
    // An import that runs on is at its end, or waits for its next batch: the thread is not killed
    // inside a write, the process ends after it.
    runtime.shutdown_timeout(wait);
    ended
}

async fn accept(
    app: Arc<App>,
    serving: Serving,
    end: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let listener = tokio::net::TcpListener::from_std(serving.listener)?;
    let open = Arc::new(Semaphore::new(connections(app.limits.connections)));
    let turned_away = Arc::new(Semaphore::new(TURNED_AWAY_MAX));
    let (router, graceful) = (app.router(), GracefulShutdown::new());
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(app.limits.head_time);
    builder.max_buf_size(HEAD_LEN_MAX);
    let mut spare = Spare::new();
    tokio::pin!(end);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut end => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of descriptors, or a client that left: others may be served meanwhile.
                spare
                    .use_for(&error, &listener, serving.tls.is_none())
                    .await;
                continue;
            }
        };
        drop(stream.set_nodelay(true));
        let Ok(permit) = Arc::clone(&open).try_acquire_owned() else {
            // With TLS there is no word before the handshake.
            if serving.tls.is_none()
                && let Ok(permit) = Arc::clone(&turned_away).try_acquire_owned()
            {
                tokio::spawn(async move {
                    turn_away(stream).await;
                    drop(permit);
                });
            }
            continue;
        };
        let stream = Patient::new(stream, app.limits.reading_time);
        let service = TowerToHyperService::new(router.clone());
        let (builder, watcher) = (builder.clone(), graceful.watcher());
        let acceptor = serving.tls.as_ref().map(Tls::acceptor);
        let shaking = app.limits.head_time;
        tokio::spawn(async move {
            // The error of a connection is its client's.
            match acceptor {
                None => {
                    let connection = builder.serve_connection(TokioIo::new(stream), service);
                    drop(watcher.watch(connection).await);
                }
                Some(acceptor) => {
                    let shaken = tokio::time::timeout(shaking, acceptor.accept(stream)).await;
                    if let Ok(Ok(stream)) = shaken {
                        let connection = builder.serve_connection(TokioIo::new(stream), service);
                        drop(watcher.watch(connection).await);
                    }
                }
            }
            drop(permit);
        });
    }
    drop(listener);
    app.close();
    let rest = graceful.shutdown();
    drop(tokio::time::timeout(app.limits.closing_time, rest).await);
    Ok(())
}

/// Answers a connection that there is no room for, whatever it asks.
async fn turn_away(mut stream: TcpStream) {
    let answer = async {
        let body = r#"{"code":"ERR_BUSY","message":"too many connections","retry_after":1}"#;
        let head = format!(
            "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n\
             retry-after: 1\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).await?;
        stream.shutdown().await?;
        // A connection that is closed with unread bytes is reset, and the answer lost.
        let mut unread = [0; 1024];
        while stream.read(&mut unread).await? > 0 {}
        io::Result::Ok(())
    };
    drop(tokio::time::timeout(TURNING_AWAY, answer).await);
}

/// A descriptor that is kept to answer one who comes when there is none left.
struct Spare(Option<File>);

impl Spare {
    fn new() -> Self {
        Self(File::open("/dev/null").ok())
    }

    /// Answers the connection that failed for want of a descriptor, or waits where that is not why.
    async fn use_for(
        &mut self,
        error: &io::Error,
        listener: &tokio::net::TcpListener,
        speaks: bool,
    ) {
        match self.accept(error, listener).await {
            Some(stream) if speaks => turn_away(stream).await,
            Some(stream) => drop(stream),
            None => tokio::time::sleep(Duration::from_millis(50)).await,
        }
        // The connection had it.
        if self.0.is_none() {
            *self = Self::new();
        }
    }

    async fn accept(
        &mut self,
        error: &io::Error,
        listener: &tokio::net::TcpListener,
    ) -> Option<TcpStream> {
        // EMFILE and ENFILE have no kind of their own.
        if !matches!(error.raw_os_error(), Some(23 | 24)) {
            return None;
        }
        drop(self.0.take()?);
        let accepted = tokio::time::timeout(TURNING_AWAY, listener.accept()).await;
        Some(accepted.ok()?.ok()?.0)
    }
}

/// Returns how many connections there may be: the store and its answers need descriptors too.
#[cfg(unix)]
fn connections(wanted: usize) -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let known = getrlimit(Resource::Nofile);
    // As many as an administrator allows.
    let raised = Rlimit {
        current: known.maximum,
        ..known
    };
    let current = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => known.maximum,
        Err(_) => known.current,
    };
    let Some(all) = current.and_then(|all| usize::try_from(all).ok()) else {
        return wanted;
    };
    wanted.min(all.saturating_sub(DESCRIPTORS_OF_STORE.min(all / 2)))
}

#[cfg(not(unix))]
const fn connections(wanted: usize) -> usize {
    wanted
}

#[cfg(unix)]
async fn asked_to_end() {
    use tokio::signal::unix::{SignalKind, signal};
    let (term, int) = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
    );
    let (Ok(mut term), Ok(mut int)) = (term, int) else {
        return future::pending().await;
    };
    tokio::select! {
        _ = term.recv() => {}
        _ = int.recv() => {}
    }
}

#[cfg(not(unix))]
async fn asked_to_end() {
    if tokio::signal::ctrl_c().await.is_err() {
        future::pending::<()>().await;
    }
}

const HEAD_LEN_MAX: usize = 64 << 10;

/// Those beyond are closed without a word.
const TURNED_AWAY_MAX: usize = 64;

const TURNING_AWAY: Duration = Duration::from_secs(1);

/// The descriptors that are left for the files of the store and of answers.
#[cfg(unix)]
const DESCRIPTORS_OF_STORE: usize = 1_024;
