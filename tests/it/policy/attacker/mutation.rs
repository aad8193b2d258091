//! How the agent bends what it writes: fields changed, dropped and moved, references misspelt.

use grainstore::ContentAddress;
use grainstore::interchange::Format;
use serde_json::{Value as Json, json};

use crate::foreign::text_of;
use crate::random::Random;

/// Turns a protected grain into one that might be taken for its successor.
pub(super) fn successor(
    random: &mut Random,
    grain: &mut Json,
    old: &ContentAddress,
    known: &[ContentAddress],
    number: usize,
) {
    for field in ["author_did", "provenance_chain"] {
        remove(grain, field);
    }
    grain["derived_from"] = json!([old.to_string()]);
    grain["created_at"] = json!(number + 10);
    // Most often a transition that may be allowed, and one thing more.
    if random.below(8) > 0 && grain["type"] == "goal" {
        grain["goal_state"] = json!(random.pick(&["active", "satisfied", "failed", "suspended"]));
    }
    if random.flag() && grain["type"] == "goal" {
        grain["satisfaction_evidence"] = evidence(random, old, known);
    }
    for _ in 0..random.below(3) {
        bend(random, grain, number);
    }
}

fn bend(random: &mut Random, grain: &mut Json, number: usize) {
    match random.below(14) {
        0 => grain["description"] = json!(format!("the opposite {number}")),
        1 => grain["object"] = json!(format!("another {number}")),
        2 => remove(grain, "criteria"),
        3 => grain["criteria"] = json!(["anything"]),
        4 => remove(grain, "depends_on"),
        5 => remove(grain, "priority"),
        6 => grain["invalidation_policy"] = json!({"mode": "open"}),
        7 => remove(grain, "invalidation_policy"),
        8 => grain["allowed_transitions"] = json!(["active", "satisfied", "failed", "suspended"]),
        9 => grain["valid_to"] = json!(1),
        10 => grain["requires_human_review"] = json!(true),
        11 => grain["user_id"] = json!("another"),
        12 => grain["evidence_required"] = json!(0),
        _ => {
            let moved = grain["description"].clone();
            grain["context"] = json!({"description": moved});
            grain["description"] = json!(format!("moved {number}"));
        }
    }
}

fn evidence(random: &mut Random, old: &ContentAddress, known: &[ContentAddress]) -> Json {
    let one = random.pick(known).to_string();
    let missing = ContentAddress::of(b"missing").to_string();
    match random.below(8) {
        0 => json!(["", ""]),
        1 => json!(["it is done", "believe me"]),
        2 => json!([missing, missing]),
        3 => json!([one, one]),
        4 => json!([one, format!("sha256:{one}")]),
        5 => json!([one, one.to_uppercase()]),
        6 => json!([one.as_str(), &one[..40]]),
        _ => json!([one, old.to_string()]),
    }
}

/// Returns a reference as it is, or in one of the forms that are none.
pub(super) fn misspelt(random: &mut Random, address: &str) -> String {
    match random.below(6) {
        0 => address.to_uppercase(),
        1 => address[..random.within(1..64)].to_owned(),
        2 => format!("{address}0"),
        3 => "the consent of last week".to_owned(),
        _ => address.to_owned(),
    }
}

/// A grain that a profile restricts, by its top level (`top`) or by its `context` (`inner`), with a
/// word that tells what must not happen to it.
pub(super) fn restricted(which: usize, top: bool, inner: bool, number: usize) -> Json {
    let is_restricted = top || inner;
    let (tag, field, closed, open, word) = match which % 3 {
        0 => (
            "legal",
            "legal:privilege",
            json!("attorney_client"),
            json!("none"),
            "zsecret",
        ),
        1 => (
            "consumer",
            "con:ccpa_opted_out",
            json!(true),
            json!(false),
            "zsold",
        ),
        _ => (
            "finance",
            "fin:retention_years",
            json!(7),
            json!(0),
            "zretained",
        ),
    };
    let word = if is_restricted { word } else { "zfree" };
    let said = |is: bool| if is { closed.clone() } else { open.clone() };
    json!({"type": "event", "content": format!("{word} {number}"), "created_at": 1_790_000_000_000_i64,
        "structural_tags": [format!("profile:{tag}")],
        field: said(top), "context": {field: said(inner)}})
}

fn remove(grain: &mut Json, field: &str) {
    if let Some(map) = grain.as_object_mut() {
        map.remove(field);
    }
}

/// Personal finance data, whose basis is no consent of the person; with a word that must not leave.
pub(super) fn undocumented(basis: ContentAddress, person: &str, number: usize) -> Json {
    json!({"type": "event", "content": format!("zbasis {number}"), "created_at": 1_790_000_000_000_i64,
        "structural_tags": ["profile:finance"], "user_id": person,
        "processing_basis": basis.to_string()})
}

/// Changes one value of a file in a text format.
pub(super) fn bent(random: &mut Random, format: Format, file: Vec<u8>, words: &[&str]) -> Vec<u8> {
    let Ok(text) = String::from_utf8(file.clone()) else {
        return file;
    };
    if let Ok(mut whole) = serde_json::from_str::<Json>(&text) {
        change_one(random, &mut whole, words);
        return match format {
            Format::Aimem => sealed(&whole),
            _ => whole.to_string(),
        }
        .into_bytes();
    }
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    let at = random.below(lines.len().max(1));
    let Some(Ok(mut line)) = lines.get(at).map(|line| serde_json::from_str(line)) else {
        return file;
    };
    change_one(random, &mut line, words);
    lines[at] = line.to_string();
    (lines.join("\n") + "\n").into_bytes()
}

/// Writes an AIMEM bundle with its checksum.
pub(super) fn sealed(bundle: &Json) -> String {
    let mut map = crate::foreign::json(&bundle.to_string());
    crate::aimem::seal(&mut map);
    text_of(&map)
}

fn change_one(random: &mut Random, file: &mut Json, words: &[&str]) {
    let mut count = 0;
    walk(file, &mut |_| count += 1);
    let which = random.below(count.max(1));
    let (word, kind) = (random.pick(words), random.below(4));
    let mut at = 0;
    walk(file, &mut |leaf| {
        if at == which {
            *leaf = match (&*leaf, kind) {
                (Json::Bool(is), _) => json!(!is),
                (Json::Number(_), 0) => json!(0),
                (Json::Number(_), _) => json!(4_000_000_000_000_i64),
                (Json::String(text), 0) => json!(text.to_uppercase()),
                (Json::String(_), 1) => Json::Null,
                _ => json!(word),
            };
        }
        at += 1;
    });
}

fn walk(value: &mut Json, visit: &mut impl FnMut(&mut Json)) {
    match value {
        Json::Array(items) => items.iter_mut().for_each(|item| walk(item, visit)),
        Json::Object(map) => map.values_mut().for_each(|item| walk(item, visit)),
        leaf => visit(leaf),
    }
}
