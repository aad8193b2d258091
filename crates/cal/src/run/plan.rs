//! The plan of a recall. Each condition becomes a condition of the index, the words of a search, or a
//! test of each grain that is read. None is dropped.

use grainstore::grain::Verification;
use grainstore::{ContentAddress, Filter, Time};

use super::test::Test;
use crate::check::no_time;
use crate::code::Code;
use crate::condition::{Condition, Op, Operand, Value};
use crate::error::Error;
use crate::place::At;
use crate::recall::{Direction, Recall, Stage, Thread, Within};
use crate::time::{self, Window};
use crate::vocabulary::{CATEGORIES, DOMAINS, Kind, is_search};

/// A recall as the store is asked for it.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) filter: Filter,
    /// The words of a search.
    pub(crate) words: Option<String>,
    pub(crate) tests: Vec<Test>,
    /// Whether the parts of a score are asked for.
    pub(crate) explains: bool,
    /// Whether no grain can pass.
    pub(crate) is_empty: bool,
    /// Whether the grains of one conversation keep the order in which they were said.
    pub(crate) is_thread: bool,
    /// The stages, with those that a shortcut stands for.
    pub(crate) stages: Vec<Stage>,
    /// The text of ABOUT, which is searched for where it is no subject.
    pub(crate) about: Option<String>,
    /// Each condition, and the use that is made of it.
    pub(crate) steps: Vec<Step>,
    named: [bool; 3],
    window: Option<Window>,
}

/// A condition, and the use that is made of it.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) condition: String,
    pub(crate) way: Way,
}

/// The use that is made of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// The index answers it.
    Index,
    /// The index narrows it, and each grain is tested.
    IndexThenTest,
    /// The words of a search.
    Search,
    /// Each grain is tested.
    Test,
    /// Another recall is answered first.
    Subquery,
    /// Nothing can meet it.
    Nothing,
}

impl Way {
    /// Returns the word for it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::IndexThenTest => "index, then test",
            Self::Search => "search",
            Self::Test => "test",
            Self::Subquery => "subquery",
            Self::Nothing => "nothing",
        }
    }
}

/// The moment and the user of a statement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asker<'a> {
    pub(crate) now: Time,
    pub(crate) user: Option<&'a str>,
}

impl Plan {
    /// Plans a recall whose parameters are bound; a subquery or a LET in it stays as it is.
    pub(crate) fn of(recall: &Recall, asker: Asker<'_>) -> Result<Self, Error> {
        let mut plan = Self {
            filter: Filter::new().up_to_bytes(PAGE_BYTES),
            ..Self::default()
        };
        if let Some(kind) = &recall.grain_type {
            plan.filter = plan.filter.of_type(kind.it.type_());
            plan.step(kind.it.plural(), Way::Index);
        }
        if recall.my {
            let user = asker.user.ok_or_else(|| {
                let error = Error::new(Code::UnboundParameter, recall.at, "MY needs a user");
                error.suggest("ask as a user, or write WHERE user_id = \"..\"")
            })?;
            plan.filter = plan.filter.user(user);
            plan.step("MY", Way::Index);
        }
        plan.within(recall);
        if let Some(about) = &recall.about {
            let text = text_of(&about.it, about.at)?;
            plan.about = Some(text.to_owned());
            plan.is("subject", text);
            plan.step("ABOUT", Way::Index);
        }
        if let Some(like) = &recall.like {
            plan.search(text_of(&like.it, like.at)?, "LIKE");
        }
        plan.times(recall, asker.now)?;
        if let Some(Thread::Session(session)) = recall.thread.as_ref().map(|thread| &thread.it) {
            plan.filter = plan.filter.session(text_of(session, recall.at)?);
            plan.is_thread = true;
            plan.step("THREAD", Way::Index);
        } else if recall.thread.is_some() {
            plan.step("THREAD FROM", Way::Subquery);
        }
        if recall.contradictions {
            plan.test("contradicted", Op::Eq, &[Value::Bool(true)], asker.now);
            plan.step("CONTRADICTIONS", Way::Test);
        }
        for condition in &recall.conditions {
            plan.condition(condition, asker.now)?;
        }
        let has = |name: &str| recall.with.iter().any(|opt| opt.it.name == name);
        plan.explains = has("score_breakdown") || has("explanation");
        if has("superseded") {
            plan.filter = plan.filter.with_superseded();
        }
        if let Some(recent) = &recall.recent {
            let by_time = Stage::OrderBy {
                field: "time".to_owned().into(),
                dir: Direction::Desc,
            };
            let count = recent.it.clone();
            plan.stages = vec![by_time, Stage::Limit { count }];
        }
        let stages = recall.pipeline.iter().map(|stage| stage.it.clone());
        plan.stages.extend(stages);
        Ok(plan)
    }

    fn step(&mut self, condition: impl Into<String>, way: Way) {
        let condition = condition.into();
        self.steps.push(Step { condition, way });
    }

    fn test(&mut self, field: &str, op: Op, values: &[Value], now: Time) {
        self.tests.push(Test::new(field, op, values, now));
    }

    fn within(&mut self, recall: &Recall) {
        match recall.within.as_ref().map(|within| &within.it) {
            Some(Within::Namespace(value)) => {
                let way = self.namespace(value);
                self.step("IN", way);
            }
            // Ruling C25: those below it too.
            Some(Within::Scope(value)) => {
                let text = value.as_text().unwrap_or_default();
                let text = text.trim_end_matches(':');
                match text.is_empty() || text.ends_with('*') {
                    true => self.is_empty = true,
                    false => self.filter = std::mem::take(&mut self.filter).namespace(text),
                }
                self.step("IN SCOPE", Way::Index);
            }
            None => {}
        }
    }

    /// Keeps the grains of one namespace, without those below it.
    fn namespace(&mut self, value: &Value) -> Way {
        let text = value.as_text().unwrap_or_default();
        let values = std::slice::from_ref(value);
        self.test("namespace", Op::Eq, values, Time::from_ms(0));
        // The index knows whole names only.
        if text.is_empty() || text.ends_with([':', '*']) {
            return Way::Test;
        }
        self.filter = std::mem::take(&mut self.filter).namespace(text);
        Way::IndexThenTest
    }

    fn times(&mut self, recall: &Recall, now: Time) -> Result<(), Error> {
        if let Some(since) = &recall.since {
            let window = time::since(&since.it, now).ok_or_else(|| no_time(since.at))?;
            self.window(window);
            self.step("SINCE", Way::Index);
        }
        if let Some(between) = &recall.between {
            let window = time::between(&between.it, now).ok_or_else(|| no_time(between.at))?;
            self.window(window);
            self.step("BETWEEN", Way::Index);
        }
        Ok(())
    }

    /// Keeps the times that are within this window too.
    fn window(&mut self, window: Window) {
        let before = self.window.unwrap_or(window);
        let (from, to) = (window.from.max(before.from), window.to.min(before.to));
        self.window = Some(Window { from, to });
        // The filter refuses a range that ends before it begins.
        match from > to {
            true => self.is_empty = true,
            false => {
                let filter = std::mem::take(&mut self.filter);
                self.filter = filter.since(Time::from_ms(from)).until(Time::from_ms(to));
            }
        }
    }

    /// Searches for words; the checker refuses a second text.
    fn search(&mut self, text: &str, what: &str) {
        self.words = Some(text.to_owned());
        self.step(what, Way::Search);
    }

    /// Asks for a part of the statement; whether the index takes it.
    fn is(&mut self, field: &str, text: &str) -> bool {
        let part = ["subject", "relation", "object"]
            .iter()
            .position(|name| *name == field);
        let Some(named) = part.and_then(|part| self.named.get_mut(part)) else {
            return false;
        };
        // The filter has one place for each.
        if std::mem::replace(named, true) {
            return false;
        }
        let filter = std::mem::take(&mut self.filter);
        self.filter = match field {
            "subject" => filter.subject(text),
            "relation" => filter.relation(text),
            _ => filter.object(text),
        };
        true
    }

    fn condition(&mut self, one: &Condition, now: Time) -> Result<(), Error> {
        let value = match &one.value {
            Operand::Subquery(_) => {
                self.step(one.to_string(), Way::Subquery);
                return Ok(());
            }
            Operand::Value(value) => value,
        };
        let values = match value {
            Value::Array(values) => values.as_slice(),
            value => std::slice::from_ref(value),
        };
        // The name of a LET, before it is answered.
        if values
            .iter()
            .any(|value| matches!(value, Value::Param { .. }))
        {
            self.step(one.to_string(), Way::Subquery);
            return Ok(());
        }
        if is_search(&one.field.it) {
            let text = text_of(value, one.at)?;
            self.search(text, &one.to_string());
            return Ok(());
        }
        let way = match (one.op, values) {
            (Op::Is, [Value::Text(category)]) => {
                let named = CATEGORIES.iter().find(|(name, _)| name == category);
                let relations = named.map(|(_, relations)| *relations).unwrap_or_default();
                let relations = relations.iter().map(|it| Value::Text((*it).to_owned()));
                let relations: Vec<Value> = relations.collect();
                self.test("relation", Op::In, &relations, now);
                Way::Test
            }
            (Op::In, []) => Way::Nothing,
            (Op::In, [only]) => self.one(&one.field.it, Op::Eq, only, one.at, now)?,
            (Op::Between, both) if one.field.it == "time" => {
                let window = time::between(both, now).ok_or_else(|| no_time(one.at))?;
                self.window(window);
                Way::Index
            }
            (Op::Include | Op::Exclude, tags) if one.field.it == "tags" => {
                let mut filter = std::mem::take(&mut self.filter);
                for tag in tags.iter().filter_map(Value::as_text) {
                    filter = match one.op {
                        Op::Include => filter.tag(tag),
                        _ => filter.without_tag(tag),
                    };
                }
                self.filter = filter;
                Way::Index
            }
            (Op::In | Op::Between | Op::Include | Op::Exclude, values) => {
                self.test(&one.field.it, one.op, values, now);
                Way::Test
            }
            (op, _) => self.one(&one.field.it, op, value, one.at, now)?,
        };
        self.is_empty |= way == Way::Nothing;
        self.step(one.to_string(), way);
        Ok(())
    }

    /// Takes a condition on one value.
    fn one(&mut self, field: &str, op: Op, value: &Value, at: At, now: Time) -> Result<Way, Error> {
        if let Some((prefix, _)) = field.split_once(':')
            && !DOMAINS.contains(&prefix)
        {
            // Ruling A7: a warning says so.
            return Ok(Way::Nothing);
        }
        if matches!(field, "confidence" | "importance") && op != Op::Ne {
            return Ok(self.number(field, op, value, now));
        }
        match (field, op) {
            ("namespace", Op::Eq) => return Ok(self.namespace(value)),
            ("time", Op::Eq) => {
                let window = time::within(value, now).ok_or_else(|| no_time(at))?;
                self.window(window);
                return Ok(Way::Index);
            }
            ("hash", Op::Eq) => return Ok(self.address(value)),
            _ => {}
        }
        match value.as_text().filter(|_| op == Op::Eq) {
            Some(text) if self.text(field, text) => Ok(Way::Index),
            _ => {
                self.test(field, op, std::slice::from_ref(value), now);
                Ok(Way::Test)
            }
        }
    }

    /// Asks the index for a text; whether it can answer.
    fn text(&mut self, field: &str, text: &str) -> bool {
        let filter = std::mem::take(&mut self.filter);
        let asked = match field {
            "user_id" => filter.user(text),
            "session_id" => filter.session(text),
            "source_type" => filter.source_type(text),
            "epistemic_status" => filter.epistemic_status(text),
            "recall_priority" => filter.recall_priority(text),
            "observer_type" => filter.observer_type(text),
            "observer_id" => filter.observer(text),
            "grantor_did" => filter.subject_did(text),
            "type" => match Kind::named(text) {
                Some(kind) => filter.of_type(kind.type_()),
                None => filter.among([]),
            },
            "verification_status" => match Verification::named(text) {
                Some(status) => filter.verification(status),
                None => filter.among([]),
            },
            _ => {
                self.filter = filter;
                return self.is(field, text);
            }
        };
        self.filter = asked;
        true
    }

    fn number(&mut self, field: &str, op: Op, value: &Value, now: Time) -> Way {
        let Some(n) = value.as_number() else {
            return Way::Nothing;
        };
        let (from, to) = match op {
            Op::Ge | Op::Gt => (Some(n), None),
            Op::Le | Op::Lt => (None, Some(n)),
            _ => (Some(n), Some(n)),
        };
        let filter = std::mem::take(&mut self.filter);
        self.filter = match field {
            "confidence" => filter.confidence(from, to),
            _ => filter.importance(from, to),
        };
        // The ranges of the index include their ends.
        if matches!(op, Op::Gt | Op::Lt) {
            self.test(field, op, std::slice::from_ref(value), now);
            return Way::IndexThenTest;
        }
        Way::Index
    }

    /// Keeps one grain; of a shortened address it is known only when the store is asked.
    fn address(&mut self, value: &Value) -> Way {
        let Value::Hash { digits } = value else {
            return Way::Nothing;
        };
        match digits.parse::<ContentAddress>() {
            Ok(address) => {
                self.filter = std::mem::take(&mut self.filter).among([address]);
                Way::Index
            }
            Err(_) => Way::Subquery,
        }
    }
}

fn text_of(value: &Value, at: At) -> Result<&str, Error> {
    let text = value.as_text();
    text.ok_or_else(|| Error::new(Code::Incompatible, at, "a text is needed"))
}

/// The grains of a page have so many bytes.
const PAGE_BYTES: usize = 8 << 20;
