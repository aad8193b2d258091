//! Which addresses of external content may be followed (OMS 7, 20.5). Nothing is fetched here.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::codec::ContentAddress;

use super::Error;

/// A URI that was found safe to follow.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckedUri {
    /// `cas://sha256:…`: content by the SHA-256 of its bytes.
    Content(ContentAddress),
    /// `https://…`: a resource of a host.
    Https {
        /// The host.
        host: Host,
        /// The port, 443 unless the URI says otherwise.
        port: u16,
    },
}

/// The host of a checked URI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Host {
    /// A name in lower case. Each address it resolves to needs [`check_address`] when connecting,
    /// or the name's owner decides where the connection goes.
    Name(String),
    /// An address.
    Address(IpAddr),
}

/// How far a URI may reach.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reach {
    /// Hosts of the public internet.
    #[default]
    Public,
    /// Besides, this machine and private networks: loopback, RFC 1918, 100.64.0.0/10, fc00::/7,
    /// and names that only resolve there. Link-local addresses, where clouds keep credentials,
    /// stay refused.
    Private,
}

/// Why a URI is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UriFault {
    /// Longer than 8 KiB, or with a character that no URI has.
    #[error("not a URI")]
    Malformed,
    /// Neither https nor cas.
    #[error("scheme is not https or cas")]
    Scheme,
    /// A cas URI that is not `cas://sha256:` and 64 lower-case hexadecimal digits.
    #[error("cas URI must be cas://sha256: and 64 lower-case hexadecimal digits")]
    Content,
    /// A user name or password before the host, which hides the host from a reader.
    #[error("user information before the host")]
    UserInfo,
    /// A host that is neither a plain name nor an address; international names need punycode.
    #[error("host is neither a name nor an address")]
    Host,
    /// A host name that ends with a dot, which slips past lists of names.
    #[error("host name ends with a dot")]
    TrailingDot,
    /// An IPv4 address in octal, hexadecimal, with parts left out, or as one number.
    #[error("IPv4 address is not four decimal numbers")]
    OddAddress,
    /// A port that is empty, zero or past 65535.
    #[error("port is not a number from 1 to 65535")]
    Port,
    /// A name that resolves on this machine or its network only.
    #[error("host name is private")]
    PrivateName,
    /// An address of this machine or of a private network.
    #[error("address is private")]
    PrivateAddress,
    /// An address that is link-local, multicast, reserved, or has an IPv4 address inside.
    #[error("address is not one of the public internet")]
    SpecialAddress,
}

/// Decides whether a URI may be followed: https and cas, and no host that leads inside.
///
/// ```
/// use grainstore::grain::{CheckedUri, Host, Reach, UriFault, check_uri};
///
/// let checked = check_uri("https://example.com/a.png", Reach::Public)?;
/// assert_eq!(checked, CheckedUri::Https { host: Host::Name("example.com".into()), port: 443 });
/// let metadata = check_uri("https://169.254.169.254/latest", Reach::Public);
/// assert_eq!(metadata, Err(UriFault::SpecialAddress));
/// # Ok::<(), UriFault>(())
/// ```
///
/// # Errors
/// The first rule that the URI breaks.
pub fn check_uri(uri: &str, reach: Reach) -> Result<CheckedUri, UriFault> {
    if uri.len() > LEN_MAX || !has_uri_characters(uri) {
        return Err(UriFault::Malformed);
    }
    let (scheme, rest) = uri.split_once(':').ok_or(UriFault::Scheme)?;
    if scheme == "cas" {
        let hash = rest.strip_prefix("//sha256:").ok_or(UriFault::Content)?;
        let address = hash.parse().map_err(|_| UriFault::Content)?;
        return Ok(CheckedUri::Content(address));
    }
    if !scheme.eq_ignore_ascii_case("https") {
        return Err(UriFault::Scheme);
    }
    let rest = rest.strip_prefix("//").ok_or(UriFault::Host)?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, _) = rest.split_at(end);
    if authority.contains('@') {
        return Err(UriFault::UserInfo);
    }
    let (host, port) = split_port(authority)?;
    Ok(CheckedUri::Https {
        host: check_host(host, reach)?,
        port,
    })
}

/// Decides whether a connection may be made to an address, which a name has resolved to.
///
/// # Errors
/// [`UriFault::PrivateAddress`], [`UriFault::SpecialAddress`].
pub const fn check_address(address: IpAddr, reach: Reach) -> Result<(), UriFault> {
    let place = match address {
        IpAddr::V4(address) => place_of_v4(address),
        IpAddr::V6(address) => place_of_v6(address),
    };
    match (place, reach) {
        (Place::Public, _) | (Place::Private, Reach::Private) => Ok(()),
        (Place::Private, Reach::Public) => Err(UriFault::PrivateAddress),
        (Place::Special, _) => Err(UriFault::SpecialAddress),
    }
}

/// Checks fetched bytes against the `checksum` of a reference, in constant time (OMS 20.5).
///
/// ```
/// use grainstore::grain::verify_checksum;
///
/// let checksum = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
/// verify_checksum(checksum, b"abc")?;
/// assert_eq!(verify_checksum(checksum, b"abd").unwrap_err().code(), "ERR_INTEGRITY");
/// # Ok::<(), grainstore::grain::Error>(())
/// ```
///
/// # Errors
/// `ERR_INTEGRITY` for other bytes; `ERR_HASH_LENGTH` and `ERR_HASH_FORMAT` for a checksum that is
/// not a SHA-256 in lower-case hexadecimal, with or without `sha256:` before it.
pub fn verify_checksum(checksum: &str, bytes: &[u8]) -> Result<(), Error> {
    let address = ContentAddress::from_reference(checksum)?;
    if address.verifies(bytes) {
        Ok(())
    } else {
        Err(Error::Integrity { address })
    }
}

/// RFC 3986: visible ASCII, less what no part of a URI has, with whole percent escapes. Parsers
/// disagree on all else, and a check is worth nothing where the fetcher reads another host.
fn has_uri_characters(uri: &str) -> bool {
    let is_plain = uri
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && !br#""<>\^`{|}"#.contains(&byte));
    let mut escapes = uri.split('%').skip(1);
    is_plain
        && escapes.all(|rest| {
            let hex = rest.bytes().take(2).filter(u8::is_ascii_hexdigit);
            hex.count() == 2
        })
}

fn split_port(authority: &str) -> Result<(&str, u16), UriFault> {
    // The colons of an IPv6 address stand inside its brackets.
    let after_brackets = authority.rfind(']').unwrap_or_default();
    let (_, tail) = authority.split_at(after_brackets);
    let Some((_, digits)) = tail.split_once(':') else {
        return Ok((authority, 443));
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match digits.parse() {
        Ok(port) if is_number && port != 0 => {
            let host = authority.strip_suffix(digits);
            let host = host.and_then(|host| host.strip_suffix(':'));
            Ok((host.unwrap_or_default(), port))
        }
        _ => Err(UriFault::Port),
    }
}

fn check_host(host: &str, reach: Reach) -> Result<Host, UriFault> {
    if let Some(address) = host.strip_prefix('[') {
        let address = address.strip_suffix(']').ok_or(UriFault::Host)?;
        let address: Ipv6Addr = address.parse().map_err(|_| UriFault::Host)?;
        return check_address(address.into(), reach).map(|()| Host::Address(address.into()));
    }
    let name = host.to_ascii_lowercase();
    if name.len() > 1 && name.ends_with('.') {
        return Err(UriFault::TrailingDot);
    }
    if name.len() > 253 || !name.split('.').all(is_label) {
        return Err(UriFault::Host);
    }
    let last = name.rsplit('.').next().unwrap_or_default();
    if is_number(last) {
        // Resolvers read 0177.1, 0x7f.1, 127.1 and 2130706433 as 127.0.0.1: one spelling only.
        let address: Ipv4Addr = name.parse().map_err(|_| UriFault::OddAddress)?;
        return check_address(address.into(), reach).map(|()| Host::Address(address.into()));
    }
    if reach == Reach::Public && is_private_name(&name) {
        return Err(UriFault::PrivateName);
    }
    Ok(Host::Name(name))
}

fn is_label(label: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (1..=63).contains(&label.len())
        && label.bytes().all(is_plain)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

/// Whether a resolver could read the last label as part of an IPv4 address.
fn is_number(label: &str) -> bool {
    match label.strip_prefix("0x") {
        Some(hex) => hex.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => label.bytes().all(|byte| byte.is_ascii_digit()),
    }
}

/// A name of one label is looked up in the local network first.
fn is_private_name(name: &str) -> bool {
    let is_below = |domain: &&str| {
        name.strip_suffix(domain)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    !name.contains('.') || PRIVATE_DOMAINS.iter().any(is_below)
}

enum Place {
    Public,
    Private,
    Special,
}

const fn place_of_v4(address: Ipv4Addr) -> Place {
    match address.octets() {
        [10 | 127, ..] | [100, 64..=127, ..] | [172, 16..=31, ..] | [192, 168, ..] => {
            Place::Private
        }
        // This network, link-local, IETF protocols, documentation, 6to4 relays, benchmarks,
        // multicast and reserved (RFC 6890).
        [0, ..]
        | [169, 254, ..]
        | [192, 0, 0 | 2, _]
        | [192, 88, 99, _]
        | [198, 18 | 19, ..]
        | [198, 51, 100, _]
        | [203, 0, 113, _]
        | [224..=255, ..] => Place::Special,
        _ => Place::Public,
    }
}

const fn place_of_v6(address: Ipv6Addr) -> Place {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 1] | [0xfc00..=0xfdff, ..] => Place::Private,
        // Teredo and other protocols of 2001::/23, documentation, and 6to4, which has an IPv4
        // address inside.
        [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x2002, ..] | [0x3fff, 0..=0x0fff, ..] => {
            Place::Special
        }
        [0x2000..=0x3fff, ..] => Place::Public,
        // Nothing else is routed: mapped and NAT64 addresses, link-local, multicast, reserved.
        _ => Place::Special,
    }
}

/// RFC 6761, RFC 6762, RFC 8375, and what ICANN keeps for private use.
const PRIVATE_DOMAINS: &[&str] = &[
    "localhost",
    "local",
    "internal",
    "localdomain",
    "home.arpa",
    "lan",
    "intranet",
    "private",
    "corp",
    "home",
];

const LEN_MAX: usize = 8 * 1024;
