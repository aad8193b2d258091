//! Clients. The id of one is what it registered, sealed: a registration takes no room, so that a flood of
//! them takes none either.

use axum::http::Uri;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::http::position;

/// A client as it registered itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Client {
    pub(super) name: String,
    redirect_uris: Vec<String>,
}

impl Client {
    /// Reads a registration (RFC 7591, 2).
    ///
    /// # Errors
    /// The error code of RFC 7591, 3.2.2.
    pub(super) fn register(request: &Value) -> Result<Self, &'static str> {
        let uris = request.get("redirect_uris").and_then(Value::as_array);
        let uris = uris.filter(|uris| (1..=URIS_MAX).contains(&uris.len()));
        let uris = uris.ok_or("invalid_redirect_uri")?.iter().map(|uri| {
            let uri = uri.as_str().filter(|uri| is_redirect(uri));
            uri.map(str::to_owned).ok_or("invalid_redirect_uri")
        });
        let redirect_uris = uris.collect::<Result<Vec<_>, _>>()?;
        let method = request.get("token_endpoint_auth_method");
        if method.is_some_and(|method| method != "none") {
            return Err("invalid_client_metadata");
        }
        let name = request.get("client_name").and_then(Value::as_str);
        let name = name.unwrap_or("a client without a name").chars();
        Ok(Self {
            name: name.take(NAME_LEN_MAX).collect(),
            redirect_uris,
        })
    }

    /// Returns the answer to a registration, with the id.
    pub(super) fn registered(&self, key: &[u8; 32]) -> Option<Value> {
        let text = serde_json::to_string(self).ok()?;
        Some(json!({
            "client_id": position::seal_text(key, PURPOSE, &text)?,
            "client_name": self.name,
            "redirect_uris": self.redirect_uris,
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        }))
    }

    /// Returns the client of an id.
    pub(super) fn of(key: &[u8; 32], id: &str) -> Option<Self> {
        serde_json::from_str(&position::open(key, PURPOSE, id)?).ok()
    }

    /// Whether a person may be sent there with a code. A program on the person's machine has another
    /// port each time (RFC 8252, 7.3).
    pub(super) fn redirects_to(&self, uri: &str) -> bool {
        let asked = without_port(uri);
        let is_same =
            |known: &String| known == uri || (asked.is_some() && without_port(known) == asked);
        is_redirect(uri) && self.redirect_uris.iter().any(is_same)
    }
}

/// Whether it is one of TLS, or of this machine.
fn is_redirect(text: &str) -> bool {
    let Ok(uri) = text.parse::<Uri>() else {
        return false;
    };
    let has_host = uri.host().is_some_and(|host| !host.is_empty());
    let is_clean = !text.contains(['#', '@', '\\']) && text.len() <= URI_LEN_MAX;
    is_clean && has_host && (uri.scheme_str() == Some("https") || is_local(&uri))
}

fn is_local(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or_default();
    uri.scheme_str() == Some("http") && ["localhost", "127.0.0.1", "[::1]"].contains(&host)
}

/// Returns a redirection to this machine without its port; of another, nothing.
fn without_port(text: &str) -> Option<(String, String)> {
    let uri = text.parse::<Uri>().ok().filter(is_local)?;
    let path = uri.path_and_query().map(ToString::to_string);
    Some((uri.host()?.to_owned(), path.unwrap_or_default()))
}

const PURPOSE: &str = "OAuth client";
const URIS_MAX: usize = 5;
const URI_LEN_MAX: usize = 512;
const NAME_LEN_MAX: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_what_it_registered_and_is_sent_nowhere_else() {
        let request = json!({
            "client_name": "An agent",
            "redirect_uris": ["https://agent.example/back", "http://127.0.0.1:1234/back"],
        });
        let client = Client::register(&request).unwrap();
        let id = client.registered(&[7; 32]).unwrap()["client_id"].clone();
        assert_eq!(
            Client::of(&[7; 32], id.as_str().unwrap()),
            Some(client.clone())
        );
        assert_eq!(Client::of(&[8; 32], id.as_str().unwrap()), None);
        for (uri, is_known) in [
            ("https://agent.example/back", true),
            ("http://127.0.0.1:1234/back", true),
            ("http://127.0.0.1:9/back", true),
            ("http://127.0.0.1:9/other", false),
            ("http://localhost:9/back", false),
            ("https://agent.example:444/back", false),
            ("https://agent.example/back?x=1", false),
            ("https://agent.example.evil/back", false),
            ("https://agent.example/back#x", false),
        ] {
            assert_eq!(client.redirects_to(uri), is_known, "{uri}");
        }
        for wrong in [
            "http://agent.example/",
            "javascript:alert(1)",
            "agent:back",
            "/back",
            "",
            "data:x",
        ] {
            let request = json!({ "redirect_uris": [wrong] });
            assert!(Client::register(&request).is_err(), "{wrong}");
        }
    }
}
