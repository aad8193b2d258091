//! The paths of a memory store: the store in a directory, and the references of conversations below
//! it.

use std::fs::{self, File};
use std::io::{BufReader, Error as IoError};
use std::path::{Path, PathBuf};

use crate::interchange::detect_json::detect_json;
use crate::interchange::io::source_file::SourceFile;
use crate::interchange::{Error, Format, Place};

use super::super::code;
use super::super::names::STORE;
use super::super::types::object::fault;

/// Returns the memory store of a directory: `memory-store.json`, or else the only `*.json` whose
/// schema is that of a store.
///
/// # Errors
/// `PAM_SCHEMA_ID` when there are several; `ERR_IO`.
pub(crate) fn locate(folder: &Path) -> Result<Option<PathBuf>, Error> {
    let usual = folder.join(STORE);
    if usual.is_file() {
        return Ok(Some(usual));
    }
    let mut stores = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
            && path.is_file()
        {
            let file = BufReader::new(File::open(&path)?);
            if detect_json(file)? == Some(Format::Pam) {
                stores.push(path);
            }
        }
    }
    if stores.len() > 1 {
        let message = format!(
            "the directory holds {} memory stores; name one",
            stores.len()
        );
        return Err(fault(code::SCHEMA_ID, String::new(), message));
    }
    Ok(stores.pop())
}

/// Reads the file a `storage.ref` names, which must lie below the directory of the store.
pub(crate) fn read_below(folder: &Path, reference: &str, at: &str) -> Result<Vec<u8>, Error> {
    let path = path_below(folder, reference, at)?;
    let file = SourceFile::open(&path).and_then(|file| file.bytes());
    file.map_err(|source| world(reference, at, &source))
}

/// Returns the path of the file a `storage.ref` names.
///
/// # Errors
/// `PAM_STORAGE_REF` for a reference that could lead elsewhere, which is never opened; `ERR_IO`.
pub(crate) fn path_below(folder: &Path, reference: &str, at: &str) -> Result<PathBuf, Error> {
    check(reference).map_err(|message| fault(code::STORAGE_REF, at.to_owned(), message))?;
    let mut path = folder.to_path_buf();
    let mut kind = None;
    for segment in reference.split('/') {
        path.push(segment);
        let found = fs::symlink_metadata(&path);
        let found = found.map_err(|source| world(reference, at, &source))?;
        let found = found.file_type();
        // A link in a foreign export may point at any file of its reader.
        if found.is_symlink() {
            return Err(fault(
                code::STORAGE_REF,
                at.to_owned(),
                format!("{segment} is a symbolic link"),
            ));
        }
        kind = Some(found);
    }
    // Opening a pipe or a device could wait for ever.
    if !kind.is_some_and(|kind| kind.is_file()) {
        return Err(fault(
            code::STORAGE_REF,
            at.to_owned(),
            format!("{reference} is not a file"),
        ));
    }
    Ok(path)
}

fn world(reference: &str, at: &str, source: &IoError) -> Error {
    Error::Io {
        place: Place::Pointer(at.to_owned()),
        source: IoError::new(source.kind(), format!("{reference}: {source}")),
    }
}

/// Checks the text of a reference.
pub(crate) fn check(reference: &str) -> Result<(), String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._/-".contains(&byte);
    if !(1..=255).contains(&reference.len()) || !reference.bytes().all(is_plain) {
        return Err("must match ^[A-Za-z0-9._/-]{1,255}$".into());
    }
    for segment in reference.split('/') {
        // Windows drops trailing dots, so that "..." or "a." would name another file there.
        if segment.is_empty() || segment.ends_with('.') {
            return Err(format!("\"{segment}\" is not a name below a directory"));
        }
        let stem = segment.split('.').next().unwrap_or_default();
        if is_device(stem) {
            return Err(format!("\"{segment}\" names a device on Windows"));
        }
    }
    Ok(())
}

fn is_device(stem: &str) -> bool {
    let upper = stem.to_ascii_uppercase();
    let is_port = |name: &str| {
        let number = upper.strip_prefix(name);
        number.is_some_and(|number| matches!(number.as_bytes(), [b'0'..=b'9']))
    };
    matches!(upper.as_str(), "CON" | "PRN" | "AUX" | "NUL") || is_port("COM") || is_port("LPT")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    const HOSTILE: &[&str] = &[
        "", "/", ".", "..", "...", "../x", "../../etc/passwd", "a/../b", "a/..", "a/./b",
        "./a", "a//b", "a/", "/a", "/etc/passwd", "//host/share", "\\\\host\\share\\x",
        "..\\x", "a\\b", "C:\\x", "C:/x", "c:x", "file:///etc/passwd", "http://x/y",
        "https://x/y", "~/x", "$HOME/x", "%2e%2e/x", "%2e%2e%2fx", "..%2fx", "a\0b", "a\nb",
        "a b", "a\u{202e}b", "\u{ff0e}\u{ff0e}/x", "\u{2024}\u{2024}/x", "a\u{2215}b",
        "é.json", "a.", "a./b", "a/b.", "....//x", ".../x", "CON", "con.json", "NUL",
        "x/nul.txt", "AUX", "prn.json", "COM1", "com9.json", "lpt1.json", "a/LPT0.x",
        "x:stream", "a*b", "a?b", "|ls", "-\u{0}", "a;b", "a'b", "a\"b", "<x>", "\u{feff}a",
        "a\tb", "a\r", " a", "a ", "a/ /b", "x/../../y", "conversations/../../y",
    ];

    #[test]
    fn a_reference_that_could_leave_the_directory_is_refused_by_its_spelling() {
        let long = "a".repeat(256);
        for reference in HOSTILE.iter().copied().chain([long.as_str()]) {
            assert!(check(reference).is_err(), "{reference:?}");
            let error = read_below(Path::new("."), reference, "/x").unwrap_err();
            assert_eq!(error.code(), code::STORAGE_REF, "{reference:?}");
        }
        for plain in [
            "a",
            "conversations/a-b_c.json",
            ".hidden",
            "a..b",
            "console.json",
            "COM10",
        ] {
            assert_eq!(check(plain), Ok(()), "{plain}");
        }
    }
}
