//! Paths of the files: always under `/memories`, and never a way out of it.
//!
//! No path here reaches a file system. The rules hold all the same, since a program that trusts
//! them may write the files out.

use super::MemoryError;

/// The directory that holds every file.
pub(super) const ROOT: &str = "/memories";

/// Returns the path in its one spelling: no slash at the end, none twice.
///
/// # Errors
/// [`MemoryError::Path`].
pub(super) fn parse(text: &str) -> Result<String, MemoryError> {
    let refuse = |reason| MemoryError::Path {
        path: text.to_owned(),
        reason,
    };
    if text.len() > LENGTH_MAX {
        return Err(MemoryError::Path {
            path: text.chars().take(80).collect(),
            reason: "it is longer than 1024 bytes",
        });
    }
    let below = text
        .strip_prefix(ROOT)
        .filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let below = below.ok_or_else(|| refuse("it must begin with /memories"))?;
    let is_like_separator = |c| SEPARATORS.contains(&c);
    if text.contains(is_like_separator) || grainstore::render::escaped(text) != text {
        return Err(refuse(
            "it has a backslash, a sign that folds to a separator, or a hidden character",
        ));
    }
    // `%2e%2e%2f` is `../` to a program that decodes it later; so is what it decodes to twice.
    if text.to_ascii_lowercase().contains('%') && hides(text) {
        return Err(refuse(
            "it has an encoded dot, slash, backslash or percent sign",
        ));
    }
    let mut path = ROOT.to_owned();
    for name in below.split('/').filter(|name| !name.is_empty()) {
        // Full-width and one-character dots become dots where text is folded.
        if name.trim().trim_matches(DOTS).is_empty() || name.contains(DOUBLE_DOTS) {
            return Err(refuse("it has a part of dots"));
        }
        path.push('/');
        path.push_str(name);
    }
    Ok(path)
}

/// Returns whether a percent sign stands before the code of a character that a path gives a meaning.
fn hides(text: &str) -> bool {
    let codes = ["2e", "2f", "5c", "25", "00", "c0", "c1", "e0"];
    let lower = text.to_ascii_lowercase();
    lower
        .split('%')
        .skip(1)
        .any(|after| codes.iter().any(|code| after.starts_with(code)))
}

const LENGTH_MAX: usize = 1024;

/// What compatibility normalization (UAX 15) makes a slash, a backslash or a percent sign, and what
/// looks like one.
const SEPARATORS: &[char] = &[
    '\\', '\u{2044}', '\u{2215}', '\u{2216}', '\u{29f5}', '\u{29f8}', '\u{29f9}', '\u{fe68}',
    '\u{fe6a}', '\u{ff05}', '\u{ff0f}', '\u{ff3c}',
];

/// What it makes one dot, or several.
const DOTS: &[char] = &[
    '.', '\u{2024}', '\u{2025}', '\u{2026}', '\u{fe19}', '\u{fe30}', '\u{fe52}', '\u{ff0e}',
];
const DOUBLE_DOTS: &[char] = &['\u{2025}', '\u{fe30}'];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_one_spelling() {
        for spelling in [
            "/memories/a/b.md",
            "/memories//a/b.md/",
            "/memories/a//b.md",
        ] {
            assert_eq!(parse(spelling).unwrap(), "/memories/a/b.md");
        }
        assert_eq!(parse("/memories/").unwrap(), ROOT);
        assert_eq!(parse("/memories/100%.md").unwrap(), "/memories/100%.md");
    }

    #[test]
    fn no_path_leaves_the_directory() {
        let hostile = [
            "",
            "/",
            "memories/a",
            "/memoriesx",
            "/memories2/a",
            "/etc/passwd",
            "C:\\memories\\a",
            "/memories/../etc/passwd",
            "/memories/a/../../b",
            "/memories/..",
            "/memories/.",
            "/memories/a/./b",
            "/memories/ .. /b",
            "/memories/...",
            "/memories\\..\\b",
            "/memories/%2e%2e/b",
            "/memories/%2E%2E%2Fb",
            "/memories/%252e%252e/b",
            "/memories/..%2fb",
            "/memories/%c0%ae%c0%ae/b",
            "/memories/a\0b",
            "/memories/a\nb",
            "/memories/\u{ff0e}\u{ff0e}/b",
            "/memories/\u{2025}/b",
            "/memories/\u{fe52}\u{fe52}/b",
            "/memories/.\u{fe52}/b",
            "/memories/\u{2026}",
            "/memories/..\u{ff0f}..\u{ff0f}x",
            "/memories/a\u{2215}b",
            "/memories/a\u{fe68}b",
            "/memories/\u{ff05}2e\u{ff05}2e/b",
            "/memories/a\u{202e}b",
            "/memories/.\u{200b}./b",
            "/memories/\u{e0041}",
            "file:///memories/a",
        ];
        for path in hostile {
            assert!(parse(path).is_err(), "{path:?}");
        }
        assert!(parse(&format!("/memories/{}", "a".repeat(2000))).is_err());
    }
}
