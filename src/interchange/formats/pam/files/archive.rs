//! A memory store inside a ZIP archive: where it is, and the files beside it.

use crate::interchange::detect_json::detect_json;
use crate::interchange::io::file_set::FileSet;
use crate::interchange::io::source_file::{Input, SourceFile};
use crate::interchange::{Error, Format};

use super::super::code;
use super::super::names::STORE;
use super::super::types::object::fault;
use super::conversation_files::ConversationFiles;

/// Returns the memory store in an archive, and the files beside it.
///
/// # Errors
/// `PAM_SCHEMA_ID` for an archive without a store or with several; `PROVIDER_ZIP`, `ERR_IO`.
pub(crate) fn unpack(files: FileSet) -> Result<(SourceFile, ConversationFiles), Error> {
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
pub(crate) fn is_packed(archive: Input<'_>) -> Result<bool, Error> {
    for file in FileSet::list(archive, is_json)?.each() {
        let (name, part) = file?;
        if is_store(name, &part)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether a file of an archive may be one of a store, by its name.
pub(crate) fn is_json(name: &str) -> bool {
    name.ends_with(".json")
}

fn is_store(name: &str, file: &SourceFile) -> Result<bool, Error> {
    let found = file.read(BUFFER_LEN, |input| detect_json(input));
    let found = found.and_then(|found| found);
    Ok(found.map_err(|source| file.error(name, source))? == Some(Format::Pam))
}

const BUFFER_LEN: usize = 64 * 1024;
