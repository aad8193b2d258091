//! The turn among nodes that have changes at all times: each gets its share.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use grainstore::{Draft, Store};
use grainstore_shared::MemorySequence;

use crate::nodes::Nodes;

#[test]
fn a_node_with_changes_at_all_times_leaves_the_others_their_turns() {
    let nodes = Nodes::on(Arc::new(MemorySequence::default()));
    let stores: Vec<Store> = (0..3).map(|n| nodes.open(&n.to_string())).collect();
    let counts: Vec<AtomicUsize> = stores.iter().map(|_| AtomicUsize::new(0)).collect();
    let end = Instant::now() + Duration::from_secs(4);
    thread::scope(|scope| {
        for writer in 0..stores.len() * 2 {
            let (store, count) = (&stores[writer % 3], &counts[writer % 3]);
            scope.spawn(move || {
                while Instant::now() < end {
                    let n = count.fetch_add(1, Ordering::Relaxed);
                    store.put(Draft::event(format!("{n} of {writer}"))).unwrap();
                }
            });
        }
    });
    let counts: Vec<_> = counts.into_iter().map(AtomicUsize::into_inner).collect();
    println!("puts of each node: {counts:?}");
    let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
    assert!(least * 4 > *most, "{counts:?}");
}
