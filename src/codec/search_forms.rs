//! The normal forms of Unicode that search compares words in, so that one room names the library.
//!
//! The canonical form of text is in `canonical`.

use unicode_normalization::UnicodeNormalization;

/// Returns text in NFKC: one form for letters that differ in width or style only.
pub(crate) fn nfkc(text: &str) -> String {
    text.nfkc().collect()
}

/// Returns a letter and its accents apart.
pub(crate) fn nfd(letter: char) -> impl Iterator<Item = char> {
    std::iter::once(letter).nfd()
}
