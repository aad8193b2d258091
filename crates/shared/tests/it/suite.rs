//! The rules of a sequence, on each kind of it.

use std::sync::Arc;

use grainstore_shared::conformance::{Handles, RULES, violations};
use grainstore_shared::postgres::PostgresSequence;
use grainstore_shared::{DirectorySequence, MemorySequence, Sequence};

use crate::server::Server;

#[test]
fn a_sequence_in_memory_keeps_the_rules() {
    let found = violations(&mut in_memory);
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn a_sequence_in_a_directory_keeps_the_rules() {
    let folder = tempfile::tempdir().unwrap();
    let mut count = 0;
    let found = violations(&mut || {
        count += 1;
        let open = |name: &str| -> Arc<dyn Sequence> {
            let path = folder.path().join(format!("{count}-{name}"));
            Arc::new(DirectorySequence::open(&path).unwrap())
        };
        Handles {
            nodes: [open("a"), open("a")],
            neighbour: open("b"),
        }
    });
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_sequence_in_postgresql_keeps_the_rules() {
    let Some(server) = Server::start() else {
        return;
    };
    let mut count = 0;
    let found = violations(&mut || {
        count += 1;
        // A database each, since the rules give one store id to all.
        let database = server.create(&format!("rules{count}"));
        let open = |name: &str| -> Arc<dyn Sequence> {
            let url = format!("{database}?store={name}");
            Arc::new(PostgresSequence::open(&url, None).unwrap())
        };
        Handles {
            nodes: [open("a"), open("a")],
            neighbour: open("b"),
        }
    });
    assert!(found.is_empty(), "{found:#?}");
    assert_eq!(count, RULES.len());
}

pub(crate) fn in_memory() -> Handles {
    let (one, other) = (MemorySequence::default(), MemorySequence::default());
    Handles {
        nodes: [Arc::new(one.clone()), Arc::new(one)],
        neighbour: Arc::new(other),
    }
}
