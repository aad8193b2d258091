//! Two stores through one tree, with random edits on all sides and steps that stop anywhere.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// Something that happens to one of the stores or to the tree; numbers choose among what there is.
#[derive(Debug, Clone)]
enum Event {
    Put(usize, usize),
    Replace(usize, usize),
    End(usize, usize),
    AddLine(usize),
    EditLine(usize),
    RemoveLine(usize),
    Sync(usize),
    /// A step of a store that fails at one of the files.
    Fail(usize, usize),
}

fn event() -> impl Strategy<Value = Event> {
    let which = 0..2_usize;
    let any = 0..64_usize;
    prop_oneof![
        2 => (which.clone(), any.clone()).prop_map(|(store, at)| Event::Put(store, at)),
        2 => (which.clone(), any.clone()).prop_map(|(store, at)| Event::Replace(store, at)),
        1 => (which.clone(), any.clone()).prop_map(|(store, at)| Event::End(store, at)),
        2 => any.clone().prop_map(Event::AddLine),
        2 => any.clone().prop_map(Event::EditLine),
        1 => any.clone().prop_map(Event::RemoveLine),
        4 => which.clone().prop_map(Event::Sync),
        1 => (which, any).prop_map(|(store, at)| Event::Fail(store, at)),
    ]
}

struct World {
    stores: [Store; 2],
    folder: TempDir,
    dialect: &'static str,
    count: usize,
    /// Every text that a store has acknowledged.
    acknowledged: BTreeSet<String>,
}

const SUBJECTS: [&str; 3] = ["Ana", "Ben", "Eve"];

impl World {
    fn fact(&mut self) -> String {
        self.count += 1;
        format!("fact-{}-", self.count)
    }

    fn beliefs(&self, store: usize) -> Vec<Grain> {
        let mut all = current(&self.stores[store]);
        all.retain(|it| it.text("object").is_some_and(|it| it.starts_with("fact-")));
        all.sort_by_key(|it| it.text("object").map(str::to_owned));
        all
    }

    /// The notes with lines, and the numbers of these.
    fn lines(&self) -> Vec<(String, usize)> {
        let mut found = Vec::new();
        for (path, text) in files(self.folder.path()) {
            let is_note = path.ends_with(".md")
                && !path.contains("ndex.md")
                && (self.dialect, path.as_str()) != ("claude-code", "MEMORY.md");
            let lines = text.lines().enumerate();
            let lines = lines
                .filter(|(_, line)| is_note && line.starts_with("- ") && line.contains("fact-"));
            found.extend(lines.map(|(at, _)| (path.clone(), at)));
        }
        found
    }

    fn change_line(&self, at: usize, change: impl Fn(&str) -> Option<String>) {
        let lines = self.lines();
        let Some((path, line)) = lines.get(at % lines.len().max(1)) else {
            return;
        };
        let text = fs::read_to_string(self.folder.path().join(path)).unwrap();
        let changed = text
            .lines()
            .enumerate()
            .filter_map(|(number, text)| match number == *line {
                true => change(text),
                false => Some(text.to_owned()),
            });
        let changed: String = changed.map(|line| line + "\n").collect();
        write(self.folder.path(), path, &changed);
    }

    fn note_acknowledged(&mut self) {
        let all = text(self.folder.path());
        let facts = all.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        let facts = facts.filter(|it| it.starts_with("fact-") && it.ends_with('-'));
        self.acknowledged.extend(facts.map(str::to_owned));
    }

    fn sync(&mut self, store: usize) -> u64 {
        self.note_acknowledged();
        let (_, written) =
            try_sync(&self.stores[store], self.folder.path(), Some(self.dialect)).unwrap();
        written.files
    }

    fn happen(&mut self, event: &Event) {
        match *event {
            Event::Put(store, at) => {
                let fact = self.fact();
                let draft = Draft::belief(SUBJECTS[at % 3], "note", fact.clone()).confidence(1.0);
                self.stores[store].put(draft).unwrap();
                self.acknowledged.insert(fact);
            }
            Event::Replace(store, at) => {
                let all = self.beliefs(store);
                let fact = self.fact();
                let Some(old) = all.get(at % all.len().max(1)) else {
                    return;
                };
                let new = match at % 2 {
                    0 => Draft::next_version(old).set("object", fact.clone()),
                    _ => Draft::belief(old.text("subject").unwrap(), "note", fact.clone())
                        .confidence(1.0),
                };
                let new = new.derived_from(old.address());
                self.stores[store]
                    .supersede(&old.address(), new, None)
                    .unwrap();
                self.acknowledged.insert(fact);
            }
            Event::End(store, at) => {
                let all = self.beliefs(store);
                if let Some(old) = all.get(at % all.len().max(1)) {
                    self.stores[store].contradict(&old.address(), None).unwrap();
                }
            }
            Event::AddLine(at) => {
                let fact = self.fact();
                let path = format!("mine-{}.md", at % 2);
                let before = fs::read_to_string(self.folder.path().join(&path));
                write(
                    self.folder.path(),
                    &path,
                    &format!("{}- {fact}\n", before.unwrap_or_default()),
                );
            }
            Event::EditLine(at) => {
                let fact = self.fact();
                self.change_line(at, |line| {
                    let from = line.find("fact-").unwrap();
                    Some(format!("{}{fact}", &line[..from]))
                });
            }
            Event::RemoveLine(at) => self.change_line(at, |_| None),
            Event::Sync(store) => {
                self.sync(store);
            }
            Event::Fail(store, at) => self.fail(store, at),
        }
    }

    /// A step that ends before one of the files: what would be written there cannot be.
    fn fail(&mut self, store: usize, at: usize) {
        self.note_acknowledged();
        let names = files(self.folder.path())
            .into_keys()
            .chain(SUBJECTS.map(|it| format!("subjects/{it}.md")));
        let names: Vec<String> = names.collect();
        let blocked = self
            .folder
            .path()
            .join(format!("{}.partial", names[at % names.len()]));
        fs::create_dir_all(&blocked).unwrap();
        drop(try_sync(
            &self.stores[store],
            self.folder.path(),
            Some(self.dialect),
        ));
        fs::remove_dir(&blocked).unwrap();
    }

    /// Whether any version of any store says a text.
    fn is_known(&self, fact: &str) -> bool {
        let filter = Filter::new().object(fact).with_superseded();
        self.stores
            .iter()
            .any(|store| !store.query(&filter, 1, None).unwrap().results.is_empty())
    }
}

/// Lets events happen, and holds both stores and the tree to say the same after three rounds.
fn end_equal(events: &[Event], dialect: &'static str) -> Result<(), TestCaseError> {
    let mut world = World {
        stores: [memory(), memory()],
        folder: tempfile::tempdir().unwrap(),
        dialect,
        count: 0,
        acknowledged: BTreeSet::new(),
    };
    for event in events {
        world.happen(event);
    }
    for _ in 0..3 {
        world.sync(0);
        world.sync(1);
    }
    prop_assert_eq!(world.sync(0), 0, "{:?}", files(world.folder.path()));
    prop_assert_eq!(world.sync(1), 0);
    for fact in &world.acknowledged {
        prop_assert!(world.is_known(fact), "{} is lost", fact);
    }
    let [one, two] = [said(&world.stores[0]), said(&world.stores[1])];
    prop_assert_eq!(&one, &two);
    let text = text(world.folder.path());
    for belief in &one {
        let fact = belief
            .split('"')
            .find(|it| it.starts_with("fact-"))
            .unwrap();
        prop_assert!(text.contains(fact), "{} is not in {}", fact, text);
    }
    Ok(())
}

/// Each has a grain of its own that says the line; neither writes its address over the other's.
#[test]
fn two_stores_that_read_one_edit_before_either_wrote_it_settle() {
    for dialect in ["okf", "obsidian", "openclaw", "claude-code"] {
        let events = [
            Event::Put(1, 0),
            Event::Sync(1),
            Event::AddLine(0),
            Event::EditLine(1),
            Event::AddLine(1),
            Event::Fail(1, 4),
        ];
        end_equal(&events, dialect).unwrap();
    }
}

/// Both sides of a conflict are in the tree, the step ends before it is noted, and one is removed.
#[test]
fn a_conflict_whose_step_was_interrupted_adds_no_line_in_each_step() {
    for dialect in ["okf", "obsidian", "openclaw", "claude-code"] {
        for removed in 0..2 {
            for failing in 24..32 {
                let events = [
                    Event::AddLine(0),
                    Event::Sync(1),
                    Event::EditLine(0),
                    Event::Replace(1, 0),
                    Event::Fail(1, failing),
                    Event::RemoveLine(removed),
                ];
                end_equal(&events, dialect).unwrap();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_came_in_is_lost_and_all_sides_end_equal(
        events in prop::collection::vec(event(), 1..24),
        dialect in prop::sample::select(vec!["okf", "obsidian", "openclaw", "claude-code"]),
    ) {
        end_equal(&events, dialect)?;
    }
}
