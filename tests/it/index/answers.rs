//! Every answer there is, asked of an index and worked out without one.

use super::*;

pub(super) fn agree(found: BTreeMap<String, Vec<u64>>, wanted: BTreeMap<String, Vec<u64>>) {
    for ((what, found), (also, wanted)) in found.into_iter().zip(wanted) {
        assert_eq!((&what, found), (&also, wanted));
    }
}

/// Every answer a snapshot gives about the first grains, in words.
pub(super) fn answers(snapshot: &Snapshot) -> BTreeMap<String, Vec<u64>> {
    try_answers(snapshot).unwrap()
}

pub(super) fn try_answers(
    snapshot: &Snapshot,
) -> Result<BTreeMap<String, Vec<u64>>, grainstore::index::Error> {
    let mut found = BTreeMap::new();
    let mut keep = |what: String, rows: grainstore::index::Rows| {
        found.insert(what, rows.iter().map(EntryId::get).collect::<Vec<_>>());
    };
    keep(
        "grains".into(),
        snapshot.grains_from(EntryId::FIRST).collect(),
    );
    for (s, p, o) in patterns() {
        let pattern = Pattern {
            subject: s.as_deref(),
            relation: p.as_deref(),
            object: o.as_deref(),
        };
        let rows = snapshot.triples(&pattern).rows()?;
        // However a scan is asked, it finds the same.
        let set = snapshot.triples(&pattern).set()?;
        let among = snapshot.triples(&pattern).among(&snapshot.grains())?;
        let mut each = snapshot.triples(&pattern).collect::<Result<Vec<_>, _>>()?;
        each.sort_unstable();
        assert!(rows.iter().eq(set.iter()) && rows.iter().eq(among.iter()) && rows.iter().eq(each));
        keep(format!("{pattern:?}"), rows);
    }
    keep("beliefs".into(), snapshot.of_type(Type::Belief).rows()?);
    keep("events".into(), snapshot.of_type(Type::Event).rows()?);
    for namespace in ["a", "a:b", "a:b:c", "d", "b"] {
        let rows = snapshot.with_text(Family::Namespace, namespace).rows()?;
        keep(format!("namespace {namespace}"), rows);
    }
    for n in 0..5 {
        let tagged = snapshot.with_text(Family::Tag, &format!("t{n}"));
        keep(format!("tag {n}"), tagged.rows()?);
        let user = snapshot.with_text(Family::User, &format!("u{n}"));
        keep(format!("user {n}"), user.rows()?);
        let foreign = snapshot.foreign(&ForeignId::new("f", "s", n.to_string()));
        keep(format!("foreign {n}"), foreign.rows()?);
    }
    let time = |ms| Some(Time::from_ms(ms));
    for (from, to) in [(None, None), (time(-100), time(900)), (time(0), None)] {
        let rows = snapshot.in_time(Family::EventTime, from, to).rows()?;
        keep(format!("created {from:?} {to:?}"), rows);
    }
    let active = snapshot.in_time(Family::SystemTime, time(5), time(5));
    keep("active".into(), active.rows()?);
    for n in 0..40 {
        let address = grain(n).address();
        for family in [Family::DerivedFrom, Family::Lineage, Family::Mentions] {
            let rows = snapshot.pointing_at(family, &address).rows()?;
            keep(format!("{family:?} {n}"), rows);
        }
        keep(
            format!("status {n}"),
            snapshot.status_entries(EntryId::new(n)).rows()?,
        );
    }
    let current = snapshot.grains_from(EntryId::FIRST);
    let current = current.filter(|row| snapshot.is_current(*row));
    let current: grainstore::index::Rows = current.collect();
    // Asked twice: the second answer is the one that was kept.
    for _ in 0..2 {
        assert!(snapshot.current()?.iter().eq(current.iter()));
    }
    keep("current".into(), current);
    Ok(found)
}

fn patterns() -> Vec<(Option<String>, Option<String>, Option<String>)> {
    let part = |name: &str, n: u64| [None, Some(format!("{name}{n}"))];
    let mut patterns = Vec::new();
    for n in [0, 1, 2, 5, 12] {
        for s in part("s", n % 7) {
            for p in part("p", n % 3) {
                for o in part("o", n % 11) {
                    patterns.push((s.clone(), p.clone(), o));
                }
            }
        }
    }
    patterns
}

/// The same answers, worked out from the entries one by one.
pub(super) fn expected(entries: &Entries, erased: &[u64]) -> BTreeMap<String, Vec<u64>> {
    let shows = |row: &u64| !erased.contains(row);
    let all: Vec<(u64, &Said)> = (0..)
        .zip(&entries.0)
        .filter(|(row, _)| shows(row))
        .collect();
    let grains: Vec<(u64, &Grain)> = all
        .iter()
        .filter_map(|(row, said)| match said {
            Said::Grain(grain) => Some((*row, &**grain)),
            _ => None,
        })
        .collect();
    let those = |test: &dyn Fn(&Grain) -> bool| -> Vec<u64> {
        let passing = grains.iter().filter(|(_, grain)| test(grain));
        passing.map(|(row, _)| *row).collect()
    };
    let mut found = BTreeMap::new();
    found.insert("grains".into(), those(&|_| true));
    for (s, p, o) in patterns() {
        let fits = |grain: &Grain| {
            let same =
                |want: &Option<String>, name| want.is_none() || want.as_deref() == grain.text(name);
            same(&s, "subject") && same(&p, "relation") && same(&o, "object")
        };
        let pattern = Pattern {
            subject: s.as_deref(),
            relation: p.as_deref(),
            object: o.as_deref(),
        };
        found.insert(format!("{pattern:?}"), those(&fits));
    }
    found.insert("beliefs".into(), those(&|_| true));
    found.insert("events".into(), vec![]);
    for namespace in ["a", "a:b", "a:b:c", "d", "b"] {
        let inside = format!("{namespace}:");
        let rows = those(&|grain| {
            let of = grain.text("namespace").unwrap();
            of == namespace || of.starts_with(&inside)
        });
        found.insert(format!("namespace {namespace}"), rows);
    }
    said_in_words(&those, &mut found);
    let time = |ms| Some(Time::from_ms(ms));
    for (from, to) in [(None, None), (time(-100), time(900)), (time(0), None)] {
        let rows = those(&|grain| {
            let at = grain.created_at();
            from.is_none_or(|from| from <= at) && to.is_none_or(|to| at <= to)
        });
        found.insert(format!("created {from:?} {to:?}"), rows);
    }
    found.insert("active".into(), those(&|_| true));
    said_of_grains(entries, erased, &mut found);
    let ended = |row: u64| {
        let mut all = entries.0.iter();
        all.any(|said| matches!(said, Said::Superseded(old, _) if *old == row))
    };
    let current = grains
        .iter()
        .map(|(row, _)| *row)
        .filter(|row| !ended(*row));
    found.insert("current".into(), current.collect());
    found
}

/// What grains and other entries say of the first grains.
fn said_of_grains(entries: &Entries, erased: &[u64], found: &mut BTreeMap<String, Vec<u64>>) {
    let entries_that = |test: &dyn Fn(&Said) -> bool| -> Vec<u64> {
        let all = (0..).zip(&entries.0);
        let passing = all.filter(|(row, said)| !erased.contains(row) && test(said));
        passing.map(|(row, _)| row).collect()
    };
    for n in 0..5_u8 {
        let rows = entries_that(&|said| matches!(said, Said::Alias(_, name) if *name == n));
        found.insert(format!("foreign {n}"), rows);
    }
    let is = |row: u64, address: ContentAddress| entries.address(row) == address;
    for n in 0..40 {
        let address = grain(n).address();
        let rows = entries_that(&|said| match said {
            Said::Grain(grain) => grain.derived_from().any(|parent| parent == address),
            _ => false,
        });
        found.insert(format!("{:?} {n}", Family::DerivedFrom), rows);
        let rows =
            entries_that(&|said| matches!(said, Said::Superseded(_, new) if is(*new, address)));
        found.insert(format!("{:?} {n}", Family::Lineage), rows);
        let rows = entries_that(&|said| match said {
            Said::Superseded(old, new) => is(*old, address) || is(*new, address),
            Said::Alias(of, _) | Said::Mention(of) => is(*of, address),
            Said::Grain(_) => false,
        });
        found.insert(format!("{:?} {n}", Family::Mentions), rows);
        let rows = entries_that(&|said| matches!(said, Said::Superseded(old, _) if *old == n));
        found.insert(format!("status {n}"), rows);
    }
}

/// Finds the rows of grains that pass.
type GrainsThat<'a> = dyn Fn(&dyn Fn(&Grain) -> bool) -> Vec<u64> + 'a;

/// What stands in fields that hold a word.
fn said_in_words(grains_that: &GrainsThat<'_>, found: &mut BTreeMap<String, Vec<u64>>) {
    for n in 0..5_u8 {
        let tag = format!("t{n}");
        let has_tag = |grain: &Grain| {
            let tags = grain.field("structural_tags");
            tags.is_some_and(|tags| tags.texts().any(|text| text == tag))
        };
        found.insert(format!("tag {n}"), grains_that(&has_tag));
        let user = format!("u{n}");
        let rows = grains_that(&|grain| grain.text("user_id") == Some(&user));
        found.insert(format!("user {n}"), rows);
    }
}
