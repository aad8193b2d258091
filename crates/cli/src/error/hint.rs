//! One line of advice for each error code: what the user can do next.
//!
//! The message of an error says what happened; a hint does not repeat it.

/// Returns the advice for an error code.
pub(crate) fn hint(code: &str) -> Option<&'static str> {
    of_store(code)
        .or_else(|| of_grains(code))
        .or_else(|| of_input(code))
        .or_else(|| of_file(code))
}

/// Returns the advice for an error of the store as a whole.
fn of_store(code: &str) -> Option<&'static str> {
    Some(match code {
        "ERR_NOT_A_STORE" => {
            "create a store with `grainstore init`, or select another directory with --store"
        }
        "ERR_STORE_EXISTS" => "the store is ready for use: `put` and `import` add to it",
        "ERR_STORE_VERSION" => {
            "nothing was changed; use the version of grainstore that wrote the store, or a newer one"
        }
        "ERR_STORE_LOCKED" => "another process has the store open; wait until it exits, or stop it",
        "ERR_STORAGE_FULL" => {
            "free some disk space and run the same command again: acknowledged grains are safe, and \
             grains that are already stored are not stored twice"
        }
        "ERR_STORAGE_READ_ONLY" => "run the command as the owner of the store, or copy the store",
        "ERR_STORAGE_DAMAGED" => {
            "`grainstore check --deep` lists the damage; `grainstore restore` creates a new store from \
             a backup"
        }
        "ERR_STORAGE_IO" | "ERR_STORAGE_HALTED" => {
            "check the disk and its permissions, then run the same command again"
        }
        "ERR_INDEX_DAMAGED" => "`grainstore check --repair` rebuilds the index from the ledger",
        "ERR_TEXT" => "`grainstore check --repair` rebuilds the text index from the ledger",
        "ERR_BACKUP_DIVERGED" => {
            "nothing was changed; choose another directory: this one holds another store, or a later \
             or diverged copy of this store"
        }
        "ERR_LOST_ERASURES" => {
            "restore from a directory that has the later entries too, or pass --accept-lost-erasures"
        }
        _ => return None,
    })
}

/// Returns the advice for an operation on stored grains.
fn of_grains(code: &str) -> Option<&'static str> {
    Some(match code {
        "ERR_NOT_FOUND" => "`grainstore list` and `grainstore search` show the stored grains",
        "ERR_CONFLICT" => {
            "`grainstore history ADDRESS` shows the current version; supersede that one"
        }
        "ERR_INVALIDATION_DENIED" => {
            "`grainstore policy explain ADDRESS OPERATION` shows what the policy requires; store a \
             replacement with `grainstore supersede`"
        }
        "ERR_EVIDENCE_REQUIRED" => {
            "list the grains that prove it in satisfaction_evidence, as many as the goal requires"
        }
        "ERR_CONSENT" => {
            "name a consent that is in force in processing_basis; `grainstore consent require` shows \
             which namespaces require one"
        }
        "ERR_DEPENDENCY" => {
            "store the goal as suspended, and supersede it when all goals in depends_on are satisfied"
        }
        "ERR_AUTHORITY" => "pass --reason and --authority",
        "ERR_REVIEW" => "`grainstore policy review list` shows the numbers of open reviews",
        "ERR_ACCESS_DENIED" => {
            "the message names the missing right; `grainstore query --relation mg:delegates_to` shows \
             the delegations, and docs/policy.md lists the rights of each role"
        }
        "ERR_POLICY_DENIED" => {
            "`grainstore policy show` lists the clauses in force, with their sources"
        }
        "ERR_POLICY" => {
            "`grainstore policy preset gdpr` prints a valid document; unknown names are refused"
        }
        "ERR_REVIEW_REQUIRED" => "a person must review the grain first; --role reviewer shows it",
        "ERR_ERASED" => "`grainstore put --allow-erased` stores the grain again",
        "ERR_INTEGRITY" => {
            "the bytes differ from those that were written; take them from another copy"
        }
        _ => return None,
    })
}

/// Returns the advice for an error in arguments, input lines or signatures.
fn of_input(code: &str) -> Option<&'static str> {
    Some(match code {
        "ERR_HASH_FORMAT" | "ERR_HASH_LENGTH" => {
            "an address has 64 lower-case hexadecimal digits; its first 8 to 16 digits are accepted too"
        }
        "ERR_AMBIGUOUS" => "give more digits of the address",
        "ERR_CURSOR" => "pass the next_cursor of the previous page, unchanged",
        "ERR_SEARCH_SYNTAX" => "`grainstore search --help` describes the query syntax",
        "ERR_FILTER" => "`grainstore query --help` lists the filters",
        "ERR_USAGE" => {
            "`grainstore help` lists the commands; `grainstore COMMAND --help` describes one"
        }
        "ERR_PASSPHRASE" => "pass the passphrase on a file descriptor: --passphrase-fd 3 3< FILE",
        "ERR_TERMINAL" => "write to a file with -o FILE, or pipe the output to a program",
        // Grains as text and bytes.
        "ERR_CORRUPT" => {
            "JSON is parsed strictly (one object per line, no duplicate members); blobs must be canonical"
        }
        "ERR_NO_TYPE" | "ERR_UNKNOWN_TYPE" => {
            "\"type\" must be one of belief, event, state, workflow, action, observation, goal, \
             reasoning, consensus, consent"
        }
        "ERR_SCHEMA" | "ERR_EMPTY" | "ERR_RANGE" => {
            "the message names the field; OMS 1.3, section 8, lists the required fields of each type"
        }
        "ERR_NOT_MAP" => "a grain is a JSON object, one per line",
        // Signatures.
        "ERR_KEY" => {
            "`grainstore did new FILE` creates a key; `chmod 600 FILE` restricts access to it"
        }
        "ERR_DID" => {
            "expected a did:key of an Ed25519 or P-256 key, or a did:web, without path, query or fragment"
        }
        "ERR_SIGNATURE" => {
            "the bytes were changed after they were signed, or another key signed them"
        }
        "ERR_UNRESOLVED" => {
            "only signatures of did:key signers are verified; the command makes no network requests"
        }
        "ERR_SIGNED_MISMATCH" => {
            "`grainstore grain sign` signs a new grain; `grainstore get --delivery` writes a signed \
             grain with its signature"
        }
        "ERR_VIEW" => "a view cannot be stored: put the original grain",
        "ERR_UNTRUSTED" => {
            "`grainstore trust list` shows the trusted signers; `grainstore trust add` adds one"
        }
        _ => return None,
    })
}

/// Returns the advice for an error in a file of an interchange format.
fn of_file(code: &str) -> Option<&'static str> {
    Some(match code {
        "ERR_IO" => "check the path and its permissions",
        "ERR_FORMAT_UNKNOWN" => {
            "pass the format with --format; `grainstore import --help` lists the formats"
        }
        "ERR_MG_TRUNCATED" | "ERR_MG_CHECKSUM" | "ERR_MG_MAGIC" => {
            "the file is incomplete or was changed in transit: copy it or export it again"
        }
        "ERR_UNSUPPORTED" => "not supported by this version",
        "ERR_SEALED" => "the file is encrypted: pass --identity FILE or --passphrase-fd N",
        "ERR_IDENTITY" => "an identity file is written by `age-keygen -o FILE`",
        "ERR_RECIPIENT" => "a recipient is an age public key: age1…",
        "signature_invalid" => "the bundle was changed, or the .sig file belongs to another bundle",
        "PAM_CHECKSUM" => {
            "the file was changed after its export; --accept-bad-checksum imports it nevertheless"
        }
        "PAM_SCHEMA_ID" => {
            "`validate FILE` without --format detects the kind of file from its \"schema\" member: a \
             store, a conversation or an embeddings file"
        }
        "PAM_VERSION" => {
            "only PAM 1.x is supported, and all files of an export must have the same version"
        }
        "PAM_SCHEMA" => {
            "the place names the member; the schemas of PAM 1.0 define its values, and additional \
             members belong in metadata or raw_metadata"
        }
        "PAM_CONTENT_HASH" | "PAM_TOTAL" => {
            "the file was changed after its export: export it again"
        }
        "PAM_EMBEDDING_REF" | "PAM_EMBEDDING" => {
            "an embedding must name a memory of its store and have as many finite numbers as its \
             \"dimensions\" says; it can be computed again from the memory"
        }
        "PAM_SIGNATURE_FORM" => {
            "a signature covers export_id, export_date, owner.id and integrity.checksum, and is not \
             older than the export"
        }
        "PAM_STORAGE_REF" => {
            "a storage reference is a path below the directory of the store: letters, digits, ._-/"
        }
        "JSONL_STATUS" => {
            "`import` accepts the status lines of an export; `put` accepts grains only"
        }
        "mixed_producers" => "select one with --producer NAME, or narrow the filters",
        "mixed_tenants" | "PAM_MIXED_OWNERS" => "select one with --user NAME",
        "checksum_mismatch" => "the bundle was changed after its export: export it again",
        "record.effective-subject" => "add a subject to the envelope, or to every record",
        "record.id.unique" => "level L1 requires unique ids; --level L0 does not",
        "json.syntax" | "json.duplicate-key" | "encoding.bom" | "encoding.utf8" => {
            "JSON is parsed strictly: UTF-8 without a byte-order mark, no duplicate members"
        }
        code if is_aimem(code) => "the file violates a rule of the AIMEM bundle format",
        code if OMI.iter().any(|area| code.starts_with(area)) => {
            "the file violates the rule of OMI-AI 0.1 that the code names"
        }
        code if code.starts_with("JSONL_") => "expected one grain per line: a JSON object in UTF-8",
        code if code.starts_with("ERR_MG_") => "the file violates a rule of OMS 1.3, section 11",
        "PROVIDER_SHAPE" => {
            "pass the export as the provider delivered it: the file, its folder or the ZIP archive"
        }
        code if code.starts_with("PROVIDER_") => "request a new export from the provider",
        code if code.starts_with("PAM_") => "the file violates a rule of Portable AI Memory 1.0",
        _ => return None,
    })
}

/// AIMEM codes are those of its reference server: lower-case words joined by underscores.
fn is_aimem(code: &str) -> bool {
    code.contains('_') && code.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'_'))
}

/// The prefixes of OMI codes.
const OMI: [&str; 4] = ["envelope", "record", "subject", "jsonl."];
