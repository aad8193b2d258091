//! Tokens of OAuth clients: each has the rights of a token that its owner showed, or fewer, for an hour
//! at a time, and ends with it.

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use grainstore::Time;
use grainstore::crypto::Random;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

use super::file::{PREFIX, TokenRecord, hash};
use super::{Grant, TokenError, TokenFile};

/// The entry of the file about a token that was given to an OAuth client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Delegation {
    /// The token that its owner showed: this one ends with it.
    pub(crate) parent: String,
    /// SHA-256 of the id of the client, in hexadecimal.
    client: String,
    /// When the access token ends, in milliseconds since 1970.
    pub(crate) expires_at: i64,
    /// SHA-256 of the refresh token, and of the one before, which no one but a thief sends again.
    refresh: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spent: Option<String>,
}

/// An access token and the one by which it is renewed.
pub(crate) struct Pair {
    pub(crate) access: String,
    pub(crate) refresh: String,
    pub(crate) grant: Grant,
}

/// The client that tokens are issued to.
pub(crate) struct Client<'a> {
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
}

impl TokenFile {
    /// Gives a client a token of its own.
    ///
    /// # Errors
    /// [`TokenError`]; one for a parent that was revoked meanwhile.
    pub(crate) fn delegate(
        &self,
        (parent, grant): (&str, Grant),
        client: &Client<'_>,
        now: Time,
        random: &dyn Random,
    ) -> Result<Pair, TokenError> {
        grant.check()?;
        let mut name = [0; 6];
        random.fill(&mut name)?;
        let id = HEXLOWER.encode(&name);
        let secrets = [secret(random)?, secret(random)?];
        let pair = Pair::of(&id, &secrets, &grant);
        let record = TokenRecord {
            id,
            sha256: sum(&secrets[0]),
            created_at: now.ms(),
            note: Some(format!("OAuth: {}", client.name)),
            grant,
            delegation: Some(Delegation {
                parent: parent.to_owned(),
                client: sum(client.id),
                expires_at: now.ms().saturating_add(ACCESS_MS),
                refresh: sum(&secrets[1]),
                spent: None,
            }),
        };
        self.change(random, |content| {
            content.tokens.retain(|token| !token.is_over(now));
            content.tokens.push(record);
        })?;
        Ok(pair)
    }

    /// Renews the token of a client; `None` for a refresh token that is none. One that was spent ends
    /// the token: another has a copy.
    ///
    /// # Errors
    /// [`TokenError`].
    pub(crate) fn refresh(
        &self,
        text: &str,
        client: &str,
        now: Time,
        random: &dyn Random,
    ) -> Result<Option<Pair>, TokenError> {
        let parts = text.strip_prefix(REFRESH_PREFIX);
        let Some((id, shown)) = parts.and_then(|it| it.split_once('_')) else {
            return Ok(None);
        };
        let (shown, client) = (sum(shown), sum(client));
        let secrets = [secret(random)?, secret(random)?];
        let mut renewed = None;
        self.change(random, |content| {
            let parents: Vec<_> = content.tokens.iter().map(|it| it.id.clone()).collect();
            let mut tokens = content.tokens.iter_mut();
            let Some(token) = tokens.find(|token| token.id == id && !token.is_over(now)) else {
                return;
            };
            let Some(delegation) = &mut token.delegation else {
                return;
            };
            if !is_equal(&delegation.client, &client) || !parents.contains(&delegation.parent) {
                return;
            }
            if is_equal(&delegation.refresh, &shown) {
                delegation.expires_at = now.ms().saturating_add(ACCESS_MS);
                delegation.spent =
                    Some(std::mem::replace(&mut delegation.refresh, sum(&secrets[1])));
                token.sha256 = sum(&secrets[0]);
                renewed = Some(Pair::of(id, &secrets, &token.grant));
            } else if { &delegation.spent }
                .as_ref()
                .is_some_and(|it| is_equal(it, &shown))
            {
                content.tokens.retain(|token| token.id != id);
            }
        })?;
        Ok(renewed)
    }
}

impl TokenRecord {
    /// Whether no one can renew it any more.
    fn is_over(&self, now: Time) -> bool {
        let delegation = self.delegation.as_ref();
        delegation.is_some_and(|it| it.expires_at.saturating_add(IDLE_MS) < now.ms())
    }
}

impl Pair {
    fn of(id: &str, [access, refresh]: &[String; 2], grant: &Grant) -> Self {
        Self {
            access: format!("{PREFIX}{id}_{access}"),
            refresh: format!("{REFRESH_PREFIX}{id}_{refresh}"),
            grant: grant.clone(),
        }
    }
}

fn secret(random: &dyn Random) -> Result<String, TokenError> {
    let mut secret = [0; 32];
    random.fill(&mut secret)?;
    Ok(BASE64URL_NOPAD.encode(&secret))
}

fn sum(text: &str) -> String {
    HEXLOWER.encode(&hash(text))
}

fn is_equal(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

/// The beginning of each refresh token.
const REFRESH_PREFIX: &str = "gsr_";

/// How long an access token is good.
pub(crate) const ACCESS_MS: i64 = 3_600_000;

/// How long after its end it can be renewed.
const IDLE_MS: i64 = 30 * 86_400_000;
