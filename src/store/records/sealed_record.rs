//! A sealed entry (OMS 20.2, 20.3): the index card of an entry, and its body as an envelope that
//! only the key of a person opens.
//!
//! The card is all that is known while the person is locked: their pseudonym, the kind of the
//! entry, and blind tokens. Neither names the person nor tells a word, a time or an address.

#[cfg(any(feature = "sealing", test))]
use crate::codec::{self, Value};
use crate::codec::{ContentAddress, Map};
use crate::crypto::{self, Random};
use crate::grain::Time;
use crate::index::Family;
use crate::ledger::{Binding, Kind, NewEntry};

use super::{draw_salts, fields};

/// The pseudonym of a sealed person.
pub(crate) type Uid = [u8; 16];

/// The part of a sealed entry that is read without a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SealedCard {
    pub(crate) uid: Uid,
    /// The kind that the entry would have in the clear.
    pub(crate) kind: Kind,
    pub(crate) tokens: BlindTokens,
    /// The grain in the clear that the entry ends, which is not current while the person is locked.
    pub(crate) ended: Option<EndedGrain>,
    /// When the entry was first stored, if that was in the clear.
    pub(crate) since: Option<Time>,
}

/// A grain in the clear that a sealed entry ends: by a sealed successor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EndedGrain {
    pub(crate) address: ContentAddress,
    /// Its end; `None` for the time of the entry.
    pub(crate) end: Option<Time>,
}

impl EndedGrain {
    #[cfg(any(feature = "sealing", test))]
    fn to_bytes(self) -> Vec<u8> {
        let end = self.end.map(|end| end.ms().to_be_bytes());
        let end = end.iter().flatten();
        self.address.as_bytes().iter().chain(end).copied().collect()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (address, end) = bytes.split_first_chunk()?;
        let end = match end {
            [] => None,
            end => Some(Time::from_ms(i64::from_be_bytes(end.try_into().ok()?))),
        };
        Some(Self {
            address: ContentAddress::new(*address),
            end,
        })
    }
}

/// Keyed hashes of identifiers in a sealed grain (OMS 20.3); none of another record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct BlindTokens {
    /// Of `user_id`.
    pub(crate) user: Option<[u8; 32]>,
    /// Of `session_id`.
    pub(crate) session: Option<[u8; 16]>,
    /// Of `subject`, `relation` and `object`, where these are texts.
    pub(crate) statement: [Option<[u8; 16]>; 3],
}

impl BlindTokens {
    /// Returns the tokens, each with the family of keys in which it is found.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Family, &[u8])> {
        let user = self.user.as_ref().map(|token| (Family::User, &token[..]));
        let session = self.session.as_ref();
        let session = session.map(|token| (Family::Session, &token[..]));
        user.into_iter().chain(session)
    }
}

/// A sealed entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SealedRecord {
    pub(crate) card: SealedCard,
    pub(crate) envelope: Vec<u8>,
}

impl SealedRecord {
    /// Returns the body of the entry.
    ///
    /// # Errors
    /// None that its values can cause.
    #[cfg(any(feature = "sealing", test))]
    pub(crate) fn encode(&self) -> Result<Vec<u8>, codec::Error> {
        let mut map = Map::from_iter([
            ("u", Value::Bytes(self.card.uid.to_vec())),
            ("k", Value::from(i64::from(self.card.kind.to_byte()))),
            ("e", Value::Bytes(self.envelope.clone())),
        ]);
        let tokens = &self.card.tokens;
        let user = tokens.user.map(|token| ("u", token.to_vec()));
        let session = tokens.session.map(|token| ("s", token.to_vec()));
        let parts = STATEMENT.into_iter().zip(tokens.statement);
        let parts = parts.filter_map(|(name, token)| Some((name, token?.to_vec())));
        let tokens = user.into_iter().chain(session).chain(parts);
        let tokens = tokens.map(|(name, token)| (name, Value::Bytes(token)));
        let tokens = Map::from_iter(tokens);
        if tokens.iter().next().is_some() {
            map.insert("t", Value::Map(tokens));
        }
        if let Some(ended) = self.card.ended {
            map.insert("o", Value::Bytes(ended.to_bytes()));
        }
        if let Some(since) = self.card.since {
            map.insert("w", since.ms());
        }
        fields::encode(map)
    }

    /// Reads the body of an entry of kind [`Kind::SealedGrain`]; `None` for one that this version
    /// does not understand. Nothing in it is verified before it is opened.
    pub(crate) fn decode(body: &[u8]) -> Option<Self> {
        let map = fields::decode(body)?;
        let kind = u8::try_from(map.get("k")?.as_i64()?).ok()?;
        let tokens = match map.get("t") {
            None => BlindTokens::default(),
            Some(tokens) => {
                let tokens = tokens.as_map()?;
                BlindTokens {
                    user: token(tokens, "u")?,
                    session: token(tokens, "s")?,
                    statement: {
                        let [subject, relation, object] = STATEMENT;
                        [
                            token(tokens, subject)?,
                            token(tokens, relation)?,
                            token(tokens, object)?,
                        ]
                    },
                }
            }
        };
        let ended = match map.get("o") {
            None => None,
            Some(ended) => Some(EndedGrain::from_bytes(ended.as_bytes()?)?),
        };
        let since = match map.get("w") {
            None => None,
            Some(since) => Some(Time::from_ms(since.as_i64()?)),
        };
        Some(Self {
            card: SealedCard {
                uid: map.get("u")?.as_bytes()?.try_into().ok()?,
                kind: Kind::from_byte(kind).filter(|kind| *kind != Kind::SealedGrain)?,
                tokens,
                ended,
                since,
            },
            envelope: map.get("e")?.as_bytes()?.to_vec(),
        })
    }
}

/// The sealed entries of a frame, by place; empty for a frame without any.
#[derive(Debug, Default)]
pub(crate) struct SealedEntries(Vec<Option<(SealedCard, Vec<u8>)>>);

impl SealedEntries {
    /// Returns them, each with its body; `None` for an entry in the clear.
    #[cfg(feature = "sealing")]
    pub(crate) const fn new(entries: Vec<Option<(SealedCard, Vec<u8>)>>) -> Self {
        Self(entries)
    }

    /// Returns the card of an entry, if it is sealed.
    pub(crate) fn card(&self, place: usize) -> Option<&SealedCard> {
        let (card, _) = self.0.get(place)?.as_ref()?;
        Some(card)
    }

    /// Returns the address of a sealed grain by its ciphertext (OMS 20.2).
    pub(crate) fn address(&self, place: usize) -> Option<ContentAddress> {
        let (card, body) = self.0.get(place)?.as_ref()?;
        matches!(card.kind, Kind::Grain).then(|| ContentAddress::of(body))
    }

    /// Puts the sealed entries in the place of those in the clear. The commitment is that of the
    /// sealed body: one of the plaintext could be guessed at.
    ///
    /// # Errors
    /// `ERR_NO_RANDOMNESS`.
    pub(crate) fn replace<'s>(
        &'s self,
        random: &dyn Random,
        entries: &mut [NewEntry<'s>],
    ) -> Result<(), crypto::Error> {
        let mut salts = draw_salts(random, self.0.iter().flatten().count())?.into_iter();
        for (entry, sealed) in entries.iter_mut().zip(&self.0) {
            if let Some((_, body)) = sealed {
                entry.kind = Kind::SealedGrain;
                entry.body = body;
                entry.binding = Binding::of(salts.next().unwrap_or_default(), body);
            }
        }
        Ok(())
    }
}

/// The names of the tokens of subject, relation and object.
const STATEMENT: [&str; 3] = ["a", "r", "o"];

/// Returns a token that may be absent; `None` for one of another length.
fn token<const LEN: usize>(tokens: &Map, name: &str) -> Option<Option<[u8; LEN]>> {
    match tokens.get(name) {
        None => Some(None),
        Some(token) => Some(Some(token.as_bytes()?.try_into().ok()?)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn record() -> SealedRecord {
        SealedRecord {
            card: SealedCard {
                uid: [0xaa; 16],
                kind: Kind::Grain,
                tokens: BlindTokens {
                    user: Some([0xbb; 32]),
                    session: Some([0xcc; 16]),
                    ..BlindTokens::default()
                },
                ended: None,
                since: None,
            },
            envelope: b"GSE1".to_vec(),
        }
    }

    #[test]
    fn a_sealed_entry_has_the_bytes_that_the_format_says() {
        let hex = |bytes: &[u8]| data_encoding::HEXLOWER.encode(bytes);
        let expected = format!(
            "84a165c404{}a16b01a17482a173c410{}a175c420{}a175c410{}",
            hex(b"GSE1"),
            "cc".repeat(16),
            "bb".repeat(32),
            "aa".repeat(16),
        );
        assert_eq!(hex(&record().encode().unwrap()), expected);
        let mut bare = record();
        bare.card.tokens = BlindTokens::default();
        bare.card.kind = Kind::Status;
        let expected = format!(
            "83a165c404{}a16b03a175c410{}",
            hex(b"GSE1"),
            "aa".repeat(16)
        );
        assert_eq!(hex(&bare.encode().unwrap()), expected);
    }

    #[test]
    fn a_sealed_entry_inside_a_sealed_entry_is_none() {
        let mut twice = record();
        twice.card.kind = Kind::SealedGrain;
        assert_eq!(SealedRecord::decode(&twice.encode().unwrap()), None);
    }

    proptest! {
        #[test]
        fn a_sealed_entry_comes_back_as_it_was(
            uid: [u8; 16],
            kind in 0..Kind::ALL.len(),
            user: Option<[u8; 32]>,
            session: Option<[u8; 16]>,
            statement: [Option<[u8; 16]>; 3],
            ended: Option<([u8; 32], Option<i64>)>,
            since: Option<i64>,
            envelope: Vec<u8>,
        ) {
            let kind = Kind::ALL[kind];
            prop_assume!(kind != Kind::SealedGrain);
            let ended = ended.map(|(address, end)| EndedGrain {
                address: ContentAddress::new(address),
                end: end.map(Time::from_ms),
            });
            let card = SealedCard {
                uid,
                kind,
                tokens: BlindTokens { user, session, statement },
                ended,
                since: since.map(Time::from_ms),
            };
            let record = SealedRecord { card, envelope };
            let body = record.encode().unwrap();
            prop_assert_eq!(SealedRecord::decode(&body), Some(record));
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(body: Vec<u8>) {
            drop(SealedRecord::decode(&body));
        }
    }
}
