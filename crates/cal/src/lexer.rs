//! The words, values and signs of a statement, each with its place.

use unicode_normalization::UnicodeNormalization;

use crate::code::Code;
use crate::error::Error;
use crate::place::At;
use crate::template::Sections;

/// A word, a value or a sign.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    /// A keyword, a name of the grammar or an identifier.
    Word(String),
    Text(String),
    Int(i64),
    Float(f64),
    /// `$name`, without the sign.
    Param(String),
    /// `sha256:` and 8 to 64 digits, without the prefix.
    Hash(String),
    Sign(&'static str),
    /// The text of a section of a template, between its braces.
    Raw(String),
    End,
}

/// Returns the tokens of a statement, the last of which is [`Token::End`].
pub(crate) fn tokens(source: &str) -> Result<Vec<(Token, At)>, Error> {
    let mut lexer = Lexer { source, at: 0 };
    let mut tokens: Vec<(Token, At)> = Vec::new();
    loop {
        let is_raw = is_of_section(&tokens);
        if !is_raw {
            lexer.skip();
        }
        let start = lexer.at;
        let token = match is_raw {
            true => lexer.raw()?,
            false => lexer.token()?,
        };
        let is_end = token == Token::End;
        tokens.push((token, lexer.since(start)));
        if is_end {
            return Ok(tokens);
        }
    }
}

/// Whether the text of a section of a template follows: the keyword of a section and a brace are
/// nowhere else side by side.
fn is_of_section(tokens: &[(Token, At)]) -> bool {
    match tokens {
        [.., (Token::Word(word), _), (Token::Sign("{"), _)] => {
            let mut keywords = Sections::KEYWORDS.iter();
            keywords.any(|keyword| word.eq_ignore_ascii_case(keyword))
        }
        _ => false,
    }
}

/// Returns a text in normal form C, unless it reorders what is shown.
pub(crate) fn normalised(text: &str, at: At) -> Result<String, Error> {
    let is_bidi = |c| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if text.contains(is_bidi) {
        let message = "a text must not hold characters that reorder what is shown";
        return Err(Error::new(Code::BidiOverride, at, message));
    }
    Ok(text.nfc().collect())
}

/// Returns whether digits are those of an address, or its first.
pub(crate) fn is_address(digits: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    (8..=64).contains(&digits.len()) && digits.bytes().all(is_digit)
}

/// The form of an address.
pub(crate) const ADDRESS: &str = "an address is sha256: and 8 to 64 lower-case hexadecimal digits";

struct Lexer<'a> {
    source: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn since(&self, start: usize) -> At {
        At {
            start,
            end: self.at,
        }
    }

    /// Skips what is between tokens.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with("--") {
                return;
            }
            self.at += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    fn take_while(&mut self, accepts: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let len = rest.find(|c| !accepts(c)).unwrap_or(rest.len());
        self.at += len;
        rest.get(..len).unwrap_or_default()
    }

    fn token(&mut self) -> Result<Token, Error> {
        let Some(first) = self.peek() else {
            return Ok(Token::End);
        };
        match first {
            '"' => self.text(),
            '$' => self.parameter(),
            '-' | '0'..='9' => self.number(),
            _ if first.is_ascii_alphabetic() => self.word(),
            _ => self.sign(first),
        }
    }

    fn word(&mut self) -> Result<Token, Error> {
        let start = self.at;
        let word = self.take_while(is_of_word);
        if word != "sha256" || !self.rest().starts_with(':') {
            return Ok(Token::Word(word.to_owned()));
        }
        self.at += 1;
        let digits = self.take_while(|c| c.is_ascii_alphanumeric());
        if is_address(digits) {
            return Ok(Token::Hash(digits.to_owned()));
        }
        Err(Error::new(Code::BadHash, self.since(start), ADDRESS))
    }

    fn parameter(&mut self) -> Result<Token, Error> {
        let start = self.at;
        self.at += 1;
        let name = self.take_while(is_of_word);
        if name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return Ok(Token::Param(name.to_owned()));
        }
        let message = "a parameter is $ and a name";
        Err(Error::new(Code::Unexpected, self.since(start), message))
    }

    fn number(&mut self) -> Result<Token, Error> {
        let start = self.at;
        if self.peek() == Some('-') {
            self.at += 1;
        }
        let digits = |c: char| c.is_ascii_digit();
        let whole = self.take_while(digits);
        let mut is_number = !whole.is_empty();
        let is_whole = !self.rest().starts_with('.');
        if !is_whole {
            self.at += 1;
            is_number &= !self.take_while(digits).is_empty();
        }
        // `5d` and `1e9` are no numbers.
        is_number &= self.take_while(|c| is_of_word(c) || c == '.').is_empty();
        let text = self.source.get(start..self.at).unwrap_or_default();
        let number = match is_whole {
            true => text.parse().ok().map(Token::Int),
            false => text
                .parse()
                .ok()
                .filter(|n: &f64| n.is_finite())
                .map(Token::Float),
        };
        number.filter(|_| is_number).ok_or_else(|| {
            let message = "a number is digits, with a point between them at most";
            Error::new(Code::BadNumber, self.since(start), message)
        })
    }

    fn text(&mut self) -> Result<Token, Error> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            let Some(c) = self.peek() else {
                let message = "a text ends with a quote";
                return Err(Error::new(
                    Code::UnterminatedText,
                    self.since(start),
                    message,
                ));
            };
            self.at += c.len_utf8();
            match c {
                '"' => break,
                '\\' => text.push(self.escape()?),
                _ => text.push(c),
            }
        }
        normalised(&text, self.since(start)).map(Token::Text)
    }

    /// Reads the text of a section up to the brace that closes it: two braces open a tag, which the next
    /// two close, and single braces come in pairs (ruling C24). No brace means another thing because of
    /// the text behind it, so that the text is read anew as it was.
    fn raw(&mut self) -> Result<Token, Error> {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            self.take_while(|c| !is_brace(c));
            let is_tag = self.rest().starts_with("{{");
            if is_tag {
                self.at += 2;
                self.take_while(|c| !is_brace(c));
            }
            match (self.peek(), is_tag, depth) {
                (Some('}'), true, _) if self.rest().starts_with("}}") => self.at += 1,
                (Some('{'), false, _) => depth += 1,
                (Some('}'), false, 0) => break,
                (Some('}'), false, _) => depth -= 1,
                _ => {
                    let message = "a section of a template ends with a brace, and a tag with two";
                    let at = self.since(start);
                    return Err(Error::new(Code::InvalidTemplate, at, message));
                }
            }
            self.at += 1;
        }
        let text = self.source.get(start..self.at).unwrap_or_default();
        let text = text.strip_prefix('\n').unwrap_or(text);
        let trimmed = text.trim_end_matches([' ', '\t']);
        let text = trimmed.strip_suffix('\n').unwrap_or(text);
        normalised(text, self.since(start)).map(Token::Raw)
    }

    fn escape(&mut self) -> Result<char, Error> {
        let start = self.at;
        let c = self.peek().unwrap_or_default();
        self.at += c.len_utf8();
        let meant = match c {
            '"' | '\\' => Some(c),
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            'u' => self.rest().get(..4).and_then(|digits| {
                self.at += 4;
                let digits = Some(digits).filter(|it| it.bytes().all(|b| b.is_ascii_hexdigit()));
                digits
                    .and_then(|it| u32::from_str_radix(it, 16).ok())
                    .and_then(char::from_u32)
            }),
            _ => None,
        };
        meant.ok_or_else(|| {
            self.at = self.at.min(self.source.len());
            let message = r#"the escapes are \" \\ \n \r \t \uXXXX"#;
            Error::new(Code::Unexpected, self.since(start), message)
        })
    }

    fn sign(&mut self, first: char) -> Result<Token, Error> {
        let start = self.at;
        let rest = self.rest();
        let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
        let Some(sign) = sign else {
            self.at += first.len_utf8();
            let message = "a sign that CAL does not have";
            return Err(Error::new(Code::Unexpected, self.since(start), message));
        };
        self.at += sign.len();
        Ok(Token::Sign(sign))
    }
}

const fn is_brace(c: char) -> bool {
    matches!(c, '{' | '}')
}

const fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The signs, those first that begin with another.
const SIGNS: &[&str] = &[
    "!=", ">=", "<=", ">", "<", "=", "(", ")", "[", "]", "{", "}", ",", ":", ";", "|", "/",
];
