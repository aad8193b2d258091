//! The registry of error codes: every code that the library or its command can report.
//!
//! Programs depend on a code: its wire name never changes and is never reused. The message of an
//! error, and the condition that leads to it, are in the `error.rs` of each module, not here.

use std::fmt;

/// Declares the codes by domain: the variant, its wire name, its group if it has one, and its meaning.
macro_rules! codes {
    ($($(#[doc = $about:literal])+ $domain:ident {
        $($code:ident $name:literal $($group:ident)? $doc:literal)+
    })+) => {
        /// The kind of an error, under the name of the specification, or ours where it has none.
        ///
        /// A code compares with its wire name:
        ///
        /// ```
        /// use grainstore::{ContentAddress, ErrorCode};
        ///
        /// let error = "abc".parse::<ContentAddress>().unwrap_err();
        /// assert_eq!(error.code(), ErrorCode::HashLength);
        /// assert_eq!(error.code(), "ERR_HASH_LENGTH");
        /// ```
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $($(#[doc = concat!("`", $name, "`: ", $doc, ".")] $code,)+)+
        }

        /// The part of the system that an [`ErrorCode`] belongs to.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum CodeDomain {
            $($(#[doc = $about])+ $domain,)+
        }

        impl ErrorCode {
            /// All codes.
            pub const ALL: &'static [Self] = &[$($(Self::$code,)+)+];

            /// Returns the name that programs and files see.
            pub const fn as_str(self) -> &'static str {
                match self { $($(Self::$code => $name,)+)+ }
            }

            /// Returns the part of the system that the code belongs to.
            pub const fn domain(self) -> CodeDomain {
                match self { $($(Self::$code)|+ => CodeDomain::$domain,)+ }
            }

            const fn group(self) -> Option<Group> {
                match self { $($(Self::$code => [$(Some(Group::$group),)? None][0],)+)+ }
            }
        }
    };
}

codes! {
    /// Grains, their bytes, keys and signatures (OMS 19 where it has a name).
    Grain {
        TooShort "ERR_TOO_SHORT" "a blob shorter than its header and a payload"
        Version "ERR_VERSION" "a blob of an unknown format version"
        Corrupt "ERR_CORRUPT" "bytes, a value or a text that is malformed or not canonical"
        Json "ERR_JSON" "a text that is not JSON"
        NotMap "ERR_NOT_MAP" "a payload that is not a map"
        FloatInvalid "ERR_FLOAT_INVALID" "a float that is NaN or infinite"
        HashFormat "ERR_HASH_FORMAT" "an address that is not lower-case hexadecimal"
        HashLength "ERR_HASH_LENGTH" "an address that is not 64 characters long"
        Integrity "ERR_INTEGRITY" Corrupt "bytes that do not have the address expected"
        NoType "ERR_NO_TYPE" "a grain without a type"
        UnknownType "ERR_UNKNOWN_TYPE" "a type that does not exist"
        Schema "ERR_SCHEMA" "a field that is missing, forbidden or of another kind"
        Empty "ERR_EMPTY" "a required text or array that is empty"
        Range "ERR_RANGE" "a number or a size outside its range"
        SensitivityMismatch "ERR_SENSITIVITY_MISMATCH" "a header sensitivity below what the tags require"
        SignedMismatch "ERR_SIGNED_MISMATCH" "a signed flag without a signature, or the reverse"
        NoRandomness "ERR_NO_RANDOMNESS" Retryable "the system provides no random bytes"
        Did "ERR_DID" "a text that is not a supported DID"
        Key "ERR_KEY" "bytes that are not a usable key"
        Signature "ERR_SIGNATURE" "a signature that does not verify"
        Unresolved "ERR_UNRESOLVED" "a DID whose key cannot be found"
        Timestamp "ERR_TIMESTAMP" "a token that is not a trusted timestamp of the grain"
        Unsupported "ERR_UNSUPPORTED" "a feature that this version does not implement"
    }

    /// Policies, permissions and the state of a stored grain.
    Policy {
        NotFound "ERR_NOT_FOUND" "no such grain"
        Conflict "ERR_CONFLICT" "a grain that is no longer current, or another that replaces it"
        InvalidationDenied "ERR_INVALIDATION_DENIED" Denied "a change that an invalidation policy or a hold forbids"
        EvidenceRequired "ERR_EVIDENCE_REQUIRED" Denied "a goal satisfied without the evidence it demands"
        Consent "ERR_CONSENT" Denied "a grain without a consent in force"
        Dependency "ERR_DEPENDENCY" Denied "a goal activated before the goals it depends on"
        Authority "ERR_AUTHORITY" "an administrative operation without reason and authority"
        Review "ERR_REVIEW" "no such review"
        ReviewRequired "ERR_REVIEW_REQUIRED" Denied "a grain that a person must review first"
        AccessDenied "ERR_ACCESS_DENIED" Denied "an operation outside the caller's scope or delegation"
        PolicyDenied "ERR_POLICY_DENIED" Denied "a grain that a regime forbids to store"
        Policy "ERR_POLICY" "a document that is not a policy"
        Erased "ERR_ERASED" "a grain that was erased"
        Embedding "ERR_EMBEDDING" "a vector that is not an embedding of its model"
        Embedder "ERR_EMBEDDER" Retryable "a model of the caller that made no vector"
        Program "ERR_PROGRAM" "a program of the caller that failed, or a line of its answer that is none"
        View "ERR_VIEW" "a disclosed view where the original is needed"
        Untrusted "ERR_UNTRUSTED" Denied "a writer that the store does not trust there"
        Trust "ERR_TRUST" "a trust rule that is ambiguous"
    }

    /// The files of the store.
    Storage {
        NotAStore "ERR_NOT_A_STORE" "a directory that is not a store"
        StoreExists "ERR_STORE_EXISTS" "a directory that is a store already"
        StoreVersion "ERR_STORE_VERSION" "a store of a newer version"
        StoreLocked "ERR_STORE_LOCKED" Retryable "a store that another process or handle has open"
        StorageDamaged "ERR_STORAGE_DAMAGED" Corrupt "a file that is not what was written"
        StorageFull "ERR_STORAGE_FULL" Retryable "no space left on the disk"
        StorageHalted "ERR_STORAGE_HALTED" "a ledger that stopped writing after a failure"
        StorageIo "ERR_STORAGE_IO" "a file operation that the system refused"
        Unreachable "ERR_UNREACHABLE" Retryable "a shared ledger that does not answer"
        StorageReadOnly "ERR_STORAGE_READ_ONLY" "a directory that may only be read"
        IndexDamaged "ERR_INDEX_DAMAGED" "an index file that is not what was written"
        Text "ERR_TEXT" "a text index that is off, or whose library failed"
        MasterKey "ERR_MASTER_KEY" "a master key that is not the one of the store"
        RootMissing "ERR_ROOT_MISSING" "a vault without the root that opens it"
        UserUnknown "ERR_USER_UNKNOWN" "a user who has no key"
        Locked "ERR_LOCKED" "a sealed person who is locked"
        UserExists "ERR_USER_EXISTS" "a user who has a key already"
        BackupDiverged "ERR_BACKUP_DIVERGED" "a backup of another store or of another history"
        ScopeIncomplete "ERR_SCOPE_INCOMPLETE" "entries that may name a person and cannot be read"
        LostErasures "ERR_LOST_ERASURES" "a restore that could bring back what was erased"
    }

    /// The query, the filter or the arguments of the caller.
    Request {
        Cursor "ERR_CURSOR" "a text that is not a cursor of this store"
        Filter "ERR_FILTER" "a filter without a meaning"
        SearchSyntax "ERR_SEARCH_SYNTAX" "a text query that does not parse"
        Ambiguous "ERR_AMBIGUOUS" "the beginning of several addresses"
        Usage "ERR_USAGE" "arguments of the command that do not go together"
        Passphrase "ERR_PASSPHRASE" "an empty passphrase"
        Terminal "ERR_TERMINAL" "binary output that would go to a terminal"
    }

    /// Files of any interchange format.
    File {
        Io "ERR_IO" "a file that cannot be read or written"
        FormatUnknown "ERR_FORMAT_UNKNOWN" "a file of no known format"
        Recipient "ERR_RECIPIENT" "a recipient that an encrypted file cannot have"
        Identity "ERR_IDENTITY" "a file that holds no identity for decryption"
        Sealed "ERR_SEALED" "an encrypted file or a sealed value that nothing given opens"
    }

    /// `.mg` archives (OMS 11).
    Mg {
        MgMagic "ERR_MG_MAGIC" "not an archive of version 1"
        MgTruncated "ERR_MG_TRUNCATED" "an archive cut short"
        MgChecksum "ERR_MG_CHECKSUM" "a footer that does not match"
        MgFlags "ERR_MG_FLAGS" "a flag that is unknown or not true"
        MgReserved "ERR_MG_RESERVED" "reserved bytes that are not zero"
        MgCodec "ERR_MG_CODEC" "an unknown codec or a damaged frame"
        MgIndex "ERR_MG_INDEX" "an index that does not match the file"
        MgLimit "ERR_MG_LIMIT" "more bytes than the limits allow"
        MgManifest "ERR_MG_MANIFEST" "a manifest that is not a canonical map"
        MgTrailing "ERR_MG_TRAILING" "bytes after the declared end"
    }

    /// JSON lines.
    Jsonl {
        JsonlBlob "JSONL_BLOB" "a line that is not a blob with its address"
        JsonlBom "JSONL_BOM" "a byte-order mark"
        JsonlLongLine "JSONL_LONG_LINE" "a line longer than the limit"
        JsonlStatus "JSONL_STATUS" "the line of a status or a hold that is malformed or out of place"
        JsonlUtf8 "JSONL_UTF8" "a line that is not UTF-8"
    }

    /// Portable AI Memory.
    Pam {
        PamJson "PAM_JSON" "a text that is not strict JSON"
        PamSchemaId "PAM_SCHEMA_ID" "a document of another kind"
        PamVersion "PAM_VERSION" "an unknown version (PAM 22.3)"
        PamSchema "PAM_SCHEMA" "a member that the schema does not allow, or that is missing"
        PamDuplicateId "PAM_DUPLICATE_ID" "an id that occurs twice"
        PamContentHash "PAM_CONTENT_HASH" "a `content_hash` of another content (PAM 6)"
        PamTotal "PAM_TOTAL" "a `total_memories` that is not the number of memories (PAM 15)"
        PamChecksum "PAM_CHECKSUM" "a checksum of other memories (PAM 15)"
        PamSupersededRef "PAM_SUPERSEDED_REF" "a `superseded_by` that names no memory"
        PamCycle "PAM_CYCLE" "memories that replace each other, or messages that answer each other"
        PamRelationRef "PAM_RELATION_REF" "a relation to no memory"
        PamTemporal "PAM_TEMPORAL" "a time before the one it must follow"
        PamCustomType "PAM_CUSTOM_TYPE" "a `custom_type` without `type` custom, or the reverse (PAM 5)"
        PamStorageRef "PAM_STORAGE_REF" "a `storage.ref` that could leave the directory"
        PamConversationRef "PAM_CONVERSATION_REF" "a conversation or message that is not there"
        PamDerivedRef "PAM_DERIVED_REF" "a `derived_memories` that does not match (PAM 14.1)"
        PamMessageDag "PAM_MESSAGE_DAG" "a message whose parent is not in the conversation"
        PamEmbeddingRef "PAM_EMBEDDING_REF" "an embedding and a memory that do not match (PAM 12)"
        PamEmbedding "PAM_EMBEDDING" "a vector that cannot be kept"
        PamSignatureForm "PAM_SIGNATURE_FORM" "a signature that PAM does not allow (PAM 18)"
        PamSignature "PAM_SIGNATURE" "a signature that does not verify or is not checked"
        PamMixedOwners "PAM_MIXED_OWNERS" "an export of several owners (PAM 17)"
    }

    /// AIMEM bundles: the codes of the reference server where it has one.
    Aimem {
        AimemNotObject "not_object" "a record that is not an object"
        AimemBadFormat "bad_format" "not an AIMEM bundle"
        AimemUnsupportedVersion "unsupported_version" "an unknown version"
        AimemMissingField "missing_field" "a required member that is missing"
        AimemInvalidField "invalid_field" "a member of another kind"
        AimemInvalidProducer "invalid_producer" "a malformed producer"
        AimemInvalidTenantId "invalid_tenant_id" "a malformed `tenant_id`"
        AimemInvalidTimestamp "invalid_timestamp" "a malformed time"
        AimemInvalidScope "invalid_scope" "an unknown scope"
        AimemSinceMissing "since_missing" "an incremental bundle without `since`"
        AimemMissingChecksum "missing_checksum" "no checksum"
        AimemChecksumMismatch "checksum_mismatch" "a checksum of another content (HTTP 409 instead of 422)"
        AimemInvalidUrn "invalid_urn" "a malformed URN"
        AimemEmptyContent "empty_content" "an empty content"
        AimemContentTooLong "content_too_long" "a content past the limit"
        AimemBadHashFormat "bad_hash_format" "a malformed `content_hash`"
        AimemHashMismatch "hash_mismatch" "a `content_hash` of another content"
        AimemInvalidMemoryType "invalid_memory_type" "an unknown `memory_type`"
        AimemInvalidZone "invalid_zone" "an unknown zone"
        AimemInvalidTag "invalid_tag" "a malformed tag"
        AimemDuplicateChunkId "duplicate_chunk_id" "a chunk id that occurs twice"
        AimemDuplicateEntityId "duplicate_entity_id" "an entity id that occurs twice"
        AimemEdgeSourceUnknown "edge_source_unknown" "an edge from no chunk"
        AimemEdgeTargetUnknown "edge_target_unknown" "an edge to no chunk"
        AimemInvalidEdgeType "invalid_edge_type" "an unknown `edge_type`"
        AimemEdgeWeight "edge_weight_out_of_range" "an edge weight outside its range"
        AimemEmptyEntityName "empty_entity_name" "an entity without a name"
        AimemInvalidEntityKind "invalid_entity_kind" "an unknown entity kind"
        AimemCeChunkUnknown "ce_chunk_unknown" "a mention in no chunk"
        AimemCeEntityUnknown "ce_entity_unknown" "a mention of no entity"
        AimemEmbeddingEnvelope "embedding_envelope_missing" "an embedding without its envelope"
        AimemEmbeddingDim "embedding_dim_mismatch" "an embedding of another length"
        AimemEmbeddingEncoding "embedding_encoding" "an embedding that cannot be decoded"
        AimemInvalidKind "invalid_kind" "a record of a stream without a known `_kind`"
        AimemSignatureInvalid "signature_invalid" "a signature beside the bundle that does not match it"
        AimemMixedProducers "mixed_producers" "an export of several producers"
        AimemMixedTenants "mixed_tenants" "an export of several tenants"
    }

    /// OMI-AI envelopes; the text names the rules, not the codes.
    Omi {
        OmiEncodingBom "encoding.bom" "a byte-order mark"
        OmiEncodingUtf8 "encoding.utf8" "a text that is not UTF-8"
        OmiJsonSyntax "json.syntax" "a text that is not JSON"
        OmiJsonDuplicateKey "json.duplicate-key" "a member that occurs twice"
        OmiEnvelope "envelope" "a document that is not an envelope"
        OmiEnvelopeFormat "envelope.format" "an unknown format"
        OmiEnvelopeVersion "envelope.version" "an unknown version"
        OmiEnvelopeSerialization "envelope.serialization" "a serialization other than the file's"
        OmiEnvelopeMemories "envelope.memories" "malformed memories"
        OmiEnvelopeGeneratedAt "envelope.generated_at" "a malformed `generated_at`"
        OmiEnvelopeGenerator "envelope.generator" "a malformed generator"
        OmiEnvelopeIdNamespace "envelope.id_namespace" "a malformed `id_namespace`"
        OmiEnvelopeExt "envelope.ext" "a malformed ext of the envelope"
        OmiLineEnvelope "jsonl.envelope" "a first line that is not an envelope"
        OmiLineEnvelopeSerialization "jsonl.envelope.serialization" "a first line with another serialization"
        OmiLineEnvelopeMemories "jsonl.envelope.memories" "a first line with memories"
        OmiLineBlankLine "jsonl.blank-line" "a blank line"
        OmiLineLineObject "jsonl.line-object" "a line that is not an object"
        OmiRecord "record" "a record that is not an object"
        OmiRecordId "record.id" "a malformed id"
        OmiRecordIdUnique "record.id.unique" "an id that occurs twice"
        OmiRecordContent "record.content" "a malformed content"
        OmiRecordCreated "record.created" "a malformed or missing created"
        OmiRecordUpdated "record.updated" "a malformed updated"
        OmiRecordValidFrom "record.valid_from" "a malformed `valid_from`"
        OmiRecordValidTo "record.valid_to" "a malformed `valid_to`"
        OmiRecordType "record.type" "a malformed or missing type"
        OmiRecordEffectiveSubject "record.effective-subject" "no subject in the record or the envelope"
        OmiRecordConfidence "record.confidence" "a malformed confidence"
        OmiRecordLang "record.lang" "a malformed lang"
        OmiRecordTags "record.tags" "malformed tags"
        OmiRecordSource "record.source" "a malformed source"
        OmiRecordRelations "record.relations" "malformed relations"
        OmiRecordEntities "record.entities" "malformed entities"
        OmiRecordExt "record.ext" "a malformed ext of a record"
        OmiSubject "subject" "a malformed subject"
        OmiSubjectId "subject.id" "a malformed id of a subject"
    }

    /// Exports of providers.
    Provider {
        ProviderZip "PROVIDER_ZIP" "a damaged or dangerous ZIP archive"
        ProviderSyntax "PROVIDER_SYNTAX" "a text that is neither strict JSON nor CSV"
        ProviderShape "PROVIDER_SHAPE" "a file that the provider does not export"
        ProviderTime "PROVIDER_TIME" "a record without a time"
    }
}

/// The codes to which a program answers alike.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    Denied,
    Retryable,
    Corrupt,
}

impl ErrorCode {
    /// Returns whether a rule of the grain or of the store forbids the call: a policy, a hold, a consent,
    /// a review, trust, or the reach of the handle. The same call is refused again.
    ///
    /// ```
    /// use grainstore::ErrorCode;
    ///
    /// assert!(ErrorCode::Consent.is_denied() && !ErrorCode::NotFound.is_denied());
    /// ```
    pub fn is_denied(self) -> bool {
        self.group() == Some(Group::Denied)
    }

    /// Returns whether the same call may succeed later as it is: another process writes, the disk is full,
    /// a machine or a model does not answer.
    pub fn is_retryable(self) -> bool {
        self.group() == Some(Group::Retryable)
    }

    /// Returns whether stored bytes are not those that were written. A damaged index is none of these: it
    /// is built anew.
    pub fn is_corrupt(self) -> bool {
        self.group() == Some(Group::Corrupt)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

impl PartialEq<str> for ErrorCode {
    fn eq(&self, name: &str) -> bool {
        self.as_str() == name
    }
}

impl PartialEq<&str> for ErrorCode {
    fn eq(&self, name: &&str) -> bool {
        self.as_str() == *name
    }
}
