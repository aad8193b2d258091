//! A file that comes: written to disk as it comes, so that no caller fills the memory.

use std::fs::File;
use std::io::Write;

use axum::body::Body;
use sha2::{Digest, Sha256};
use tokio_stream::StreamExt;

use super::call::{Upload, unreadable};
use super::dispatch::too_large;
use super::failure::Failure;

/// Receives a body of at most so many bytes into a file without a name.
///
/// # Errors
/// `ERR_TOO_LARGE`, also for one that its sender cut off; status 503 where there is no room.
pub(super) async fn received(body: Body, limit: usize) -> Result<Upload, Failure> {
    let mut received = Received {
        file: tempfile::tempfile().map_err(|_| unreadable())?,
        hash: Sha256::new(),
    };
    let (mut stream, mut left) = (body.into_data_stream(), limit);
    let mut pending = Vec::new();
    while let Some(piece) = stream.next().await {
        let piece = piece.map_err(|_| too_large(limit))?;
        left = { left.checked_sub(piece.len()) }.ok_or_else(|| too_large(limit))?;
        pending.extend_from_slice(&piece);
        if pending.len() >= PIECE_LEN {
            received = received.take(std::mem::take(&mut pending)).await?;
        }
    }
    let Received { file, hash } = received.take(pending).await?;
    Ok(Upload {
        file,
        digest: hash.finalize().into(),
    })
}

struct Received {
    file: File,
    hash: Sha256,
}

impl Received {
    /// Adds bytes, on a thread that may wait for a disk.
    async fn take(mut self, bytes: Vec<u8>) -> Result<Self, Failure> {
        let taken = tokio::task::spawn_blocking(move || {
            self.hash.update(&bytes);
            self.file.write_all(&bytes).map(|()| self)
        });
        let taken = taken.await.map_err(|_| unreadable())?;
        taken.map_err(|_| unreadable())
    }
}

/// So much is written at once.
const PIECE_LEN: usize = 256 << 10;
