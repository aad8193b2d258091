//! The order of the rooms, of the crate and inside `store`: a room uses those above it only.

use std::collections::BTreeMap;
use std::fs;

use super::imports::{Module, Tree};
use super::root;

/// The rooms of `store` from top to bottom; those on one line may use each other.
const STORE: &[&[&str]] = &[
    &["records"],
    &["state"],
    &["view"],
    &["rules"],
    &["engine"],
    &["txn"],
    &["handle"],
    &["commit", "read"],
    &["lineage"],
    &["governance", "consent"],
    &["audit"],
    &["erasure", "keys"],
    &["import"],
    &["opening"],
    &["maintenance"],
];

#[test]
fn a_room_uses_only_the_rooms_above_it() {
    let lib = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let declared = lib.lines().filter_map(|line| {
        let name = line.trim_start_matches("pub ").strip_prefix("mod ")?;
        name.strip_suffix(';')
    });
    let ranks = declared.enumerate().map(|(rank, name)| (name, rank));
    assert_in_order(&[], &ranks.collect());
}

#[test]
fn a_room_of_the_store_uses_only_the_rooms_above_it() {
    let rows = STORE.iter().enumerate();
    let ranks = rows.flat_map(|(rank, row)| row.iter().map(move |name| (*name, rank)));
    // A room that is no folder yet is none.
    let is_room = |(name, _): &(&str, usize)| root().join("src/store").join(name).is_dir();
    assert_in_order(&["store".to_owned()], &ranks.filter(is_room).collect());
}

/// Checks the imports among the modules right below `parent` that have a rank.
fn assert_in_order(parent: &[String], ranks: &BTreeMap<&str, usize>) {
    let room = |module: &Module| {
        let name = module.strip_prefix(parent)?.first()?;
        ranks.get_key_value(name.as_str())
    };
    let mut faults = Vec::new();
    for (module, targets) in Tree::of_src().edges() {
        for target in targets {
            if let (Some((name, rank)), Some((below, other))) = (room(&module), room(&target))
                && rank < other
            {
                let (from, to) = (module.join("::"), target.join("::"));
                faults.push(format!("{name} uses {below}: {from} imports from {to}"));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}
