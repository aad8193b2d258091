use grainstore::{CodeDomain, ErrorCode};

/// Returns what a person can do about an error of this code.
pub(crate) fn hint(code: ErrorCode) -> Option<&'static str> {
    of_store(code).or_else(|| of_policy(code))
}

fn of_store(code: ErrorCode) -> Option<&'static str> {
    Some(match code {
        ErrorCode::NotAStore => {
            "make a store with `grainstore init`, or name another directory with --store"
        }
        ErrorCode::StoreExists => "it is ready for use: `put` and `import` add to it",
        ErrorCode::StoreVersion => {
            "nothing was changed; use the version of grainstore that wrote it, or a newer one"
        }
        ErrorCode::StoreLocked => "another process has it open; wait until it is done, or stop it",
        ErrorCode::StorageFull => {
            "free some space and run the same command again: what was acknowledged is safe, and \
             what is there already is not stored twice"
        }
        ErrorCode::StorageReadOnly => "run it as the user the store belongs to, or copy the store",
        ErrorCode::StorageDamaged => {
            "`grainstore check --deep` says what is damaged; `grainstore restore` makes a new store of \
             a backup"
        }
        ErrorCode::StorageIo | ErrorCode::StorageHalted => {
            "look at the disk and at who may write there, then run the same command again"
        }
        ErrorCode::IndexDamaged => {
            "the index is derived: `grainstore check --repair` builds it anew from the ledger"
        }
        ErrorCode::Text => {
            "the text index is derived: `grainstore check --repair` builds it anew from the ledger"
        }
        ErrorCode::BackupDiverged => {
            "nothing was changed; name another directory: this one holds another store, or a later \
             or other history of this one"
        }
        ErrorCode::LostErasures => {
            "restore from a directory that has the later entries too, or say --accept-lost-erasures"
        }
        _ => return None,
    })
}

fn of_policy(code: ErrorCode) -> Option<&'static str> {
    Some(match code {
        ErrorCode::NotFound => "`grainstore list` and `grainstore search` show what is there",
        ErrorCode::Conflict => {
            "`grainstore history ADDRESS` shows the current grain; supersede that"
        }
        ErrorCode::InvalidationDenied => {
            "`grainstore policy explain ADDRESS OPERATION` says what it takes; what replaces a grain \
             goes in with `grainstore supersede`"
        }
        ErrorCode::EvidenceRequired => {
            "name the grains that prove it in satisfaction_evidence, as many as the goal asks for"
        }
        ErrorCode::Consent => {
            "name a consent that holds in processing_basis; `grainstore consent require` shows \
             which namespaces demand one"
        }
        ErrorCode::Dependency => {
            "put it as suspended, and supersede it when all goals in depends_on are satisfied"
        }
        ErrorCode::Authority => "say why and who decided it: --reason and --authority",
        ErrorCode::Review => "`grainstore policy review list` shows the numbers",
        ErrorCode::AccessDenied => {
            "the message names what it takes; `grainstore query --relation mg:delegates_to` shows \
             what was delegated, docs/policy.md who may do what"
        }
        ErrorCode::PolicyDenied => {
            "`grainstore policy show` lists what the store holds to, and why"
        }
        ErrorCode::Policy => {
            "`grainstore policy preset gdpr` shows a document; what is misspelt is refused, not ignored"
        }
        ErrorCode::ReviewRequired => "a person looks at it first: --role reviewer shows it",
        ErrorCode::Erased => {
            "`grainstore put --allow-erased` stores it all the same, as a new grain"
        }
        ErrorCode::Integrity => {
            "these are not the bytes that were written; take them from elsewhere"
        }
        _ => return of_grains(code),
    })
}

fn of_grains(code: ErrorCode) -> Option<&'static str> {
    Some(match code {
        // The request.
        ErrorCode::HashFormat | ErrorCode::HashLength => {
            "an address is 64 lower-case hexadecimal digits, or 8 to 16 of its first"
        }
        ErrorCode::Ambiguous => "give more of its digits",
        ErrorCode::Cursor => "pass the next_cursor of the answer before, unchanged",
        ErrorCode::SearchSyntax => "`grainstore search --help` says what may be asked",
        ErrorCode::Filter => "`grainstore query --help` says what filters there are",
        ErrorCode::Usage => {
            "`grainstore help` lists the commands; `grainstore COMMAND --help` explains"
        }
        ErrorCode::Passphrase => "pass it on a descriptor: --passphrase-fd 3 3< FILE",
        ErrorCode::Terminal => "write to a file with -o FILE, or pipe the output to a program",
        // Grains as text and bytes.
        ErrorCode::Corrupt => {
            "JSON is read strictly (one object a line, no member twice); blobs must be canonical"
        }
        ErrorCode::NoType | ErrorCode::UnknownType => {
            "\"type\" is one of belief, event, state, workflow, action, observation, goal, \
             reasoning, consensus, consent"
        }
        ErrorCode::Schema | ErrorCode::Empty | ErrorCode::Range => {
            "the message names the field; OMS 1.3, section 8, lists what each type must have"
        }
        ErrorCode::NotMap => "a grain is a JSON object, one a line",
        // Signatures.
        ErrorCode::Key => {
            "`grainstore did new FILE` makes a key; `chmod 600 FILE` hides one from others"
        }
        ErrorCode::Did => {
            "a did:key of an Ed25519 or P-256 key, or a did:web, and nothing behind it"
        }
        ErrorCode::Signature => "the bytes are not what was signed, or somebody else signed them",
        ErrorCode::Unresolved => "only did:key signers can be checked without asking anyone",
        ErrorCode::SignedMismatch => {
            "`grainstore grain sign` signs a grain as it is made; a signed one is passed on whole, as \
             `grainstore get --delivery` gives it"
        }
        ErrorCode::View => "a view is shown, not stored: put the original grain",
        ErrorCode::Untrusted => {
            "`grainstore trust list` shows who may write there; `grainstore trust add` adds a signer"
        }
        _ => return of_file(code),
    })
}

/// Returns what a person can do about an error in a file.
fn of_file(code: ErrorCode) -> Option<&'static str> {
    Some(match code {
        ErrorCode::Io => "look at the path and at who may read or write there",
        ErrorCode::FormatUnknown => {
            "name the format with --format; `grainstore import --help` lists them"
        }
        ErrorCode::MgTruncated | ErrorCode::MgChecksum | ErrorCode::MgMagic => {
            "the file is not whole, or was changed on its way: copy it or export it again"
        }
        ErrorCode::Unsupported => "this version does not do that yet",
        ErrorCode::Sealed => "name what opens it with --identity FILE or --passphrase-fd N",
        ErrorCode::Identity => "an identity file is what `age-keygen -o FILE` writes",
        ErrorCode::Recipient => "a recipient is the public half of a key: age1…",
        ErrorCode::AimemSignatureInvalid => {
            "somebody changed the bundle, or its .sig is of another one"
        }
        ErrorCode::PamChecksum => {
            "the file was changed after its export; --accept-bad-checksum reads it all the same"
        }
        ErrorCode::PamSchemaId => {
            "`validate FILE` without --format tells what it is; a store, a conversation and an \
             embeddings file each name themselves in \"schema\""
        }
        ErrorCode::PamVersion => {
            "this reads PAM 1.x, and all files of one export are of one version"
        }
        ErrorCode::PamSchema => {
            "the place says which member; the schemas of PAM 1.0 say what it may be, and foreign \
             members go into metadata or raw_metadata"
        }
        ErrorCode::PamContentHash | ErrorCode::PamTotal => {
            "the file was changed after its export: export it again"
        }
        ErrorCode::PamEmbeddingRef | ErrorCode::PamEmbedding => {
            "an embedding names a memory of its store and has as many finite numbers as it says; it \
             can be made again from the memory"
        }
        ErrorCode::PamSignatureForm => {
            "a signature is over export_id, export_date, owner.id and integrity.checksum, and not \
             older than the export"
        }
        ErrorCode::PamStorageRef => {
            "a file is named below the directory of the store: letters, digits, ._-/"
        }
        ErrorCode::JsonlStatus => "`import` takes the status lines of an export, `put` only grains",
        ErrorCode::AimemMixedProducers => "choose one with --producer NAME, or narrow the filters",
        ErrorCode::AimemMixedTenants | ErrorCode::PamMixedOwners => "choose one with --user NAME",
        ErrorCode::AimemChecksumMismatch => {
            "the bundle was changed after its export; have it exported again"
        }
        ErrorCode::OmiRecordEffectiveSubject => {
            "give the envelope a subject, or every record its own"
        }
        ErrorCode::OmiRecordIdUnique => "L1 wants ids that come once; --level L0 does not",
        ErrorCode::OmiJsonSyntax
        | ErrorCode::OmiJsonDuplicateKey
        | ErrorCode::OmiEncodingBom
        | ErrorCode::OmiEncodingUtf8 => {
            "JSON is read strictly: UTF-8 without a byte-order mark, no member twice"
        }
        ErrorCode::ProviderShape => {
            "pass the export as the provider sent it: the file, its folder or ZIP"
        }
        _ => return of_domain(code.domain()),
    })
}

/// Returns what a person can do about any other error in a file of this kind.
const fn of_domain(domain: CodeDomain) -> Option<&'static str> {
    Some(match domain {
        CodeDomain::Aimem => "the file breaks a rule of the AIMEM bundle format",
        CodeDomain::Omi => "the file breaks a rule of OMI-AI 0.1; the code names it",
        CodeDomain::Jsonl => "one grain a line: a JSON object in UTF-8",
        CodeDomain::Mg => "the file breaks a rule of OMS 1.3, section 11",
        CodeDomain::Provider => "have the provider export it again",
        CodeDomain::Pam => "the file breaks a rule of Portable AI Memory 1.0",
        _ => return None,
    })
}
