//! Which URIs may be followed (OMS 20.5): every rule, and every way around it that is known.

use grainstore::codec::ContentAddress;
use grainstore::grain::UriFault::{
    self, Content, Host as BadHost, Malformed, OddAddress, Port, PrivateAddress, PrivateName,
    Scheme, SpecialAddress, TrailingDot, UserInfo,
};
use grainstore::grain::{CheckedUri, Host, Reach, check_address, check_uri, verify_checksum};

const FOLLOWED: &[&str] = &[
    "https://example.com",
    "https://example.com/",
    "HTTPS://EXAMPLE.COM/a",
    "https://example.com:8443/x",
    "https://a.b.c.example.co.uk/p?q=1#f",
    "https://xn--bcher-kva.example/",
    "https://example.com/%41%2f",
    "https://example.com?x=@y",
    "https://example.com/@user",
    "https://example.com#a@b",
    "https://example.com/a:b@c",
    "https://example.com/[1]",
    "https://8.8.8.8/",
    "https://1.1.1.1:65535",
    "https://172.15.255.255",
    "https://172.32.0.1",
    "https://100.63.255.255",
    "https://100.128.0.1",
    "https://169.253.0.1",
    "https://192.167.1.1",
    "https://192.169.1.1",
    "https://11.0.0.1",
    "https://126.255.255.255",
    "https://128.0.0.1",
    "https://223.255.255.255",
    "https://198.17.0.1",
    "https://198.20.0.1",
    "https://[2606:4700:4700::1111]/",
    "https://[2001:4860:4860::8888]:443/x",
    "https://[2003::1]",
    "https://[2001:200::1]",
    "https://local.example.com",
    "https://internal.example.com",
    "https://mylocal.com",
    "https://localhost.com",
    "https://notlocalhost.org",
    "https://0x7f.example.com",
    "https://127.0.0.1.example.com",
    "https://1e100.net",
    "https://3com.com",
    "https://a-b.example",
    "cas://sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
];

const REFUSED: &[(UriFault, &[&str])] = &[
    (
        Scheme,
        &[
            "http://example.com",
            "ftp://example.com",
            "file:///etc/passwd",
            "gopher://example.com",
            "data:text/plain,hello",
            "javascript:alert(1)",
            "ws://example.com",
            "wss://example.com",
            "ldap://example.com",
            "dict://example.com",
            "s3://bucket/key",
            "ipfs://Qm",
            "urn:uuid:1",
            "mailto:a@example.com",
            "//example.com/x",
            "/etc/passwd",
            "example.com",
            "example.com:443",
            "httpss://example.com",
            "xhttps://example.com",
            "CAS://sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "",
        ],
    ),
    (
        Malformed,
        &[
            "https://example.com/a b",
            "https://example.com/\t",
            "https://example.com\n.evil.org",
            " https://example.com",
            "https://example.com ",
            "https://example.com/\u{0}",
            "https://example.com\\@evil.org",
            "https:\\\\example.com",
            "https://bücher.example",
            "https://example。com",
            "https://１２７.0.0.1",
            "https://ⓛocalhost",
            "https://127。0。0。1",
            "https://example.com/é",
            "https://example.com/\u{202e}",
            "https://example.com/%",
            "https://example.com/%2",
            "https://example.com/%zz",
            "https://exa%mple.com",
            "https://example.com/<a>",
            "https://example.com/{a}",
            "https://example.com/\"",
            "https://example.com/|",
            "https://example.com/^",
            "https://example.com/`",
            "https://[fe80::1%eth0]",
        ],
    ),
    (
        Content,
        &[
            "cas:",
            "cas://",
            "cas://sha256",
            "cas://sha256:",
            "cas://sha256:abc123",
            "cas:sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "cas://sha256:BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD",
            "cas://sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad0",
            "cas://sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015a",
            "cas://sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad/a",
            "cas://sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad?x",
            "cas://sha256:sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "cas://sha512:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "cas://md5:ba7816bf8f01cfea414140de5dae2223",
            "cas://ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "cas://host/sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        ],
    ),
    (
        UserInfo,
        &[
            "https://user@example.com",
            "https://user:pw@example.com",
            "https://@example.com",
            "https://:@example.com",
            "https://example.com@evil.org",
            "https://example.com:443@evil.org",
            "https://127.0.0.1@example.com",
            "https://a@b@example.com",
            "https://user%40x@example.com",
            "https://[::1]@example.com",
        ],
    ),
    (
        BadHost,
        &[
            "https:",
            "https:/",
            "https://",
            "https:///x",
            "https://?x",
            "https://#x",
            "https:example.com",
            "https:/example.com",
            "https://.",
            "https://.example.com",
            "https://example..com",
            "https://-a.example.com",
            "https://a-.example.com",
            "https://a_b.example.com",
            "https://exam%70le.com",
            "https://%31%32%37.0.0.1",
            "https://127%2e0.0.1",
            "https://a,b.com",
            "https://example.com;x",
            "https://*.example.com",
            "https://[",
            "https://[]",
            "https://[127.0.0.1]",
            "https://[example.com]",
            "https://[::g]",
            "https://[1::2::3]",
            "https://[v1.a]",
            "https://[fe80::1%25eth0]",
            "https://[::1]x",
            "https://[::1].example.com",
            "https://example.com]",
            "https://~",
            "https://!!",
            "https://$host",
            "https://'a'",
            "https://(a)",
        ],
    ),
    (
        TrailingDot,
        &[
            "https://example.com.",
            "https://example.com./x",
            "https://example.com.:443",
            "https://localhost.",
            "https://127.0.0.1.",
            "https://foo.internal.",
            "https://example.com..",
        ],
    ),
    (
        OddAddress,
        &[
            "https://0177.1",
            "https://0177.0.0.1",
            "https://2130706433",
            "https://127.1",
            "https://127.0.1",
            "https://0x7f.1",
            "https://0x7f000001",
            "https://0X7F.0.0.1",
            "https://0x7f.0x0.0x0.0x1",
            "https://017700000001",
            "https://127.0.0.01",
            "https://127.0.0.0x1",
            "https://08.8.8.8",
            "https://8.8.8",
            "https://8.8",
            "https://8",
            "https://0",
            "https://256.1.1.1",
            "https://1.2.3.4.5",
            "https://1.2.3.999",
            "https://4294967296",
            "https://0x",
            "https://a.0x",
            "https://example.1",
            "https://foo.0x7f",
            "https://00.0.0.0",
            "https://010.0.0.1",
            "https://192.168.257",
            "https://0xa9fea9fe",
            "https://2852039166",
            "https://0251.0376.0251.0376",
        ],
    ),
    (
        Port,
        &[
            "https://example.com:",
            "https://example.com:/",
            "https://example.com:0",
            "https://example.com:65536",
            "https://example.com:99999",
            "https://example.com:+443",
            "https://example.com:-1",
            "https://example.com:443a",
            "https://example.com:0x1bb",
            "https://example.com:443:443",
            "https://[::1]:",
            "https://example.com:%34",
            "https://[::1",
            "https://::1",
        ],
    ),
    (
        PrivateName,
        &[
            "https://localhost",
            "https://LOCALHOST:8443/x",
            "https://LocalHost",
            "https://a.localhost",
            "https://printer.local",
            "https://PRINTER.LOCAL",
            "https://metadata.google.internal",
            "https://foo.internal",
            "https://internal",
            "https://local",
            "https://router",
            "https://metadata",
            "https://host.localdomain",
            "https://nas.lan",
            "https://wiki.intranet",
            "https://hub.home.arpa",
            "https://db.corp",
            "https://tv.home",
            "https://x.private",
            "https://xn--a",
        ],
    ),
    (
        PrivateAddress,
        &[
            "https://127.0.0.1",
            "https://127.0.0.1:8443/admin",
            "https://127.255.255.254",
            "https://127.1.2.3",
            "https://10.0.0.0",
            "https://10.0.0.1",
            "https://10.255.255.255",
            "https://172.16.0.1",
            "https://172.31.255.255",
            "https://192.168.0.1",
            "https://192.168.255.255",
            "https://100.64.0.1",
            "https://100.127.255.255",
            "https://[::1]",
            "https://[0:0:0:0:0:0:0:1]",
            "https://[::1]:8443/",
            "https://[0000::0001]",
            "https://[::0.0.0.1]",
            "https://[fc00::1]",
            "https://[fdff:ffff::1]",
            "https://[FD00::1]",
            "https://[fd00:ec2::254]",
        ],
    ),
    (
        SpecialAddress,
        &[
            "https://0.0.0.0",
            "https://0.0.0.0:443/x",
            "https://0.1.2.3",
            "https://169.254.169.254",
            "https://169.254.169.254/latest/meta-data/",
            "https://169.254.0.1",
            "https://192.0.0.1",
            "https://192.0.2.1",
            "https://192.88.99.1",
            "https://198.18.0.1",
            "https://198.19.255.255",
            "https://198.51.100.7",
            "https://203.0.113.7",
            "https://224.0.0.1",
            "https://239.255.255.255",
            "https://240.0.0.1",
            "https://255.255.255.255",
            "https://[::]",
            "https://[::]:443",
            "https://[fe80::1]",
            "https://[FE80::1]",
            "https://[febf::1]",
            "https://[fec0::1]",
            "https://[ff02::1]",
            "https://[ff05::2]",
            "https://[::ffff:127.0.0.1]",
            "https://[::ffff:7f00:1]",
            "https://[::ffff:10.0.0.1]",
            "https://[::FFFF:8.8.8.8]",
            "https://[0:0:0:0:0:ffff:a9fe:a9fe]",
            "https://[::ffff:0:127.0.0.1]",
            "https://[::127.0.0.1]",
            "https://[64:ff9b::127.0.0.1]",
            "https://[64:ff9b::a9fe:a9fe]",
            "https://[64:ff9b::8.8.8.8]",
            "https://[64:ff9b:1::1]",
            "https://[2002:7f00:1::]",
            "https://[2002:a9fe:a9fe::1]",
            "https://[2002:808:808::1]",
            "https://[2001::1]",
            "https://[2001:0:4136:e378::1]",
            "https://[2001:db8::1]",
            "https://[2001:10::1]",
            "https://[3fff::1]",
            "https://[100::1]",
            "https://[1::1]",
            "https://[4000::1]",
            "https://[5f00::1]",
        ],
    ),
];

#[test]
fn a_uri_is_followed_or_refused_by_the_rule_that_names_it() {
    for uri in FOLLOWED {
        assert!(check_uri(uri, Reach::Public).is_ok(), "{uri}");
        assert!(check_uri(uri, Reach::Private).is_ok(), "{uri}");
    }
    let mut refused = 0;
    for (fault, uris) in REFUSED {
        for uri in *uris {
            assert_eq!(check_uri(uri, Reach::Public), Err(*fault), "{uri}");
            refused += 1;
        }
    }
    assert!(refused + FOLLOWED.len() >= 150, "{refused} refused");
}

#[test]
fn the_private_reach_opens_private_networks_and_nothing_else() {
    for (fault, uris) in REFUSED {
        for uri in *uris {
            let checked = check_uri(uri, Reach::Private);
            match fault {
                PrivateAddress | PrivateName => assert!(checked.is_ok(), "{uri}"),
                _ => assert_eq!(checked, Err(*fault), "{uri}"),
            }
        }
    }
}

#[test]
fn a_uri_past_its_longest_is_refused() {
    let of_len = |len: usize| format!("https://example.com/{}", "a".repeat(len - 20));
    assert!(check_uri(&of_len(8192), Reach::Public).is_ok());
    assert_eq!(check_uri(&of_len(8193), Reach::Public), Err(Malformed));
    let label = |len| format!("https://{}.example", "a".repeat(len));
    assert!(check_uri(&label(63), Reach::Public).is_ok());
    assert_eq!(check_uri(&label(64), Reach::Public), Err(BadHost));
    let name = |len: usize| format!("https://{}b.co", "a.".repeat((len - 4) / 2));
    assert!(check_uri(&name(252), Reach::Public).is_ok());
    assert_eq!(check_uri(&name(254), Reach::Public), Err(BadHost));
}

#[test]
fn what_is_connected_to_is_what_was_checked() {
    let https = |host, port| Ok(CheckedUri::Https { host, port });
    assert_eq!(
        check_uri("https://Example.COM:8443/a", Reach::Public),
        https(Host::Name("example.com".into()), 8443)
    );
    assert_eq!(
        check_uri("https://8.8.8.8", Reach::Public),
        https(Host::Address([8, 8, 8, 8].into()), 443)
    );
    assert_eq!(
        check_uri("https://[2606:4700::1]:1", Reach::Public),
        https(Host::Address("2606:4700::1".parse().unwrap()), 1)
    );
    let address = ContentAddress::of(b"abc");
    assert_eq!(
        check_uri(&format!("cas://sha256:{address}"), Reach::Public),
        Ok(CheckedUri::Content(address))
    );
}

#[test]
fn a_name_that_resolves_to_the_inside_is_caught_when_connecting() {
    // DNS rebinding: the name was public, the address is not.
    for (address, fault) in [
        ("127.0.0.1", PrivateAddress),
        ("169.254.169.254", SpecialAddress),
        ("::ffff:10.0.0.1", SpecialAddress),
        ("fd00::1", PrivateAddress),
    ] {
        let address = address.parse().unwrap();
        assert_eq!(
            check_address(address, Reach::Public),
            Err(fault),
            "{address}"
        );
    }
    assert_eq!(
        check_address([93, 184, 216, 34].into(), Reach::Public),
        Ok(())
    );
    assert_eq!(check_address([127, 0, 0, 1].into(), Reach::Private), Ok(()));
}

#[test]
fn a_checksum_holds_for_its_bytes_and_no_others() {
    let bare = ContentAddress::of(b"abc").to_string();
    for checksum in [bare.clone(), format!("sha256:{bare}")] {
        assert!(verify_checksum(&checksum, b"abc").is_ok());
        for bytes in [&b"abd"[..], b"", b"abc\0"] {
            let error = verify_checksum(&checksum, bytes).unwrap_err();
            assert_eq!(error.code(), "ERR_INTEGRITY");
        }
    }
    for (checksum, code) in [
        (String::new(), "ERR_HASH_LENGTH"),
        ("sha256:abc123".into(), "ERR_HASH_LENGTH"),
        (format!("md5:{bare}"), "ERR_HASH_LENGTH"),
        (bare.to_uppercase(), "ERR_HASH_FORMAT"),
        (bare.replace('b', "g"), "ERR_HASH_FORMAT"),
    ] {
        let error = verify_checksum(&checksum, b"abc").unwrap_err();
        assert_eq!(error.code(), code, "{checksum}");
    }
}
