//! Receipts for erasures: what they state, and that no bit of one can be changed.

use grainstore::crypto::{Algorithm, Checkpoint, ErasureReceipt, Offline, SigningKey};

use super::*;

fn key() -> SigningKey {
    SigningKey::generate(Algorithm::Ed25519, &grainstore::crypto::OsRandom).unwrap()
}

/// Returns a store from which alice was erased, and the receipt.
fn erased(disk: &MemoryDisk, key: &SigningKey) -> (Store, Vec<u8>, ContentAddress) {
    let store = open(disk);
    let free = store.put(Draft::event("swordfish").user("alice")).unwrap();
    let held = store.put(Draft::event("evidence").user("alice")).unwrap();
    store.put(belief("bob", "alice").user("bob")).unwrap();
    let admin = store.admin().unwrap();
    admin.place_hold(&held, ASKED).unwrap();
    let alice = Person::new("alice").also("did:web:alice");
    let done = admin.erase_person(&alice, ALL, ASKED).unwrap();
    let message = admin.erasure_receipt(&done, key, &key.did()).unwrap();
    let (receipt, signer) = ErasureReceipt::open(&message, &Offline).unwrap();
    assert_eq!(signer.did, key.did());
    assert_eq!(receipt.kept, [(held, "legal_hold".to_owned())]);
    assert_eq!((receipt.erased, receipt.mentions), (1, 1));
    assert_eq!(receipt.root, ErasureReceipt::root_of(&[free]));
    assert!(receipt.names("alice") && receipt.names("did:web:alice"));
    assert!(!receipt.names("bob") && !receipt.names(""));
    (store, message, free)
}

#[test]
fn a_receipt_states_the_erasure_and_names_the_person_by_commitments_alone() {
    let disk = MemoryDisk::default();
    let (store, message, _) = erased(&disk, &key());
    let spells = |bytes: &[u8], word: &[u8]| bytes.windows(word.len()).any(|part| part == word);
    assert!(!spells(&message, b"alice"));
    let (receipt, _) = ErasureReceipt::open(&message, &Offline).unwrap();
    let admin = store.admin().unwrap();
    assert!(admin.agrees_with(&receipt).unwrap());
    store.put(Draft::event("later")).unwrap();
    assert!(admin.agrees_with(&receipt).unwrap(), "the ledger only grew");
    let alike = |change: fn(&mut ErasureReceipt)| {
        let mut other = receipt.clone();
        change(&mut other);
        admin.agrees_with(&other).unwrap()
    };
    assert!(!alike(|other| other.store[0] ^= 1));
    assert!(!alike(|other| other.head[0] ^= 1));
    assert!(!alike(|other| other.entries += 1));
    assert!(!alike(|other| other.begun = vec![0]));
}

#[test]
fn every_bit_of_a_receipt_is_signed() {
    let disk = MemoryDisk::default();
    for algorithm in [Algorithm::Ed25519, Algorithm::P256] {
        let key = SigningKey::generate(algorithm, &grainstore::crypto::OsRandom).unwrap();
        let (store, message, _) = erased(&MemoryDisk::default(), &key);
        for bit in 0..message.len() * 8 {
            let mut changed = message.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(
                ErasureReceipt::open(&changed, &Offline).is_err(),
                "bit {bit}"
            );
        }
        for len in 0..message.len() {
            assert!(ErasureReceipt::open(&message[..len], &Offline).is_err());
        }
        // A signature for another purpose is no receipt.
        let maintenance = store.maintenance().unwrap();
        let checkpoint = maintenance.checkpoint(&key, &key.did()).unwrap();
        assert!(ErasureReceipt::open(&checkpoint, &Offline).is_err());
        assert!(Checkpoint::open(&message, &Offline).is_err());
    }
    drop(disk);
}

#[test]
fn a_receipt_for_a_sealed_person_keeps_its_epochs_key_check_and_escrows() {
    let key = key();
    let (_, message, _) = erased(&MemoryDisk::default(), &key);
    let (mut receipt, _) = ErasureReceipt::open(&message, &Offline).unwrap();
    receipt.epochs = Some((7, 8));
    receipt.key_check = Some([3; 32]);
    receipt.escrows = vec![("counsel".into(), Time::from_ms(9))];
    let message = receipt.sign(&key, &key.did()).unwrap();
    assert_eq!(ErasureReceipt::open(&message, &Offline).unwrap().0, receipt);
}

#[test]
fn the_root_is_that_of_rfc_9162_for_every_number_of_grains() {
    use sha2::{Digest, Sha256};
    fn naive(leaves: &[[u8; 32]]) -> [u8; 32] {
        match leaves {
            [] => Sha256::digest([]).into(),
            [leaf] => *leaf,
            _ => {
                let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
                let bytes = [&[1][..], &naive(left), &naive(right)].concat();
                Sha256::digest(bytes).into()
            }
        }
    }
    let mut addresses: Vec<_> = (0..70_u8).map(|n| ContentAddress::of(&[n])).collect();
    addresses.sort();
    for n in 0..addresses.len() {
        let leaf = |at: &ContentAddress| Sha256::digest([&[0][..], at.as_bytes()].concat()).into();
        let leaves: Vec<[u8; 32]> = addresses[..n].iter().map(leaf).collect();
        let reversed: Vec<_> = addresses[..n].iter().rev().copied().collect();
        assert_eq!(ErasureReceipt::root_of(&reversed), naive(&leaves), "{n}");
    }
}
