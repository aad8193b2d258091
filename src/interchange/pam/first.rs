use std::io::{self, BufRead};

/// What the first JSON value of a text looks like, told without holding the text in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::interchange) enum First {
    /// An object that calls itself a memory store.
    Store,
    /// Another object, on one line.
    Line,
    /// Anything else.
    Other,
}

impl First {
    /// Reads up to the end of the first object, or up to where it is clear what it is.
    pub(in crate::interchange) fn read(mut input: impl BufRead) -> io::Result<Self> {
        let mut scan = Scan::default();
        loop {
            let chunk = input.fill_buf()?;
            let len = chunk.len();
            if len == 0 {
                return Ok(scan.at_end());
            }
            if let Some(found) = chunk.iter().find_map(|byte| scan.feed(*byte)) {
                return Ok(found);
            }
            input.consume(len);
        }
    }
}

/// Follows brackets and strings; only the strings directly in the outer object matter.
#[derive(Default)]
struct Scan {
    depth: u64,
    /// Whether anything stands in the outer object yet.
    is_begun: bool,
    in_string: bool,
    is_escape: bool,
    /// The beginning of the last string, long enough to compare.
    string: Vec<u8>,
    is_value_of_schema: bool,
    spans_lines: bool,
}

impl Scan {
    fn feed(&mut self, byte: u8) -> Option<First> {
        if self.in_string {
            return self.feed_string(byte);
        }
        if self.depth == 0 {
            return match byte {
                b'{' => {
                    self.depth = 1;
                    None
                }
                // A byte-order mark is told to the user by whoever reads the file.
                b' ' | b'\t' | b'\r' | b'\n' | 0xef | 0xbb | 0xbf => None,
                _ => Some(First::Other),
            };
        }
        match byte {
            b' ' | b'\t' | b'\r' => return None,
            b'\n' => {
                self.spans_lines = true;
                return None;
            }
            b'"' => {
                self.in_string = true;
                self.string.clear();
            }
            b'}' if self.depth == 1 => return Some(self.at_end()),
            _ if !self.is_begun => return Some(First::Other),
            b'{' | b'[' => self.depth = self.depth.saturating_add(1),
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            b':' if self.depth == 1 => self.is_value_of_schema = self.string == b"schema",
            b',' => self.is_value_of_schema = false,
            _ => {}
        }
        self.is_begun = true;
        None
    }

    fn feed_string(&mut self, byte: u8) -> Option<First> {
        if byte == b'"' && !self.is_escape {
            self.in_string = false;
            let is_schema = self.depth == 1 && self.is_value_of_schema;
            return (is_schema && self.string == super::SCHEMA.as_bytes()).then_some(First::Store);
        }
        self.is_escape = byte == b'\\' && !self.is_escape;
        if self.string.len() <= super::SCHEMA.len() {
            self.string.push(byte);
        }
        None
    }

    const fn at_end(&self) -> First {
        if self.depth == 0 || self.spans_lines {
            First::Other
        } else {
            First::Line
        }
    }
}
