use std::collections::HashMap;
use std::io::{Seek, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::codec::Value;
use crate::interchange::archive::{Bytes, files};
use crate::interchange::first::First;
use crate::interchange::{Error, Format};

use super::object::fault;
use super::storage::{check, io};
use super::{Document, EMBEDDINGS, STORE, code};

/// The files of a memory store that came in a ZIP archive, by their names below the store.
pub(super) type Packed = HashMap<String, Vec<u8>>;

/// Takes a memory store out of an archive: the store itself, and the files beside it.
///
/// # Errors
/// `PAM_SCHEMA_ID` for an archive without a store or with several; `PROVIDER_ZIP`, `ERR_IO`.
pub(super) fn unpack(archive: Bytes<'_>) -> Result<(Vec<u8>, Packed), Error> {
    let files = files(archive, |name| name.ends_with(".json"))?;
    let stores = files.iter().filter(|(_, bytes)| is_store(bytes));
    let stores: Vec<&str> = stores.map(|(name, _)| name.as_str()).collect();
    let usual = stores.iter().find(|name| name.ends_with(STORE));
    let store = match (usual, stores.as_slice()) {
        (Some(name), _) | (None, [name]) => (*name).to_owned(),
        (None, names) => {
            let message = format!("the archive holds {} memory stores", names.len());
            return Err(fault(code::SCHEMA_ID, String::new(), message));
        }
    };
    let folder = store.rsplit_once('/').map_or("", |(folder, _)| folder);
    let folder = format!("{folder}/");
    let folder = folder.strip_prefix('/').unwrap_or(&folder).to_owned();
    let mut document = Vec::new();
    let mut packed = Packed::new();
    for (name, bytes) in files {
        if name == store {
            document = bytes;
        } else if let Some(name) = name.strip_prefix(&folder) {
            packed.insert(name.to_owned(), bytes);
        }
    }
    Ok((document, packed))
}

/// Returns whether an archive holds a memory store.
pub(in crate::interchange) fn is_packed(archive: Bytes<'_>) -> Result<bool, Error> {
    let files = files(archive, |name| name.ends_with(".json"))?;
    Ok(files.iter().any(|(_, bytes)| is_store(bytes)))
}

fn is_store(bytes: &[u8]) -> bool {
    First::read(bytes).is_ok_and(|first| first == First::Known(Format::Pam))
}

/// Returns the file that a `storage.ref` names.
///
/// # Errors
/// `PAM_STORAGE_REF`.
pub(super) fn read_packed<'a>(
    packed: &'a Packed,
    reference: &str,
    at: &str,
) -> Result<&'a [u8], Error> {
    let refuse = |message: String| fault(code::STORAGE_REF, at.to_owned(), message);
    check(reference).map_err(refuse)?;
    let bytes = packed.get(reference).map(Vec::as_slice);
    bytes.ok_or_else(|| refuse(format!("{reference} is not in the archive")))
}

impl Document {
    /// Writes the store and the files beside it as one ZIP archive.
    ///
    /// # Errors
    /// `ERR_IO`.
    pub fn write_zip(&self, out: impl Write) -> Result<(), Error> {
        let store = std::iter::once((STORE, &self.store));
        let files = self.conversations.iter();
        let files = files.map(|(path, value)| (path.as_str(), value));
        let files = files.chain(self.embeddings.iter().map(|value| (EMBEDDINGS, value)));
        let mut zip = ZipWriter::new_stream(out);
        for (path, value) in store.chain(files) {
            write_one(&mut zip, path, value).map_err(io)?;
        }
        zip.finish().map(drop).map_err(|error| io(error.into()))
    }
}

fn write_one<W: Write + Seek>(
    zip: &mut ZipWriter<W>,
    path: &str,
    value: &Value,
) -> std::io::Result<()> {
    zip.start_file(path, SimpleFileOptions::default())?;
    writeln!(zip, "{}", value.to_json())
}
