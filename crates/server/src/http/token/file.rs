//! The token file: JSON in the folder of the store, readable by its owner only, replaced atomically.
//!
//! A token is 256 random bits and is shown once; the file has their SHA-256. A fast hash is enough:
//! nothing can be guessed of a random number. `docs/http.md` describes the form.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use grainstore::Time;
use grainstore::crypto::Random;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::delegated::Delegation;
use super::folder::{Folder, Open, Place};
use super::{Grant, TokenError};

/// A token as the file has it: what it permits, and a hash by which it is recognised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenRecord {
    /// The name by which it is listed and revoked; it is part of the token and no secret.
    pub id: String,
    /// SHA-256 of the secret part, in lower-case hexadecimal.
    pub(super) sha256: String,
    /// The time at which it was made, in milliseconds since 1970.
    pub created_at: i64,
    /// Its use, in the words of the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The rights of its holder.
    pub grant: Grant,
    /// Of a token that was given to an OAuth client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) delegation: Option<Delegation>,
}

/// A new token. The text is shown once and is in no file.
pub struct IssuedToken {
    /// The name by which it is revoked.
    pub id: String,
    /// The token, as a caller sends it.
    pub text: String,
}

impl std::fmt::Debug for IssuedToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IssuedToken")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// The content of a token file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Content {
    version: u32,
    /// The key that positions in the store are sealed with, 32 bytes in hexadecimal.
    pub(super) position_key: String,
    pub(super) tokens: Vec<TokenRecord>,
}

/// The file of the tokens of a store.
///
/// ```
/// use grainstore::Time;
/// use grainstore::crypto::OsRandom;
/// use grainstore_server::http::{Grant, Operation, TokenFile};
///
/// let folder = tempfile::tempdir()?;
/// let file = TokenFile::in_store(&folder.path().join("memory.grains"));
/// let grant = Grant::new("did:web:bot.acme.example", [Operation::Read]);
/// let token = file.add(grant, None, Time::from_ms(1), &OsRandom)?;
/// assert!(token.text.starts_with("gst_"));
/// assert_eq!(file.list()?[0].id, token.id);
/// assert!(file.revoke(&token.id)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct TokenFile {
    folder: Place,
    name: String,
    path: PathBuf,
    /// Where earlier versions kept it.
    before: Option<PathBuf>,
}

impl TokenFile {
    /// Names a file.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Self {
            folder: Place {
                given: path.parent().unwrap_or(Path::new("")).to_owned(),
                inside: None,
            },
            name: name.into_owned(),
            path,
            before: None,
        }
    }

    /// Names the file of a store: `server/tokens` in its folder. One beside the store, where earlier
    /// versions kept it, is moved there.
    pub fn in_store(store: &Path) -> Self {
        let folder = Place {
            given: store.to_owned(),
            inside: Some(FOLDER),
        };
        let mut before = store.as_os_str().to_owned();
        before.push(".tokens");
        Self {
            path: folder.path().join(NAME),
            folder,
            name: NAME.to_owned(),
            before: Some(before.into()),
        }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a token.
    ///
    /// # Errors
    /// [`TokenError`].
    pub fn add(
        &self,
        grant: Grant,
        note: Option<String>,
        now: Time,
        random: &dyn Random,
    ) -> Result<IssuedToken, TokenError> {
        grant.check()?;
        let (mut name, mut secret) = ([0; 6], [0; 32]);
        random.fill(&mut name)?;
        random.fill(&mut secret)?;
        let id = HEXLOWER.encode(&name);
        let secret = BASE64URL_NOPAD.encode(&secret);
        let record = TokenRecord {
            id: id.clone(),
            sha256: HEXLOWER.encode(&hash(&secret)),
            created_at: now.ms(),
            note,
            grant,
            delegation: None,
        };
        self.change(random, |content| content.tokens.push(record))?;
        let text = format!("{PREFIX}{id}_{secret}");
        Ok(IssuedToken { id, text })
    }

    /// Returns the tokens, oldest first.
    ///
    /// # Errors
    /// [`TokenError`].
    pub fn list(&self) -> Result<Vec<TokenRecord>, TokenError> {
        Ok(self
            .read()?
            .map(|content| content.tokens)
            .unwrap_or_default())
    }

    /// Removes a token; a running server refuses it from its next request on. Returns whether there
    /// was one.
    ///
    /// # Errors
    /// [`TokenError`].
    pub fn revoke(&self, id: &str) -> Result<bool, TokenError> {
        let _turn = self.turn()?;
        let Some(mut content) = self.read()? else {
            return Ok(false);
        };
        let before = content.tokens.len();
        content.tokens.retain(|token| token.id != id);
        if content.tokens.len() == before {
            return Ok(false);
        }
        self.replace(&content)?;
        Ok(true)
    }

    pub(super) fn change(
        &self,
        random: &dyn Random,
        edit: impl FnOnce(&mut Content),
    ) -> Result<(), TokenError> {
        let _turn = self.turn()?;
        let mut content = match self.read()? {
            Some(content) => content,
            None => {
                let mut key = [0; 32];
                random.fill(&mut key)?;
                Content {
                    version: VERSION,
                    position_key: HEXLOWER.encode(&key),
                    tokens: Vec::new(),
                }
            }
        };
        edit(&mut content);
        self.replace(&content)
    }

    /// Reads the file; `None` if there is none.
    pub(super) fn read(&self) -> Result<Option<Content>, TokenError> {
        let folder = self.folder.open().map_err(|source| self.io(source))?;
        let found = folder.map(|folder| folder.file(&self.name, Open::Read));
        let found = found.transpose().map_err(|source| self.io(source))?;
        match found.flatten() {
            Some(file) => self.parsed(file).map(Some),
            None => self.moved(),
        }
    }

    fn parsed(&self, mut file: File) -> Result<Content, TokenError> {
        self.refuse_exposed(&file)?;
        let mut text = String::new();
        let mut bounded = (&mut file).take(LEN_MAX);
        bounded
            .read_to_string(&mut text)
            .map_err(|source| self.io(source))?;
        let malformed = |reason: String| TokenError::Malformed {
            path: self.path.clone(),
            reason,
        };
        // The text of an error of serde names the place and the member, and no value of ours is secret
        // but the key, which is checked apart.
        let content: Content =
            serde_json::from_str(&text).map_err(|error| malformed(error.to_string()))?;
        if content.version != VERSION {
            return Err(malformed(format!("version {}", content.version)));
        }
        Ok(content)
    }

    /// Moves the file from where earlier versions kept it; a link or a pipe there is left alone.
    fn moved(&self) -> Result<Option<Content>, TokenError> {
        let Some(before) = &self.before else {
            return Ok(None);
        };
        let old = Self::at(before);
        let Ok(Some(folder)) = old.folder.open() else {
            return Ok(None);
        };
        let Ok(Some(file)) = folder.file(&old.name, Open::Read) else {
            return Ok(None);
        };
        let content = old.parsed(file)?;
        self.replace(&content)?;
        let keys = format!("{}.keys", old.name);
        let moved = || -> io::Result<()> {
            if let Some(file) = folder.file(&keys, Open::Read)? {
                let new = self.make()?.file(&self.keys(), Open::Replace)?;
                if let Some(mut new) = new {
                    io::copy(&mut file.take(LEN_MAX), &mut new)?;
                    new.sync_all()?;
                }
            }
            for end in ["", ".keys", ".lock", ".new"] {
                // What is not there need not be removed.
                drop(folder.remove(&format!("{}{end}", old.name)));
            }
            folder.sync()
        };
        moved().map_err(|source| self.io(source))?;
        Ok(Some(content))
    }

    /// One change at a time, of all processes.
    fn turn(&self) -> Result<File, TokenError> {
        let opened = || {
            let file = self
                .make()?
                .file(&format!("{}.lock", self.name), Open::Append)?;
            let file = file.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
            file.lock()?;
            Ok(file)
        };
        opened().map_err(|source| self.io(source))
    }

    fn replace(&self, content: &Content) -> Result<(), TokenError> {
        let new = format!("{}.new", self.name);
        let write = || {
            let folder = self.make()?;
            let file = folder.file(&new, Open::Replace)?;
            let mut file = file.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
            file.set_len(0)?;
            let mut text = serde_json::to_vec_pretty(content)?;
            text.push(b'\n');
            file.write_all(&text)?;
            file.sync_all()?;
            folder.rename(&new, &self.name)?;
            // A revocation that a power failure undid would be none.
            folder.sync()
        };
        write().map_err(|source| self.io(source))
    }

    /// Opens the folder, and makes it if it is not there.
    pub(crate) fn make(&self) -> io::Result<Folder> {
        self.folder.make()
    }

    /// Returns the name of the file of idempotency keys, in the same folder.
    pub(crate) fn keys(&self) -> String {
        format!("{}.keys", self.name)
    }

    fn io(&self, source: io::Error) -> TokenError {
        let path = self.path.clone();
        TokenError::Io { path, source }
    }

    /// A file that others could write would let them in.
    #[cfg(unix)]
    fn refuse_exposed(&self, file: &File) -> Result<(), TokenError> {
        use std::os::unix::fs::MetadataExt;
        let found = file.metadata().map_err(|source| self.io(source))?;
        let me = rustix::process::geteuid().as_raw();
        if found.mode() & 0o077 == 0 && [me, 0].contains(&found.uid()) {
            return Ok(());
        }
        let path = self.path.clone();
        Err(TokenError::Exposed { path })
    }

    #[cfg(not(unix))]
    fn refuse_exposed(&self, _: &File) -> Result<(), TokenError> {
        Ok(())
    }
}

/// SHA-256 of the secret part of a token.
pub(super) fn hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

/// The beginning of each token, by which scanners of leaked secrets know one.
pub(super) const PREFIX: &str = "gst_";

/// The folder of the server in that of a store, and the file in it.
const FOLDER: &str = "server";
const NAME: &str = "tokens";

const VERSION: u32 = 1;

/// Far above a hundred thousand tokens.
const LEN_MAX: u64 = 64 << 20;
