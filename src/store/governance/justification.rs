//! The justification of a change of status: a reason in words, and signatures.

/// The justification for contradicting or verifying a grain: a reason, and the signatures that a
/// policy requires (OMS 23.2, `quorum` and `delegated`).
///
/// ```
/// use grainstore::crypto::{Algorithm, OsRandom, SigningKey, Statement};
/// use grainstore::store::Justification;
/// use grainstore::{Draft, Options, Store};
///
/// let store = Store::in_memory(Options::default())?;
/// let key = SigningKey::generate(Algorithm::Ed25519, &OsRandom)?;
/// let json = format!(
///     r#"{{"type":"event","content":"rent is 900","created_at":1,
///         "invalidation_policy":{{"mode":"delegated","authorized":["{}"]}}}}"#,
///     key.did()
/// );
/// let address = store.put(Draft::from_json(&json)?)?;
/// assert!(store.contradict(&address, Some("it is 950")).is_err());
///
/// let store_id = *store.maintenance()?.stats()?.store_id.as_bytes();
/// let statement = Statement::contradict(address, store_id)?;
/// let signatures = [statement.sign(&key, &key.did(), None)?];
/// store.contradict(&address, Justification { signatures: &signatures, ..Justification::default() })?;
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Justification<'a> {
    /// The reason in words; stored with the change.
    pub justification: Option<&'a str>,
    /// Signatures of a [`Statement`](crate::crypto::Statement) of this change in this store. One
    /// that does not verify is ignored.
    pub signatures: &'a [Vec<u8>],
}

impl<'a> From<Option<&'a str>> for Justification<'a> {
    fn from(justification: Option<&'a str>) -> Self {
        Self {
            justification,
            signatures: &[],
        }
    }
}
