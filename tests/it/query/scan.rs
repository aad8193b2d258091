//! Every filter, alone and together, in every order, against a scan.

use std::cmp::Reverse;

use grainstore::codec::Value;
use grainstore::grain::{Type, Verification};
use grainstore::query::{Sort, SortBy};
use grainstore::{ContentAddress, Filter, Time};
use proptest::prelude::*;

use super::world::{
    EPISTEMIC, Kept, NAMESPACES, OBSERVERS, RECALL, SOURCES, START, World, index_options, soon,
    step,
};

/// A question in plain values.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked {
    of: Option<Type>,
    namespace: Option<&'static str>,
    parts: [Option<String>; 3],
    user: Option<String>,
    session: Option<String>,
    run: Option<String>,
    tags: Vec<String>,
    no_tags: Vec<String>,
    derived_from: Option<prop::sample::Index>,
    created: (Option<i64>, Option<i64>),
    confidence: Option<(f64, f64)>,
    importance: Option<(f64, f64)>,
    source: Option<&'static str>,
    epistemic: Option<&'static str>,
    recall: Option<&'static str>,
    observer: Option<(usize, usize)>,
    verification: Option<Verification>,
    valid_at: Option<i64>,
    known_at: Option<i64>,
    /// 0 current, 1 any, 2 ended.
    state: u8,
    expired: bool,
}

fn rarely<T: std::fmt::Debug + Clone + 'static>(
    of: impl Strategy<Value = T>,
) -> impl Strategy<Value = Option<T>> {
    prop::option::weighted(0.15, of)
}

fn one_of(all: &'static [&'static str]) -> impl Strategy<Value = Option<&'static str>> {
    rarely(prop::sample::select(all))
}

fn named(name: &'static str, n: u8) -> impl Strategy<Value = Option<String>> {
    rarely((0..n).prop_map(move |n| format!("{name}{n}")))
}

fn span() -> impl Strategy<Value = Option<(f64, f64)>> {
    let pair = (0..5_u8, 0..5_u8);
    rarely(pair.prop_map(|(a, b)| (f64::from(a.min(b)) / 4.0, f64::from(a.max(b)) / 4.0)))
}

pub(super) fn asked() -> impl Strategy<Value = Asked> {
    let verification = prop::sample::select(vec![
        Verification::Unverified,
        Verification::Verified,
        Verification::Contested,
        Verification::Retracted,
    ]);
    let of = prop::sample::select(vec![
        Type::Belief,
        Type::Event,
        Type::Goal,
        Type::Observation,
    ]);
    let who = (
        rarely(of),
        one_of(&NAMESPACES),
        [named("s", 4), named("p", 3), named("o", 4)],
        named("u", 4),
        named("t", 4),
        named("r", 4),
    );
    let tags = (
        prop::collection::vec((0..4_u8).prop_map(|n| format!("tag{n}")), 0..2),
        prop::collection::vec((0..4_u8).prop_map(|n| format!("tag{n}")), 0..2),
        rarely(any::<prop::sample::Index>()),
    );
    let times = (
        (rarely(0..20_i64), rarely(20..40_i64)),
        rarely(prop_oneof![0..60_i64, soon()]),
        prop::option::weighted(0.3, START - 20..START + 120),
        prop_oneof![3 => Just(0_u8), 1 => Just(1), 1 => Just(2)],
        any::<bool>(),
    );
    let marks = (
        span(),
        span(),
        one_of(&SOURCES),
        one_of(&EPISTEMIC),
        one_of(&RECALL),
        rarely((0..5_usize, 0..2_usize)),
        rarely(verification),
    );
    (who, tags, times, marks).prop_map(|(who, tags, times, marks)| {
        let (of, namespace, parts, user, session, run) = who;
        let (tags, no_tags, derived_from) = tags;
        let (created, valid_at, known_at, state, expired) = times;
        let (confidence, importance, source, epistemic, recall, observer, verification) = marks;
        Asked {
            of,
            namespace,
            parts,
            user,
            session,
            run,
            tags,
            no_tags,
            derived_from,
            created,
            confidence,
            importance,
            source,
            epistemic,
            recall,
            observer,
            verification,
            valid_at,
            known_at,
            state,
            expired,
        }
    })
}

impl Asked {
    fn parent(&self, kept: &[Kept]) -> Option<ContentAddress> {
        let at = self.derived_from.as_ref()?;
        (!kept.is_empty()).then(|| at.get(kept).grain.address())
    }

    pub(super) fn filter(&self, kept: &[Kept]) -> Filter {
        let mut filter = Filter::new();
        if let Some(of) = self.of {
            filter = filter.of_type(of);
        }
        type Set = fn(Filter, String) -> Filter;
        let [subject, relation, object] = self.parts.clone();
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let texts: [(Option<String>, Set); 10] = [
            (owned(self.namespace), Filter::namespace),
            (subject, Filter::subject),
            (relation, Filter::relation),
            (object, Filter::object),
            (self.user.clone(), Filter::user),
            (self.session.clone(), Filter::session),
            (self.run.clone(), Filter::run),
            (owned(self.source), Filter::source_type),
            (owned(self.epistemic), Filter::epistemic_status),
            (owned(self.recall), Filter::recall_priority),
        ];
        for (text, set) in texts {
            if let Some(text) = text {
                filter = set(filter, text);
            }
        }
        if let Some((field, value)) = self.observer {
            let set: [Set; 5] = [
                Filter::observer_type,
                Filter::observer,
                Filter::author,
                Filter::subject_did,
                Filter::entity,
            ];
            filter = set[field](filter, OBSERVERS[field].1[value].to_owned());
        }
        filter = self.tags.iter().fold(filter, Filter::tag);
        filter = self.no_tags.iter().fold(filter, Filter::without_tag);
        if let Some(parent) = self.parent(kept) {
            filter = filter.derived_from(parent);
        }
        type SetTime = fn(Filter, Time) -> Filter;
        let times: [(Option<i64>, SetTime); 4] = [
            (self.created.0, Filter::since),
            (self.created.1, Filter::until),
            (self.valid_at, Filter::valid_at),
            (self.known_at, Filter::known_at),
        ];
        for (time, set) in times {
            if let Some(ms) = time {
                filter = set(filter, Time::from_ms(ms));
            }
        }
        if let Some((from, to)) = self.confidence {
            filter = filter.confidence(from, to);
        }
        if let Some((from, to)) = self.importance {
            filter = filter.importance(from, to);
        }
        if let Some(verification) = self.verification {
            filter = filter.verification(verification);
        }
        if self.expired {
            filter = filter.with_expired();
        }
        match self.state {
            0 => filter,
            1 => filter.with_superseded(),
            _ => filter.only_superseded(),
        }
    }

    /// Says whether a grain passes, from its fields alone.
    fn passes(&self, kept: &Kept, all: &[Kept], now: i64) -> bool {
        let grain = &kept.grain;
        let is = |name: &str, wanted: Option<&str>| {
            wanted.is_none_or(|wanted| grain.text(name) == Some(wanted))
        };
        let [subject, relation, object] = self.parts.each_ref().map(Option::as_deref);
        let words = is("subject", subject)
            && is("relation", relation)
            && is("object", object)
            && is("user_id", self.user.as_deref())
            && is("session_id", self.session.as_deref())
            && is("run_id", self.run.as_deref())
            && is("source_type", self.source)
            && is("epistemic_status", self.epistemic)
            && is("recall_priority", self.recall)
            && self.observer.is_none_or(|(field, value)| {
                let (name, values) = OBSERVERS[field];
                is(name, Some(values[value]))
            });
        let namespace = self.namespace.is_none_or(|outer| {
            let inner = grain.text("namespace").unwrap_or_default();
            inner == outer || inner.starts_with(&format!("{outer}:"))
        });
        let has = |tag: &String| {
            let tags = grain.field("structural_tags").and_then(Value::as_array);
            let mut tags = tags.unwrap_or_default().iter().filter_map(Value::as_text);
            tags.any(|known| known == tag)
        };
        let within = |name: &str, span: Option<(f64, f64)>| {
            span.is_none_or(|(from, to)| {
                let number = grain.field(name).and_then(Value::as_f64);
                number.is_some_and(|number| (from..=to).contains(&number))
            })
        };
        let parent = self.parent(all);
        let derived = parent.is_none_or(|parent| grain.derived_from().any(|of| of == parent));
        self.of.is_none_or(|of| grain.type_() == of)
            && words
            && namespace
            && derived
            && self.tags.iter().all(has)
            && !self.no_tags.iter().any(has)
            && within("confidence", self.confidence)
            && within("importance", self.importance)
            && self
                .verification
                .is_none_or(|status| kept.verification == status)
            && self.passes_in_time(kept)
            && (self.shows_expired() || !kept.has_expired_by(now))
    }

    /// The table of OMS 15.2.
    fn passes_in_time(&self, kept: &Kept) -> bool {
        let happened = kept.time("timestamp_ms");
        let happened = happened.unwrap_or_else(|| kept.grain.created_at().ms());
        let is_current = match self.known_at {
            None => kept.ended.is_none(),
            Some(at) => kept.ended.is_none_or(|ended| ended > at),
        };
        let state = match self.state {
            // To ask for what was retracted is to ask for what has ended.
            0 => is_current || self.verification == Some(Verification::Retracted),
            1 => true,
            _ => !is_current,
        };
        let valid = self.valid_at.is_none_or(|at| {
            kept.time("valid_from").is_none_or(|from| from <= at)
                && kept.time("valid_to").is_none_or(|to| at <= to)
        });
        state
            && valid
            && self.known_at.is_none_or(|at| kept.active_from() <= at)
            && self.created.0.is_none_or(|from| from <= happened)
            && self.created.1.is_none_or(|to| happened <= to)
    }

    fn shows_expired(&self) -> bool {
        self.expired || self.valid_at.is_some() || self.known_at.is_some() || self.state != 0
    }

    /// Returns the grains that pass at a time.
    pub(super) fn scan(&self, all: &[Kept], now: i64) -> Vec<Kept> {
        let passing = all.iter().filter(|kept| self.passes(kept, all, now));
        passing.cloned().collect()
    }
}

/// Puts what a scan found in an order.
pub(super) fn in_order(mut found: Vec<Kept>, by: SortBy, descends: bool) -> Vec<ContentAddress> {
    let address = |kept: &Kept| kept.grain.address();
    let value = |kept: &Kept| {
        let number = |name| {
            let number = kept.grain.field(name).and_then(Value::as_f64);
            // Quarters, so that they compare as integers do.
            number.map(|number| (number * 4.0).round().to_string().parse::<i64>().unwrap())
        };
        match by {
            SortBy::Time => {
                let created_at = kept.grain.created_at().ms();
                Some(kept.time("timestamp_ms").unwrap_or(created_at))
            }
            SortBy::CreatedAt => Some(kept.grain.created_at().ms()),
            SortBy::ValidFrom => kept.time("valid_from"),
            SortBy::ValidTo => kept.time("valid_to"),
            SortBy::KnownFrom => Some(kept.active_from()),
            SortBy::Confidence => number("confidence"),
            SortBy::Importance => number("importance"),
            _ => None,
        }
    };
    match (by, descends) {
        (SortBy::Stored, true) => found.reverse(),
        (SortBy::Stored, false) => {}
        (SortBy::Address, true) => found.sort_by_key(|kept| Reverse(address(kept))),
        (SortBy::Address, false) => found.sort_by_key(address),
        // Sorting is stable: those of one time keep the order of storage, from either end.
        (SortBy::Time, true) => {
            found.reverse();
            found.sort_by_key(|kept| Reverse(value(kept)));
        }
        (SortBy::Time, false) => found.sort_by_key(value),
        (_, true) => found.sort_by_key(|kept| {
            let value = value(kept);
            (value.is_none(), Reverse(value), address(kept))
        }),
        (_, false) => found.sort_by_key(|kept| {
            let value = value(kept);
            (value.is_none(), value, address(kept))
        }),
    }
    found.iter().map(address).collect()
}

pub(super) fn sorts() -> impl Strategy<Value = (SortBy, bool)> {
    let names: Vec<SortBy> = SortBy::NAMES.iter().map(|(_, by)| *by).collect();
    (prop::sample::select(names), any::<bool>())
}

pub(super) fn sort(by: SortBy, descends: bool) -> Sort {
    let sort = Sort::by(by);
    if descends { sort.descending() } else { sort }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, max_shrink_iters: 300, ..ProptestConfig::default() })]

    #[test]
    fn an_answer_is_what_a_scan_of_all_grains_finds(
        index in index_options(),
        steps in prop::collection::vec(step(), 1..120),
        questions in prop::collection::vec((asked(), sorts()), 12),
    ) {
        let mut world = World::new(index);
        world.run(steps);
        for (asked, (by, descends)) in questions {
            let filter = asked.filter(&world.kept);
            let expected = in_order(asked.scan(&world.kept, world.now), by, descends);
            let sort = sort(by, descends);
            let found = world.store.query(&filter.clone().sorted(sort), usize::MAX, None).unwrap();
            let addresses: Vec<_> = found.results.iter().map(|found| found.address).collect();
            prop_assert_eq!(&addresses, &expected, "{:?}\n{}", asked, world.store.maintenance().unwrap().explain(&filter).unwrap());
            prop_assert_eq!(found.total, expected.len() as u64);
            prop_assert_eq!(world.store.maintenance().unwrap().explain(&filter).unwrap().total(), found.total);
            prop_assert_eq!(found.next_cursor, None);
        }
        prop_assert_eq!(world.store.maintenance().unwrap().check().unwrap().findings, vec![]);
    }
}
