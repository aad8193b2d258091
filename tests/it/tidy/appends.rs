//! Which code appends to a ledger: the transaction of an open store. That no grain is appended which
//! the table of rules has not admitted is held by types: see `AdmittedFrame` and `Admitted`.

use super::files;
use super::imports::{tokens, without_comments};

#[test]
fn a_transaction_alone_appends_to_the_ledger_of_an_open_store() {
    let mut found = Vec::new();
    for file in files("src/store", "rs") {
        let code = without_comments(&file.text);
        let words = tokens(&code);
        let calls = words.windows(4).filter(|words| {
            let [receiver, dot, name, open] = words else {
                return false;
            };
            // `Transaction::append` takes admitted frames only.
            let is_transaction = ["txn", "self"].contains(receiver);
            let is_append = ["append", "append_agreed", "append_unsynced"].contains(name);
            *dot == "." && *open == "(" && is_append && !is_transaction
        });
        if calls.count() > 0 {
            found.push(file.path);
        }
    }
    assert_eq!(found, APPENDING);
}

const APPENDING: [&str; 6] = [
    // To a sequence elsewhere, as a transaction offers it.
    "src/store/engine/sharing/shared_ledger.rs",
    // Copies of a ledger that is no open store's yet.
    "src/store/maintenance/recovery/copying.rs",
    "src/store/maintenance/restore.rs",
    // Of a file of notes, outside the store.
    "src/store/note_schedule.rs",
    // The frames of a store that moves to a sequence.
    "src/store/replica.rs",
    "src/store/txn/append.rs",
];
