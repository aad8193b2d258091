//! ZIP archives: how one is recognised, and which of its entries may be read.
//!
//! Nothing is unpacked to disk. The names of entries are checked all the same, since an archive
//! with a name that leads out of it was made to do harm.

use crate::code::ErrorCode;
use zip::ZipArchive;

use crate::interchange::{Error, Place};

use super::file_set::{LeftOut, leave_out};
use super::source_file::SharedSource;

/// Returns whether a file starts as a ZIP archive does.
pub(crate) fn is_zip(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// The paths of files, and the number that each has in its place.
pub(super) type Names = Vec<(String, usize)>;

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

/// Returns an error of an archive, or of the entry of a name.
pub(super) fn zip_error(name: &str, message: String) -> Error {
    Error::format(ErrorCode::ProviderZip, Place::pointer(name), message)
}

/// Checks the name of an entry by its text alone.
pub(super) fn is_below(name: &str) -> bool {
    !name.starts_with('/')
        && !name.contains(['\\', '\0'])
        && name.split('/').all(|part| part != "..")
        && name.as_bytes().get(1) != Some(&b':')
}

const MAGIC: &[u8] = b"PK\x03\x04";
/// The declared sizes are trusted no further: a few bytes may decompress without end.
pub(super) const UNPACKED_LEN_MAX: u64 = 2 * 1024 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_leads_out_of_its_archive_is_refused() {
        for name in [
            "../x",
            "a/../../x",
            "/etc/x",
            "C:/x",
            "a\\..\\x",
            "a\0b",
            "..",
            "a/..",
        ] {
            assert!(!is_below(name), "{name:?}");
        }
        for name in ["x", "a/b/c.json", "a..b/c", "Takeout/My Activity/x é.json"] {
            assert!(is_below(name), "{name}");
        }
    }
}
