//! The error codes of bundles: those of the reference server where it has one.

use crate::code::ErrorCode;

pub(super) const NOT_OBJECT: ErrorCode = ErrorCode::AimemNotObject;
pub(super) const BAD_FORMAT: ErrorCode = ErrorCode::AimemBadFormat;
pub(super) const UNSUPPORTED_VERSION: ErrorCode = ErrorCode::AimemUnsupportedVersion;
pub(super) const MISSING_FIELD: ErrorCode = ErrorCode::AimemMissingField;
pub(super) const INVALID_FIELD: ErrorCode = ErrorCode::AimemInvalidField;
pub(super) const INVALID_PRODUCER: ErrorCode = ErrorCode::AimemInvalidProducer;
pub(super) const INVALID_TENANT_ID: ErrorCode = ErrorCode::AimemInvalidTenantId;
pub(super) const INVALID_TIMESTAMP: ErrorCode = ErrorCode::AimemInvalidTimestamp;
pub(super) const INVALID_SCOPE: ErrorCode = ErrorCode::AimemInvalidScope;
pub(super) const SINCE_MISSING: ErrorCode = ErrorCode::AimemSinceMissing;
pub(super) const MISSING_CHECKSUM: ErrorCode = ErrorCode::AimemMissingChecksum;
/// The one that HTTP answers with 409 instead of 422.
pub(super) const CHECKSUM_MISMATCH: ErrorCode = ErrorCode::AimemChecksumMismatch;
pub(super) const INVALID_URN: ErrorCode = ErrorCode::AimemInvalidUrn;
pub(super) const EMPTY_CONTENT: ErrorCode = ErrorCode::AimemEmptyContent;
pub(super) const CONTENT_TOO_LONG: ErrorCode = ErrorCode::AimemContentTooLong;
pub(super) const BAD_HASH_FORMAT: ErrorCode = ErrorCode::AimemBadHashFormat;
pub(super) const HASH_MISMATCH: ErrorCode = ErrorCode::AimemHashMismatch;
pub(super) const INVALID_MEMORY_TYPE: ErrorCode = ErrorCode::AimemInvalidMemoryType;
pub(super) const INVALID_ZONE: ErrorCode = ErrorCode::AimemInvalidZone;
pub(super) const INVALID_TAG: ErrorCode = ErrorCode::AimemInvalidTag;
pub(super) const DUPLICATE_CHUNK_ID: ErrorCode = ErrorCode::AimemDuplicateChunkId;
pub(super) const DUPLICATE_ENTITY_ID: ErrorCode = ErrorCode::AimemDuplicateEntityId;
pub(super) const EDGE_SOURCE_UNKNOWN: ErrorCode = ErrorCode::AimemEdgeSourceUnknown;
pub(super) const EDGE_TARGET_UNKNOWN: ErrorCode = ErrorCode::AimemEdgeTargetUnknown;
pub(super) const INVALID_EDGE_TYPE: ErrorCode = ErrorCode::AimemInvalidEdgeType;
pub(super) const EDGE_WEIGHT: ErrorCode = ErrorCode::AimemEdgeWeight;
pub(super) const EMPTY_ENTITY_NAME: ErrorCode = ErrorCode::AimemEmptyEntityName;
pub(super) const INVALID_ENTITY_KIND: ErrorCode = ErrorCode::AimemInvalidEntityKind;
pub(super) const CE_CHUNK_UNKNOWN: ErrorCode = ErrorCode::AimemCeChunkUnknown;
pub(super) const CE_ENTITY_UNKNOWN: ErrorCode = ErrorCode::AimemCeEntityUnknown;
pub(super) const EMBEDDING_ENVELOPE: ErrorCode = ErrorCode::AimemEmbeddingEnvelope;
pub(super) const EMBEDDING_DIM: ErrorCode = ErrorCode::AimemEmbeddingDim;
pub(super) const EMBEDDING_ENCODING: ErrorCode = ErrorCode::AimemEmbeddingEncoding;
/// A tag that no record of a stream has.
pub(super) const INVALID_KIND: ErrorCode = ErrorCode::AimemInvalidKind;
/// A signature beside the bundle that does not verify.
pub(super) const SIGNATURE_INVALID: ErrorCode = ErrorCode::AimemSignatureInvalid;
/// The operator must choose one of several producers.
pub(super) const MIXED_PRODUCERS: ErrorCode = ErrorCode::AimemMixedProducers;
/// A bundle is the memory of one tenant.
pub(super) const MIXED_TENANTS: ErrorCode = ErrorCode::AimemMixedTenants;
