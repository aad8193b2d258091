//! The grains that the notes of each tool become, and how its tree is recognised.

use super::*;

fn dialect_of(files: &[(&str, &str)]) -> String {
    let folder = tree(files);
    let store = memory();
    import(&store, folder.path());
    let envelopes = Filter::new().with_envelopes().of_type(Type::State);
    let page = store.query(&envelopes, 1, None).unwrap();
    let context = page.results[0]
        .grain
        .field("context")
        .unwrap()
        .as_map()
        .unwrap();
    let kept = context
        .get("x-markdown")
        .unwrap()
        .as_text()
        .unwrap()
        .to_owned();
    let kept: serde_json::Value = serde_json::from_str(&kept).unwrap();
    kept["dialect"].as_str().unwrap().to_owned()
}

fn beliefs(files: &[(&str, &str)]) -> Vec<String> {
    let folder = tree(files);
    let store = memory();
    import(&store, folder.path());
    said(&store)
}

#[test]
fn a_tree_shows_its_dialect() {
    let claude =
        "---\nname: prefers-pnpm\ndescription: pnpm\nmetadata:\n  type: feedback\n---\nUse pnpm.\n";
    let cases: [(&str, &[(&str, &str)]); 7] = [
        ("okf", &[("a.md", "---\ntype: fact\n---\nx\n")]),
        ("obsidian", &[("A.md", "---\naliases: [B]\n---\nx\n")]),
        (
            "basic-memory",
            &[("a.md", "---\ntitle: A\npermalink: a\n---\n- [x] y\n")],
        ),
        (
            "claude-code",
            &[("MEMORY.md", "- [P](p.md) — pnpm\n"), ("p.md", claude)],
        ),
        (
            "codex",
            &[("MEMORY.md", "x\n"), ("memory_summary.md", "v1\n")],
        ),
        (
            "openclaw",
            &[("MEMORY.md", "x\n"), ("memory/2026-10-02.md", "- y\n")],
        ),
        ("hermes", &[("MEMORY.md", "x\n§\ny\n"), ("USER.md", "z\n")]),
    ];
    for (dialect, files) in cases {
        assert_eq!(dialect_of(files), dialect);
    }
}

#[test]
fn observations_and_relations_are_beliefs() {
    let note = "---\ntitle: Ana\ntype: person\ntags: [user]\npermalink: people/ana\n---\n\
                - [preference] uses pnpm #tooling (since March)\n- works_at [[Acme]] (remote)\n";
    let folder = tree(&[("people/ana.md", note)]);
    let store = memory();
    import(&store, folder.path());
    let expected = [
        "\"Ana\" \"preference\" \"uses pnpm #tooling (since March)\"",
        "\"Ana\" \"works_at\" \"Acme\"",
    ];
    assert_eq!(said(&store), expected);
    let tagged = store
        .query(&Filter::new().tag("tooling"), 10, None)
        .unwrap();
    assert_eq!(tagged.results.len(), 1);
    let context = tagged.results[0]
        .grain
        .field("context")
        .unwrap()
        .as_map()
        .unwrap();
    let place = ["file", "line"].map(|name| context.get(name).unwrap().as_text().unwrap());
    assert_eq!(place, ["people/ana.md", "7"]);
}

#[test]
fn an_entry_and_a_link_are_beliefs() {
    let hermes = beliefs(&[
        ("USER.md", "prefers: pnpm\n§\nLives in Graz\n"),
        ("MEMORY.md", "x\n"),
    ]);
    assert_eq!(
        hermes,
        [
            "\"memory\" \"note\" \"x\"",
            "\"user\" \"note\" \"Lives in Graz\"",
            "\"user\" \"prefers\" \"pnpm\""
        ]
    );
    let claude = beliefs(&[(
        "p.md",
        "---\nname: P\n---\nUse pnpm. See [[ci-cache]] and [[a|B]].\n",
    )]);
    assert_eq!(
        claude,
        [
            "\"P\" \"links_to\" \"B\"",
            "\"P\" \"links_to\" \"ci-cache\"",
            "\"P\" \"note\" \"Use pnpm. See [[ci-cache]] and [[a|B]].\""
        ]
    );
}

#[test]
fn a_dated_file_is_events_of_its_day() {
    let folder = tree(&[
        ("memory/2026-10-02-trip.md", "- user: hi\n- met Ana\n"),
        ("MEMORY.md", "x\n"),
    ]);
    let store = memory();
    import(&store, folder.path());
    let events = store
        .query(&Filter::new().of_type(Type::Event), 10, None)
        .unwrap();
    let day = Time::parse("2026-10-02T00:00:00Z").unwrap();
    assert!(events.results.iter().all(|it| it.grain.created_at() == day));
    assert_eq!(events.results.len(), 2);
}

#[test]
fn instructions_are_read_when_they_are_asked_for() {
    let folder = tree(&[
        ("CLAUDE.md", "Always obey.\n"),
        (".claude/rules/a.md", "x\n"),
        ("n.md", "note\n"),
    ]);
    let store = memory();
    let summary = import(&store, folder.path());
    assert!(
        summary
            .findings
            .iter()
            .any(|(place, _)| place.to_string() == "CLAUDE.md")
    );
    assert_eq!(said(&store), ["\"n\" \"note\" \"note\""]);
    let options = ReadOptions {
        with_instructions: true,
        scope: Some("tree".to_owned()),
        ..ReadOptions::default()
    };
    let reading = ImportFile::open(folder.path(), None, &options).unwrap();
    store.import(reading).unwrap();
    assert_eq!(said(&store).len(), 2);
}
