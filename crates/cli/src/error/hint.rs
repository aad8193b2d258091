//! One line of advice for each error code: what the user can do next.
//!
//! The message of an error says what happened; a hint does not repeat it.

use grainstore::{CodeDomain, ErrorCode};

/// Returns the advice for an error code.
///
/// ```
/// use grainstore::ErrorCode;
///
/// assert!(grainstore_cli::hint(ErrorCode::Ambiguous).is_some());
/// ```
pub fn hint(code: ErrorCode) -> Option<&'static str> {
    of_store(code)
        .or_else(|| of_grains(code))
        .or_else(|| of_input(code))
        .or_else(|| of_file(code))
}

/// Returns the advice for an error of the store as a whole.
fn of_store(code: ErrorCode) -> Option<&'static str> {
    Some(match code {
        ErrorCode::NotAStore => {
            "create a store with `grainstore init`, or select another directory with --store"
        }
        ErrorCode::StoreExists => "the store is ready for use: `put` and `import` add to it",
        ErrorCode::StoreVersion => {
            "nothing was changed; use the version of grainstore that wrote the store, or a newer one"
        }
        ErrorCode::StoreLocked => {
            "run the command again when the process that is named has ended or is done, or wait longer (--wait)"
        }
        ErrorCode::StorageFull => {
            "free some disk space and run the same command again: acknowledged grains are safe, and \
             grains that are already stored are not stored twice"
        }
        ErrorCode::StorageReadOnly => {
            "run the command as the owner of the store; of a directory that follows another store, \
             `grainstore restore DIR NEW` makes a store that may be written"
        }
        ErrorCode::StorageDamaged => {
            "`grainstore check --deep` lists the damage; `grainstore restore BACKUP NEW` creates a new \
             store from a backup, and `grainstore recover DIR NEW` one from all of the damaged store that \
             still proves itself, and names the rest"
        }
        ErrorCode::StorageIo | ErrorCode::StorageHalted => {
            "check the disk and its permissions, then run the same command again"
        }
        ErrorCode::Unreachable => {
            "look at the network and the server, then run the same command again: a put that went through \
             is not stored twice; --stale-ok answers from what this machine has"
        }
        ErrorCode::IndexDamaged => "`grainstore check --repair` rebuilds the index from the ledger",
        ErrorCode::Text => "`grainstore check --repair` rebuilds the text index from the ledger",
        ErrorCode::BackupDiverged => {
            "nothing was changed; choose another directory: this one holds another store, or a later \
             or diverged copy of this store"
        }
        ErrorCode::Locked => "pass the master key and the person: --key-file FILE --unlock USER",
        ErrorCode::MasterKey => {
            "the vault is sound; pass the key that it was created with, or last rotated to: --key-file FILE"
        }
        ErrorCode::RootMissing => {
            "`vault/` is in no backup: put it back from where it was moved, or bring its root back from \
             an escrow copy with `grainstore vault restore-root FILE`; `vault status` lists the copies"
        }
        ErrorCode::UserUnknown => {
            "`grainstore user list` shows the persons who have a key, and `user add NAME` gives one"
        }
        ErrorCode::UserExists => "`grainstore user list` shows the persons; none was added",
        ErrorCode::ScopeIncomplete => {
            "unlock or erase the sealed person first; a report that may lack something is not made"
        }
        ErrorCode::LostErasures => {
            "restore from a directory that has the later entries too, or pass --accept-lost-erasures"
        }
        _ => return None,
    })
}

/// Returns the advice for an operation on stored grains.
fn of_grains(code: ErrorCode) -> Option<&'static str> {
    Some(match code {
        ErrorCode::NotFound => "`grainstore list` and `grainstore search` show the stored grains",
        ErrorCode::Conflict => {
            "`grainstore history ADDRESS` shows the current version; supersede that one"
        }
        ErrorCode::InvalidationDenied => {
            "`grainstore policy explain ADDRESS OPERATION` shows what the policy requires; store a \
             replacement with `grainstore supersede`"
        }
        ErrorCode::EvidenceRequired => {
            "list the grains that prove it in satisfaction_evidence, as many as the goal requires"
        }
        ErrorCode::Consent => {
            "name a consent that is in force in processing_basis; `grainstore consent require` shows \
             which namespaces require one"
        }
        ErrorCode::Dependency => {
            "store the goal as suspended, and supersede it when all goals in depends_on are satisfied"
        }
        ErrorCode::Authority => "pass --reason and --authority",
        ErrorCode::Review => "`grainstore policy review list` shows the numbers of open reviews",
        ErrorCode::AccessDenied => {
            "the message names the missing right; `grainstore query --relation mg:delegates_to` shows \
             the delegations, and docs/policy.md lists the rights of each role"
        }
        ErrorCode::PolicyDenied => {
            "`grainstore policy show` lists the clauses in force, with their sources"
        }
        ErrorCode::Policy => {
            "`grainstore policy preset gdpr` prints a valid document; unknown names are refused"
        }
        ErrorCode::ReviewRequired => {
            "a person must review the grain first; --role reviewer shows it"
        }
        ErrorCode::Erased => "`grainstore put --allow-erased` stores the grain again",
        ErrorCode::Integrity => {
            "the bytes differ from those that were written; take them from another copy"
        }
        _ => return None,
    })
}

/// Returns the advice for an error in arguments, input lines or signatures.
fn of_input(code: ErrorCode) -> Option<&'static str> {
    Some(match code {
        ErrorCode::HashFormat | ErrorCode::HashLength => {
            "an address has 64 lower-case hexadecimal digits; its first digits are accepted too, 4 or more"
        }
        ErrorCode::Ambiguous => "give more digits of the address",
        ErrorCode::Cursor => "pass the next_cursor of the previous page, unchanged",
        ErrorCode::SearchSyntax => "`grainstore search --help` describes the query syntax",
        ErrorCode::Filter => "`grainstore query --help` lists the filters",
        ErrorCode::Usage => {
            "`grainstore help` lists the commands; `grainstore COMMAND --help` describes one"
        }
        ErrorCode::Passphrase => {
            "pass the passphrase on a file descriptor: --passphrase-fd 3 3< FILE"
        }
        ErrorCode::Terminal => "write to a file with -o FILE, or pipe the output to a program",
        // Grains as text and bytes.
        ErrorCode::Json => {
            "the place names the line and the column; `grainstore put --help` shows a line of each type"
        }
        ErrorCode::Corrupt => {
            "write each member once and under its full name (`grainstore schema TYPE`); bytes that are not \
             canonical are taken from their source again"
        }
        ErrorCode::NoType | ErrorCode::UnknownType => {
            "\"type\" must be one of belief, event, state, workflow, action, observation, goal, \
             reasoning, consensus, consent"
        }
        ErrorCode::Schema | ErrorCode::Empty | ErrorCode::Range => {
            "the message names the field; `grainstore schema TYPE` lists what a type needs, with an example \
             (`grainstore put --help` has one of each; https://github.com/openmemoryspec/oms, section 8)"
        }
        ErrorCode::NotMap => "a grain is a JSON object, one per line",
        // Signatures.
        ErrorCode::Key => {
            "`grainstore did new FILE` creates a signing key; the master key of --key-file is 32 random \
             bytes; `chmod 600 FILE` restricts access to either"
        }
        ErrorCode::Did => {
            "expected a did:key of an Ed25519 or P-256 key, or a did:web, without path, query or fragment"
        }
        ErrorCode::Signature => {
            "the bytes were changed after they were signed, or another key signed them"
        }
        ErrorCode::Unresolved => {
            "only signatures of did:key signers are verified; the command makes no network requests"
        }
        ErrorCode::SignedMismatch => {
            "`grainstore grain sign` signs a new grain; `grainstore get --delivery` writes a signed \
             grain with its signature"
        }
        ErrorCode::View => "a view cannot be stored: put the original grain",
        ErrorCode::Untrusted => {
            "`grainstore trust list` shows the trusted signers; `grainstore trust add` adds one"
        }
        _ => return None,
    })
}

/// Returns the advice for an error in a file of an interchange format.
fn of_file(code: ErrorCode) -> Option<&'static str> {
    Some(match code {
        ErrorCode::Io => "check the path and its permissions",
        ErrorCode::FormatUnknown => {
            "pass the format with --format; `grainstore import --help` lists the formats"
        }
        ErrorCode::MgTruncated | ErrorCode::MgChecksum | ErrorCode::MgMagic => {
            "the file is incomplete or was changed in transit: copy it or export it again"
        }
        ErrorCode::Unsupported => "not supported by this version",
        ErrorCode::Sealed => "the file is encrypted: pass --identity FILE or --passphrase-fd N",
        ErrorCode::Identity => "an identity file is written by `age-keygen -o FILE`",
        ErrorCode::Recipient => "a recipient is an age public key: age1…",
        ErrorCode::AimemSignatureInvalid => {
            "the bundle was changed, or the .sig file belongs to another bundle"
        }
        ErrorCode::PamChecksum => {
            "the file was changed after its export; --accept-bad-checksum imports it nevertheless"
        }
        ErrorCode::PamSchemaId => {
            "`validate FILE` without --format detects the kind of file from its \"schema\" member: a \
             store, a conversation or an embeddings file"
        }
        ErrorCode::PamVersion => {
            "only PAM 1.x is supported, and all files of an export must have the same version"
        }
        ErrorCode::PamSchema => {
            "the place names the member; the schemas of PAM 1.0 define its values, and additional \
             members belong in metadata or raw_metadata"
        }
        ErrorCode::PamContentHash | ErrorCode::PamTotal => {
            "the file was changed after its export: export it again"
        }
        ErrorCode::Embedder => {
            "the vectors come from --embed-cmd or --embed: without it the search is by words alone; \
             `stats` says what waits"
        }
        ErrorCode::Program => {
            "its turns stay new: run the program with the lines of docs/interchange.md on stdin, and try again"
        }
        ErrorCode::PamEmbeddingRef | ErrorCode::PamEmbedding => {
            "an embedding must name a memory of its store and have as many finite numbers as its \
             \"dimensions\" says; it can be computed again from the memory"
        }
        ErrorCode::PamSignatureForm => {
            "a signature covers export_id, export_date, owner.id and integrity.checksum, and is not \
             older than the export"
        }
        ErrorCode::PamStorageRef => {
            "a storage reference is a path below the directory of the store: letters, digits, ._-/"
        }
        ErrorCode::JsonlStatus => {
            "`import` accepts the status lines of an export; `put` accepts grains only"
        }
        ErrorCode::AimemMixedProducers => "select one with --producer NAME, or narrow the filters",
        ErrorCode::AimemMixedTenants | ErrorCode::PamMixedOwners => "select one with --user NAME",
        ErrorCode::AimemChecksumMismatch => {
            "the bundle was changed after its export: export it again"
        }
        ErrorCode::OmiRecordEffectiveSubject => "add a subject to the envelope, or to every record",
        ErrorCode::OmiRecordIdUnique => "level L1 requires unique ids; --level L0 does not",
        ErrorCode::OmiJsonSyntax
        | ErrorCode::OmiJsonDuplicateKey
        | ErrorCode::OmiEncodingBom
        | ErrorCode::OmiEncodingUtf8 => {
            "JSON is parsed strictly: UTF-8 without a byte-order mark, no duplicate members"
        }
        _ => return of_domain(code.domain()),
    })
}

/// Returns the advice for any other error of a format.
const fn of_domain(domain: CodeDomain) -> Option<&'static str> {
    Some(match domain {
        CodeDomain::Aimem => "the file violates a rule of the AIMEM bundle format",
        CodeDomain::Omi => "the file violates the rule of OMI-AI 0.1 that the code names",
        CodeDomain::Jsonl => "expected one grain per line: a JSON object in UTF-8",
        CodeDomain::Mg => {
            "the file violates a rule of OMS 1.3, section 11: https://github.com/openmemoryspec/oms"
        }
        CodeDomain::Provider => "request a new export from the provider",
        CodeDomain::Pam => "the file violates a rule of Portable AI Memory 1.0",
        _ => return None,
    })
}
