//! Refused reads on record: where the reads of a grain are, who tried in vain is, too.

use grainstore::store::{AuditFilter, RequiredConsent};

use super::*;

/// The refusals on record, as operation, rule and author.
fn refusals(store: &Store) -> Vec<(String, Option<String>)> {
    let audit = store.maintenance().unwrap().audit();
    let filter = AuditFilter {
        operation: Some("deny".to_owned()),
        ..AuditFilter::default()
    };
    let entries = audit.log(&filter, None, usize::MAX).unwrap();
    let entries = entries.into_iter();
    entries.map(|entry| (entry.detail, entry.by)).collect()
}

#[test]
fn a_refused_read_is_on_record_where_a_regime_asks_and_only_there() {
    let store = watching();
    let (watched, other) = (talk(&store, true), talk(&store, false));
    let required = RequiredConsent {
        read: true,
        write: false,
    };
    let admin = store.admin().unwrap();
    admin.require_consent("acme", required, TEST).unwrap();
    let agent = store.as_actor(&bot());
    let before = refusals(&store).len();
    for address in [watched[0], other[0]] {
        assert_eq!(agent.get(&address).unwrap_err().code(), "ERR_CONSENT");
        assert!(agent.get_batch(&[address]).is_err());
        assert!(agent.history(&address).is_err());
        assert!(agent.embedding(&address, "tiny").is_err());
    }
    let found = refusals(&store).split_off(before);
    assert_eq!(found.len(), 4, "{found:?}");
    assert!(
        found
            .iter()
            .all(|(_, by)| by.as_deref() == Some("did:web:bot.example")),
        "{found:?}"
    );
    assert_eq!(reads(&store), []);
}
