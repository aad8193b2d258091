//! The addresses by which a server is reached, and the pages that may speak to it.
//!
//! A browser sends with each request the host that its page named, and the origin of the page. A name
//! that an attacker binds to this machine (DNS rebinding) is a host that the server does not have.

use axum::http::{HeaderMap, HeaderName, header};

use super::failure::Failure;

/// The address of a server as its clients name it: a scheme and a host, without a path.
///
/// ```
/// use grainstore_server::http::Site;
///
/// let site: Site = "https://memory.acme.example".parse()?;
/// assert_eq!(site.to_string(), "https://memory.acme.example");
/// assert!("https://acme.example/memory".parse::<Site>().is_err());
/// # Ok::<(), grainstore_server::http::SiteError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    is_https: bool,
    host: String,
}

/// A text that names no site.
#[derive(Debug, thiserror::Error)]
#[error("\"{text}\" is no address of a server: it is https://HOST, or http://HOST on this machine")]
pub struct SiteError {
    text: String,
}

impl std::str::FromStr for Site {
    type Err = SiteError;

    fn from_str(text: &str) -> Result<Self, SiteError> {
        let wrong = || SiteError {
            text: text.to_owned(),
        };
        let (scheme, host) = text.split_once("://").ok_or_else(wrong)?;
        let host = host.strip_suffix('/').unwrap_or(host).to_ascii_lowercase();
        let is_host = |c: char| c.is_ascii_alphanumeric() || "-.:[]".contains(c);
        if host.is_empty() || !host.chars().all(is_host) {
            return Err(wrong());
        }
        let is_https = scheme.eq_ignore_ascii_case("https");
        let is_http = scheme.eq_ignore_ascii_case("http") && is_local(&host);
        match is_https || is_http {
            true => Ok(Self { is_https, host }),
            false => Err(wrong()),
        }
    }
}

impl std::fmt::Display for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scheme = if self.is_https { "https" } else { "http" };
        write!(f, "{scheme}://{}", self.host)
    }
}

/// The sites of a server: those of this machine, and one that the operator names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sites {
    named: Option<Site>,
    takes_any_host: bool,
    /// Origins of other hosts whose pages may ask.
    pages: Vec<Site>,
}

impl Sites {
    pub(crate) fn at(site: Site) -> Self {
        Self {
            named: Some(site),
            ..Self::default()
        }
    }

    /// Lets the pages of another origin ask.
    pub(crate) fn and_page(mut self, origin: Site) -> Self {
        self.pages.push(origin);
        self
    }

    /// Returns the address that clients are told.
    pub(crate) fn named(&self) -> String {
        let named = self.named.as_ref();
        named.map_or_else(|| "http://localhost".to_owned(), ToString::to_string)
    }

    /// Whether the page of an origin may ask from a browser.
    pub(crate) fn admit_page(&self, origin: &axum::http::HeaderValue) -> bool {
        let origin = origin.to_str().unwrap_or_default();
        let is_local = origin
            .split_once("://")
            .is_some_and(|(_, host)| is_local(host));
        is_local || self.is_page(origin)
    }

    fn is_page(&self, origin: &str) -> bool {
        self.pages.iter().any(|page| page.to_string() == origin)
    }

    /// Takes any host, unless one is named.
    pub(crate) fn of_any_host(self) -> Self {
        Self {
            takes_any_host: self.named.is_none(),
            ..self
        }
    }

    /// Judges the host and the origin of a request. One without an origin is of no page.
    ///
    /// # Errors
    /// Status 403.
    pub(crate) fn admit(&self, headers: &HeaderMap) -> Result<(), Failure> {
        let text = |name: HeaderName| {
            let value = headers.get(name);
            value.map(|value| value.to_str().unwrap_or_default().to_ascii_lowercase())
        };
        let host = text(header::HOST);
        let knows = |host: &str| {
            let named = self.named.as_ref().is_some_and(|site| site.host == host);
            named || self.takes_any_host || is_local(host)
        };
        if host.as_deref().is_some_and(|host| !knows(host)) {
            return Err(refused("the server is not at this host"));
        }
        let is_own = |origin: &str| {
            let named = self
                .named
                .as_ref()
                .is_some_and(|site| site.to_string() == origin);
            let (_, of) = origin.split_once("://").unwrap_or_default();
            // Behind a proxy, the page of the host that was asked.
            let is_same = self.takes_any_host && host.as_deref() == Some(of);
            named || is_same || is_local(of) || self.is_page(origin)
        };
        match text(header::ORIGIN).is_none_or(|origin| is_own(&origin)) {
            true => Ok(()),
            false => Err(refused("a page of another origin")),
        }
    }
}

fn refused(message: &str) -> Failure {
    Failure::new(403, "ERR_ORIGIN", message)
}

/// Whether a host, with or without its port, is this machine by a name that nobody else can bind.
fn is_local(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name == "localhost"
        || name
            .parse::<std::net::IpAddr>()
            .is_ok_and(|ip| ip.is_loopback())
}
