//! RECALL: its subqueries, its plan, its rows, and its stages from left to right.

use grainstore::ContentAddress;
use grainstore::grain::Status;
use grainstore::query::Found;

use super::Run;
use super::answer::{Adds, Body, Grains};
use super::facade::Facade;
use super::failure::Failure;
use super::fetch::{Fetch, Rows, too_late};
use super::plan::{Asker, Plan};
use super::stages::{LIMIT_DEFAULT, Need, extracted, limits, staged};
use crate::code::Code;
use crate::condition::{Extract, Op, Operand, Value};
use crate::error::Error;
use crate::format::{self, Item, Level, Style};
use crate::place::{At, Placed};
use crate::recall::{Format, Opt, Recall, Stage, Thread};

impl<F: Facade> Run<'_, F> {
    pub(super) fn asker(&self) -> Asker<'_> {
        Asker {
            now: self.options.now,
            user: self.user.as_deref(),
        }
    }

    /// Answers a recall.
    pub(super) fn recall(&mut self, recall: &Recall) -> Result<Body, Failure> {
        let mut body = self.unformatted(recall)?;
        let Some(format) = &recall.format else {
            return Ok(body);
        };
        if let Body::Grains(grains) = &mut body {
            let text = self.formatted(grains, format.it, level(&recall.with));
            grains.formatted = Some((format.it, text));
        } else {
            self.warn("AS", format.at);
        }
        Ok(body)
    }

    /// Answers a recall, apart from AS.
    pub(super) fn unformatted(&mut self, recall: &Recall) -> Result<Body, Failure> {
        self.warn_of_options(recall);
        let recall = self.resolved(recall)?;
        let plan = Plan::of(&recall, self.asker())?;
        let need = Need::of(&plan);
        if need.only_counts
            && let Some(count) = self.counted(&plan)?
        {
            return Ok(Body::Count(count));
        }
        let rows = self.rows(&recall, &plan, &need)?;
        let mut body = Body::Grains(Grains {
            found: rows.found,
            total: rows.total,
            total_is_lower_bound: rows.total_is_lower_bound,
            adds: adds(&recall),
            ..Grains::default()
        });
        for stage in &plan.stages {
            body = staged(body, stage);
        }
        // Ruling A1: the default is for grains that are returned, not for what is made of them.
        match &mut body {
            Body::Grains(grains) if !plan.stages.iter().any(limits) => {
                grains.found.truncate(LIMIT_DEFAULT);
            }
            _ => {}
        }
        Ok(body)
    }

    /// Returns all grains of a recall, as an operand, a source or a LET has them.
    pub(super) fn all(&mut self, recall: &Recall) -> Result<Vec<Found>, Failure> {
        self.warn_of_options(recall);
        let recall = self.resolved(recall)?;
        let plan = Plan::of(&recall, self.asker())?;
        let need = Need {
            len: Need::of(&plan)
                .len
                .filter(|_| plan.stages.iter().any(limits)),
            ..Need::of(&plan)
        };
        let rows = self.rows(&recall, &plan, &need)?;
        let mut body = Body::Grains(Grains {
            found: rows.found,
            ..Grains::default()
        });
        for stage in &plan.stages {
            body = staged(body, stage);
        }
        match body {
            Body::Grains(grains) => Ok(grains.found),
            _ => Ok(Vec::new()),
        }
    }

    fn formatted(&mut self, grains: &Grains, format: Format, level: Level) -> String {
        let project = grains.project.as_ref();
        let style = Style {
            now: self.options.now,
            level,
            project: project.map(|[content, attr]| (content.as_slice(), attr.as_slice())),
        };
        let items: Vec<Item> = grains
            .found
            .iter()
            .filter_map(|found| format::item(found, style))
            .collect();
        let left = grains.found.len() - items.len();
        if left > 0 {
            let message = format!("{left} grains have no text, and are left out of the format");
            let warning = Error::new(Code::NoText, At::default(), message);
            self.warnings.push(warning);
        }
        let groups = match format {
            Format::Markdown | Format::Toon => format::grouped(items),
            _ => vec![items],
        };
        format::written(format, &groups, None)
    }

    fn rows(&mut self, recall: &Recall, plan: &Plan, need: &Need) -> Result<Rows, Failure> {
        let rows = self.fetched(plan, need)?;
        let Some(about) = plan.about.as_ref().filter(|_| rows.found.is_empty()) else {
            return Ok(rows);
        };
        // CAL 1.6: what is no subject is searched for.
        let again = Recall {
            about: None,
            ..recall.clone()
        };
        let mut again = Plan::of(&again, self.asker())?;
        again.words = Some(match again.words {
            Some(words) => format!("{about} {words}"),
            None => about.clone(),
        });
        self.fetched(&again, need)
    }

    fn fetched(&mut self, plan: &Plan, need: &Need) -> Result<Rows, Failure> {
        let fetch = Fetch {
            facade: self.facade,
            plan,
            order: &need.order,
            len: need.len,
            deadline: self.deadline,
            bytes_max: self.options.bytes_max,
        };
        let mut rows = fetch.rows()?;
        self.scanned = self.scanned.saturating_add(rows.scanned);
        for found in &mut rows.found {
            self.hide_successor(&mut found.status)?;
        }
        Ok(rows)
    }

    /// Leaves out what replaced a grain, where the handle does not see it.
    pub(super) fn hide_successor(&self, status: &mut Status) -> Result<(), Failure> {
        if let Some(by) = status.superseded_by {
            let seen = self.facade.exists(&by.to_string(), self.deadline)?;
            status.superseded_by = seen.and_then(|seen| seen.into_iter().next());
        }
        Ok(())
    }

    /// Counts by the index alone, where that is enough.
    fn counted(&self, plan: &Plan) -> Result<Option<u64>, Failure> {
        let needs_grains = !plan.tests.is_empty() || plan.words.is_some() || plan.about.is_some();
        match (plan.is_empty, needs_grains) {
            (true, _) => Ok(Some(0)),
            (false, true) => Ok(None),
            (false, false) => Ok(self.facade.count(&plan.filter)?),
        }
    }

    /// Returns a recall with the answers of its subqueries, its LETs and its shortened addresses in
    /// their places.
    fn resolved(&mut self, recall: &Recall) -> Result<Recall, Failure> {
        let mut recall = recall.clone();
        for one in &mut recall.conditions {
            let is_hash = one.field.it == "hash";
            match &mut one.value {
                Operand::Subquery(sub) => {
                    let found = self.all(&sub.recall)?;
                    one.value = Operand::Value(Value::Array(extracted(&found, sub.extract)));
                }
                Operand::Value(Value::Array(values)) if one.op == Op::In => {
                    let mut all = Vec::new();
                    for value in std::mem::take(values) {
                        match value {
                            Value::Param { name, at } => all.extend(self.named(&name, at)?),
                            value => all.push(value),
                        }
                    }
                    *values = all;
                }
                Operand::Value(Value::Hash { digits }) if is_hash && digits.len() < ADDRESS_LEN => {
                    // No grain has the address of nothing but zeros.
                    let found = self.address(digits, one.at)?;
                    let found = found.unwrap_or(ContentAddress::new([0; 32]));
                    *digits = found.to_string();
                }
                Operand::Value(_) => {}
            }
        }
        if let Some(thread) = &mut recall.thread
            && let Thread::From(Value::Hash { digits }) = &thread.it
        {
            thread.it = Thread::Session(Value::Text(self.session(digits, thread.at)?));
        }
        Ok(recall)
    }

    /// Returns the values of a LET.
    fn named(&self, name: &str, at: At) -> Result<Vec<Value>, Failure> {
        let Some(named) = self.lets.get(name) else {
            let message = format!("${name} has no value");
            return Err(Error::new(Code::UnboundParameter, at, message).into());
        };
        let extract = named.extract.unwrap_or(Extract::Hashes);
        Ok(extracted(&named.found, extract))
    }

    /// Returns the address that begins with some digits; `None` if no grain has it.
    pub(super) fn address(&self, digits: &str, at: At) -> Result<Option<ContentAddress>, Failure> {
        let found = self.facade.exists(digits, self.deadline)?;
        let found = found.ok_or_else(too_late)?;
        match found.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(*one)),
            // Ruling C18.
            _ => {
                let message = format!("several addresses begin with {digits}");
                let error = Error::new(Code::BadHash, at, message);
                Err(error.suggest("write more of its digits").into())
            }
        }
    }

    /// Returns the session of the message with an address.
    fn session(&self, digits: &str, at: At) -> Result<String, Failure> {
        let address = self.address(digits, at)?;
        let address = address.ok_or_else(|| not_found(at))?;
        let (versions, _) = self.facade.get_history(&address, self.options.bytes_max)?;
        let mut messages = versions.iter().map(|version| &version.grain);
        let message = messages.find(|grain| grain.address() == address);
        let session = message.and_then(|grain| grain.text("session_id"));
        Ok(session.map(str::to_owned).ok_or_else(|| {
            let message = "the message belongs to no session";
            Error::new(Code::TargetNotFound, at, message)
        })?)
    }

    /// Warns of the options that change nothing (ruling C26).
    fn warn_of_options(&mut self, recall: &Recall) {
        let is_formatted = recall.format.is_some();
        for opt in &recall.with {
            let discloses = opt.it.name == "progressive_disclosure" && is_formatted;
            if WITHOUT_EFFECT.contains(&opt.it.name.as_str()) && !discloses {
                self.warn(&opt.it.name, opt.at);
            }
        }
        for stage in recall.pipeline.iter().filter(|_| !is_formatted) {
            if matches!(stage.it, Stage::Project { .. }) {
                self.warn("PROJECT without AS", stage.at);
            }
        }
    }

    /// Warns of a part that changes nothing.
    pub(super) fn warn(&mut self, what: &str, at: At) {
        let message = format!("{what} has no effect here");
        let warning = Error::new(Code::UnknownExtension, at, message);
        self.warnings.push(warning);
    }
}

/// Returns the level that WITH asks for.
pub(super) fn level(with: &[Placed<Opt>]) -> Level {
    let opt = with
        .iter()
        .find(|opt| opt.it.name == "progressive_disclosure");
    let word = opt.and_then(|opt| opt.it.args.first()?.word.as_deref());
    word.map_or(Level::Standard, Level::named)
}

fn adds(recall: &Recall) -> Adds {
    let has = |name: &str| recall.with.iter().any(|opt| opt.it.name == name);
    Adds {
        explanation: has("score_breakdown") || has("explanation"),
        provenance: has("provenance"),
        contradiction: has("contradiction_detection") || recall.contradictions,
    }
}

pub(super) fn not_found(at: At) -> Error {
    Error::new(Code::TargetNotFound, at, "no grain has this address")
}

/// The options that change nothing here.
const WITHOUT_EFFECT: &[&str] = &[
    "summarize",
    "progressive_disclosure",
    "diversity",
    "consistency",
    "dedup",
    "locale",
    "cache",
];

const ADDRESS_LEN: usize = 64;
