//! How a recall fills its budget: best hits first, long ones shortened, and nothing left unused.

use grainstore::policy::Capability;
use grainstore::query::Recall;
use grainstore::render::{Format, Line, Recollection, tokens};
use grainstore::text::Ranking;
use grainstore::{Draft, Filter, Store, Time};
use proptest::prelude::*;

use super::{say, store};

fn known(store: &Store, question: &str, budget: usize) -> Recollection {
    let recall = Recall {
        budget,
        ..Recall::default()
    };
    let known = store.recall(question, &Filter::new(), &recall).unwrap();
    let text = known.render(Format::Markdown);
    assert!(tokens(&text) <= known.tokens, "{text}");
    assert!(known.tokens <= budget, "{text}");
    known
}

fn lines(known: &Recollection) -> impl Iterator<Item = &Line> {
    known.passages.iter().flat_map(|passage| &passage.lines)
}

/// Returns a turn of about so many tokens, with a sentence in its middle.
fn long(topic: &str, sentence: &str, tokens: usize) -> String {
    let filler = |from: usize, count: usize| -> String {
        let words = (from..from + count).map(|n| format!("{topic}{n} "));
        words.collect()
    };
    let words = tokens * 4 / (topic.len() + 4) / 2;
    format!(
        "{}. {sentence} {}.",
        filler(100, words).trim(),
        filler(500, words).trim()
    )
}

#[test]
fn a_long_turn_is_shortened_to_the_passage_around_the_words_of_the_question() {
    let store = store();
    let turn = long("garden", "The code of the harbour gate is 4417.", 600);
    say(&store, "s", &[&turn, "and what else?"]);
    for budget in [60, 200, 500] {
        let known = known(&store, "What is the code of the harbour gate?", budget);
        let line = lines(&known).find(|line| line.is_cut).unwrap();
        assert!(line.sentence.contains("harbour gate is 4417"), "{line:?}");
        assert!(line.sentence.starts_with('…') || line.sentence.ends_with('…'));
        assert_eq!(line.text, turn);
        assert!(known.is_cut);
        assert!(known.render(Format::Json).contains("\"is_cut\":true"));
    }
    let whole = known(&store, "What is the code of the harbour gate?", 2_000);
    assert!(lines(&whole).all(|line| !line.is_cut) && !whole.is_cut);
    assert!(!whole.render(Format::Json).contains("\"is_cut\":true"));
}

#[test]
fn a_hit_that_does_not_fit_does_not_keep_out_the_ones_behind_it() {
    let store = store();
    let turn = long("boat", "The harbour gate, the harbour gate code.", 900);
    say(&store, "a", &[&turn]);
    say(&store, "b", &["the gate opens at nine"]);
    let text = known(&store, "harbour gate code", 300).render(Format::Markdown);
    assert!(text.contains("opens at nine"), "{text}");
    assert!(text.contains("harbour gate code"), "{text}");
}

#[test]
fn what_stands_around_a_hit_takes_only_what_the_hits_leave() {
    let store = store();
    let fill = long("weather", "It rained.", 60);
    for n in 0..8 {
        let hit = format!("the ferry number {n} goes to the island");
        say(&store, &format!("s{n}"), &[&fill, &hit, &fill]);
    }
    let recall = Recall {
        budget: 260,
        ranking: Ranking::WORDS,
        ..Recall::default()
    };
    let known = store
        .recall("ferry island", &Filter::new(), &recall)
        .unwrap();
    let ferries = lines(&known).filter(|line| line.sentence.contains("ferry"));
    assert_eq!(ferries.count(), 8, "{}", known.render(Format::Markdown));
}

#[test]
fn a_speaker_who_begins_the_text_is_not_named_twice() {
    let store = store();
    say(&store, "s", &["user: the gate is open"]);
    let text = known(&store, "gate", 200).render(Format::Markdown);
    assert!(text.contains("- user: the gate is open\n"), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_recall_with_a_hit_is_empty_and_the_budget_is_used_where_there_is_more_to_say(
        lengths in prop::collection::vec(5_usize..700, 1..24),
        budget in 60_usize..3_000,
    ) {
        let store = store();
        let turns: Vec<String> = lengths
            .iter()
            .enumerate()
            .map(|(n, length)| long(&format!("word{n}x"), &format!("Tide table {n}."), *length))
            .collect();
        for (n, talk) in turns.chunks(5).enumerate() {
            let talk: Vec<&str> = talk.iter().map(String::as_str).collect();
            say(&store, &format!("s{n}"), &talk);
        }
        let known = known(&store, "the tide table", budget);
        prop_assert!(!known.is_empty());
        let text = known.render(Format::Markdown);
        let shown = lines(&known).filter(|line| !line.is_cut).count();
        if shown < turns.len() {
            prop_assert!(known.is_cut);
            prop_assert!(tokens(&text) * 10 >= budget * 9 - 200, "{} of {budget}: {text}", tokens(&text));
        }
    }
    #[test]
    fn a_hit_that_is_not_read_would_have_had_no_room(
        said in prop::collection::vec((0_u8..8, 1_usize..160, 0_u8..4), 1..60),
        budget in 20_usize..900,
    ) {
        let store = store();
        for (n, (kind, length, number)) in (0_i64..).zip(said) {
            let text = long(&format!("word{number}"), &format!("Tide table {number}"), length);
            let draft = match kind {
                0 => Draft::event(text).set("session_id", "s").set("role", "user"),
                1 => Draft::event(text).set("session_id", format!("s{number}")).set("role", "user"),
                2 => Draft::belief(format!("tide table {number}"), "is", text).confidence(0.9),
                3 => Draft::belief("tide table", "says", format!("Zoë {number}, did:key:z{number}")).confidence(0.9),
                4 => Draft::event(format!("tide table {}", "0123456789abcdef".repeat(4))),
                // These no handle sees without a clearance.
                5 => Draft::event(text).tag("phi:mrn"),
                6 => Draft::belief("tide table", "holds", text).confidence(0.9).tag("pci:pan"),
                _ => Draft::event(text),
            };
            let at = Time::from_ms(1_768_471_200_000 + n * 40_000_000);
            store.put(draft.namespace("talks").created_at(at)).unwrap();
        }
        let recall = Recall {
            budget,
            ranking: Ranking { own_statistics: true, ..Ranking::default() },
            ..Recall::default()
        };
        let ask = |store: &Store| store.recall("the tide table", &Filter::new(), &recall).unwrap();
        let narrowed = |capability| ask(&store.with_capability(capability).unwrap());
        let all = ask(&store);
        // No filter has two namespaces: such a handle reads every hit.
        let both = Capability::default().inside_any(["talks", "tides"]);
        let cleared = both.clone().cleared_for("phi").cleared_for("pci");
        let reads_all = narrowed(cleared);
        prop_assert_eq!(all.passages, reads_all.passages);
        prop_assert_eq!(all.is_cut, reads_all.is_cut);
        // A handle must not learn of what it may not see.
        let reads_all = narrowed(both);
        for capability in [Capability::default(), Capability::default().inside("talks")] {
            let known = narrowed(capability);
            prop_assert_eq!(&known.passages, &reads_all.passages);
            prop_assert_eq!(known.is_cut, reads_all.is_cut);
        }
    }
}
