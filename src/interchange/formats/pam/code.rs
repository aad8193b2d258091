//! The error codes of memory stores; the text of PAM names none.

use crate::code::ErrorCode;

/// Not strict JSON: a byte-order mark, a duplicate member, a lone surrogate, a number without an
/// I-JSON form.
pub(super) const JSON: ErrorCode = ErrorCode::PamJson;
/// Another kind of document.
pub(super) const SCHEMA_ID: ErrorCode = ErrorCode::PamSchemaId;
/// A version that this reader does not know (PAM 22.3).
pub(super) const VERSION: ErrorCode = ErrorCode::PamVersion;
/// A member that is missing or not what the schema says.
pub(super) const SCHEMA: ErrorCode = ErrorCode::PamSchema;
/// A duplicate id.
pub(super) const DUPLICATE_ID: ErrorCode = ErrorCode::PamDuplicateId;
/// A `content_hash` that is not the content's (PAM 6).
pub(super) const CONTENT_HASH: ErrorCode = ErrorCode::PamContentHash;
/// `total_memories` that is not their number (PAM 15).
pub(super) const TOTAL: ErrorCode = ErrorCode::PamTotal;
/// A checksum that is not the memories' (PAM 15).
pub(super) const CHECKSUM: ErrorCode = ErrorCode::PamChecksum;
/// `superseded_by` names no memory.
pub(super) const SUPERSEDED_REF: ErrorCode = ErrorCode::PamSupersededRef;
/// A cycle of memories that replace each other, or of messages that answer each other.
pub(super) const CYCLE: ErrorCode = ErrorCode::PamCycle;
/// A relation's `from` or `to` names no memory.
pub(super) const RELATION_REF: ErrorCode = ErrorCode::PamRelationRef;
/// A time that comes before the one it must follow.
pub(super) const TEMPORAL: ErrorCode = ErrorCode::PamTemporal;
/// `custom_type` without `type` custom, or the reverse (PAM 5).
pub(super) const CUSTOM_TYPE: ErrorCode = ErrorCode::PamCustomType;
/// `storage.ref` could lead out of the directory of the store.
pub(super) const STORAGE_REF: ErrorCode = ErrorCode::PamStorageRef;
/// A conversation or a message that is not there, or a file of another one than the index names.
pub(super) const CONVERSATION_REF: ErrorCode = ErrorCode::PamConversationRef;
/// `derived_memories` that name no memory, or one that does not name the conversation (PAM 14.1).
pub(super) const DERIVED_REF: ErrorCode = ErrorCode::PamDerivedRef;
/// A message whose parent is not in the conversation.
pub(super) const MESSAGE_DAG: ErrorCode = ErrorCode::PamMessageDag;
/// An embedding of no memory, an `embedding_ref` to no embedding, or one of another length than it
/// says (PAM 12).
pub(super) const EMBEDDING_REF: ErrorCode = ErrorCode::PamEmbeddingRef;
/// A vector that cannot be stored.
pub(super) const EMBEDDING: ErrorCode = ErrorCode::PamEmbedding;
/// A signature that the text does not allow at all (PAM 18).
pub(super) const SIGNATURE_FORM: ErrorCode = ErrorCode::PamSignatureForm;
/// A signature that does not verify, or that cannot be checked here.
pub(super) const SIGNATURE: ErrorCode = ErrorCode::PamSignature;
/// Grains of several owners in one store (PAM 17).
pub(super) const MIXED_OWNERS: ErrorCode = ErrorCode::PamMixedOwners;
