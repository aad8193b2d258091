//! The plaintext of a slot: a person, and the keys that open what is theirs.

use zeroize::Zeroizing;

use crate::crypto::{Error, Random, Secret};
use crate::grain::Time;

/// A person and their keys.
pub(crate) struct Slot {
    /// The pseudonym under which files name the person.
    pub(crate) uid: [u8; 16],
    pub(crate) user: String,
    pub(crate) created_at: Time,
    /// The secret of tokens and aliases, which outlives the data keys.
    pub(crate) index: Secret,
    /// The data keys by generation; the last one seals.
    pub(crate) keys: Vec<(u32, Secret)>,
}

impl Slot {
    /// Draws the keys of a new person.
    ///
    /// # Errors
    /// `ERR_NO_RANDOMNESS`.
    pub(crate) fn draw(random: &dyn Random, user: &str, now: Time) -> Result<Self, Error> {
        let mut uid = [0; 16];
        random.fill(&mut uid)?;
        Ok(Self {
            uid,
            user: user.to_owned(),
            created_at: now,
            index: Secret::draw(random)?,
            keys: vec![(1, Secret::draw(random)?)],
        })
    }

    /// Draws a data key of the next generation in the place of the others.
    ///
    /// # Errors
    /// `ERR_NO_RANDOMNESS`.
    pub(crate) fn renew(&mut self, random: &dyn Random) -> Result<(), Error> {
        let last = self.keys.last().map_or(0, |(generation, _)| *generation);
        self.keys = vec![(last.saturating_add(1), Secret::draw(random)?)];
        Ok(())
    }

    /// Makes the slot that of a hold: the keys and the user id of the person are gone.
    ///
    /// # Errors
    /// `ERR_NO_RANDOMNESS`.
    pub(crate) fn become_hold(&mut self, random: &dyn Random) -> Result<(), Error> {
        self.renew(random)?;
        // Tokens and marks of the person are found by nothing from here on.
        self.index = Secret::draw(random)?;
        self.user = hold_name(&self.uid);
        Ok(())
    }

    pub(crate) fn encode(&self) -> Zeroizing<Vec<u8>> {
        let count = u8::try_from(self.keys.len()).unwrap_or(u8::MAX);
        let len = 16 + 8 + 32 + 1 + self.keys.len() * 36 + self.user.len();
        // The capacity is exact: a vector that grows leaves a copy behind.
        let mut bytes = Zeroizing::new(Vec::with_capacity(len));
        bytes.extend_from_slice(&self.uid);
        bytes.extend_from_slice(&self.created_at.ms().to_be_bytes());
        bytes.extend_from_slice(self.index.expose());
        bytes.push(count);
        for (generation, key) in self.keys.iter().take(usize::from(count)) {
            bytes.extend_from_slice(&generation.to_be_bytes());
            bytes.extend_from_slice(key.expose());
        }
        bytes.extend_from_slice(self.user.as_bytes());
        bytes
    }

    /// Reads a slot; `None` for bytes that are none.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (uid, rest) = bytes.split_first_chunk()?;
        let (created_at, rest) = rest.split_first_chunk()?;
        let (index, rest) = rest.split_at_checked(32)?;
        let (count, mut rest) = rest.split_first()?;
        let mut keys = Vec::new();
        for _ in 0..*count {
            let (generation, after) = rest.split_first_chunk()?;
            let (key, after) = after.split_at_checked(32)?;
            keys.push((u32::from_be_bytes(*generation), Secret::copied(key)?));
            rest = after;
        }
        Some(Self {
            uid: *uid,
            user: String::from_utf8(rest.to_vec()).ok()?,
            created_at: Time::from_ms(i64::from_be_bytes(*created_at)),
            index: Secret::copied(index)?,
            keys,
        })
    }
}

/// Returns the name of the hold key of an erased person, in the place of a user id.
pub(crate) fn hold_name(uid: &[u8; 16]) -> String {
    format!("hold:{}", data_encoding::HEXLOWER.encode(uid))
}
