//! Which room may name which dependency, so that replacing one is a change in one folder.

use super::files;
use super::imports::without_comments;

const OWNERS: &[(&str, &str)] = &[
    ("aes_gcm", "crypto"),
    ("age", "interchange"),
    ("argon2", "crypto"),
    ("bs58", "crypto"),
    ("ciborium", "codec"),
    ("coset", "crypto"),
    ("crc32fast", "index"),
    ("csv", "interchange"),
    ("der", "crypto"),
    ("ed25519_dalek", "crypto"),
    ("frostem", "text"),
    ("getrandom", "crypto"),
    ("half", "codec"),
    ("hkdf", "crypto"),
    ("hmac", "crypto"),
    ("jiff", "grain"),
    ("levenshtein_automata", "text"),
    ("lz4_flex", "codec"),
    ("p256", "crypto"),
    ("rayon", "process"),
    ("redb", "vault"),
    ("rmp", "codec"),
    ("roaring", "index"),
    ("serde_json_canonicalizer", "codec"),
    ("tantivy", "text"),
    ("tantivy_fst", "text"),
    ("toml", "policy"),
    ("unicode_normalization", "codec"),
    ("zip", "interchange"),
    ("zstd", "codec"),
];

#[test]
fn a_crate_is_named_only_by_its_owner() {
    let mut faults = Vec::new();
    for file in files("src", "rs") {
        let code = without_comments(&file.text);
        for (name, owner) in OWNERS {
            let is_owner = file.path.starts_with(&format!("src/{owner}/"));
            if !is_owner && names_crate(&code, name) {
                faults.push(format!("{}: {name} belongs to {owner}", file.path));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// In a child that was forked the threads of rayon's pool are missing, but for those of `in_parallel`.
#[test]
fn every_parallel_iterator_runs_in_the_pool_of_its_process() {
    let count = |code: &str, words: &[&str]| -> usize {
        words.iter().map(|word| code.matches(word).count()).sum()
    };
    let mut faults = Vec::new();
    for file in files("src", "rs") {
        let code = without_comments(&file.text);
        let parallel = count(&code, &[".par_iter()", ".into_par_iter()", ".par_chunks("]);
        let used = count(&code, &["use crate::process::parallel"]);
        if used > 0 && parallel != count(&code, &["in_parallel("]) {
            faults.push(file.path);
        }
    }
    assert!(faults.is_empty(), "{faults:?}");
}

/// Whether `code` names a crate: `name::` that is not the end of a longer word or path.
fn names_crate(code: &str, name: &str) -> bool {
    code.match_indices(&format!("{name}::")).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':')
    })
}

#[test]
fn a_longer_word_or_path_names_no_crate() {
    assert!(names_crate("use zip::ZipArchive;", "zip"));
    assert!(!names_crate("unzip::all()", "zip"));
    assert!(!names_crate("crate::zip::all()", "zip"));
}
