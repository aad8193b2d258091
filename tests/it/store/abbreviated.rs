//! Addresses by their first digits: those of the grains that a handle sees, as a list of all would
//! have them.

use grainstore::index::{Addresses, IndexOptions};
use grainstore::store::Authorization;

use super::*;

fn listed(store: &Store, digits: &str) -> Vec<ContentAddress> {
    let mut all = store.list(None, usize::MAX).unwrap().addresses;
    all.retain(|address| address.to_string().starts_with(&digits.to_lowercase()));
    all
}

fn options(addresses: Addresses, prefix_bytes: u32) -> Options {
    Options {
        index: IndexOptions {
            flush_rows: 16,
            addresses,
            background: false,
            prefix_bytes,
            ..IndexOptions::default()
        },
        ..at(1_768_471_200_000).0
    }
}

#[test]
fn the_first_digits_of_an_address_find_what_a_list_of_all_has() {
    for (addresses, prefix_bytes) in [
        (Addresses::Map, 8),
        (Addresses::Filters, 8),
        (Addresses::Filters, 1),
    ] {
        let store = Store::in_memory(options(addresses, prefix_bytes)).unwrap();
        let mut stored = Vec::new();
        for n in 0..150 {
            let user = if n % 3 == 0 { "mira" } else { "noah" };
            stored.push(store.put(prefers(&n.to_string()).user(user)).unwrap());
        }
        let why = Authorization {
            reason: "asked",
            authority: "the owner",
        };
        for erased in [3, 77, 149] {
            store.admin().unwrap().delete(&stored[erased], why).unwrap();
        }
        for handle in [store.clone(), store.of_user("mira")] {
            for address in &stored {
                let whole = address.to_string();
                for len in [1, 2, 3, 8, 16, 17, 40, 64] {
                    let found = handle.starting_with(&whole[..len], usize::MAX).unwrap();
                    assert_eq!(
                        found,
                        listed(&handle, &whole[..len]),
                        "{addresses:?} {whole} {len}"
                    );
                }
                let found = handle.starting_with(&whole[..9].to_uppercase(), 2).unwrap();
                assert_eq!(found, listed(&handle, &whole[..9]));
            }
            let all = handle.starting_with("", usize::MAX).unwrap();
            assert_eq!(all, listed(&handle, ""));
            assert_eq!(handle.starting_with("", 5).unwrap(), all[..5]);
        }
    }
}

#[test]
fn what_are_no_digits_of_an_address_are_refused() {
    let store = memory();
    store.put(prefers("tea")).unwrap();
    for (digits, code) in [
        ("12g", "ERR_HASH_FORMAT"),
        ("é", "ERR_HASH_FORMAT"),
        ("*", "ERR_HASH_FORMAT"),
        (&"0".repeat(65), "ERR_HASH_LENGTH"),
    ] {
        let refused = store.starting_with(digits, 1).unwrap_err();
        assert_eq!(refused.code().as_str(), code, "{digits}");
    }
    assert_eq!(store.starting_with(&"f".repeat(64), 1).unwrap(), []);
}
