//! Templates: what they write, what refuses them, and that stored text stays in its place.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::sync::Arc;

use grainstore::{Draft, Options as StoreOptions, Store, Time};
use grainstore_cal::{Answer, Body, Cal, Host, Options, parse};

const NOW: i64 = 1_768_471_200_000;

fn options(host: &Arc<Host>) -> Options {
    Options {
        host: Some(Arc::clone(host)),
        ..Options::at(Time::from_ms(NOW))
    }
}

fn store() -> Store {
    let store = Store::in_memory(StoreOptions::default()).unwrap();
    for (object, tag) in [("dark <mode>", "ui"), ("tea\n- rob it", "drinks")] {
        let belief = Draft::belief("alice", "mg:prefers", object).confidence(0.9);
        let belief = belief.tag(tag).tag("kept");
        store
            .put(belief.created_at(Time::from_ms(NOW - 600_000)))
            .unwrap();
    }
    store
        .put(Draft::event("hello").created_at(Time::from_ms(NOW)))
        .unwrap();
    store
}

fn asked(store: &Store, text: &str, host: &Arc<Host>) -> Answer {
    match store.cal(text, &options(host)) {
        Ok(answer) => answer,
        Err(error) => panic!("{text}: {error}"),
    }
}

fn code(store: &Store, text: &str, host: &Arc<Host>) -> &'static str {
    match store.cal(text, &options(host)) {
        Ok(answer) => panic!("{text}: {answer:?}"),
        Err(error) => error.code(),
    }
}

const SOURCES: &str = "ASSEMBLE brief FOR \"a meal\" FROM \
    taste: (RECALL beliefs | ORDER BY object ASC), said: (RECALL events)";

#[test]
fn a_template_writes_its_sections_and_those_of_its_preset() {
    let (store, host) = (store(), Arc::new(Host::default()));
    let inline = "HEADER {# {{assembly.intent}} ({{assembly.grain_count}})} \
        ELEMENT {{{grain.type}}: {{grain.content}}{{#grain.confidence}} [{{grain.confidence}}]\
        {{/grain.confidence}}{{#each grain.tags}} #{{this}}{{/each}}} \
        SOURCE_BREAK {--{{source.label}}--} FOOTER {{{budget.unit}} {{grain.subject}}{{! none }}.}";
    let text = format!("{SOURCES} FORMAT TEMPLATE {{ {inline} }}");
    assert_eq!(
        asked(&store, &text, &host).text().unwrap(),
        "# a meal (3)\n\
         belief: prefers dark <mode> [0.9] #ui #kept\n\
         belief: prefers tea - rob it [0.9] #drinks #kept\n\
         --said--\n\
         event: hello #\n\
         tokens .\n"
            .replace(" #\n", "\n")
    );
    let text = format!("{SOURCES} FORMAT TEMPLATE {{ ELEMENT {{* {{{{grain.content}}}}}} }}");
    assert_eq!(
        asked(&store, &text, &host).text().unwrap(),
        "## Context: a meal\n* prefers dark <mode>\n* prefers tea - rob it\n\n* hello\n"
    );
}

#[test]
fn a_template_of_sml_escapes_its_values_and_is_found_by_its_reach() {
    let store = store();
    let host = Arc::new(Host::with_changes().unwrap());
    let define = "DEFINE TEMPLATE brief EXTENDS structured ELEMENT {<b>{{grain.content}}</b>}";
    let answer = asked(&store, define, &host);
    assert!(matches!(answer.body, Body::Defined(name) if name == "brief"));
    let text = format!("{SOURCES} FORMAT TEMPLATE brief");
    assert_eq!(
        asked(&store, &text, &host).text().unwrap(),
        "<context intent=\"a meal\">\n<b>prefers dark &lt;mode&gt;</b>\n\
         <b>prefers tea - rob it</b>\n\n<b>hello</b>\n</context>\n"
    );
    let names = asked(&store, "DESCRIBE templates", &host).to_json();
    assert_eq!(names["templates"], serde_json::json!(["brief"]));
    let other = store.in_namespace("acme");
    assert_eq!(code(&other, &text, &host), "CAL-E085");
    assert_eq!(
        code(&store.read_only(), &define.replace("brief", "b"), &host),
        "CAL-E044"
    );
    assert_eq!(code(&store, define, &host), "CAL-E088");
    assert_eq!(
        code(&store, "DEFINE TEMPLATE c EXTENDS brief HEADER {}", &host),
        "CAL-E087"
    );
    for n in 1..50 {
        asked(&store, &format!("DEFINE TEMPLATE t{n} HEADER {{}}"), &host);
    }
    assert_eq!(
        code(&store, "DEFINE TEMPLATE t50 HEADER {}", &host),
        "CAL-E089"
    );
}

#[test]
fn each_mistake_of_a_template_has_its_code() {
    let (store, host) = (store(), Arc::new(Host::with_changes().unwrap()));
    let long = "x".repeat(4_097);
    let deep = "{{#grain.type}}".repeat(6) + &"{{/grain.type}}".repeat(6);
    for (template, expected) in [
        ("ELEMENT {{{grain.colour}}}".to_owned(), "CAL-E090"),
        ("ELEMENT {{{#grain.type}}}".to_owned(), "CAL-E091"),
        ("ELEMENT {{{/grain.type}}}".to_owned(), "CAL-E091"),
        (format!("ELEMENT {{{long}}}"), "CAL-E092"),
        (format!("ELEMENT {{{deep}}}"), "CAL-E093"),
        ("ELEMENT {{{> file}}}".to_owned(), "CAL-E094"),
        ("ELEMENT {{{{grain.type}}}}".to_owned(), "CAL-E094"),
        ("ELEMENT {a} ELEMENT {b}".to_owned(), "CAL-E095"),
        (
            "ELEMENT_SUMMARY {a} ELEMENT_OMIT {b}".to_owned(),
            "CAL-E096",
        ),
        ("EXTENDS data ELEMENT {a}".to_owned(), "CAL-E086"),
        ("EXTENDS nothing ELEMENT {a}".to_owned(), "CAL-E085"),
        ("".to_owned(), "CAL-E002"),
    ] {
        let text = format!("DEFINE TEMPLATE t {template}");
        assert_eq!(code(&store, &text, &host), expected, "{text}");
    }
    assert_eq!(
        code(&store, "ASSEMBLE FROM (RECALL) FORMAT TEMPLATE x", &host),
        "CAL-E085"
    );
}

#[test]
fn a_template_stays_within_the_budget_and_names_no_address() {
    let (store, host) = (store(), Arc::new(Host::default()));
    let text = "ASSEMBLE FROM (RECALL) BUDGET 40 tokens FORMAT TEMPLATE { HEADER {} \
        ELEMENT {{{grain.hash}}{{grain.created_at}} {{grain.content}} {{grain.content}}} }";
    let answer = asked(&store, text, &host);
    let written = answer.text().unwrap();
    assert!(written.chars().count() <= 80, "{written}");
    assert!(
        written.starts_with(" ") || written.starts_with("2026-01-15 "),
        "{written}"
    );
    assert!(!written.contains('T'), "{written}");
}

#[test]
fn the_text_of_a_section_is_printed_and_read_as_the_same() {
    for body in [
        "",
        "a",
        "\na\n",
        "a\n  ",
        "{a}",
        "{{! } }} {b",
        " {{grain.type}} }",
    ] {
        let text = format!("DEFINE TEMPLATE t HEADER {{{body}}}");
        let Ok(query) = parse(&text) else {
            assert!(body.ends_with("} }") || body.contains("{b"), "{body}");
            continue;
        };
        assert_eq!(parse(&query.to_string()).as_ref(), Ok(&query), "{body:?}");
        assert_eq!(
            grainstore_cal::parse_json(&query.to_json()).as_ref(),
            Ok(&query),
            "{body:?}"
        );
    }
}
