//! ZIP archives: how one is recognised, and which of its entries may be read.
//!
//! Nothing is unpacked to disk. The names of entries are checked all the same, since an archive
//! with a name that leads out of it was made to do harm.

use zip::ZipArchive;

use crate::interchange::Error;

use super::listing::{LeftOut, Names, UNPACKED_LEN_MAX, is_below, leave_out, zip_error};
use super::source_file::SharedSource;

/// Returns whether a file starts as a ZIP archive does.
pub(crate) fn is_zip(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// Opens an archive, and lists the entries whose file names are `wanted`, each with its number, and
/// the others by their endings.
///
/// # Errors
/// `PROVIDER_ZIP`.
pub(super) fn list_entries(
    source: SharedSource,
    wanted: fn(&str) -> bool,
) -> Result<(ZipArchive<SharedSource>, Names, LeftOut), Error> {
    let invalid = |error: zip::result::ZipError| zip_error("", error.to_string());
    let archive = ZipArchive::new(source).map_err(invalid)?;
    let (mut names, mut left_out) = (Vec::new(), LeftOut::new());
    let mut left = UNPACKED_LEN_MAX;
    for index in 0..archive.len() {
        let entry = archive.by_index_data(index).map_err(invalid)?;
        let name = entry.name().map_err(invalid)?.into_owned();
        if !is_below(&name) {
            return Err(zip_error(&name, "the name leads out of the archive".into()));
        }
        let last = name.rsplit('/').next().unwrap_or_default();
        if entry.is_dir() {
            continue;
        }
        if !wanted(last) {
            leave_out(&mut left_out, name);
            continue;
        }
        left = left
            .checked_sub(entry.size())
            .ok_or_else(|| zip_error(&name, "unpacks to more than 2 GiB".into()))?;
        names.push((name, index));
    }
    Ok((archive, names, left_out))
}

const MAGIC: &[u8] = b"PK\x03\x04";
