//! References: between grains the form of an address (OMS 6, 8.10, 23.4; rulings P2, P6), and to
//! content a URI that does not hold the content itself (OMS 7).
//!
//! A reference in another form names no grain, so what its writer meant by it would have no effect.

use crate::codec::{ContentAddress, Value};

use super::findings::{Findings, Origin};
use super::required_fields::entries_of;
use crate::grain::fields::{Fields, field};
use crate::grain::{Error, Type};

pub(super) fn check(of: Type, fields: &Fields<'_>, findings: &mut Findings) -> Result<(), Error> {
    if of == Type::Consent
        && let Some(prior) = fields.text(field!("prior_consent"))
    {
        demand("prior_consent", prior, findings)?;
    }
    if let Some(parent) = fields.text(field!("parent_message_id")) {
        demand("parent_message_id", parent, findings)?;
    }
    // Ruling T8: a label is no reference.
    if let Some(basis) = fields
        .text(field!("processing_basis"))
        .filter(|basis| is_meant_as_address(basis))
    {
        demand("processing_basis", basis, findings)?;
    }
    let links = [
        (field!("related_to"), "hash"),
        (field!("provenance_chain"), "source_hash"),
    ];
    for (slot, member) in links {
        let named = entries_of(fields, slot).filter_map(|entry| entry.get(member)?.as_text());
        for text in named.filter(|text| is_meant_as_address(text)) {
            demand(member, text, findings)?;
        }
    }
    check_content(fields, findings)?;
    check_evidence(of, fields, findings)
}

/// OMS 7: content is referenced and never embedded, also not inside its own URI (RFC 2397).
fn check_content(fields: &Fields<'_>, findings: &mut Findings) -> Result<(), Error> {
    let uris = entries_of(fields, field!("content_refs")).filter_map(|entry| entry.get("uri"));
    let mut schemes = uris.filter_map(|uri| uri.as_text()?.trim_start().split_once(':'));
    match schemes.any(|(scheme, _)| scheme.eq_ignore_ascii_case("data")) {
        true => findings.writer_rule(Error::Forbidden {
            field: "content_refs.uri".into(),
            reason: "content is referenced, not embedded (OMS 7)",
        }),
        false => Ok(()),
    }
}

/// Ruling P2: where evidence is required, an entry that is none is missing when the goal is
/// satisfied; elsewhere it is a fault of the field.
fn check_evidence(of: Type, fields: &Fields<'_>, findings: &mut Findings) -> Result<(), Error> {
    let required = fields
        .get(field!("evidence_required"))
        .and_then(Value::as_i64);
    if of != Type::Goal || required.is_some_and(|required| required > 0) {
        return Ok(());
    }
    let entries = fields.get(field!("satisfaction_evidence")).into_iter();
    let mut entries = entries.flat_map(Value::texts);
    match entries.all(|entry| ContentAddress::from_reference(entry).is_ok()) {
        true => Ok(()),
        false => findings.writer_rule(Error::WrongKind {
            field: "satisfaction_evidence".into(),
            expected: "an array of content addresses",
        }),
    }
}

fn demand(field: &str, text: &str, findings: &mut Findings) -> Result<(), Error> {
    match (ContentAddress::from_reference(text), findings.origin) {
        (Ok(_), _) => Ok(()),
        (Err(error), Origin::Local) => Err(error.into()),
        (Err(_), Origin::Foreign) => {
            findings.warn(
                field,
                "not a content address, so it names no grain and has no effect",
            );
            Ok(())
        }
    }
}

/// Returns whether a text is an address but for the case of its digits, or says that it is one.
fn is_meant_as_address(text: &str) -> bool {
    let is_hex = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex || text.starts_with("sha256:") || text.starts_with("mg:sha256:")
}
