//! The one scanner of JSON text: it follows brackets and strings and nothing else.
//!
//! It validates nothing. A parser checks every value whose end was found here.

/// Follows brackets and strings, byte by byte.
#[derive(Default)]
pub(crate) struct Scanner {
    depth: u32,
    deepest: u32,
    in_string: bool,
    is_escape: bool,
}

/// The part that a byte plays in JSON text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    /// A bracket that opens an object or an array.
    Open,
    /// A bracket that closes one.
    Close,
    /// The quote that begins a string.
    StringStart,
    /// A byte inside a string.
    StringByte,
    /// The quote that ends a string.
    StringEnd,
    /// Anything else: white space, a separator, a byte of a number or a literal.
    Plain,
}

impl Scanner {
    pub(crate) const fn feed(&mut self, byte: u8) -> Token {
        if self.in_string {
            if self.is_escape {
                self.is_escape = false;
            } else if byte == b'"' {
                self.in_string = false;
                return Token::StringEnd;
            } else {
                self.is_escape = byte == b'\\';
            }
            return Token::StringByte;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                Token::StringStart
            }
            b'{' | b'[' => {
                self.depth = self.depth.saturating_add(1);
                if self.depth > self.deepest {
                    self.deepest = self.depth;
                }
                Token::Open
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                Token::Close
            }
            _ => Token::Plain,
        }
    }

    /// Returns how many bytes at the start of a text only continue a string: fed or not, they
    /// change nothing here. Most bytes of a file of memories are such bytes.
    pub(crate) fn string_len(&self, text: &[u8]) -> usize {
        if !self.in_string || self.is_escape {
            return 0;
        }
        memchr::memchr2(b'"', b'\\', text).unwrap_or(text.len())
    }

    /// Returns the number of open brackets.
    pub(crate) const fn depth(&self) -> u32 {
        self.depth
    }
}

/// Finds the end of one value.
#[derive(Default)]
pub(super) struct ValueEnd {
    scanner: Scanner,
    is_over: bool,
}

impl ValueEnd {
    /// Takes the next bytes; returns the place of the first that stands after the value.
    pub(super) fn find(&mut self, chunk: &[u8]) -> Option<usize> {
        let mut at = 0_usize;
        loop {
            let rest = chunk.get(at..)?;
            let skipped = self.scanner.string_len(rest);
            at = at.saturating_add(skipped);
            for byte in rest.get(skipped..)? {
                if self.is_past(*byte) {
                    return Some(at);
                }
                at = at.saturating_add(1);
                if self.scanner.in_string {
                    break;
                }
            }
            if at >= chunk.len() {
                return None;
            }
        }
    }

    /// Returns whether a byte stands after the value.
    const fn is_past(&mut self, byte: u8) -> bool {
        let is_inside = self.scanner.depth > 0 && !self.scanner.in_string;
        if is_inside && !matches!(byte, b'"' | b'{' | b'[' | b'}' | b']') {
            return false;
        }
        let is_separator = matches!(byte, b'}' | b']' | b',' | b' ' | b'\t' | b'\r' | b'\n');
        if self.is_over || (is_separator && self.scanner.depth == 0 && !self.scanner.in_string) {
            return true;
        }
        let token = self.scanner.feed(byte);
        self.is_over = self.scanner.depth == 0 && matches!(token, Token::Close | Token::StringEnd);
        false
    }

    /// Returns the depth of the deepest bracket.
    pub(super) const fn deepest(&self) -> u32 {
        self.scanner.deepest
    }
}
