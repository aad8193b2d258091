//! Packed terms: the terms of a document as one text, and the tokenizer that replays them.
//!
//! Documents reach the segment writer on another thread in serialised form. A tokenized text is
//! serialised as JSON, which costs more than indexing it; a plain text is copied. Each term is
//! packed as the distance to the position before it, its length in bytes, and its bytes. Both
//! numbers are digits of six bits, lowest first, so that the packed text is valid UTF-8.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

/// Terms in the order of their positions.
#[derive(Debug, Default)]
pub(super) struct PackedTerms {
    packed: String,
    position: u32,
}

impl PackedTerms {
    /// Adds a term whose position is that of the term before it or a later one.
    pub(super) fn push(&mut self, position: u32, term: &str) {
        self.push_number(position.saturating_sub(self.position) as usize);
        self.push_number(term.len());
        self.packed.push_str(term);
        self.position = position;
    }

    fn push_number(&mut self, mut number: usize) {
        while number >= MORE {
            self.push_digit(number % MORE + MORE);
            number /= MORE;
        }
        self.push_digit(number);
    }

    fn push_digit(&mut self, digit: usize) {
        // Two digits of six bits and the flag are below 128: one ASCII character.
        let digit = u8::try_from(digit).unwrap_or_default();
        self.packed.push(char::from(digit));
    }

    pub(super) fn as_str(&self) -> &str {
        &self.packed
    }
}

/// The tokenizer of packed terms.
#[derive(Debug, Clone, Default)]
pub(super) struct PackedTermsTokenizer {
    token: Token,
}

/// The terms that are left of a packed text.
pub(super) struct PackedTermsStream<'a> {
    rest: &'a str,
    token: &'a mut Token,
}

impl Tokenizer for PackedTermsTokenizer {
    type TokenStream<'a> = PackedTermsStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> PackedTermsStream<'a> {
        self.token.reset();
        self.token.position = 0;
        PackedTermsStream {
            rest: text,
            token: &mut self.token,
        }
    }
}

impl PackedTermsStream<'_> {
    fn number(&mut self) -> Option<usize> {
        let (mut number, mut shift) = (0_usize, 0_u32);
        for (at, byte) in self.rest.bytes().enumerate() {
            let digit = usize::from(byte);
            number |= (digit % MORE).checked_shl(shift)?;
            shift += MORE.trailing_zeros();
            if digit < MORE {
                self.rest = self.rest.get(at + 1..)?;
                return Some(number);
            }
        }
        None
    }

    fn term(&mut self) -> Option<()> {
        let distance = self.number()?;
        let len = self.number()?;
        let (term, rest) = self.rest.split_at_checked(len)?;
        self.token.position = self.token.position.saturating_add(distance);
        self.token.text.clear();
        self.token.text.push_str(term);
        self.rest = rest;
        Some(())
    }
}

impl TokenStream for PackedTermsStream<'_> {
    fn advance(&mut self) -> bool {
        self.term().is_some()
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

/// One more than the largest digit, and the flag of a digit that another one follows.
const MORE: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn terms_come_back_with_their_positions(
            terms in prop::collection::vec((0_u32..100_000_000, ".{0,80}"), 0..40),
        ) {
            let mut position = 0_u32;
            let mut packed = PackedTerms::default();
            let mut pushed = Vec::new();
            for (distance, term) in terms {
                position = position.saturating_add(distance);
                packed.push(position, &term);
                pushed.push((position as usize, term));
            }
            let mut tokenizer = PackedTermsTokenizer::default();
            let mut stream = tokenizer.token_stream(packed.as_str());
            let mut found = Vec::new();
            while stream.advance() {
                found.push((stream.token().position, stream.token().text.clone()));
            }
            prop_assert_eq!(found, pushed);
        }

        #[test]
        fn any_text_ends(text in ".{0,200}") {
            let mut tokenizer = PackedTermsTokenizer::default();
            let mut stream = tokenizer.token_stream(&text);
            let terms = std::iter::from_fn(|| stream.advance().then_some(())).count();
            prop_assert!(terms <= text.len());
        }
    }
}
