//! Ownership grains: which grains state the owner of an agent, and which of them are valid
//! (OMS 12.5.3, 28.5).

use crate::crypto::Did;
use crate::grain::{Grain, IDENTITY, OWNED_BY, Type, namespace_contains};

use super::Protection;

/// Returns whether a grain states the owner of an agent.
///
/// An owner grants nothing: no policy reads the statement (OMS 12.5.1).
pub(crate) fn is_ownership(grain: &Grain) -> bool {
    let namespace = grain.text("namespace").unwrap_or_default();
    grain.type_() == Type::Belief
        && grain.text("relation") == Some(OWNED_BY)
        && namespace_contains(IDENTITY, namespace)
}

/// Checks a grain that states the owner of an agent; every other grain passes.
///
/// # Errors
/// The problem. An agent must not choose its owner, and a statement that every writer may change
/// proves nothing.
pub(crate) fn check_ownership(grain: &Grain) -> Result<(), &'static str> {
    if !is_ownership(grain) {
        return Ok(());
    }
    let subject = grain.text("subject").unwrap_or_default();
    if !is_did(subject) {
        return Err("the subject of an ownership grain is the agent's DID");
    }
    match grain.text("author_did") {
        // Ruling P11: a fragment names a key of the same party.
        Some(author) if Did::bare(author) == Did::bare(subject) => {
            Err("an agent cannot say itself who owns it")
        }
        // DID Core 3.1: another spelling is no DID, and would name the agent past the comparison.
        Some(author) if !is_did(Did::bare(author)) => {
            Err("the author_did of an ownership grain is the operator's DID")
        }
        Some(_) if Protection::of(grain).is_open() => {
            Err("an ownership grain has an invalidation_policy that protects it")
        }
        Some(_) => Ok(()),
        None => Err("an ownership grain names the operator who wrote it in author_did"),
    }
}

/// Returns whether a text is a DID of any method. A `did:web` must be in lower case, because the case
/// of a domain does not matter; other methods make of the rest what they like.
fn is_did(text: &str) -> bool {
    if text.starts_with("did:web:") {
        return text.parse::<Did>().is_ok();
    }
    let parts = text.strip_prefix("did:").and_then(|it| it.split_once(':'));
    parts.is_some_and(|(method, id)| {
        let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let is_id = |byte: u8| byte.is_ascii_alphanumeric() || b"._:%-".contains(&byte);
        !method.is_empty() && method.bytes().all(is_name) && !id.is_empty() && id.bytes().all(is_id)
    })
}
