//! Capability tokens of CAL (1.13): what one prepared change may do, signed with HMAC-SHA256.

use data_encoding::BASE64URL_NOPAD;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

/// The fields of a token. The signed bytes are their JSON as the token has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Claims {
    pub(super) token_id: String,
    pub(super) namespace: Option<String>,
    pub(super) user_id: Option<String>,
    /// The token of the handle that prepared it, where there is one.
    pub(super) actor: Option<String>,
    pub(super) tier: u8,
    pub(super) allowed_ops: Vec<String>,
    pub(super) allowed_grain_types: Vec<String>,
    /// Milliseconds since 1970.
    pub(super) issued_at: i64,
    pub(super) expires_at: i64,
    pub(super) max_uses: u32,
    pub(super) write_quota_remaining: usize,
    /// The canonical text with the values of its parameters: a token is of one statement.
    pub(super) statement: String,
}

impl Claims {
    /// Returns the token.
    pub(super) fn sealed(&self, key: &[u8; 64]) -> String {
        // A map of texts and numbers always has a form.
        let json = serde_json::to_string(self).unwrap_or_default();
        let signature = mac(key, json.as_bytes()).finalize().into_bytes();
        let part = |bytes: &[u8]| BASE64URL_NOPAD.encode(bytes);
        format!("{}.{}", part(json.as_bytes()), part(&signature))
    }

    /// Returns the fields of a token that was sealed with the same key.
    pub(super) fn opened(token: &str, key: &[u8; 64]) -> Option<Self> {
        let (json, signature) = token.split_once('.')?;
        let part = |text: &str| BASE64URL_NOPAD.decode(text.as_bytes()).ok();
        let (json, signature) = (part(json)?, part(signature)?);
        // Compared in constant time, before anything of it is read.
        mac(key, &json).verify_slice(&signature).ok()?;
        serde_json::from_slice(&json).ok()
    }
}

fn mac(key: &[u8; 64], bytes: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new(key.into());
    mac.update(bytes);
    mac
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_opens_with_its_key_alone_and_as_it_was_sealed() {
        let claims = Claims {
            token_id: "a".into(),
            namespace: Some("acme".into()),
            user_id: None,
            actor: None,
            tier: 1,
            allowed_ops: vec!["add".into()],
            allowed_grain_types: vec!["belief".into()],
            issued_at: 1,
            expires_at: 2,
            max_uses: 1,
            write_quota_remaining: 19,
            statement: "ADD belief".into(),
        };
        let token = claims.sealed(&[7; 64]);
        assert_eq!(Claims::opened(&token, &[7; 64]), Some(claims));
        assert_eq!(Claims::opened(&token, &[8; 64]), None);
        for at in 0..token.len() {
            let mut changed = token.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            assert_eq!(Claims::opened(&changed, &[7; 64]), None, "{at}");
        }
    }
}
