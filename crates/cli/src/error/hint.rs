/// Returns what a person can do about an error of this code.
pub(crate) fn hint(code: &str) -> Option<&'static str> {
    of_store(code).or_else(|| of_grains(code))
}

fn of_store(code: &str) -> Option<&'static str> {
    Some(match code {
        "ERR_NOT_A_STORE" => {
            "make a store with `grainstore init`, or name another directory with --store"
        }
        "ERR_STORE_EXISTS" => "it is ready for use: `put` and `import` add to it",
        "ERR_STORE_VERSION" => {
            "nothing was changed; use the version of grainstore that wrote it, or a newer one"
        }
        "ERR_STORE_LOCKED" => "another process has it open; wait until it is done, or stop it",
        "ERR_STORAGE_FULL" => {
            "free some space and run the same command again: what was acknowledged is safe, and \
             what is there already is not stored twice"
        }
        "ERR_STORAGE_READ_ONLY" => "run it as the user the store belongs to, or copy the store",
        "ERR_STORAGE_DAMAGED" => {
            "`grainstore check --deep` says what is damaged; `grainstore restore` makes a new store of \
             a backup"
        }
        "ERR_STORAGE_IO" | "ERR_STORAGE_HALTED" => {
            "look at the disk and at who may write there, then run the same command again"
        }
        "ERR_INDEX_DAMAGED" => {
            "the index is derived: `grainstore check --repair` builds it anew from the ledger"
        }
        "ERR_TEXT" => {
            "the text index is derived: `grainstore check --repair` builds it anew from the ledger"
        }
        "ERR_BACKUP_DIVERGED" => {
            "nothing was changed; name another directory: this one holds another store, or a later \
             or other history of this one"
        }
        "ERR_LOST_ERASURES" => {
            "restore from a directory that has the later entries too, or say --accept-lost-erasures"
        }
        _ => return None,
    })
}

fn of_grains(code: &str) -> Option<&'static str> {
    Some(match code {
        // Grains of the store.
        "ERR_NOT_FOUND" => "`grainstore list` and `grainstore search` show what is there",
        "ERR_CONFLICT" => "`grainstore history ADDRESS` shows the current grain; supersede that",
        "ERR_INVALIDATION_DENIED" => {
            "`grainstore policy explain ADDRESS OPERATION` says what it takes; what replaces a grain \
             goes in with `grainstore supersede`"
        }
        "ERR_EVIDENCE_REQUIRED" => {
            "name the grains that prove it in satisfaction_evidence, as many as the goal asks for"
        }
        "ERR_CONSENT" => {
            "name a consent that holds in processing_basis; `grainstore consent require` shows \
             which namespaces demand one"
        }
        "ERR_DEPENDENCY" => {
            "put it as suspended, and supersede it when all goals in depends_on are satisfied"
        }
        "ERR_AUTHORITY" => "say why and who decided it: --reason and --authority",
        "ERR_REVIEW" => "`grainstore policy review list` shows the numbers",
        "ERR_ACCESS_DENIED" => {
            "the message names what it takes; `grainstore query --relation mg:delegates_to` shows \
             what was delegated, docs/policy.md who may do what"
        }
        "ERR_POLICY_DENIED" => "`grainstore policy show` lists what the store holds to, and why",
        "ERR_POLICY" => {
            "`grainstore policy preset gdpr` shows a document; what is misspelt is refused, not ignored"
        }
        "ERR_REVIEW_REQUIRED" => "a person looks at it first: --role reviewer shows it",
        "ERR_ERASED" => "`grainstore put --allow-erased` stores it all the same, as a new grain",
        "ERR_INTEGRITY" => "these are not the bytes that were written; take them from elsewhere",
        // What a caller writes.
        "ERR_HASH_FORMAT" | "ERR_HASH_LENGTH" => {
            "an address is 64 lower-case hexadecimal digits, or 8 to 16 of its first"
        }
        "ERR_AMBIGUOUS" => "give more of its digits",
        "ERR_CURSOR" => "pass the next_cursor of the answer before, unchanged",
        "ERR_SEARCH_SYNTAX" => "`grainstore search --help` says what may be asked",
        "ERR_FILTER" => "`grainstore query --help` says what filters there are",
        "ERR_USAGE" => "`grainstore help` lists the commands; `grainstore COMMAND --help` explains",
        "ERR_PASSPHRASE" => "pass it on a descriptor: --passphrase-fd 3 3< FILE",
        "ERR_TERMINAL" => "write to a file with -o FILE, or pipe the output to a program",
        // Grains as text and bytes.
        "ERR_CORRUPT" => {
            "JSON is read strictly (one object a line, no member twice); blobs must be canonical"
        }
        "ERR_NO_TYPE" | "ERR_UNKNOWN_TYPE" => {
            "\"type\" is one of belief, event, state, workflow, action, observation, goal, \
             reasoning, consensus, consent"
        }
        "ERR_SCHEMA" | "ERR_EMPTY" | "ERR_RANGE" => {
            "the message names the field; OMS 1.3, section 8, lists what each type must have"
        }
        "ERR_NOT_MAP" => "a grain is a JSON object, one a line",
        // Signatures.
        "ERR_KEY" => {
            "`grainstore did new FILE` makes a key; `chmod 600 FILE` hides one from others"
        }
        "ERR_DID" => "a did:key of an Ed25519 or P-256 key, or a did:web, and nothing behind it",
        "ERR_SIGNATURE" => "the bytes are not what was signed, or somebody else signed them",
        "ERR_UNRESOLVED" => "only did:key signers can be checked without asking anyone",
        "ERR_SIGNED_MISMATCH" => {
            "`grainstore grain sign` signs a grain as it is made; a signed one is passed on whole, as \
             `grainstore get --delivery` gives it"
        }
        "ERR_VIEW" => "a view is shown, not stored: put the original grain",
        "ERR_UNTRUSTED" => {
            "`grainstore trust list` shows who may write there; `grainstore trust add` adds a signer"
        }
        _ => return of_file(code),
    })
}

/// Returns what a person can do about an error in a file.
fn of_file(code: &str) -> Option<&'static str> {
    Some(match code {
        "ERR_IO" => "look at the path and at who may read or write there",
        "ERR_FORMAT_UNKNOWN" => {
            "name the format with --format; `grainstore import --help` lists them"
        }
        "ERR_MG_TRUNCATED" | "ERR_MG_CHECKSUM" | "ERR_MG_MAGIC" => {
            "the file is not whole, or was changed on its way: copy it or export it again"
        }
        "ERR_UNSUPPORTED" => "this version does not do that yet",
        "ERR_SEALED" => "name what opens it with --identity FILE or --passphrase-fd N",
        "ERR_IDENTITY" => "an identity file is what `age-keygen -o FILE` writes",
        "ERR_RECIPIENT" => "a recipient is the public half of a key: age1…",
        "signature_invalid" => "somebody changed the bundle, or its .sig is of another one",
        "PAM_CHECKSUM" => {
            "the file was changed after its export; --accept-bad-checksum reads it all the same"
        }
        "PAM_SCHEMA_ID" => {
            "`validate FILE` without --format tells what it is; a store, a conversation and an \
             embeddings file each name themselves in \"schema\""
        }
        "PAM_VERSION" => "this reads PAM 1.x, and all files of one export are of one version",
        "PAM_SCHEMA" => {
            "the place says which member; the schemas of PAM 1.0 say what it may be, and foreign \
             members go into metadata or raw_metadata"
        }
        "PAM_CONTENT_HASH" | "PAM_TOTAL" => {
            "the file was changed after its export: export it again"
        }
        "PAM_EMBEDDING_REF" | "PAM_EMBEDDING" => {
            "an embedding names a memory of its store and has as many finite numbers as it says; it \
             can be made again from the memory"
        }
        "PAM_SIGNATURE_FORM" => {
            "a signature is over export_id, export_date, owner.id and integrity.checksum, and not \
             older than the export"
        }
        "PAM_STORAGE_REF" => {
            "a file is named below the directory of the store: letters, digits, ._-/"
        }
        "JSONL_STATUS" => "`import` takes the status lines of an export, `put` only grains",
        "mixed_producers" => "choose one with --producer NAME, or narrow the filters",
        "mixed_tenants" | "PAM_MIXED_OWNERS" => "choose one with --user NAME",
        "checksum_mismatch" => "the bundle was changed after its export; have it exported again",
        "record.effective-subject" => "give the envelope a subject, or every record its own",
        "record.id.unique" => "L1 wants ids that come once; --level L0 does not",
        "json.syntax" | "json.duplicate-key" | "encoding.bom" | "encoding.utf8" => {
            "JSON is read strictly: UTF-8 without a byte-order mark, no member twice"
        }
        code if is_aimem(code) => "the file breaks a rule of the AIMEM bundle format",
        code if OMI.iter().any(|area| code.starts_with(area)) => {
            "the file breaks a rule of OMI-AI 0.1; the code names it"
        }
        code if code.starts_with("JSONL_") => "one grain a line: a JSON object in UTF-8",
        code if code.starts_with("ERR_MG_") => "the file breaks a rule of OMS 1.3, section 11",
        "PROVIDER_SHAPE" => "pass the export as the provider sent it: the file, its folder or ZIP",
        code if code.starts_with("PROVIDER_") => "have the provider export it again",
        code if code.starts_with("PAM_") => "the file breaks a rule of Portable AI Memory 1.0",
        _ => return None,
    })
}

/// The codes of AIMEM are those of its reference server: words in small letters.
fn is_aimem(code: &str) -> bool {
    code.contains('_') && code.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'_'))
}

/// What the codes of OMI start with.
const OMI: [&str; 4] = ["envelope", "record", "subject", "jsonl."];
