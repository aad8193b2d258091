//! What the tests of foreign formats share: the corpora beside the project, and small edits.

use std::path::{Path, PathBuf};

use grainstore::codec::{Map, Value};
use grainstore::interchange::{Error, Format};
use sha2::Digest as _;

/// The formats that a store is exported to.
pub(crate) const FORMATS: [Format; 7] = [
    Format::Mg,
    Format::Jsonl,
    Format::Pam,
    Format::Aimem,
    Format::AimemNdjson,
    Format::Omi,
    Format::OmiJsonl,
];

/// Returns a folder of `data` or `vectors` beside the project: what others publish and what is
/// therefore no part of it.
///
/// A test that asks for one is `#[ignore = "needs corpora"]`, and `.ci/run` runs it where they are.
pub(super) fn corpus(name: &str) -> PathBuf {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = project.join("../shared").join(name);
    assert!(folder.exists(), "{} is not there", folder.display());
    folder
}

/// Returns the files of a folder, by name.
pub(super) fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

pub(super) fn codes(errors: &[Error]) -> Vec<&'static str> {
    errors.iter().map(|error| error.code().as_str()).collect()
}

pub(super) fn json(text: &str) -> Map {
    match Value::from_json(text).unwrap() {
        Value::Map(map) => map,
        other => unreachable!("{other:?}"),
    }
}

pub(super) fn text_of(map: &Map) -> String {
    Value::Map(map.clone()).to_json()
}

pub(super) fn sha256(bytes: &[u8]) -> String {
    let digest = sha2::Sha256::digest(bytes);
    format!("sha256:{}", data_encoding::HEXLOWER.encode(&digest))
}

/// Sets the member at a path of names and numbers to a JSON text, or removes it.
pub(super) fn edit(map: &mut Map, path: &str, json: Option<&str>) {
    let value = json.map(|json| Value::from_json(json).unwrap());
    let mut root = Value::Map(std::mem::take(map));
    change(&mut root, path, value);
    if let Value::Map(changed) = root {
        *map = changed;
    }
}

fn change(at: &mut Value, path: &str, value: Option<Value>) {
    let (name, rest) = path
        .split_once('/')
        .map_or((path, None), |(name, rest)| (name, Some(rest)));
    match (at, rest, value) {
        (Value::Map(map), None, Some(value)) => drop(map.insert(name, value)),
        (Value::Map(map), None, None) => drop(map.remove(name)),
        (Value::Map(map), Some(rest), value) => change(map.get_mut(name).unwrap(), rest, value),
        (Value::Array(items), rest, value) => {
            let slot = &mut items[name.parse::<usize>().unwrap()];
            match rest {
                Some(rest) => change(slot, rest, value),
                None => *slot = value.unwrap(),
            }
        }
        _ => unreachable!("{path}"),
    }
}
