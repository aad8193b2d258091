//! Resources: grains by address, conversations by session, the grammar of CAL.
//!
//! The list shows the newest grains and the sessions they belong to, in pages; templates say how
//! any other is named.

use std::collections::HashSet;

use grainstore::query::{Sort, SortBy};
use grainstore::render::escaped;
use grainstore::{Error, Filter};
use rmcp::model::{
    ErrorData, ListResourcesResult, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate,
};
use serde_json::json;

use super::budget::{Budget, shortened};
use super::failure::Failure;
use super::server::name_shown;
use super::shown;
use super::tools::{Item, fields_within, resolve};
use crate::Scope;
use crate::http::bounded;

/// Returns the templates.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new("grain://{address}", "grain")
            .with_title("One memory")
            .with_description("A grain by its content address: fields and status, as JSON.")
            .with_mime_type("application/json"),
        ResourceTemplate::new("session://{id}{?cursor}", "session")
            .with_title("One conversation")
            .with_description("The messages of a session in their order, as Markdown, in pages.")
            .with_mime_type("text/markdown"),
    ]
}

/// Returns a page of the newest grains and their sessions.
///
/// # Errors
/// Invalid parameters for a cursor of another list.
pub(super) fn list(scope: &Scope, cursor: Option<&str>) -> Result<ListResourcesResult, ErrorData> {
    let after = cursor.map(|text| scope.cursor(text)).transpose();
    let after = after.map_err(refused)?;
    let newest_first = Filter::new().sorted(Sort::by(SortBy::Stored).descending());
    let page = scope.store().query(&bounded(newest_first), LISTED, after);
    let page = page.map_err(refused)?;
    let (mut listed, mut sessions) = (Vec::new(), HashSet::new());
    if cursor.is_none() {
        listed.push(
            Resource::new(GRAMMAR, "grammar of CAL")
                .with_description("The grammar of the statements that the tool cal answers.")
                .with_mime_type("text/plain"),
        );
    }
    for found in &page.results {
        let summary = found.grain.summary();
        let text = escaped(&summary);
        let (name, _) = shortened(&text, NAME_TOKENS);
        let of = found.grain.type_().name().unwrap_or("grain");
        listed.push(
            Resource::new(format!("grain://{}", found.address), name)
                .with_description(format!("{of}, {}", found.grain.event_time()))
                .with_mime_type("application/json"),
        );
        let session = found.grain.text("session_id");
        if let Some(session) = session.filter(|session| sessions.insert((*session).to_owned())) {
            let name = format!("session {}", name_shown(session));
            listed.push(
                Resource::new(format!("session://{}", encoded(session)), name)
                    .with_mime_type("text/markdown"),
            );
        }
    }
    let mut result = ListResourcesResult::with_all_items(listed);
    result.next_cursor = page.next_cursor.and_then(|cursor| scope.shown(&cursor));
    Ok(result)
}

/// Reads a resource.
///
/// # Errors
/// Not found, with the code of the library.
pub(super) fn read(scope: &Scope, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let read = match uri.split_once("://") {
        Some(("grain", _)) => read_grain(scope, uri),
        Some(("session", rest)) => read_session(scope, rest),
        _ if uri == GRAMMAR => Ok((grainstore_cal::GRAMMAR.to_owned(), "text/plain")),
        _ => Err(Failure::usage(
            "a resource is grain://ADDRESS or session://ID",
        )),
    };
    let (text, mime_type) = read.map_err(|failure| {
        let data =
            json!({ "uri": name_shown(uri), "code": failure.code, "advice": failure.advice });
        ErrorData::resource_not_found(failure.message, Some(data))
    })?;
    let contents = ResourceContents::text(text, uri).with_mime_type(mime_type);
    Ok(ReadResourceResult::new(vec![contents]))
}

fn read_grain(scope: &Scope, uri: &str) -> Result<(String, &'static str), Failure> {
    let address = resolve(scope, uri)?;
    let grain = scope.store().get(&address)?;
    let grain = grain.ok_or_else(|| Failure::not_found(address))?;
    let address = grain.address();
    let status = scope.store().status(&address)?;
    let (fields, left_out) = fields_within(&grain, &mut Budget::of(Some(u64::MAX)));
    let document = json!({
        "address": address.to_string(),
        "grain": fields,
        "left_out": left_out,
        "is_current": status.is_current(),
        "superseded_by": scope.successor(&status)?.map(|by| by.to_string()),
    });
    let document = shown::document(document);
    Ok((document.to_string(), "application/json"))
}

fn read_session(scope: &Scope, rest: &str) -> Result<(String, &'static str), Failure> {
    let (id, cursor) = match rest.split_once("?cursor=") {
        Some((id, cursor)) => (id, Some(cursor)),
        None => (rest, None),
    };
    let id = decoded(id).ok_or_else(|| Failure::usage("the session is not percent-encoded"))?;
    let after = cursor.map(|text| scope.cursor(text)).transpose()?;
    let filter = bounded(Filter::new().session(&id));
    let page = |limit| scope.store().query(&filter, limit, after);
    let envelope = page(TURNS)?;
    if envelope.total == 0 {
        return Err(Failure::not_found(format_args!(
            "session {}",
            name_shown(&id)
        )));
    }
    let mut budget = Budget::of(Some(u64::MAX));
    let (mut items, mut text) = (Vec::new(), format!("# Session {}\n\n", name_shown(&id)));
    for found in &envelope.results {
        let item = Item::of(scope, &found.grain, &found.status, budget.left() / 2)?;
        let item = item.signed(found.signature.as_ref());
        if !item.add_to(&mut items, &mut text, &mut budget) {
            break;
        }
    }
    let next = match items.len() {
        fitting if fitting < envelope.results.len() => page(fitting)?.next_cursor,
        _ => envelope.next_cursor,
    };
    if let Some(cursor) = next.and_then(|cursor| scope.shown(&cursor)) {
        let id = encoded(&id);
        text.push_str(&format!(
            "\n{} in all; more: session://{id}?cursor={cursor}\n",
            envelope.total
        ));
    }
    Ok((text, "text/markdown"))
}

fn refused(error: Error) -> ErrorData {
    let failure = Failure::from(error);
    ErrorData::invalid_params(failure.to_string(), None)
}

/// Returns a name as part of a URI (RFC 3986: all but the unreserved characters encoded).
fn encoded(name: &str) -> String {
    let mut uri = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// Returns the name that a part of a URI stands for; `None` for a malformed one.
fn decoded(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first == b'%' {
            let (code, after) = rest.split_at_checked(2)?;
            let digit = |byte: &u8| char::from(*byte).to_digit(16);
            let byte = code
                .iter()
                .try_fold(0, |byte, code| Some(byte * 16 + digit(code)?));
            bytes.push(u8::try_from(byte?).ok()?);
            rest = after;
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

const GRAMMAR: &str = "cal://grammar";
const LISTED: usize = 50;
const TURNS: usize = 200;
const NAME_TOKENS: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_named_by_its_uri() {
        for name in ["plain", "a/b?c=d#e", "10 % of 日本", ""] {
            assert_eq!(decoded(&encoded(name)).as_deref(), Some(name));
        }
        for malformed in ["%", "%2", "%zz", "%+1", "%ff"] {
            assert_eq!(decoded(malformed), None, "{malformed}");
        }
    }
}
