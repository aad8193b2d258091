//! Messages in and out: a transport that outlasts what a malformed client sends, and stdio.

use std::future::Future;

use rmcp::RoleServer;
use rmcp::model::{ClientRequest, GetMeta, JsonRpcMessage, ProtocolVersion};
use rmcp::service::{RxJsonRpcMessage, ServiceExt, TxJsonRpcMessage};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::{Transport, stdio_pipes};
use tokio::io::{AsyncRead, AsyncWrite};

use super::server::Server;

/// Why a server ended before its client did.
///
/// ```
/// use grainstore_server::mcp::ServeError;
///
/// let error = ServeError::Io(std::io::Error::other("no pipe"));
/// assert_eq!(error.to_string(), "no pipe");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The runtime or the pipes failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The task that serves was stopped.
    #[error("the server stopped: {0}")]
    Stopped(String),
}

/// Serves one client until it closes its end, and returns whether it began a session.
///
/// # Errors
/// [`ServeError`] if the task that serves was stopped. Nothing that a client sends is one, and
/// neither is that it leaves.
pub async fn serve<R, W>(server: Server, reader: R, writer: W) -> Result<bool, ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let transport = FromBeginning {
        inner: AsyncRwTransport::new_server(reader, writer),
        is_open: false,
    };
    // A client that leaves before its first request has ended the session, and that is all.
    let Ok(running) = server.serve(transport).await else {
        return Ok(false);
    };
    let ended = running.waiting().await;
    ended
        .map(|_| true)
        .map_err(|error| ServeError::Stopped(error.to_string()))
}

/// Serves the client at the other end of stdin and stdout until it closes stdin, and returns whether it
/// began a session.
///
/// # Errors
/// As [`serve`].
pub fn serve_stdio(server: Server) -> Result<bool, ServeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .enable_all()
        .build()?;
    let served = runtime.block_on(async {
        let (reader, writer) = stdio_pipes();
        serve(server, reader, writer).await
    });
    // A read of stdin that blocks must not keep the process.
    runtime.shutdown_background();
    served
}

/// The threads that read and write messages; the store has its own.
const WORKERS: usize = 2;

/// Returns whether a session begins with a request: by a handshake, or with all that stands for one.
fn opens(request: &ClientRequest) -> bool {
    let meta = request.get_meta();
    let version = meta.protocol_version();
    let is_known =
        version.is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version));
    let missing = meta.missing_required_keys(&ProtocolVersion::V_2026_07_28);
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::DiscoverRequest(_) => false,
        _ => is_known && missing.is_empty(),
    }
}

/// A transport that passes on requests only until a session begins: the SDK ends one that begins
/// with a notification or a response, and a client could stop a server that way.
struct FromBeginning<T> {
    inner: T,
    is_open: bool,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for FromBeginning<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.inner.receive().await?;
            if let JsonRpcMessage::Request(request) = &message {
                self.is_open |= opens(&request.request);
            } else if !self.is_open {
                continue;
            }
            return Some(message);
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
