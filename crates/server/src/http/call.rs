//! One request as a route sees it: the scope of its token, its parts, and its body: a document in memory, a
//! file on disk.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use axum::body::Bytes;
use axum::http::HeaderMap;
use grainstore::codec::Value;
use grainstore::{ContentAddress, ErrorCode, Time};
use serde::de::DeserializeOwned;

use super::app::App;
use super::failure::Failure;
use super::token_scope::TokenScope;

/// A request that was let in.
pub(crate) struct Call<'a> {
    pub(crate) app: &'a App,
    /// `None` on a route that anyone may ask.
    pub(crate) scope: Option<TokenScope>,
    pub(crate) address: Option<String>,
    pub(crate) query: BTreeMap<String, String>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// The file that was sent, on a route that takes one.
    pub(crate) upload: Option<Upload>,
    /// The time of the request: that of the first where it is repeated.
    pub(crate) now: Time,
}

/// A file that was sent, on disk and without a name: up to 64 MiB of many callers are not in memory.
#[derive(Debug)]
pub(crate) struct Upload {
    pub(crate) file: File,
    /// Its SHA-256.
    pub(crate) digest: [u8; 32],
}

impl Call<'_> {
    /// Returns the file that was sent.
    ///
    /// # Errors
    /// Status 503 where it cannot be read.
    pub(crate) fn upload(&self) -> Result<File, Failure> {
        let file = self.upload.as_ref().map(|upload| upload.file.try_clone());
        let file = file.transpose().map_err(|_| unreadable())?;
        file.ok_or_else(unreadable)
    }

    /// Returns the bytes of the file that was sent.
    ///
    /// # Errors
    /// As [`Call::upload`].
    pub(crate) fn uploaded(&self) -> Result<Vec<u8>, Failure> {
        let (mut file, mut bytes) = (self.upload()?, Vec::new());
        let read = file.seek(SeekFrom::Start(0));
        let read = read.and_then(|_| file.read_to_end(&mut bytes));
        read.map_err(|_| unreadable())?;
        Ok(bytes)
    }

    /// Returns what tells this body from another: itself, or the hash of a file.
    pub(crate) fn content(&self) -> &[u8] {
        match &self.upload {
            Some(upload) => &upload.digest,
            None => &self.body,
        }
    }

    /// Returns the scope of the token.
    ///
    /// # Errors
    /// Status 401 on a route without one.
    pub(crate) fn scope(&self) -> Result<&TokenScope, Failure> {
        let missing = || Failure::new(401, "ERR_UNAUTHENTICATED", "a bearer token is needed");
        self.scope.as_ref().ok_or_else(missing)
    }

    /// Returns the address in the path.
    ///
    /// # Errors
    /// `ERR_HASH_LENGTH`, `ERR_HASH_FORMAT`.
    pub(crate) fn address(&self) -> Result<ContentAddress, Failure> {
        Ok(self
            .address
            .as_deref()
            .unwrap_or_default()
            .parse::<ContentAddress>()?)
    }

    /// Returns a parameter of the query.
    pub(crate) fn param(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str)
    }

    /// Returns a header, if it is text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns the body as the JSON that the route takes. The text is read strictly first: a member
    /// that occurs twice would mean one thing here and another in a log.
    ///
    /// # Errors
    /// `ERR_CORRUPT` for a text that is not strict JSON, `ERR_SCHEMA` for another document.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        let text = std::str::from_utf8(&self.body);
        let text = text.map_err(|_| Failure::of(ErrorCode::Corrupt, "the body is not UTF-8"))?;
        Value::from_json(text)?;
        serde_json::from_str(text)
            .map_err(|error| Failure::of(ErrorCode::Schema, error.to_string()))
    }
}

/// The refusal of a file that cannot be kept or read.
pub(crate) fn unreadable() -> Failure {
    Failure::busy(503, ErrorCode::Io.as_str(), "no room for the file")
}
