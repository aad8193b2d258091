//! The tokens of a running server: read again whenever the file was replaced, so that a revoked
//! token is refused from the next request on.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use data_encoding::HEXLOWER;
use grainstore::crypto::Did;
use grainstore::store::{Clock, SystemClock};
use subtle::ConstantTimeEq;

use super::file::{PREFIX, hash};
use super::{Grant, TokenError, TokenFile};

/// A caller whose token was recognised.
#[derive(Debug)]
pub(crate) struct Holder {
    pub(crate) id: String,
    pub(crate) grant: Grant,
    pub(crate) actor: Did,
    hash: [u8; 32],
    /// When it ends, of one that was given to an OAuth client.
    expires_at: Option<i64>,
}

impl Holder {
    /// Whether it was given to an OAuth client, and lets no other client in.
    pub(crate) const fn is_delegated(&self) -> bool {
        self.expires_at.is_some()
    }
}

/// The tokens of a file, as they are now.
#[derive(Debug)]
pub(crate) struct Tokens {
    file: TokenFile,
    known: Mutex<Option<(Stamp, Arc<Known>)>>,
}

#[derive(Debug)]
struct Known {
    position_key: [u8; 32],
    holders: HashMap<String, Arc<Holder>>,
}

/// Two files under one name differ in it: a replaced file has another inode, and another time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp(u64, u64, Option<SystemTime>, i64);

impl Tokens {
    pub(crate) const fn of(file: TokenFile) -> Self {
        Self {
            file,
            known: Mutex::new(None),
        }
    }

    /// Returns the holder of a token; `None` for a text that is none, or none any more.
    ///
    /// # Errors
    /// [`TokenError`]: a file that cannot be read lets no caller in.
    pub(crate) fn holder(&self, text: &str) -> Result<Option<Arc<Holder>>, TokenError> {
        let known = self.known()?;
        let parts = text.strip_prefix(PREFIX).and_then(|it| it.split_once('_'));
        let (id, secret) = parts.unwrap_or_default();
        let holder = known.holders.get(id);
        // The same work for an id that is unknown: it is no secret, but neither is it told.
        let expected = holder.map_or([0; 32], |holder| holder.hash);
        let is_equal = bool::from(hash(secret).ct_eq(&expected));
        let is_good = |holder: &&Arc<Holder>| is_equal && !is_over(holder);
        Ok(holder.filter(is_good).map(Arc::clone))
    }

    /// Returns whether a token still is what it was when its holder was let in.
    pub(crate) fn is_in_force(&self, holder: &Holder) -> bool {
        let known = self.known();
        known.is_ok_and(|known| {
            let now = known.holders.get(&holder.id);
            let is_same = |now: &Arc<Holder>| now.hash == holder.hash && now.grant == holder.grant;
            // A client that renews its token has another secret, and goes on with its sessions.
            let is_renewed = |now: &Arc<Holder>| holder.is_delegated() && now.grant == holder.grant;
            now.is_some_and(|now| (is_same(now) || is_renewed(now)) && !is_over(now))
        })
    }

    /// Returns the key that positions are sealed with.
    ///
    /// # Errors
    /// As [`Tokens::holder`].
    pub(crate) fn position_key(&self) -> Result<[u8; 32], TokenError> {
        Ok(self.known()?.position_key)
    }

    fn known(&self) -> Result<Arc<Known>, TokenError> {
        let stamp = self.stamp();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some((at, known)), Some(stamp)) = (&*known, stamp)
            && *at == stamp
        {
            return Ok(Arc::clone(known));
        }
        *known = None;
        let read = Arc::new(self.read()?);
        // The stamp is older than the reading, so a change in between is read again.
        *known = stamp.map(|stamp| (stamp, Arc::clone(&read)));
        Ok(read)
    }

    fn read(&self) -> Result<Known, TokenError> {
        let Some(content) = self.file.read()? else {
            return Ok(Known {
                position_key: [0; 32],
                holders: HashMap::new(),
            });
        };
        let bytes = |text: &str| -> Result<[u8; 32], TokenError> {
            let bytes = HEXLOWER.decode(text.as_bytes()).ok();
            let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
            bytes.ok_or_else(|| TokenError::Malformed {
                path: self.file.path().to_owned(),
                reason: "a key or a hash is not 32 bytes".to_owned(),
            })
        };
        let mut holders = HashMap::new();
        let ids: HashSet<_> = content.tokens.iter().map(|it| it.id.clone()).collect();
        for token in content.tokens {
            // It ends with the token that its owner showed.
            let delegation = token.delegation.as_ref();
            if delegation.is_some_and(|it| !ids.contains(&it.parent)) {
                continue;
            }
            let holder = Holder {
                expires_at: delegation.map(|it| it.expires_at),
                actor: token.grant.check()?,
                hash: bytes(&token.sha256)?,
                id: token.id.clone(),
                grant: token.grant,
            };
            holders.insert(token.id, Arc::new(holder));
        }
        Ok(Known {
            position_key: bytes(&content.position_key)?,
            holders,
        })
    }

    /// Returns whether there is a token of this name.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.known()
            .is_ok_and(|known| known.holders.contains_key(id))
    }

    pub(crate) const fn file(&self) -> &TokenFile {
        &self.file
    }

    fn stamp(&self) -> Option<Stamp> {
        let found = fs::symlink_metadata(self.file.path()).ok()?;
        #[cfg(unix)]
        let (inode, changed) = {
            use std::os::unix::fs::MetadataExt;
            (found.ino(), found.ctime_nsec())
        };
        #[cfg(not(unix))]
        let (inode, changed) = (0, 0);
        Some(Stamp(inode, found.len(), found.modified().ok(), changed))
    }
}

fn is_over(holder: &Holder) -> bool {
    let now = SystemClock.now().ms();
    holder.expires_at.is_some_and(|end| end <= now)
}
