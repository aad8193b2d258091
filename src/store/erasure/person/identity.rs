//! A person as the store knows them: identifiers, and the fields of a grain that name one of them.

use crate::codec::{ContentAddress, Map, Profile, Value, encode_value, nfc};
use crate::crypto::Did;
use crate::grain::{ABOUT, Grain, USER, foreign_record, user_urn};
use crate::store::Error;
use crate::store::engine::Engine;
use crate::store::read;

/// A person, by every identifier that the store may know them under.
///
/// A field names the person if its whole value, or the value of a member inside it, is one of the
/// identifiers in NFC. Case counts. A DID also stands for its fragments, and an identifier for its
/// URN in AIMEM bundles of a grainstore. Of the file of a note headings, links and values of the
/// frontmatter are looked at. Other free text is not searched.
///
/// ```
/// use grainstore::store::Person;
///
/// let person = Person::new("alice-123").also("did:web:alice.example");
/// assert_eq!(person.ids(), ["alice-123", "did:web:alice.example"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    ids: Vec<String>,
    /// The identifiers and their URNs.
    forms: Vec<String>,
}

/// The fields of a grain that name a person.
#[derive(Debug, Default)]
pub(super) struct Naming {
    /// Paths of fields, in the order of the fields.
    pub(super) fields: Vec<String>,
    /// Whether the grain is about the person, and not about another one.
    pub(super) is_about: bool,
    /// Whether the grain is about another user.
    pub(super) is_of_another: bool,
}

impl Person {
    /// Names a person by one identifier: a `user_id`, a DID, a subject.
    pub fn new(id: impl AsRef<str>) -> Self {
        let none = Self {
            ids: Vec::new(),
            forms: Vec::new(),
        };
        none.also(id)
    }

    /// Adds an identifier of the same person.
    #[must_use]
    pub fn also(mut self, id: impl AsRef<str>) -> Self {
        let id = nfc(id.as_ref());
        let id = match id.starts_with(DID) {
            true => Did::bare(&id).to_owned(),
            false => id.into_owned(),
        };
        if !self.ids.contains(&id) {
            self.forms.extend([id.clone(), user_urn(&id)]);
            self.ids.push(id);
        }
        self
    }

    /// Returns the identifiers, in the order in which they were given.
    pub fn ids(&self) -> &[String] {
        &self.ids
    }

    /// Returns the person with all user ids that the owner said are theirs (ruling I29).
    pub(super) fn whole(&self, engine: &Engine) -> Result<Self, Error> {
        let ids = read::united(engine, &engine.snapshot(), self.ids.clone())?;
        Ok(ids.iter().fold(self.clone(), Self::also))
    }

    /// Returns whether a text is one of the identifiers.
    pub(super) fn is(&self, text: &str) -> bool {
        let mut forms = self.forms.iter();
        forms.any(|id| text == id || id.starts_with(DID) && Did::bare(text) == id)
    }
}

/// A person, prepared for the search of many entries.
#[derive(Debug)]
pub(super) struct Needles<'a> {
    person: &'a Person,
    /// The elision hashes of the forms (OMS 10.1.1), which have no salt.
    hashes: Vec<String>,
}

impl<'a> Needles<'a> {
    /// # Errors
    /// `ERR_FILTER` for an empty identifier.
    pub(super) fn of(person: &'a Person) -> Result<Self, Error> {
        if person.ids.iter().any(String::is_empty) {
            return Err(Error::Filter {
                filter: "person",
                reason: "has an empty identifier",
            });
        }
        let hash = |id: &String| {
            let bytes = encode_value(Value::Text(id.clone()), Profile::Extended)?;
            Ok(format!("sha256:{}", ContentAddress::of(&bytes)))
        };
        let hashes: Result<_, Error> = person.forms.iter().map(hash).collect();
        Ok(Self {
            person,
            hashes: hashes?,
        })
    }

    pub(super) fn is(&self, text: &str) -> bool {
        self.person.is(text)
    }

    pub(super) fn ids(&self) -> &[String] {
        &self.person.ids
    }

    /// Returns whether bytes can name the person: both encodings hold texts as they are.
    pub(super) fn may_be_in(&self, bytes: &[u8]) -> bool {
        let holds = |needle: &str| {
            let needle = needle.as_bytes();
            bytes.windows(needle.len()).any(|part| part == needle)
        };
        let mut needles = self.person.forms.iter().chain(&self.hashes);
        // A record of another format is JSON, which may escape such identifiers.
        let is_escaped = |id: &String| {
            let stays = |byte: u8| (b' '..=b'~').contains(&byte) && !b"\"\\/".contains(&byte);
            !id.bytes().all(stays)
        };
        needles.any(|needle| holds(needle)) || self.person.ids.iter().any(is_escaped) && holds("x-")
    }

    /// Returns the fields of a grain that name the person.
    pub(super) fn naming(&self, grain: &Grain) -> Naming {
        let mut naming = Naming::default();
        let mut user = None;
        for (name, value) in grain.fields().iter() {
            if name == ELIDED {
                for (field, hash) in value.as_map().into_iter().flat_map(Map::iter) {
                    let is_same = hash.as_text().is_some_and(|hash| self.has_hash(hash));
                    if is_same {
                        naming.fields.push(format!("{ELIDED}.{field}"));
                        naming.is_about |= ABOUT.contains(&field);
                    }
                    if field == USER {
                        user = Some(is_same);
                    }
                }
                continue;
            }
            let before = naming.fields.len();
            self.walk(name, value, &mut naming.fields);
            let named = naming.fields.get(before..).unwrap_or_default();
            let is_named = !named.is_empty();
            naming.is_about |= is_named && ABOUT.contains(&name);
            naming.is_about |= named.iter().any(|path| ABOUT.contains(&path.as_str()));
            if name == USER {
                user = Some(is_named);
            }
        }
        naming.is_of_another = user == Some(false);
        naming.is_about &= !naming.is_of_another;
        naming
    }

    /// Returns whether a member of a record is one of the identifiers.
    pub(super) fn are_in(&self, value: &Value) -> bool {
        let mut fields = Vec::new();
        self.walk("", value, &mut fields);
        !fields.is_empty()
    }

    fn walk(&self, path: &str, value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Text(text)
                if self.is_in(path, text) && found.last().is_none_or(|last| last != path) =>
            {
                found.push(path.to_owned());
            }
            Value::Array(values) => values.iter().for_each(|it| self.walk(path, it, found)),
            Value::Map(map) => {
                for (name, value) in map.iter() {
                    // The path is shown and must not repeat the identifier.
                    let is_id = self.is(name);
                    let engine = if is_id { "(key)" } else { name };
                    let engine = format!("{path}.{engine}");
                    if is_id {
                        found.push(engine.clone());
                    }
                    let record = match path == CONTEXT {
                        true => foreign_record(name, value),
                        false => None,
                    };
                    self.walk(&engine, record.as_ref().unwrap_or(value), found);
                }
            }
            _ => {}
        }
    }

    /// Whether a value is one of the identifiers, or text of a note around its items has one between
    /// its marks: a heading, a link, a value of the frontmatter, a name of a file.
    fn is_in(&self, path: &str, text: &str) -> bool {
        let is_note = path.starts_with(NOTE) && !ABOUT.contains(&path) || PLACES.contains(&path);
        self.is(&nfc(text))
            || is_note
                && text.split(NOTE_MARKS).any(|part| {
                    let part = part.trim_matches([' ', '\r', '*', '_', '-']);
                    self.is(&nfc(part.strip_suffix(".md").unwrap_or(part)))
                })
    }

    fn has_hash(&self, hash: &str) -> bool {
        self.hashes.iter().any(|known| known == hash)
    }
}

/// The field whose members may be records of other formats.
const CONTEXT: &str = "context";
/// The residual of a note, and the place of an item.
const NOTE: &str = "context.x-markdown";
const PLACES: [&str; 2] = ["context.file", "context.section"];
const NOTE_MARKS: [char; 15] = [
    '\n', '#', '[', ']', '(', ')', '{', '}', '|', ':', ',', '"', '\'', '/', '§',
];
const ELIDED: &str = "_elided";
const DID: &str = "did:";
