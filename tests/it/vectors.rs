//! The published vectors of `test-vectors/`, byte for byte.

use std::path::Path;

use grainstore::codec::{ContentAddress, Encoding, Profile, Sensitivity, Value, encode_value};
use grainstore::grain::{Draft, Grain};

fn vectors(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("test-vectors/oms")
        .join(file);
    let text = std::fs::read_to_string(path).unwrap();
    let parsed = Value::from_json(&text).unwrap();
    parsed.as_array().unwrap().to_vec()
}

struct Vector<'a>(&'a Value);

impl Vector<'_> {
    fn get(&self, name: &str) -> Option<&Value> {
        self.0.as_map().unwrap().get(name)
    }

    fn text(&self, name: &str) -> &str {
        self.get(name).and_then(Value::as_text).unwrap()
    }

    fn address(&self) -> ContentAddress {
        self.text("address").parse().unwrap()
    }

    fn blob(&self) -> Vec<u8> {
        let hex = self.text("blob_hex").as_bytes();
        data_encoding::HEXLOWER.decode(hex).unwrap()
    }

    fn is_ours(&self) -> bool {
        self.get("ours") == Some(&Value::Bool(true))
    }

    fn flag(&self, name: &str) -> Option<&Value> {
        self.get("flags")?.as_map()?.get(name)
    }

    fn draft(&self) -> Draft {
        let mut draft = Draft::from_value(self.get("input").unwrap().clone()).unwrap();
        if self.text("encoding") == "cbor" {
            draft = draft.encoding(Encoding::Cbor);
        }
        if self.flag("signed").is_some() {
            draft = draft.to_be_signed();
        }
        match self.flag("sensitivity").and_then(Value::as_i64) {
            Some(1) => draft.sensitivity(Sensitivity::Internal),
            Some(2) => draft.sensitivity(Sensitivity::Pii),
            Some(3) => draft.sensitivity(Sensitivity::Phi),
            _ => draft,
        }
    }
}

#[test]
fn every_vector_gives_its_bytes_and_its_address() {
    let vectors = vectors("grains.json");
    let mut held = 0;
    for vector in vectors.iter().map(Vector).filter(Vector::is_ours) {
        let name = vector.text("name");
        let grain = vector.draft().finish(Profile::Extended).unwrap();
        assert_eq!(grain.blob(), vector.blob(), "{name}");
        assert_eq!(grain.address(), vector.address(), "{name}");
        if vector.flag("signed").is_none() {
            let read = Grain::from_blob(vector.blob(), Profile::Extended).unwrap();
            assert_eq!(read.fields(), grain.fields(), "{name}");
        }
        held += 1;
    }
    assert!(held >= 45, "{held} vectors held");
}

#[test]
fn the_specifications_own_addresses_reproduce() {
    // OMS 21.1 and 21.6 print these two; every other address is ours.
    let vectors = vectors("grains.json");
    let by_name = |name| {
        let mut all = vectors.iter().map(Vector);
        let vector = all.find(|vector| vector.text("name") == name).unwrap();
        vector.draft().finish(Profile::Extended).unwrap().address()
    };
    assert_eq!(
        by_name("vector-1-minimal-fact").to_string(),
        "3288d0d41cf49a1d428e404f0b6a6fe60388be9536937557f6139b813d53a520"
    );
    assert_eq!(
        by_name("vector-6-protected-fact").to_string(),
        "df928038769506fb66671aced0eb97d45871e169e505ed55a382c744e620550e"
    );
}

#[test]
fn readings_that_the_rulings_reject_are_refused_but_for_wide_cbor_floats() {
    for vector in vectors("grains.json").iter().map(Vector) {
        if vector.is_ours() {
            continue;
        }
        assert_eq!(ContentAddress::of(&vector.blob()), vector.address());
        let read = Grain::from_blob(vector.blob(), Profile::Extended);
        match vector.text("reading") {
            "cbor-float64" => assert!(read.is_ok(), "ruling F9"),
            reading => assert_eq!(read.unwrap_err().code(), "ERR_CORRUPT", "{reading}"),
        }
    }
}

#[test]
fn elision_hashes_cover_the_canonical_bytes_of_the_value() {
    use sha2::{Digest, Sha256};
    for vector in vectors("elision.json").iter().map(Vector) {
        let value = vector.get("value").unwrap().clone();
        let bytes = encode_value(value, Profile::Extended).unwrap();
        let hash = data_encoding::HEXLOWER.encode(&Sha256::digest(bytes));
        assert_eq!(
            format!("sha256:{hash}"),
            vector.text("hash"),
            "{}",
            vector.text("name")
        );
    }
}
