//! The premises, alternatives and conclusion of a Reasoning, and whether a Consensus was reached (OMS
//! 8.8, 8.9).

use grainstore::codec::{Map, Value};
use grainstore::grain::Type;
use grainstore::{ContentAddress, Grain, Store};
use serde_json::{Value as Json, json};

use crate::args::address;
use crate::output::printable;

/// Returns the reasoning of a grain as JSON, and as lines; none of another type.
pub(super) fn reasoned(
    store: &Store,
    grain: &Grain,
) -> anyhow::Result<Option<(Json, Vec<String>)>> {
    match grain.type_() {
        Type::Reasoning => Ok(Some(concluded(store, grain)?)),
        Type::Consensus => Ok(Some(agreed(grain))),
        _ => Ok(None),
    }
}

fn concluded(store: &Store, grain: &Grain) -> anyhow::Result<(Json, Vec<String>)> {
    let (mut premises, mut lines) = (Vec::new(), Vec::new());
    for text in grain.field("premises").into_iter().flat_map(Value::texts) {
        let (standing, sentence) = premise(store, text)?;
        let shown = ContentAddress::from_reference(text).map(|it| address::short(&it));
        let shown = shown.unwrap_or_else(|_| text.to_owned());
        let said = printable(sentence.as_deref().unwrap_or_default());
        lines.push(
            format!("premise       {} ({standing})  {said}", printable(&shown))
                .trim_end()
                .to_owned(),
        );
        premises.push(json!({ "address": text, "standing": standing, "text": sentence }));
    }
    let mut alternatives = Vec::new();
    let considered = grain.field("alternatives_considered");
    let considered = considered.and_then(Value::as_array).unwrap_or_default();
    for one in considered.iter().filter_map(Value::as_map) {
        let (hypothesis, reason) = (text_of(one, "hypothesis"), text_of(one, "rejection_reason"));
        let rejected = reason
            .as_ref()
            .map(|reason| format!(" (rejected: {reason})"));
        let shown = hypothesis.clone().unwrap_or_default() + &rejected.unwrap_or_default();
        lines.push(format!("alternative   {}", printable(&shown)));
        alternatives.push(json!({ "hypothesis": hypothesis, "rejection_reason": reason }));
    }
    let of = |name: &str| grain.text(name).map(str::to_owned);
    let is_redacted = grain.field("thinking_redacted").and_then(Value::as_bool) == Some(true);
    let thought = of("thinking_content");
    let thinking = match is_redacted {
        true => Some("redacted by its writer".to_owned()),
        false => thought.clone(),
    };
    let named = [
        ("method", of("inference_method")),
        ("thinking", thinking),
        ("conclusion", of("conclusion")),
    ];
    let named = named
        .into_iter()
        .filter_map(|(name, text)| Some((name, text?)));
    lines.extend(named.map(|(name, text)| format!("{name:12}  {}", printable(&text))));
    let value = json!({
        "premises": premises,
        "alternatives": alternatives,
        "method": of("inference_method"),
        "thinking": thought,
        "is_thinking_redacted": is_redacted,
        "conclusion": of("conclusion"),
    });
    Ok((value, lines))
}

/// Returns how a premise stands in this store, and its sentence.
fn premise(store: &Store, text: &str) -> anyhow::Result<(&'static str, Option<String>)> {
    let Ok(of) = ContentAddress::from_reference(text) else {
        return Ok(("not an address", None));
    };
    let Some(grain) = store.get(&of)? else {
        return Ok(("not stored", None));
    };
    let status = store.status(&of)?;
    let standing = match (status.contradicted, status.is_current()) {
        (true, _) => "contradicted",
        (false, true) => "current",
        (false, false) => "superseded",
    };
    Ok((standing, Some(grain.sentence())))
}

/// OMS 8.9: a consensus is reached once as many agree as its threshold asks for.
fn agreed(grain: &Grain) -> (Json, Vec<String>) {
    let count = |name: &str| grain.field(name).and_then(Value::as_i64).unwrap_or(0);
    let (agree, dissent) = (count("agreement_count"), count("dissent_count"));
    let threshold = count("threshold");
    let is_reached = agree >= threshold;
    let reached = if is_reached { "reached" } else { "not reached" };
    let line = format!(
        "{:12}  {reached}: {agree} agree of the {threshold} needed, {dissent} dissent",
        "consensus"
    );
    let value = json!({
        "is_reached": is_reached,
        "agreement_count": agree,
        "dissent_count": dissent,
        "threshold": threshold,
    });
    (value, vec![line])
}

fn text_of(map: &Map, name: &str) -> Option<String> {
    map.get(name).and_then(Value::as_text).map(str::to_owned)
}
