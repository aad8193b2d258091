//! What the packages of the lock file may be: where they come from, under which licence, which are
//! there twice, and which are known to be vulnerable or unmaintained.
//!
//! These are the checks of cargo-deny, which would take longer to build than the tests. No database
//! of advisories is asked: `ADVISORIES` is kept by hand, from <https://rustsec.org>.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// Licences that each ask for no more than their text beside the program.
const LICENCES: &[&str] = &[
    "Apache-2.0",
    "BSD-1-Clause",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Packages that are there in several versions: ours and an older one that `age`, `coset`, `fs4`,
/// `jsonschema`, `proptest`, `tantivy` or `tokio-postgres` still asks for. A name that is there once again
/// leaves the list.
const TWICE: &[&str] = &[
    "aead",
    "aes",
    "aes-gcm",
    "base16ct",
    "base64",
    "bit-set",
    "bit-vec",
    "block-buffer",
    "chacha20",
    "cipher",
    "const-oid",
    "cpufeatures",
    "crypto-bigint",
    "crypto-common",
    "ctr",
    "curve25519-dalek",
    "der",
    "digest",
    "elliptic-curve",
    "fallible-iterator",
    "ff",
    "fiat-crypto",
    "getrandom",
    "ghash",
    "group",
    "hashbrown",
    "hkdf",
    "hmac",
    "hybrid-array",
    "inout",
    "itertools",
    "nom",
    "p256",
    "polyval",
    "primeorder",
    "r-efi",
    "rand",
    "rand_chacha",
    "rand_core",
    "sec1",
    "sha2",
    "spki",
    "syn",
    "thiserror",
    "thiserror-impl",
    "toml",
    "universal-hash",
    "wasi",
    "windows-sys",
];

/// A package, the first version that is free of the fault (`None`: there is none), and the advisory.
const ADVISORIES: &[(&str, Option<[u64; 3]>, &str)] = &[
    (
        "age",
        Some([0, 11, 1]),
        "RUSTSEC-2024-0433: plugin names run any program",
    ),
    ("ansi_term", None, "RUSTSEC-2021-0139: unmaintained"),
    ("atty", None, "RUSTSEC-2024-0375: unmaintained"),
    ("bincode", None, "RUSTSEC-2025-0141: unmaintained"),
    (
        "crossbeam-channel",
        Some([0, 5, 15]),
        "RUSTSEC-2025-0024: double free",
    ),
    (
        "curve25519-dalek",
        Some([4, 1, 3]),
        "RUSTSEC-2024-0344: timing",
    ),
    ("derivative", None, "RUSTSEC-2024-0388: unmaintained"),
    ("fxhash", None, "RUSTSEC-2025-0057: unmaintained"),
    (
        "idna",
        Some([1, 0, 0]),
        "RUSTSEC-2024-0421: Punycode of other names",
    ),
    ("instant", None, "RUSTSEC-2024-0384: unmaintained"),
    ("number_prefix", None, "RUSTSEC-2025-0119: unmaintained"),
    ("paste", None, "RUSTSEC-2024-0436: unmaintained"),
    ("proc-macro-error", None, "RUSTSEC-2024-0370: unmaintained"),
    ("ring", Some([0, 17, 12]), "RUSTSEC-2025-0009: panic"),
    ("smallvec", Some([1, 6, 1]), "RUSTSEC-2021-0003: overflow"),
    ("time", Some([0, 2, 23]), "RUSTSEC-2020-0071: unsound"),
    (
        "tracing-subscriber",
        Some([0, 3, 20]),
        "RUSTSEC-2025-0055: escapes in logs",
    ),
    ("yaml-rust", None, "RUSTSEC-2024-0320: unmaintained"),
];

const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

struct Package {
    name: String,
    version: String,
    source: Option<String>,
}

/// Returns the packages of the lock file.
fn locked() -> Vec<Package> {
    let lock = std::fs::read_to_string(super::root().join("Cargo.lock")).unwrap();
    let value = |block: &str, key: &str| {
        let mut lines = block.lines();
        let found = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""));
        found.map(|text| text.trim_end_matches('"').to_owned())
    };
    let packages: Vec<_> = lock
        .split("[[package]]")
        .skip(1)
        .map(|block| Package {
            name: value(block, "name").unwrap(),
            version: value(block, "version").unwrap(),
            source: value(block, "source"),
        })
        .collect();
    assert!(packages.len() > 100, "{}", packages.len());
    packages
}

#[test]
fn every_package_is_ours_or_of_the_registry() {
    for package in locked() {
        let is_ours = package.name.starts_with("grainstore");
        let source = package.source.as_deref();
        assert_eq!(source, (!is_ours).then_some(REGISTRY), "{}", package.name);
    }
}

#[test]
fn packages_that_are_there_twice_are_known() {
    let mut versions = BTreeMap::<_, u32>::new();
    for package in locked() {
        *versions.entry(package.name).or_default() += 1;
    }
    versions.retain(|_, count| *count > 1);
    let twice: BTreeSet<&str> = versions.keys().map(String::as_str).collect();
    assert_eq!(twice, TWICE.iter().copied().collect());
}

#[test]
fn no_package_is_known_to_be_vulnerable_or_unmaintained() {
    for package in locked() {
        for (name, fixed, advisory) in ADVISORIES {
            if package.name == *name {
                let numbers = package.version.split(['.', '-', '+']);
                let numbers: Vec<u64> = numbers.map_while(|part| part.parse().ok()).collect();
                let is_fixed = fixed.is_some_and(|fixed| numbers[..] >= fixed[..]);
                assert!(is_fixed, "{name} {}: {advisory}", package.version);
            }
        }
    }
}

#[test]
fn every_licence_is_one_that_was_agreed_to() {
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(super::root())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&metadata.stderr);
    assert!(metadata.status.success(), "{told}");
    let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 100, "{}", packages.len());
    let faults: Vec<_> = packages
        .iter()
        .filter(|package| !is_agreed(package["license"].as_str().unwrap_or("none")))
        .map(|package| format!("{}: {}", package["name"], package["license"]))
        .collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Whether a licence of each part that all apply was agreed to.
fn is_agreed(expression: &str) -> bool {
    expression.split(" AND ").all(|part| {
        let part = part.trim_matches(['(', ')']).replace('/', " OR ");
        part.split(" OR ").any(|one| LICENCES.contains(&one.trim()))
    })
}

#[test]
fn one_of_several_licences_is_enough_and_all_of_a_conjunction_are_needed() {
    for agreed in [
        "MIT",
        "GPL-2.0-only OR MIT",
        "(MIT OR X) AND Zlib",
        "MIT/X",
        "X / MIT",
    ] {
        assert!(is_agreed(agreed), "{agreed}");
    }
    for refused in ["none", "GPL-2.0-only", "MIT AND GPL-2.0-only"] {
        assert!(!is_agreed(refused), "{refused}");
    }
}
