use std::io::{Seek, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::codec::Value;
use crate::interchange::detect::First;
use crate::interchange::io::file_set::{Bytes, FileSet};
use crate::interchange::io::source_file::SourceFile;
use crate::interchange::{Error, Format};

use super::super::types::object::fault;
use super::super::{Document, EMBEDDINGS, STORE, code};
use super::conversation_files::ConversationFiles;
use super::storage::io;

/// Takes a memory store out of an archive: the store itself, and the files beside it.
///
/// # Errors
/// `PAM_SCHEMA_ID` for an archive without a store or with several; `PROVIDER_ZIP`, `ERR_IO`.
pub(in crate::interchange) fn unpack(
    files: FileSet,
) -> Result<(SourceFile, ConversationFiles), Error> {
    let mut stores = Vec::new();
    for file in files.each() {
        let (name, part) = file?;
        if is_store(name, &part)? {
            stores.push((name, part));
        }
    }
    let usual = stores.iter().position(|(name, _)| name.ends_with(STORE));
    let (name, part) = match (usual.and_then(|at| stores.get(at)), stores.as_slice()) {
        (Some(store), _) | (None, [store]) => store.clone(),
        (None, stores) => {
            let message = format!("the archive holds {} memory stores", stores.len());
            return Err(fault(code::SCHEMA_ID, String::new(), message));
        }
    };
    let folder = name.rsplit_once('/');
    let folder = folder.map_or_else(String::new, |(folder, _)| format!("{folder}/"));
    Ok((part, ConversationFiles::Packed(files, folder)))
}

/// Returns whether an archive holds a memory store.
pub(in crate::interchange) fn is_packed(archive: Bytes<'_>) -> Result<bool, Error> {
    for file in FileSet::list(archive, is_json)?.each() {
        let (name, part) = file?;
        if is_store(name, &part)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether a file of an archive may be one of a store, by its name.
pub(in crate::interchange) fn is_json(name: &str) -> bool {
    name.ends_with(".json")
}

fn is_store(name: &str, part: &SourceFile) -> Result<bool, Error> {
    let first = part
        .read(BUFFER_LEN, |input| First::read(input))
        .and_then(|first| first);
    let first = first.map_err(|source| part.wrong(name, source))?;
    Ok(first == First::Known(Format::Pam))
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

const BUFFER_LEN: usize = 64 * 1024;
