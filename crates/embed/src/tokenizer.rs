//! The tokens of a text: BERT's normalization, its split at spaces and punctuation, and WordPiece,
//! from a `tokenizer.json`.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::error::Error;

/// A WordPiece tokenizer.
#[derive(Debug)]
pub(crate) struct Tokenizer {
    tokens: HashMap<String, usize>,
    first: usize,
    last: usize,
    unknown: usize,
    lowercase: bool,
}

impl Tokenizer {
    /// Reads a tokenizer whose tokens are all below `vocabulary`.
    ///
    /// # Errors
    /// A file that is not a WordPiece tokenizer of BERT, or not of this vocabulary.
    pub(crate) fn read(file: &Path, text: &[u8], vocabulary: usize) -> Result<Self, Error> {
        let found = serde_json::from_slice(text).map_err(|error| Error::of(file, error))?;
        let found: &Value = &found;
        let text = |pointer: &str| found.pointer(pointer).and_then(Value::as_str);
        // Files of old versions do not name the type of the model.
        let of = text("/model/type").unwrap_or("WordPiece");
        let prefix = text("/model/continuing_subword_prefix").unwrap_or("##");
        let normalizer = text("/normalizer/type");
        if (of, prefix, normalizer) != ("WordPiece", "##", Some("BertNormalizer")) {
            return Err(Error::of(file, "only WordPiece as in BERT is known"));
        }
        let vocab = found.pointer("/model/vocab").and_then(Value::as_object);
        let vocab = vocab.ok_or_else(|| Error::of(file, "it has no vocabulary"))?;
        let mut tokens = HashMap::new();
        for (token, number) in vocab {
            let number = number.as_u64().and_then(|it| usize::try_from(it).ok());
            let number = number
                .filter(|it| *it < vocabulary)
                .ok_or_else(|| Error::of(file, format!("{token:?} is no token of the model")))?;
            tokens.insert(token.clone(), number);
        }
        let special = |name: &str| {
            let number = tokens.get(name).copied();
            number.ok_or_else(|| Error::of(file, format!("it has no {name}")))
        };
        let lowercase = found.pointer("/normalizer/lowercase");
        Ok(Self {
            first: special("[CLS]")?,
            last: special("[SEP]")?,
            unknown: special(text("/model/unk_token").unwrap_or("[UNK]"))?,
            lowercase: lowercase.and_then(Value::as_bool).unwrap_or(true),
            tokens,
        })
    }

    /// Returns the first `limit` tokens of a text, with those that begin and end it.
    pub(crate) fn tokens(&self, text: &str, limit: usize) -> Vec<usize> {
        let mut tokens = vec![self.first];
        for word in self.words(text) {
            self.add(&word, &mut tokens);
            if tokens.len() >= limit {
                break;
            }
        }
        tokens.truncate(limit.saturating_sub(1).max(1));
        tokens.push(self.last);
        tokens
    }

    /// Returns the words of a text; a character of punctuation or an ideograph is one.
    fn words(&self, text: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut add = |c: char| {
            let is_alone = is_punctuation(c) || is_ideograph(c);
            if c.is_whitespace() || is_alone {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut().filter(|_| !c.is_whitespace()) {
                word.push(c);
            }
            if is_alone {
                words.push(String::new());
            }
        };
        let is_text = |c: &char| c.is_whitespace() || !c.is_control() && *c != '\u{fffd}';
        let kept = text.chars().filter(is_text);
        if self.lowercase {
            let plain = kept.nfd().filter(|c| !is_combining_mark(*c));
            plain.flat_map(char::to_lowercase).for_each(&mut add);
        } else {
            kept.for_each(&mut add);
        }
        words.retain(|word| !word.is_empty());
        words
    }

    /// Adds the longest pieces of a word that are tokens; a word without them is unknown.
    fn add(&self, word: &str, tokens: &mut Vec<usize>) {
        let before = tokens.len();
        let is_long = word.chars().count() > WORD_LEN_MAX;
        let mut rest = if is_long { "" } else { word };
        while !rest.is_empty() {
            let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8()).rev();
            let is_start = tokens.len() == before;
            let found = ends.filter_map(|end| {
                let piece = rest.get(..end)?;
                let token = match is_start {
                    true => self.tokens.get(piece),
                    false => self.tokens.get(&format!("##{piece}")),
                };
                Some((*token?, end))
            });
            let Some((token, end)) = found.into_iter().next() else {
                break;
            };
            tokens.push(token);
            rest = rest.get(end..).unwrap_or_default();
        }
        if !rest.is_empty() || is_long {
            tokens.truncate(before);
            tokens.push(self.unknown);
        }
    }
}

/// ASCII symbols count as punctuation in BERT; the rest are the blocks of punctuation.
fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation()
        || matches!(
            c,
            '¡' | '§' | '«' | '¶' | '·' | '»' | '¿'
                | '\u{2010}'..='\u{2027}'
                | '\u{2030}'..='\u{205e}'
                | '\u{2e00}'..='\u{2e7f}'
                | '\u{3001}'..='\u{3003}'
                | '\u{3008}'..='\u{3011}'
                | '\u{3014}'..='\u{301f}'
                | '\u{ff01}'..='\u{ff0f}'
                | '\u{ff1a}'..='\u{ff20}'
                | '\u{ff3b}'..='\u{ff3d}'
                | '\u{ff5f}'..='\u{ff65}'
                | '،' | '؛' | '؟' | '।' | '॥'
        )
}

const fn is_ideograph(c: char) -> bool {
    matches!(
        c,
        '\u{4e00}'..='\u{9fff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{20000}'..='\u{2ceaf}'
            | '\u{f900}'..='\u{faff}'
            | '\u{2f800}'..='\u{2fa1f}'
    )
}

/// The longest word that is taken apart, in characters.
const WORD_LEN_MAX: usize = 100;
