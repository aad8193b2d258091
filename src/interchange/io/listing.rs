//! The files of a folder or an archive as they are listed: their names, those that are not wanted, and the
//! names and lengths that refuse an archive.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::code::ErrorCode;
use crate::interchange::{Error, Place};

/// The paths of files, and the number that each has in its place.
pub(super) type Names = Vec<(String, usize)>;

/// The files that are not wanted, by their endings: the name of the first, and how many more.
pub(super) type LeftOut = BTreeMap<String, (String, u64)>;

/// Counts a file that is not wanted.
pub(super) fn leave_out(left_out: &mut LeftOut, name: String) {
    let ending = name
        .rsplit_once('.')
        .map(|(_, ending)| ending.to_ascii_lowercase());
    match left_out.entry(ending.unwrap_or_default()) {
        Entry::Vacant(place) => {
            place.insert((name, 0));
        }
        Entry::Occupied(mut place) => {
            let (first, more) = place.get_mut();
            *more = more.saturating_add(1);
            if name < *first {
                *first = name;
            }
        }
    }
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
