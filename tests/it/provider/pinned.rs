//! What the readers bring of made-up exports, whole and broken, is pinned to the digest that it had before they
//! were made to read a file fewer times: records, places, findings, losses and errors, each in its order.

use std::fmt::Write as _;

use grainstore::codec::ContentAddress;
use serde_json::{Map, Value as Json, json};

use super::*;
use crate::random::Random;

/// Everything that an import shows of a file, as text.
fn shown(path: &Path, provider: Provider, scope: Option<&str>) -> String {
    let options = ReadOptions {
        scope: scope.map(str::to_owned),
        ..ReadOptions::default()
    };
    let file = match ImportFile::open(path, Some(Format::Provider(provider)), &options) {
        Ok(file) => file,
        Err(error) => return format!("{error:?}"),
    };
    let mut text = format!("{:?}\n{:?}\n", file.errors, file.findings);
    for (name, count) in file.loss.iter() {
        writeln!(text, "{name} {count}").unwrap();
    }
    writeln!(text, "{}", file.records.len()).unwrap();
    for record in file.records.into_vec().unwrap() {
        let address = record.grain.address();
        let (id, place, warnings) = (&record.foreign_id, &record.place, &record.warnings);
        writeln!(text, "{address} {id:?} {place:?} {warnings:?}").unwrap();
    }
    // The folder is another one in every run.
    text.replace(&*path.to_string_lossy(), "")
}

fn words(random: &mut Random) -> String {
    let parts = [
        "",
        "a",
        "green or black?",
        "Zoe\u{308} said",
        "\u{feff}mark",
        "tab\tand\nline",
        "\"quoted\" \\",
        "https://a.example/b",
        "\u{1f600}\u{7f}\u{0}",
    ];
    let mut text: String = random.many(0..4, |random| random.pick(&parts));
    match random.below(3000) {
        0..200 => text = text.repeat(200),
        // More than a grain may hold.
        200 => text = "long ".repeat(300_000),
        _ => {}
    }
    text
}

/// A value where none of its kind is expected.
fn odd(random: &mut Random) -> Json {
    match random.below(9) {
        0 => Json::Null,
        1 => json!(1_u64 << 60),
        2 => json!(0.1),
        3 => json!(-1),
        4 => json!([1, null, {"a": words(random)}]),
        5 => json!({"b": {"a": [true]}, "": words(random)}),
        6 => json!([]),
        7 => json!(false),
        _ => json!(words(random)),
    }
}

/// An object of some of these members, and perhaps of others.
fn object(random: &mut Random, members: impl IntoIterator<Item = (&'static str, Json)>) -> Json {
    let mut map = Map::new();
    for (name, value) in members {
        match random.below(16) {
            0 => {}
            1 => drop(map.insert(name.to_owned(), odd(random))),
            _ => drop(map.insert(name.to_owned(), value)),
        }
    }
    if random.below(3) == 0 {
        map.insert(
            random.pick(&["extra", "zeta", "Alpha"]).to_owned(),
            odd(random),
        );
    }
    Json::Object(map)
}

/// A list of two that have the same id once in a while.
fn id(random: &mut Random, of: &str) -> Json {
    json!(format!("{of}{}", random.below(9)))
}

fn seconds(random: &mut Random) -> Json {
    let at = 1_700_000_000_u64 + random.number() % 100_000;
    match random.below(6) {
        0 => json!(at as f64 + 0.123_456),
        1 => json!(null),
        2 => json!(at as f64 + 0.5),
        _ => json!(at),
    }
}

fn moment(random: &mut Random) -> Json {
    let (day, second) = (random.within(1..29), random.below(60));
    match random.below(9) {
        0 => json!(null),
        1 => json!(format!("2026-02-{day:02}T23:00:{second:02}.25+02:00")),
        2 => json!("yesterday"),
        _ => json!(format!("2026-01-{day:02}T10:00:{second:02}Z")),
    }
}

fn content(random: &mut Random) -> Json {
    let kinds = [
        "text",
        "text",
        "text",
        "multimodal_text",
        "thoughts",
        "reasoning_recap",
        "tether_quote",
        "user_editable_context",
        "tether_browsing_display",
        "code",
        "execution_output",
        "new",
    ];
    let kind = json!(random.pick(&kinds));
    let parts: Vec<Json> = random.many(0..3, |random| match random.below(6) {
        0 => json!({"content_type": "image_asset_pointer", "asset_pointer": "sediment://f"}),
        1 => json!({"content_type": "audio_transcription", "text": words(random)}),
        2 => odd(random),
        _ => json!(words(random)),
    });
    if random.below(2) == 0 {
        return json!({"content_type": kind, "parts": parts});
    }
    let thoughts = json!([{"content": words(random)}, {"summary": "s"}]);
    let said = [words(random), words(random), words(random), words(random)].map(Json::from);
    let [text, result, content, profile] = said;
    let members = [
        ("content_type", kind),
        ("parts", json!(parts)),
        ("thoughts", thoughts),
        ("text", text),
        ("result", result),
        ("content", content),
        ("user_profile", profile),
        ("url", json!("https://a.example/c")),
    ];
    object(random, members)
}

fn chatgpt(random: &mut Random) -> Json {
    let mut mapping = Map::new();
    for _ in 0..random.below(12) {
        let key = id(random, "n");
        let author = json!({"role": random.pick(&["user", "assistant", "tool", "system", "x"]),
            "name": words(random)});
        let metadata = json!({"model_slug": words(random),
            "attachments": [{"id": "f", "name": words(random), "size": 3}],
            "citations": [{"metadata": {"title": words(random), "url": "https://a.example"}}]});
        let members = [
            ("id", id(random, "m")),
            ("author", author),
            ("create_time", seconds(random)),
            ("content", content(random)),
            ("metadata", if random.flag() { metadata } else { json!({}) }),
            ("recipient", json!(random.pick(&["all", "all", "python"]))),
        ];
        let message = match random.below(8) {
            0 => Json::Null,
            1 => odd(random),
            _ => object(random, members),
        };
        let own = if random.below(6) == 0 {
            id(random, "n")
        } else {
            key.clone()
        };
        let members = [
            ("id", own),
            ("parent", id(random, "n")),
            ("children", json!([])),
            ("message", message),
        ];
        let node = if random.below(20) == 0 {
            odd(random)
        } else {
            object(random, members)
        };
        mapping.insert(key.as_str().unwrap().to_owned(), node);
    }
    let members = [
        (random.pick(&["id", "conversation_id"]), id(random, "c")),
        ("title", json!(words(random))),
        ("create_time", seconds(random)),
        ("update_time", seconds(random)),
        ("current_node", json!("n1")),
        ("is_archived", json!(random.flag())),
        ("default_model_slug", json!("gpt")),
        ("mapping", Json::Object(mapping)),
    ];
    object(random, members)
}

fn claude(random: &mut Random) -> Json {
    let messages: Vec<Json> = random.many(0..6, |random| {
        let content = json!([
            {"type": random.pick(&["thinking", "text"]), "thinking": words(random), "text": words(random)},
            {"type": random.pick(&["tool_result", "tool_use"]), "name": "n", "content": words(random)},
        ]);
        let members = [
            ("uuid", id(random, "m")),
            ("sender", json!(random.pick(&["human", "assistant"]))),
            ("text", json!(words(random))),
            ("content", content),
            ("created_at", moment(random)),
            ("parent_message_uuid", id(random, "m")),
        ];
        object(random, members)
    });
    let account = json!({"uuid": random.pick(&["me", "you", ""])});
    let members = [
        ("uuid", id(random, "c")),
        ("name", json!(words(random))),
        ("created_at", moment(random)),
        ("updated_at", moment(random)),
        ("account", if random.flag() { account } else { Json::Null }),
        ("chat_messages", json!(messages)),
    ];
    object(random, members)
}

fn known_to_claude(random: &mut Random) -> Json {
    let memories = [
        ("conversations_memory", json!(words(random))),
        (
            "project_memories",
            json!({"p1": words(random), "p2": words(random)}),
        ),
        ("account_uuid", json!("me")),
    ];
    let project = [
        ("uuid", id(random, "p")),
        ("name", json!(words(random))),
        ("description", json!(words(random))),
        ("prompt_template", json!(words(random))),
        ("created_at", moment(random)),
        (
            "docs",
            json!([{"filename": "f", "content": words(random)}, 7]),
        ),
    ];
    match random.flag() {
        true => object(random, memories),
        false => object(random, project),
    }
}

fn grok(random: &mut Random) -> Json {
    let conversations: Vec<Json> = random.many(0..5, |random| {
        let responses: Vec<Json> = random.many(0..5, |random| {
            let members = [
                ("_id", id(random, "m")),
                ("sender", json!(random.pick(&["human", "ASSISTANT"]))),
                ("message", json!(words(random))),
                (
                    "create_time",
                    json!({"$date": {"$numberLong": "1767225600000"}}),
                ),
                ("parent_response_id", id(random, "m")),
            ];
            json!({"response": object(random, members), "share_link": null})
        });
        let members = [
            ("id", id(random, "c")),
            ("title", json!(words(random))),
            ("create_time", moment(random)),
            ("modify_time", moment(random)),
            ("user_id", json!(random.pick(&["me", "you", ""]))),
        ];
        let conversation = object(random, members);
        object(
            random,
            [
                ("conversation", conversation),
                ("responses", json!(responses)),
            ],
        )
    });
    let posts: Vec<Json> = random.many(0..4, |random| {
        let members = [
            ("id", id(random, "p")),
            ("original_prompt", json!(words(random))),
            ("create_time", moment(random)),
        ];
        object(random, members)
    });
    let projects = json!([{"workspace_id": "w", "name": words(random), "wide": odd(random)}]);
    json!({"conversations": conversations, "media_posts": posts, "projects": projects, "tasks": [1]})
}

/// The files of an export, of which some are none.
fn files(random: &mut Random, provider: Provider) -> Vec<(&'static str, String)> {
    let item = |random: &mut Random| match (random.below(14), provider) {
        (0, _) => odd(random),
        (_, Provider::Chatgpt) => chatgpt(random),
        (1..4, _) => known_to_claude(random),
        _ => claude(random),
    };
    let mut files = Vec::new();
    for name in ["a.json", "conversations.json", "memories.json", "z.json"] {
        if name != "conversations.json" && random.flag() {
            continue;
        }
        let document = match (random.below(8), provider) {
            (_, Provider::Grok) => grok(random),
            (0, _) => item(random),
            (1, _) => json!({"conversations": random.many::<_, Vec<Json>>(0..5, item), "more": 1}),
            _ => json!(random.many::<_, Vec<Json>>(1..9, item)),
        };
        let mut text = document.to_string();
        if random.below(60) == 0 {
            // It breaks off, after elements that are whole.
            text.pop();
        }
        files.push((name, text));
    }
    let rated = json!([{"message_id": "n1", "rating": "up", "id": 4}, {"message_id": 3}]);
    for (name, value) in [
        ("user.json", json!({"id": "owner"})),
        ("users.json", json!([{"uuid": "owner-2"}])),
        ("message_feedback.json", rated),
    ] {
        match random.below(80) {
            0..20 => files.push((name, value.to_string())),
            20 => files.push((name, "{".to_owned())),
            _ => {}
        }
    }
    files
}

#[test]
fn exports_are_read_as_they_were() {
    let mut all = String::new();
    let mut random = Random::new(7);
    for number in 0..300 {
        let provider = random.pick(&[
            Provider::Chatgpt,
            Provider::Chatgpt,
            Provider::Claude,
            Provider::Grok,
        ]);
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files(&mut random, provider) {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let scope = random.pick(&[None, None, Some("me")]);
        let one = shown(folder.path(), provider, scope);
        writeln!(all, "{number} {provider:?} {one}").unwrap();
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-vectors/interchange");
    for provider in PROVIDERS {
        for ending in ["", "-small", "-broken"] {
            let folder = folder.join(format!("{}{ending}", provider.name()));
            all += &shown(&folder, provider, None);
        }
    }
    if let Some(path) = option_env!("GRAINSTORE_PINNED") {
        std::fs::write(path, &all).unwrap();
    }
    let digest = ContentAddress::of(all.as_bytes()).to_string();
    assert_eq!(digest, PINNED, "of {} bytes", all.len());
}

const PROVIDERS: [Provider; 7] = [
    Provider::Chatgpt,
    Provider::Claude,
    Provider::Gemini,
    Provider::Copilot,
    Provider::Grok,
    Provider::Deepseek,
    Provider::Cursor,
];

/// The digest of all that is read, which a build with `GRAINSTORE_PINNED` writes to that path. A reader that makes
/// another one of an export has another digest: compare the two texts first.
const PINNED: &str = "8e29c82d919d33370a64b18eb95fd367d46f7a1c06cdd98d905c4a31ba09bdfe";
