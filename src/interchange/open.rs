//! Opening a file to be imported: read and validated as a whole before any of it is stored.

use std::path::{Path, PathBuf};

use crate::codec::Value;

use super::formats::neighbour::read_rows;
use super::import_file::{ReadResult, Refusal};
use super::io::encryption;
use super::io::source_file::{Input, SharedSource};
use super::{Error, Format, ImportFile, ReadOptions};

impl ImportFile {
    /// Reads a file or a directory, as the given format or as the one that is detected; `pam`,
    /// `aimem` and `omi` stand for each of their serializations.
    ///
    /// # Errors
    /// `ERR_IO`, `ERR_FORMAT_UNKNOWN`; `ERR_SEALED`, `ERR_IDENTITY` of an encrypted file. Errors
    /// inside the file are in [`ImportFile::errors`].
    pub fn open(path: &Path, format: Option<Format>, options: &ReadOptions) -> Result<Self, Error> {
        let secret = options.decryption.as_ref();
        if path.is_dir() {
            return Self::read(Input::Path(path), format, options);
        }
        // An input that cannot be read twice is read once, before its format is detected.
        let source = Input::Path(path).open()?;
        match encryption::open(&source, secret)? {
            Some(clear) => Self::read(Input::Shared(&clear), format, options),
            None if source.is_held() => Self::read(Input::Shared(&source), format, options),
            None => Self::read(Input::Path(path), format, options),
        }
    }

    /// Reads the bytes of a file, as the given format or as the one that is detected.
    ///
    /// # Errors
    /// `ERR_FORMAT_UNKNOWN`; `PROVIDER_ZIP`. Errors inside the file are in
    /// [`ImportFile::errors`].
    pub fn of_bytes(
        bytes: &[u8],
        format: Option<Format>,
        options: &ReadOptions,
    ) -> Result<Self, Error> {
        Self::read(Input::Bytes(bytes), format, options)
    }

    /// Reads an open file, which may have no name, as the given format or as the one that is detected. It is
    /// read again when its records are asked for: nothing else may change it or move its position.
    ///
    /// # Errors
    /// As [`ImportFile::of_bytes`]; `ERR_IO`.
    pub fn of_file(
        file: std::fs::File,
        format: Option<Format>,
        options: &ReadOptions,
    ) -> Result<Self, Error> {
        let source = SharedSource::of_file(file);
        Self::read(Input::Shared(&source), format, options)
    }

    /// Reads the rows of a database of another tool, which the caller opens: `rows` passes each on with the
    /// name of its table, until it is answered `false`, and the same rows each time it is called. A record
    /// without a time has that of the options.
    ///
    /// ```
    /// use grainstore::codec::Value;
    /// use grainstore::interchange::{Format, ImportFile, ReadOptions};
    ///
    /// let row = r#"{"memory_id": "m1", "event": "ADD", "new_memory": "Prefers pnpm",
    ///               "created_at": "2026-05-01T08:00:00Z"}"#;
    /// let row = Value::from_json(row)?;
    /// let file = ImportFile::of_rows(
    ///     Format::Mem0,
    ///     move |take| {
    ///         take("history", row.clone());
    ///         Ok(())
    ///     },
    ///     &ReadOptions::default(),
    /// )?;
    /// assert_eq!(file.records.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_UNSUPPORTED` for a format that is no database. Errors of the rows are in
    /// [`ImportFile::errors`].
    pub fn of_rows(
        format: Format,
        rows: impl Fn(&mut dyn FnMut(&str, Value) -> bool) -> Result<(), String> + Send + Sync + 'static,
        options: &ReadOptions,
    ) -> Result<Self, Error> {
        Self::completed(format, read_rows(format, Box::new(rows), options), options)
    }

    fn read(
        input: Input<'_>,
        format: Option<Format>,
        options: &ReadOptions,
    ) -> Result<Self, Error> {
        let (asked, format) = (format, Format::choose(format, input)?);
        let reader = format.reader();
        let read = match asked {
            Some(_) => reader.read(format, input, options),
            None => reader.read_detected(format, input, options),
        };
        Self::completed(format, read, options)?.with_vectors_beside(input, options)
    }

    fn completed(format: Format, read: ReadResult, options: &ReadOptions) -> Result<Self, Error> {
        match read {
            Ok(mut file) => {
                let is_own = matches!(format, Format::Mg | Format::Jsonl);
                if let Some(user) = options.user.as_ref().filter(|_| !is_own) {
                    file.records = file.records.of_user(user, options.profile);
                }
                Ok(file)
            }
            Err(Refusal::Unreadable(error)) => Err(error),
            Err(Refusal::Invalid(errors)) => Ok(Self {
                errors,
                ..Self::new(format)
            }),
        }
    }

    /// Adds the vectors of the embeddings file beside an archive or JSON lines, which have no place
    /// for them.
    fn with_vectors_beside(
        mut self,
        input: Input<'_>,
        options: &ReadOptions,
    ) -> Result<Self, Error> {
        let (Format::Mg | Format::Jsonl, Input::Path(path)) = (self.format, input) else {
            return Ok(self);
        };
        let beside = embeddings_path(path);
        if !beside.is_file() {
            return Ok(self);
        }
        let vectors = Self::read(Input::Path(&beside), Some(Format::PamEmbeddings), options)?;
        self.loss.merge(&vectors.loss);
        self.findings.extend(vectors.findings);
        // Vectors can be computed again, and keep no grain out.
        let errors = vectors.errors.iter().map(Error::to_finding);
        self.findings.extend(errors);
        self.vectors = vectors.vectors;
        Ok(self)
    }
}

/// Returns the path of the embeddings file beside an archive or JSON lines.
pub(crate) fn embeddings_path(path: &Path) -> PathBuf {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".embeddings.json");
    beside.into()
}
