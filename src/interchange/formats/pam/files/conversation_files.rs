//! The files beside a memory store: the documents of conversations, and the embeddings.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::codec::Value;
use crate::interchange::Error;
use crate::interchange::io::file_set::FileSet;
use crate::interchange::io::source_file::SourceFile;

use super::super::code;
use super::super::json::parse;
use super::super::types::conversation::Storage;
use super::super::types::embeddings::FILE;
use super::super::types::object::fault;
use super::storage::{check, path_below, read_below};

/// The place of the files beside a store.
pub(crate) enum ConversationFiles {
    /// Nowhere that can be read.
    Nowhere,
    /// Below a directory.
    Below(PathBuf),
    /// In the archive that the store came in, in this folder of it.
    Packed(FileSet, String),
}

impl ConversationFiles {
    /// Returns the files beside a store, by the path of the store.
    pub(crate) fn beside(store: &Path) -> Self {
        let folder = store.parent().map(|folder| match folder.as_os_str() {
            name if name.is_empty() => PathBuf::from("."),
            _ => folder.to_path_buf(),
        });
        folder.map_or(Self::Nowhere, Self::Below)
    }

    /// Reads the document of a conversation; returns it with the name of its file. `None` if it is
    /// elsewhere.
    ///
    /// # Errors
    /// `PAM_STORAGE_REF`, `PAM_JSON`, `PROVIDER_ZIP`, `ERR_IO`.
    pub(crate) fn load<'s>(
        &self,
        storage: &Storage<'s>,
    ) -> Result<Option<(&'s str, Value)>, Error> {
        let Storage::File { reference, at } = storage else {
            return Ok(None);
        };
        let bytes = match self {
            Self::Below(folder) => read_below(folder, reference, at)?,
            Self::Packed(files, folder) => {
                let refuse = |message: String| fault(code::STORAGE_REF, at.clone(), message);
                check(reference).map_err(refuse)?;
                let name = format!("{folder}{reference}");
                let part = files.get(&name)?;
                let missing = || refuse(format!("{reference} is not in the archive"));
                let part = part.ok_or_else(missing)?;
                part.bytes().map_err(|source| part.error(&name, source))?
            }
            Self::Nowhere => return Ok(None),
        };
        parse(&bytes, reference).map(|value| Some((*reference, value)))
    }

    /// Opens the embeddings file, if there is one (PAM 12).
    ///
    /// # Errors
    /// `PAM_STORAGE_REF` for one that is no file, `ERR_IO`.
    pub(crate) fn embeddings(&self) -> Result<Option<SourceFile>, Error> {
        match self {
            Self::Below(folder) => match path_below(folder, FILE, "") {
                Ok(path) => Ok(Some(SourceFile::open(&path)?)),
                Err(Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(None),
                Err(error) => Err(error),
            },
            Self::Packed(files, folder) => files.get(&format!("{folder}{FILE}")),
            Self::Nowhere => Ok(None),
        }
    }
}
