use std::io::{self, BufRead};

use crate::interchange::Format;
use crate::interchange::formats::provider::Provider;

/// What the first JSON value of a text looks like, told without holding the text in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::interchange) enum First {
    /// A document of a format that names itself, or that its members give away.
    Known(Format),
    /// Another object, on one line.
    Line,
    /// Anything else.
    Other,
}

impl First {
    /// Reads up to the end of the first value, or up to where it is clear what it is.
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

/// Follows brackets and strings; only the members of the outer object matter, or those of the
/// objects in an outer array.
#[derive(Default)]
struct Scan {
    depth: u64,
    /// Whether the outer value is an array.
    is_array: bool,
    /// Whether anything stands in the outer object yet.
    is_begun: bool,
    in_string: bool,
    is_escape: bool,
    /// The beginning of the last string, long enough to compare.
    string: Vec<u8>,
    /// The last name of a member that matters, while its value is read.
    name: Name,
    spans_lines: bool,
    found: Found,
}

/// The members that tell formats apart.
#[derive(Default, Clone, Copy, PartialEq)]
enum Name {
    #[default]
    Other,
    Schema,
    Format,
    Serialization,
}

/// What has been seen of the outer object.
#[derive(Default)]
struct Found {
    is_aimem: bool,
    is_omi: bool,
    is_stream: bool,
    has_records: bool,
    has_conversations: bool,
    has_type: bool,
}

impl Scan {
    fn feed(&mut self, byte: u8) -> Option<First> {
        if self.in_string {
            return self.feed_string(byte);
        }
        if self.depth == 0 {
            match byte {
                b'{' => self.depth = 1,
                b'[' => {
                    self.depth = 1;
                    self.is_array = true;
                    self.is_begun = true;
                }
                // A byte-order mark is told to the user by whoever reads the file.
                b' ' | b'\t' | b'\r' | b'\n' | 0xef | 0xbb | 0xbf => {}
                _ => return Some(First::Other),
            }
            return None;
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
            b'}' | b']' if self.depth == 1 => return Some(self.at_end()),
            _ if !self.is_begun => return Some(First::Other),
            b'{' | b'[' => self.depth = self.depth.saturating_add(1),
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            b':' if self.is_at_members() => {
                if let Some(provider) = self.feed_name() {
                    return Some(First::Known(Format::Provider(provider)));
                }
            }
            b',' => self.name = Name::Other,
            _ => {}
        }
        self.is_begun = true;
        None
    }

    const fn is_at_members(&self) -> bool {
        self.depth == if self.is_array { 2 } else { 1 }
    }

    /// Looks at the name of a member.
    fn feed_name(&mut self) -> Option<Provider> {
        self.name = match (self.is_array, self.string.as_slice()) {
            (true, b"mapping") => return Some(Provider::Chatgpt),
            (
                true,
                b"chat_messages"
                | b"conversations_memory"
                | b"project_memories"
                | b"prompt_template",
            ) => return Some(Provider::Claude),
            (true, b"header") => return Some(Provider::Gemini),
            (true, _) => Name::Other,
            (false, b"conversations") => {
                self.found.has_conversations = true;
                Name::Other
            }
            (false, b"schema") => Name::Schema,
            (false, b"format") => Name::Format,
            (false, b"serialization") => Name::Serialization,
            (false, b"type") => {
                self.found.has_type = true;
                Name::Other
            }
            (false, b"chunks" | b"memories") => {
                self.found.has_records = true;
                Name::Other
            }
            (false, _) => Name::Other,
        };
        None
    }

    fn feed_string(&mut self, byte: u8) -> Option<First> {
        if byte == b'"' && !self.is_escape {
            self.in_string = false;
            if self.is_at_members() && !self.is_array {
                return self.feed_value();
            }
            return None;
        }
        self.is_escape = byte == b'\\' && !self.is_escape;
        if self.string.len() < STRING_LEN_MAX {
            self.string.push(byte);
        }
        None
    }

    /// Looks at the text of a member.
    fn feed_value(&mut self) -> Option<First> {
        match (self.name, self.string.as_slice()) {
            (Name::Schema, b"portable-ai-memory") => return Some(First::Known(Format::Pam)),
            (Name::Schema, b"portable-ai-memory-conversation") => {
                return Some(First::Known(Format::PamConversation));
            }
            (Name::Schema, b"portable-ai-memory-embeddings") => {
                return Some(First::Known(Format::PamEmbeddings));
            }
            (Name::Format, b"aimem-bundle" | b"memoryai-bundle") => self.found.is_aimem = true,
            (Name::Format, b"open-memory-interchange") => self.found.is_omi = true,
            (Name::Serialization, b"jsonl") => self.found.is_stream = true,
            _ => {}
        }
        None
    }

    const fn at_end(&self) -> First {
        let found = &self.found;
        match (found.is_aimem, found.is_omi) {
            (true, _) if found.has_records => First::Known(Format::Aimem),
            (true, _) => First::Known(Format::AimemNdjson),
            (_, true) if found.has_records && !found.is_stream => First::Known(Format::Omi),
            (_, true) => First::Known(Format::OmiJsonl),
            _ if found.has_conversations && !found.has_type => {
                First::Known(Format::Provider(Provider::Grok))
            }
            _ if self.depth == 0 || self.is_array || self.spans_lines => First::Other,
            _ => First::Line,
        }
    }
}

/// Longer than every name and every value that is looked for.
const STRING_LEN_MAX: usize = 32;
