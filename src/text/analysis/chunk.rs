//! The tokenizer: cuts a text into chunks (text without spaces) and each chunk into its parts.
//!
//! It finds word boundaries only. Terms are derived from the parts in `token.rs`.

use std::borrow::Cow;
use std::ops::Range;

use crate::text::analysis::fold;
use crate::text::analysis::language::Language;
use crate::text::analysis::script::Script;

/// A run of text without spaces: `word`, `e-mail`, `getUserName`, `alice@example.com`, `東京都`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::text) struct Chunk<'t> {
    /// Never empty.
    pub(in crate::text) parts: Vec<Part<'t>>,
    /// All letters of a chunk of several parts, as one word: `e-mail`, `E_mail` and `eMail` are
    /// also indexed as `email`.
    pub(in crate::text) joined: Option<String>,
}

/// One word of a chunk, or one letter of a script that does not separate words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::text) struct Part<'t> {
    /// The original spelling.
    pub(in crate::text) written: Cow<'t, str>,
    pub(in crate::text) script: Script,
    /// The byte range in the text.
    pub(in crate::text) range: Range<usize>,
}

impl Part<'_> {
    /// Returns the part with a copy of its spelling, so that it outlives the text.
    pub(in crate::text) fn into_owned(self) -> Part<'static> {
        Part {
            written: Cow::Owned(self.written.into_owned()),
            script: self.script,
            range: self.range,
        }
    }

    /// Returns the number of letters of a run that begins with this one: a letter of Thai says less than
    /// one of Chinese.
    pub(in crate::text) fn gram_len(&self) -> usize {
        match self.written.starts_with(Script::is_thai) {
            true => 3,
            false => 2,
        }
    }

    /// Returns it in small letters, without accents.
    pub(in crate::text) fn folded(&self) -> String {
        fold::plain(&fold::lower(&self.written, Language::OTHER))
    }

    /// Returns whether the part is one letter of a script that does not separate words.
    pub(in crate::text) fn is_letter(&self) -> bool {
        self.script == Script::Unspaced
    }
}

/// Splits a text into chunks.
pub(in crate::text) fn chunks(text: &str) -> impl Iterator<Item = Chunk<'_>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let chunk = next_chunk(text, from)?;
        from = chunk.parts.last()?.range.end;
        Some(chunk)
    })
}

/// Returns the next chunk as it is written if it is one word of lower-case ASCII (the first letter
/// may be a capital) that nothing connects to the next, as most are; `None` says nothing.
pub(in crate::text) fn plain_word(text: &str, from: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes().get(from..)?;
    let start = bytes
        .iter()
        .position(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())?;
    let bytes = bytes.get(start..)?;
    let (first, rest) = bytes.split_first()?;
    let is_plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let len = rest.iter().position(|byte| !is_plain(byte));
    let len = len.unwrap_or(rest.len()) + 1;
    let is_end = match bytes.get(len..)? {
        [] | [b' ', ..] => true,
        [b':', b'/', ..] => false,
        [sign, after @ ..] => {
            let joins = |byte: &u8| !byte.is_ascii() || byte.is_ascii_alphanumeric();
            !joins(sign) && !after.first().is_some_and(joins)
        }
    };
    let start = from + start;
    (first.is_ascii() && is_end).then_some(start..start + len)
}

/// Returns the chunk that begins at `from` or after it.
pub(in crate::text) fn next_chunk(text: &str, from: usize) -> Option<Chunk<'_>> {
    let rest = text.get(from..)?;
    let start = from + rest.find(is_in_word)?;
    let first = text.get(start..)?.chars().next()?;
    if Script::of(first) == Script::Unspaced {
        let parts = letters(text, start);
        return (!parts.is_empty()).then_some(Chunk {
            parts,
            joined: None,
        });
    }
    let mut parts = Vec::new();
    let mut runs = 1_usize;
    let mut at = word_end(text, start);
    split_case(text, start..at, &mut parts);
    while let Some((connector_len, next)) = connected(text, at) {
        let start = at + connector_len;
        let end = word_end(text, start);
        let word = text.get(start..end).unwrap_or_default();
        // The possessive ending is grammar, like a plural.
        let is_possessive = APOSTROPHES.contains(&next) && matches!(word, "s" | "S");
        if is_possessive {
            // The range covers the ending, so that it is not tokenized again.
            if let Some(last) = parts.last_mut() {
                last.range.end = end;
            }
        } else {
            split_case(text, start..end, &mut parts);
            runs += 1;
        }
        at = end;
        if parts.len() >= PARTS_MAX {
            break;
        }
    }
    let is_joined = parts.len() > 1 && runs <= PARTS_MAX;
    let joined = is_joined.then(|| {
        let words = parts
            .iter()
            .map(|part| fold::lower(&part.written, Language::OTHER));
        fold::plain(&words.collect::<String>())
    });
    let joined = joined.filter(|joined| joined.chars().count() <= WORD_LEN_MAX);
    Some(Chunk { parts, joined })
}

/// Returns the letters of a run in a script that does not separate words, from `start` on.
fn letters(text: &str, start: usize) -> Vec<Part<'_>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    for (at, letter) in text.get(start..).unwrap_or_default().char_indices() {
        let range = start + at..start + at + letter.len_utf8();
        match parts.last_mut() {
            Some(last) if VOICING.contains(&letter) => {
                last.written.to_mut().push(letter);
                last.written = crate::codec::nfkc(&last.written).into();
                last.range.end = range.end;
            }
            _ if !is_in_word(letter) || Script::of(letter) != Script::Unspaced => break,
            _ => parts.push(Part {
                written: crate::codec::nfkc(letter.encode_utf8(&mut [0; 4])).into(),
                script: Script::Unspaced,
                range,
            }),
        }
    }
    parts
}

/// Returns where the word that begins at `start` ends.
fn word_end(text: &str, start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    // Most words are ASCII and end at an ASCII character.
    let ascii = rest.bytes().position(|byte| !byte.is_ascii_alphanumeric());
    let ascii = ascii.unwrap_or(rest.len());
    let rest = rest.get(ascii..).unwrap_or_default();
    if rest.bytes().next().is_none_or(|byte| byte.is_ascii()) {
        return start + ascii;
    }
    let ends = |c: char| !is_in_word(c) || Script::of(c) == Script::Unspaced;
    rest.find(ends)
        .map_or(text.len(), |len| start + ascii + len)
}

/// Returns the length of the connector between the word that ended at `at` and the next word, and
/// its last character; `None` if no word follows directly.
fn connected(text: &str, at: usize) -> Option<(usize, char)> {
    let rest = text.get(at..)?;
    if rest.starts_with(' ') {
        return None;
    }
    let len = if rest.starts_with("://") {
        3
    } else {
        rest.chars().next().map(char::len_utf8)?
    };
    let sign = rest.get(..len)?.chars().next_back()?;
    let next = rest.get(len..)?.chars().next()?;
    let before = text.get(..at)?.chars().next_back()?;
    let joins = match sign {
        ',' => before.is_ascii_digit() && next.is_ascii_digit(),
        sign => CONNECTORS.contains(&sign),
    };
    (joins && is_in_word(next) && Script::of(next) != Script::Unspaced).then_some((len, sign))
}

/// Splits a word at changes of case: `getHTTPCode` has three parts.
fn split_case<'t>(text: &'t str, run: Range<usize>, parts: &mut Vec<Part<'t>>) {
    let written = text.get(run.clone()).unwrap_or_default();
    let mut from = 0;
    let mut add = |range: Range<usize>| {
        let written = written.get(range.clone()).unwrap_or_default();
        if let Some(first) = written.chars().next() {
            parts.push(Part {
                written: Cow::Borrowed(written),
                script: Script::of(first),
                range: run.start + range.start..run.start + range.end,
            });
        }
    };
    let mut rest = written.bytes().skip(1);
    if rest.all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        return add(0..written.len());
    }
    let mut before: Option<char> = None;
    let mut letters = written.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let after = letters.peek().map(|(_, next)| *next);
        let begins = letter.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || (before.is_uppercase() && after.is_some_and(char::is_lowercase))
            });
        if begins {
            add(from..at);
            from = at;
        }
        before = Some(letter);
    }
    add(from..written.len());
}

fn is_in_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    c.is_alphanumeric() || fold::is_accent(c) || JOINERS.contains(&c)
}

/// Combining marks within words that are neither letters nor accents: viramas, tone marks,
/// invisible joiners.
const JOINERS: &[char] = &[
    '\u{93c}', '\u{94d}', '\u{9bc}', '\u{9cd}', '\u{bcd}', '\u{e47}', '\u{e48}', '\u{e49}',
    '\u{e4a}', '\u{e4b}', '\u{e4c}', '\u{e4d}', '\u{ec8}', '\u{ec9}', '\u{eca}', '\u{ecb}',
    '\u{1037}', '\u{1039}', '\u{103a}', '\u{17d2}', '\u{200c}', '\u{200d}', '\u{3099}', '\u{309a}',
];

/// The combining marks that voice the preceding Kana.
const VOICING: &[char] = &['\u{3099}', '\u{309a}', '\u{ff9e}', '\u{ff9f}'];

const APOSTROPHES: &[char] = &['\'', '’', 'ʼ'];

/// Characters that connect words if no space is around them.
const CONNECTORS: &[char] = &[
    '_', '-', '.', '@', '/', ':', '\'', '’', 'ʼ', '#', '+', '=', '&', '?', '%', '~', '\\', '‐', '‑',
];

/// The maximum number of parts of a chunk. A longer chunk continues as the next one.
const PARTS_MAX: usize = 16;

/// Longer words are noise (keys, encoded files) and are not indexed.
pub(in crate::text) const WORD_LEN_MAX: usize = 64;
