//! A signed note: its text, read strictly, and its signature lines.

use std::fmt;
use std::str::FromStr;

use data_encoding::{BASE64, HEXLOWER};

use crate::crypto::Error;
#[cfg(feature = "signatures")]
use crate::crypto::SigningKey;
#[cfg(feature = "signatures")]
use crate::grain::Time;

use super::NoteKey;
use super::key::{Kind, is_name};

/// A checkpoint of a ledger as a note: who has one can tell whether the ledger was rolled back or
/// rewritten. Text with signature lines, which others add to.
///
/// ```
/// use grainstore::crypto::{Algorithm, Note, NoteKey, OsRandom, SigningKey};
/// use grainstore::{Draft, Options, Store};
///
/// let store = Store::in_memory(Options::default())?;
/// store.put(Draft::event("hello"))?;
/// let key = SigningKey::generate(Algorithm::Ed25519, &OsRandom)?;
/// let mut note = store.maintenance()?.audit().head()?;
/// note.sign(&key)?;
///
/// let read: Note = note.to_string().parse()?;
/// let log = NoteKey::log(read.origin(), key.verifying_key())?;
/// assert!(read.is_signed_by(&log) && read.entries() == 1);
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    store: [u8; 16],
    entries: u64,
    root: [u8; 32],
    /// The text that is signed: up to the empty line, the end of its last line included.
    text: String,
    signatures: Vec<Line>,
}

/// A signature line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    name: String,
    /// The id of the key, and the signature.
    bytes: Vec<u8>,
}

impl Note {
    /// Returns the note of a ledger's root, without a signature.
    pub fn new(store: [u8; 16], entries: u64, root: [u8; 32]) -> Self {
        let (id, hash) = (HEXLOWER.encode(&store), BASE64.encode(&root));
        Self {
            store,
            entries,
            root,
            text: format!("{ORIGIN}{id}\n{entries}\n{hash}\n"),
            signatures: Vec::new(),
        }
    }

    /// Returns the origin, which names the store.
    pub fn origin(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }

    /// Returns the store id.
    pub const fn store(&self) -> [u8; 16] {
        self.store
    }

    /// Returns the number of entries of the ledger, those included that were erased.
    pub const fn entries(&self) -> u64 {
        self.entries
    }

    /// Returns the root of the Merkle tree over the leaves.
    pub const fn root(&self) -> [u8; 32] {
        self.root
    }

    /// Adds the signature of the store's operator, under the name of the origin.
    ///
    /// # Errors
    /// `ERR_KEY` for a key that is not Ed25519.
    #[cfg(feature = "signatures")]
    pub fn sign(&mut self, key: &SigningKey) -> Result<(), Error> {
        let public = NoteKey::log(self.origin(), key.verifying_key())?;
        let signature = key.sign(self.text.as_bytes())?;
        self.add(&public, &signature);
        Ok(())
    }

    /// Adds the cosignature of a witness: it has seen the ledger grow to here, and signs no other
    /// history of it. A witness verifies a consistency proof from the last note that it signed first.
    ///
    /// # Errors
    /// `ERR_KEY` for a key that is not Ed25519, or a name that is none of a key.
    #[cfg(feature = "signatures")]
    pub fn cosign(&mut self, name: &str, key: &SigningKey, at: Time) -> Result<(), Error> {
        let public = NoteKey::witness(name, key.verifying_key())?;
        let seconds = u64::try_from(at.ms() / 1000).unwrap_or_default();
        let mut bytes = seconds.to_be_bytes().to_vec();
        bytes.extend(key.sign(self.cosigned(seconds).as_bytes())?);
        self.add(&public, &bytes);
        Ok(())
    }

    #[cfg(feature = "signatures")]
    fn add(&mut self, key: &NoteKey, signature: &[u8]) {
        let mut bytes = key.id().to_vec();
        bytes.extend(signature);
        let name = key.name().to_owned();
        self.signatures.push(Line { name, bytes });
    }

    /// Returns whether a key has signed the note; a key of a witness by a cosignature. False in a
    /// build without the feature `signatures`.
    pub fn is_signed_by(&self, key: &NoteKey) -> bool {
        let mut signatures = self.signatures_of(key).peekable();
        signatures.peek().is_some() && signatures.all(|bytes| self.verifies(key, bytes))
    }

    /// Returns how many of these keys have signed the note, each counted once.
    pub fn signers(&self, keys: &[NoteKey]) -> usize {
        let mut counted: Vec<Vec<u8>> = Vec::new();
        for key in keys {
            // Two names of one key are one witness.
            let bytes = key.key().to_bytes();
            if !counted.contains(&bytes) && self.is_signed_by(key) {
                counted.push(bytes);
            }
        }
        counted.len()
    }

    fn signatures_of<'a>(&'a self, key: &'a NoteKey) -> impl Iterator<Item = &'a [u8]> {
        let id = key.id();
        let lines = self.signatures.iter();
        let lines = lines.filter(|line| line.name == key.name());
        lines.filter_map(move |line| line.bytes.strip_prefix(&id))
    }

    fn verifies(&self, key: &NoteKey, bytes: &[u8]) -> bool {
        let verify = |message: &str, signature: &[u8]| {
            let signature = <&[u8; 64]>::try_from(signature).ok();
            signature.is_some_and(|it| key.key().verify(message.as_bytes(), it).is_ok())
        };
        match (key.kind(), bytes.split_first_chunk::<8>()) {
            (Kind::Log, _) => verify(&self.text, bytes),
            (Kind::Witness, Some((seconds, signature))) => {
                let seconds = u64::from_be_bytes(*seconds);
                verify(&self.cosigned(seconds), signature)
            }
            (Kind::Witness, None) => false,
        }
    }

    /// Returns the message of a cosignature (C2SP `tlog-cosignature`).
    fn cosigned(&self, seconds: u64) -> String {
        format!("cosignature/v1\ntime {seconds}\n{}", self.text)
    }
}

impl FromStr for Note {
    type Err = Error;

    /// Reads a note of a store's ledger, signed or not.
    ///
    /// # Errors
    /// `ERR_CORRUPT` for any other text, and for one that this does not write back byte for byte.
    fn from_str(text: &str) -> Result<Self, Error> {
        let read = || {
            let (body, signatures) = match text.split_once("\n\n") {
                Some((body, signatures)) => (body, signatures),
                None => (text.strip_suffix('\n')?, ""),
            };
            let mut lines = body.split('\n');
            let id = lines.next()?.strip_prefix(ORIGIN)?;
            let entries = lines.next()?.parse().ok()?;
            let root = BASE64.decode(lines.next()?.as_bytes()).ok()?;
            let store = HEXLOWER.decode(id.as_bytes()).ok()?;
            let mut note = Self::new(store.try_into().ok()?, entries, root.try_into().ok()?);
            for line in lines.filter(|line| !line.is_empty()) {
                note.text.extend([line, "\n"]);
            }
            let signatures = signatures.lines().map(Line::read);
            note.signatures = signatures.collect::<Option<_>>()?;
            Some(note)
        };
        let note = read().filter(|_| text.len() <= LEN_MAX);
        let note = note.filter(|note| note.to_string() == text);
        note.ok_or(Error::Envelope {
            reason: "not a note of a store's ledger",
        })
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        if !self.signatures.is_empty() {
            f.write_str("\n")?;
        }
        for Line { name, bytes } in &self.signatures {
            writeln!(f, "{SIGNED}{name} {}", BASE64.encode(bytes))?;
        }
        Ok(())
    }
}

impl Line {
    fn read(line: &str) -> Option<Self> {
        let (name, bytes) = line.strip_prefix(SIGNED)?.split_once(' ')?;
        let bytes = BASE64.decode(bytes.as_bytes()).ok()?;
        let is_whole = is_name(name) && bytes.len() > 4;
        is_whole.then(|| Self {
            name: name.to_owned(),
            bytes,
        })
    }
}

const ORIGIN: &str = "grainstore/";
const SIGNED: &str = "— ";

/// The longest note that is read, in bytes.
const LEN_MAX: usize = 64 << 10;

#[cfg(all(test, feature = "signatures"))]
#[expect(clippy::indexing_slicing, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::crypto::Algorithm;

    /// The example of C2SP `signed-note`, whose text is none of a ledger.
    #[test]
    fn the_signature_of_the_published_note_verifies() {
        let key = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
        let key: NoteKey = key.parse().unwrap();
        let line = "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXg\
                    KvqfqdngotpRZb6KE6RyyBwJnAM=";
        let mut note = Note::new([0; 16], 0, [0; 32]);
        note.text = "If you think cryptography is the answer to your problem,\n\
                     then you don't know what your problem is.\n"
            .to_owned();
        note.signatures = vec![Line::read(line).unwrap()];
        assert!(note.is_signed_by(&key));
        note.text.push(' ');
        assert!(!note.is_signed_by(&key));
    }

    #[test]
    fn a_note_with_one_bit_flipped_is_not_signed_by_its_keys() {
        let key = |byte| SigningKey::generate(Algorithm::Ed25519, &Fixed(byte)).unwrap();
        let (log, witnesses) = (key(1), [key(2), key(3)]);
        let mut note = Note::new([7; 16], 1234, [9; 32]);
        note.sign(&log).unwrap();
        for (n, key) in witnesses.iter().enumerate() {
            let name = format!("witness.example/{n}");
            note.cosign(&name, key, Time::from_ms(1_700_000_000_000))
                .unwrap();
        }
        let log = NoteKey::log(note.origin(), log.verifying_key()).unwrap();
        let public = witnesses.iter().enumerate().map(|(n, key)| {
            NoteKey::witness(format!("witness.example/{n}"), key.verifying_key()).unwrap()
        });
        let public: Vec<_> = public.collect();
        let accepts =
            |note: &Note| note.is_signed_by(&log) && note.signers(&public) == witnesses.len();
        let text = note.to_string();
        assert!(accepts(&text.parse().unwrap()));
        for bit in 0..text.len() * 8 {
            let mut bytes = text.clone().into_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let read = String::from_utf8(bytes).ok().and_then(|it| it.parse().ok());
            assert!(!read.is_some_and(|note| accepts(&note)), "bit {bit}");
        }
        for text in [
            &text[1..],
            &text[..text.len() - 1],
            &format!("{text}\n"),
            "",
        ] {
            assert!(text.parse::<Note>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn two_names_of_one_key_are_one_witness() {
        let key = SigningKey::generate(Algorithm::Ed25519, &Fixed(2)).unwrap();
        let mut note = Note::new([7; 16], 1, [9; 32]);
        let names = ["one", "other"];
        let keys = names.map(|name| {
            note.cosign(name, &key, Time::from_ms(0)).unwrap();
            NoteKey::witness(name, key.verifying_key()).unwrap()
        });
        assert!(keys.iter().all(|key| note.is_signed_by(key)));
        assert_eq!(note.signers(&keys), 1);
    }

    #[derive(Debug)]
    struct Fixed(u8);

    impl crate::crypto::Random for Fixed {
        fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
            bytes.fill(self.0);
            Ok(())
        }
    }
}
