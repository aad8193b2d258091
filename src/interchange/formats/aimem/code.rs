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
pub(super) const CHECKSUM_MISMATCH: &str = "checksum_mismatch";
pub(super) const INVALID_URN: &str = "invalid_urn";
pub(super) const EMPTY_CONTENT: &str = "empty_content";
pub(super) const CONTENT_TOO_LONG: &str = "content_too_long";
pub(super) const BAD_HASH_FORMAT: &str = "bad_hash_format";
pub(super) const HASH_MISMATCH: &str = "hash_mismatch";
pub(super) const INVALID_MEMORY_TYPE: &str = "invalid_memory_type";
pub(super) const INVALID_ZONE: &str = "invalid_zone";
pub(super) const INVALID_TAG: &str = "invalid_tag";
pub(super) const DUPLICATE_CHUNK_ID: &str = "duplicate_chunk_id";
pub(super) const DUPLICATE_ENTITY_ID: &str = "duplicate_entity_id";
pub(super) const EDGE_SOURCE_UNKNOWN: &str = "edge_source_unknown";
pub(super) const EDGE_TARGET_UNKNOWN: &str = "edge_target_unknown";
pub(super) const INVALID_EDGE_TYPE: &str = "invalid_edge_type";
pub(super) const EDGE_WEIGHT: &str = "edge_weight_out_of_range";
pub(super) const EMPTY_ENTITY_NAME: &str = "empty_entity_name";
pub(super) const INVALID_ENTITY_KIND: &str = "invalid_entity_kind";
pub(super) const CE_CHUNK_UNKNOWN: &str = "ce_chunk_unknown";
pub(super) const CE_ENTITY_UNKNOWN: &str = "ce_entity_unknown";
pub(super) const EMBEDDING_ENVELOPE: &str = "embedding_envelope_missing";
pub(super) const EMBEDDING_DIM: &str = "embedding_dim_mismatch";
pub(super) const EMBEDDING_ENCODING: &str = "embedding_encoding";
/// A tag that no record of a stream has.
pub(super) const INVALID_KIND: &str = "invalid_kind";
/// A signature beside the bundle that does not verify.
pub(super) const SIGNATURE_INVALID: &str = "signature_invalid";
/// The operator must choose one of several producers.
pub(super) const MIXED_PRODUCERS: &str = "mixed_producers";
/// A bundle is the memory of one tenant.
pub(super) const MIXED_TENANTS: ErrorCode = ErrorCode::AimemMixedTenants;
