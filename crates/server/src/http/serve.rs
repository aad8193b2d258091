//! The listener: connections, slow clients, and an end that loses nothing.
//!
//! A token in the clear is everyone's on the way, so that beyond this machine one is taken behind a
//! proxy that ends TLS, or not at all.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use std::{future, io};

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::sync::Semaphore;

use super::app::App;

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
}

/// A server that cannot begin, or could not go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// An address beyond this machine, where tokens would be sent in the clear.
    #[error(
        "{at} is not a loopback address, and tokens would be sent in the clear: put a proxy that \
         ends TLS before it, and say so with --behind-proxy"
    )]
    Exposed {
        /// The address.
        at: SocketAddr,
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
        Ok(Self { listener, at })
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
    let open = Arc::new(Semaphore::new(app.limits.connections));
    let (router, graceful) = (app.router(), GracefulShutdown::new());
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(app.limits.head_time);
    builder.max_buf_size(HEAD_LEN_MAX);
    tokio::pin!(end);
    loop {
        let accepted = async {
            // A semaphore that is never closed.
            let permit = Arc::clone(&open).acquire_owned().await;
            (listener.accept().await, permit)
        };
        let (accepted, permit) = tokio::select! {
            accepted = accepted => accepted,
            () = &mut end => break,
        };
        let Ok((stream, _)) = accepted else {
            // Out of descriptors, or a client that left: others may be served meanwhile.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        drop(stream.set_nodelay(true));
        let service = TowerToHyperService::new(router.clone());
        let connection = graceful.watch(builder.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            // The error of a connection is its client's.
            drop(connection.await);
            drop(permit);
        });
    }
    drop(listener);
    app.close();
    let rest = graceful.shutdown();
    drop(tokio::time::timeout(app.limits.closing_time, rest).await);
    Ok(())
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
