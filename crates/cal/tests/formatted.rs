//! Formatted output: its shapes, and that no stored text can leave its place in it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use grainstore::render::{escaped, tokens};
use grainstore::{Draft, Options as StoreOptions, Store, Time};
use grainstore_cal::{Answer, Body, Cal, Options};
use proptest::prelude::*;

const NOW: i64 = 1_768_471_200_000;
const FORMATS: [&str; 7] = ["sml", "markdown", "text", "json", "yaml", "triples", "toon"];

fn asked(store: &Store, text: &str) -> Answer {
    match store.cal(text, &Options::at(Time::from_ms(NOW))) {
        Ok(answer) => answer,
        Err(error) => panic!("{text}: {error}"),
    }
}

fn text(store: &Store, statement: &str) -> String {
    asked(store, statement).text().unwrap().to_owned()
}

/// A store with a grain of each of three types.
fn filled() -> Store {
    let store = Store::in_memory(StoreOptions::default()).unwrap();
    let at = |minutes: i64| Time::from_ms(NOW - minutes * 60_000);
    let prefers = Draft::belief("alice", "mg:prefers", "dark mode").confidence(0.9);
    store
        .put(prefers.created_at(at(90)).source("user_explicit"))
        .unwrap();
    let review = Draft::goal("complete Q1 review")
        .set("subject", "alice")
        .set("goal_state", "active");
    store
        .put(review.set("deadline", NOW).created_at(at(80)))
        .unwrap();
    let hello = Draft::event("hello, \"you\"").set("role", "user");
    store.put(hello.created_at(at(10))).unwrap();
    store
}

#[test]
fn each_format_has_its_shape() {
    let store = filled();
    let of = |format: &str| text(&store, &format!("RECALL | ORDER BY time ASC AS {format}"));
    assert_eq!(
        of("sml"),
        "<belief subject=\"alice\" confidence=\"0.9\">prefers dark mode</belief>\n\
         <goal subject=\"alice\" state=\"active\" deadline=\"2026-01-15\">complete Q1 review</goal>\n\
         <event role=\"user\" time=\"10m ago\">hello, \"you\"</event>\n"
    );
    assert_eq!(
        of("markdown"),
        "**Beliefs**\n- alice prefers dark mode (confidence: 0.9)\n\n\
         **Goals**\n- alice: complete Q1 review (active, deadline: 2026-01-15)\n\n\
         **Events**\n- hello, \"you\" (role: user, time: 10m ago)\n"
    );
    assert_eq!(
        of("text"),
        "[belief] alice prefers dark mode (0.9)\n\
         [goal] alice: complete Q1 review (active, deadline: 2026-01-15)\n\
         [event] hello, \"you\" (role: user, time: 10m ago)\n"
    );
    assert_eq!(
        of("toon"),
        "beliefs[1]{subject,content,confidence}:\n  alice,prefers dark mode,0.9\n\n\
         goals[1]{subject,content,state,deadline}:\n  alice,complete Q1 review,active,2026-01-15\n\n\
         events[1]{role,time,content}:\n  user,10m ago,\"hello, \\\"you\\\"\"\n"
    );
    assert_eq!(
        of("triples"),
        "\"alice\" \"prefers\" \"dark mode\"\n\
         \"alice\" \"goal\" \"complete Q1 review\"\n\
         \"user\" \"event\" \"hello, \\\"you\\\"\"\n"
    );
    let yaml = of("yaml");
    assert!(
        yaml.starts_with("- \"confidence\": 0.9\n  \"content\": \"prefers dark mode\"\n"),
        "{yaml}"
    );
    let json: serde_json::Value = serde_json::from_str(&of("json")).unwrap();
    assert_eq!(json[1]["state"], "active");
}

#[test]
fn a_level_and_a_projection_choose_the_attributes() {
    let store = filled();
    let of = |rest: &str| text(&store, &format!("RECALL beliefs {rest} AS sml"));
    assert_eq!(
        of("WITH progressive_disclosure(summary)"),
        "<belief subject=\"alice\">prefers dark mode</belief>\n"
    );
    assert_eq!(
        of("WITH progressive_disclosure(full)"),
        "<belief subject=\"alice\" confidence=\"0.9\" source=\"explicit\" observed=\"1h ago\">prefers dark mode</belief>\n"
    );
    assert_eq!(
        of("| PROJECT content(object, relation), attr(confidence, hash)"),
        "<belief confidence=\"0.9\">dark mode prefers</belief>\n"
    );
}

#[test]
fn an_assembly_is_an_envelope_with_its_sources_by_priority() {
    let store = filled();
    let statement = "ASSEMBLE ctx FOR \"help <alice>\" FROM e: (RECALL events), b: (RECALL beliefs) \
        BUDGET 400 TOKENS PRIORITY b > e FORMAT sml";
    let answer = asked(&store, statement);
    assert_eq!(
        answer.text().unwrap(),
        "<context intent=\"help &lt;alice&gt;\">\n\n  \
         <belief subject=\"alice\" confidence=\"0.9\">prefers dark mode</belief>\n\n  \
         <event role=\"user\" time=\"10m ago\">hello, \"you\"</event>\n\n</context>\n"
    );
    let json = answer.to_json();
    assert_eq!(json["budget"]["used"], tokens(answer.text().unwrap()));
    assert_eq!(json["sources"][0]["label"], "b");
    assert_eq!(json["sources"][1]["grains_used"], 1);
    // Nothing but the default format, which is SML.
    let plain = text(&store, "ASSEMBLE FROM (RECALL beliefs)");
    assert!(plain.starts_with("<context>\n"), "{plain}");
    let toon = text(
        &store,
        "ASSEMBLE ctx FROM (RECALL beliefs), (RECALL events) FORMAT toon",
    );
    assert!(toon.starts_with("context: ctx\ntokens: "), "{toon}");
}

#[test]
fn a_failed_source_gives_its_share_to_the_others() {
    let store = filled();
    let statement =
        "ASSEMBLE FROM a: (RECALL events THREAD FROM sha256:00000000), b: (RECALL beliefs)";
    let json = asked(&store, statement).to_json();
    assert_eq!(json["sources"][0]["error"]["code"], "CAL-E046");
    assert_eq!(json["sources"][1]["grains_used"], 1);
    let all = "ASSEMBLE FROM (RECALL events THREAD FROM sha256:00000000)";
    let failure = store
        .cal(all, &Options::at(Time::from_ms(NOW)))
        .unwrap_err();
    assert_eq!(failure.code(), "CAL-E076");
}

/// Texts that would be markup, rows, keys or lines of their own.
fn hostile() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec![
        "<",
        ">",
        "&",
        "\"",
        "'",
        "/",
        "\n",
        "\r\n",
        "\t",
        "\u{85}",
        "\u{2028}",
        "\u{202e}",
        "\u{200b}",
        "[",
        "]",
        "{",
        "}",
        "(",
        ")",
        "#",
        "*",
        "-",
        "- ",
        ":",
        ",",
        "|",
        "=",
        "\\",
        "\\n",
        "&lt;",
        "</belief>",
        "<goal>",
        "</context>",
        "<context intent=\"x\">",
        "**Beliefs**",
        "[goal] ",
        "---",
        "beliefs[1]{subject,content}:",
        "null",
        "true",
        "1.5",
        " ",
        "x",
        "\u{e0041}",
        "]]>",
        "<!--",
        "é",
    ]);
    prop::collection::vec(parts, 1..8).prop_map(|parts| parts.concat())
}

/// Reads an element strictly; returns its attributes and its text.
fn element(line: &str) -> Option<(String, String)> {
    let rest = line.strip_prefix('<')?;
    let name_len = rest.find([' ', '>'])?;
    let (name, mut rest) = rest.split_at(name_len);
    while let Some(attribute) = rest.strip_prefix(' ') {
        let (key, value) = attribute.split_once("=\"")?;
        let (value, after) = value.split_once('"')?;
        let is_clean =
            key.bytes().all(|byte| byte.is_ascii_lowercase()) && !value.contains(['<', '>']);
        rest = is_clean.then_some(after)?;
    }
    let text = rest
        .strip_prefix('>')?
        .strip_suffix(&format!("</{name}>"))?;
    (!text.contains('<')).then(|| (name.to_owned(), text.to_owned()))
}

fn has_no_unseen(text: &str) -> bool {
    text.lines().all(|line| escaped(line) == line)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_text_leaves_its_line_or_its_element(
        texts in prop::collection::vec((hostile(), hostile(), hostile()), 1..5),
        intent in "[a-z<>&\"\\\\]{0,8}",
    ) {
        let store = Store::in_memory(StoreOptions::default()).unwrap();
        for (subject, object, said) in &texts {
            store.put(Draft::belief(format!("s{subject}"), "mg:says", object.as_str()).confidence(0.5)).unwrap();
            store.put(Draft::event(format!("e{said}")).set("role", subject.as_str())).ok();
        }
        let found = |answer: &Answer| match &answer.body {
            Body::Grains(grains) => grains.found.len(),
            other => panic!("{other:?}"),
        };
        for format in FORMATS {
            let answer = asked(&store, &format!("RECALL AS {format}"));
            let (text, count) = (answer.text().unwrap(), found(&answer));
            prop_assert!(has_no_unseen(text), "{}", text);
            for found in &answer.to_json()["results"].as_array().unwrap().clone() {
                let address = found["content_address"].as_str().unwrap();
                prop_assert!(!text.contains(address));
            }
            let lines: Vec<&str> = text.lines().collect();
            match format {
                "sml" => {
                    prop_assert_eq!(lines.len(), count, "{}", text);
                    for line in lines {
                        let (name, _) = element(line).unwrap_or_else(|| panic!("{line}"));
                        prop_assert!(name == "belief" || name == "event");
                    }
                }
                "text" => {
                    prop_assert_eq!(lines.len(), count, "{}", text);
                    let is_typed = |line: &&str| line.starts_with("[belief] s") || line.starts_with("[event] e");
                    prop_assert!(lines.iter().all(is_typed), "{}", text);
                }
                "triples" => prop_assert_eq!(lines.len(), count, "{}", text),
                "markdown" => {
                    let items = lines.iter().filter(|line| line.starts_with("- "));
                    let headings = lines.iter().filter(|line| matches!(**line, "**Beliefs**" | "**Events**" | ""));
                    prop_assert_eq!(items.count(), count, "{}", text);
                    prop_assert_eq!(headings.count() + count, lines.len(), "{}", text);
                }
                "toon" => {
                    let is_head = |line: &&&str| line.starts_with("beliefs[") || line.starts_with("events[");
                    let heads = lines.iter().filter(is_head).count();
                    let blanks = lines.iter().filter(|line| line.is_empty()).count();
                    prop_assert_eq!(heads + blanks + count, lines.len(), "{}", text);
                }
                "json" => {
                    let rows: Vec<serde_json::Value> = serde_json::from_str(text).unwrap();
                    prop_assert_eq!(rows.len(), count);
                }
                _ => {
                    let items = lines.iter().filter(|line| line.starts_with("- "));
                    prop_assert_eq!(items.count(), count, "{}", text);
                }
            }
        }
        let options = Options::at(Time::from_ms(NOW)).parameter("why", intent);
        let context = "ASSEMBLE FOR $why FROM a: (RECALL beliefs), b: (RECALL events)";
        let context = store.cal(context, &options).unwrap();
        let lines: Vec<&str> = context.text().unwrap().lines().collect();
        let closing = lines.iter().filter(|line| line.contains("context>")).count();
        prop_assert!(lines[0].starts_with("<context") && lines[0].ends_with('>'));
        prop_assert!(closing >= 1 && lines.last() == Some(&"</context>"));
        for line in &lines[1..lines.len() - 1] {
            prop_assert!(line.is_empty() || element(line.trim_start()).is_some(), "{}", line);
        }
    }

    #[test]
    fn a_context_is_within_its_budget_and_the_same_every_time(
        texts in prop::collection::vec(("[a-c]{1,3}", "[a-z ]{1,80}[a-z]", 0..3_u8), 1..40),
        budget in 1..400_usize,
        format in prop::sample::select(FORMATS.to_vec()),
        unit in prop::sample::select(vec!["TOKENS", "GRAINS"]),
    ) {
        let store = Store::in_memory(StoreOptions::default()).unwrap();
        for (subject, text, kind) in texts {
            let draft = match kind {
                0 => Draft::belief(subject, "mg:says", text).confidence(0.5),
                1 => Draft::event(text).set("role", "user"),
                _ => Draft::goal(text).set("subject", subject),
            };
            store.put(draft.created_at(Time::from_ms(NOW))).unwrap();
        }
        let budget = if unit == "GRAINS" { budget.min(200) } else { budget };
        let statement = format!(
            "ASSEMBLE c FROM a: (RECALL beliefs), b: (RECALL events), c: (RECALL goals) \
             BUDGET {budget} {unit} PRIORITY c > a FORMAT {format}"
        );
        let answer = asked(&store, &statement);
        let Body::Context(context) = &answer.body else { panic!("no context") };
        let used: usize = context.sources.iter().map(|source| source.used.len()).sum();
        if unit == "GRAINS" {
            prop_assert!(used <= budget && context.used == used);
        } else {
            prop_assert_eq!(context.used, tokens(&context.text));
            prop_assert!(context.used <= budget || used == 0, "{} of {}", context.used, budget);
        }
        let again = text(&store, &statement);
        prop_assert_eq!(again.as_str(), answer.text().unwrap());
    }
}

#[test]
fn a_context_becomes_toon_where_its_budget_is_nearly_used_if_allowed() {
    let store = filled();
    for n in 0..12 {
        let belief = Draft::belief("alice", "mg:prefers", format!("drink number {n}"));
        store.put(belief.confidence(0.9)).unwrap();
    }
    let asked = |text: &str, auto_toon: bool| {
        let options = Options {
            auto_toon,
            ..Options::at(Time::from_ms(NOW))
        };
        store.cal(text, &options).unwrap()
    };
    let format = |answer: &Answer| answer.to_json()["formatted_context"]["format"].clone();
    let tight = "ASSEMBLE FROM (RECALL beliefs) BUDGET 150 tokens";
    let answer = asked(tight, true);
    assert_eq!(format(&answer), "toon");
    assert_eq!(answer.warnings[0].code.as_str(), "CAL-W005");
    assert!(answer.text().unwrap().contains("beliefs["), "{answer:?}");
    for (text, auto_toon) in [
        (tight, false),
        (
            "ASSEMBLE FROM (RECALL beliefs) BUDGET 150 tokens FORMAT sml",
            true,
        ),
        ("ASSEMBLE FROM (RECALL beliefs) BUDGET 4000 tokens", true),
        ("ASSEMBLE FROM (RECALL beliefs)", true),
        ("ASSEMBLE FROM (RECALL) BUDGET 150 tokens", true),
    ] {
        let answer = asked(text, auto_toon);
        assert_eq!(format(&answer), "sml", "{text}");
        assert!(answer.warnings.is_empty(), "{text}");
    }
}
