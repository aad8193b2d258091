//! TLS with a certificate of the operator. Files that were renewed are read again within a minute.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ConfigBuilder, ServerConfig};

use super::ServeError;

/// The files of a certificate and its key, as they were last read.
pub(super) struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    known: Mutex<Known>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

struct Known {
    config: Arc<ServerConfig>,
    changed: [Option<SystemTime>; 2],
    looked: Instant,
}

impl Tls {
    /// Reads the files.
    ///
    /// # Errors
    /// [`ServeError::Tls`] for files that are no chain of certificates and its key.
    pub(super) fn read(certificate: PathBuf, key: PathBuf) -> Result<Self, ServeError> {
        let known = Known {
            changed: [changed(&certificate), changed(&key)],
            config: config(&certificate, &key)?,
            looked: Instant::now(),
        };
        Ok(Self {
            certificate,
            key,
            known: Mutex::new(known),
        })
    }

    /// Returns what takes a connection.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.looked.elapsed() >= LOOKS_EVERY {
            known.looked = Instant::now();
            let now = [changed(&self.certificate), changed(&self.key)];
            // A renewal that is half written is read at the next look; until then the old one holds.
            if now != known.changed
                && let Ok(config) = config(&self.certificate, &self.key)
            {
                known.config = config;
                known.changed = now;
            }
        }
        TlsAcceptor::from(Arc::clone(&known.config))
    }
}

fn changed(path: &PathBuf) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

fn config(certificate: &PathBuf, key: &PathBuf) -> Result<Arc<ServerConfig>, ServeError> {
    let failed = |path: &PathBuf, reason: String| ServeError::Tls {
        path: path.clone(),
        reason,
    };
    let chain = CertificateDer::pem_file_iter(certificate);
    let chain = chain.and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let chain = chain.map_err(|error| failed(certificate, error.to_string()))?;
    let secret = PrivateKeyDer::from_pem_file(key);
    let secret = secret.map_err(|error| failed(key, error.to_string()))?;
    let provider = Arc::new(ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map(ConfigBuilder::<ServerConfig, _>::with_no_client_auth)
        .and_then(|builder| builder.with_single_cert(chain, secret));
    let mut config = config.map_err(|error| failed(certificate, error.to_string()))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

const LOOKS_EVERY: Duration = Duration::from_secs(60);
