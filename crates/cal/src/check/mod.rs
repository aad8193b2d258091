//! The meaning of a statement: that its fields exist and fit, its clauses go together, and its
//! counts are within their limits.

mod change;
mod conditions;
mod stages;

use crate::assemble::{Assemble, Preset, Shape};
use crate::code::Code;
use crate::condition::{Op, Operand, Value};
use crate::error::Error;
use crate::place::At;
use crate::recall::{Opt, Recall, Stage, Thread};
use crate::statement::{History, Query, Statement};
use crate::template::{DefineTemplate, Template, parent};
use crate::time;
use crate::vocabulary::{Kind, is_search};

impl Query {
    /// Checks the meaning of the statement; returns the warnings. Any parameter
    /// passes: check the [bound](Self::bound) statement again.
    ///
    /// ```
    /// use grainstore_cal::{Code, parse};
    ///
    /// let query = parse("RECALL beliefs WHERE colour = \"red\"")?;
    /// assert_eq!(query.checked().unwrap_err().code, Code::UnknownField);
    /// # Ok::<(), grainstore_cal::Error>(())
    /// ```
    ///
    /// # Errors
    /// Codes of meaning, such as CAL-E004, E010 or E060, each with its place.
    pub fn checked(&self) -> Result<Vec<Error>, Error> {
        let mut check = Check::default();
        if self.lets.len() > LETS_MAX {
            return Err(too_many("LETs", LETS_MAX, At::default()));
        }
        for (n, one) in self.lets.iter().enumerate() {
            if self
                .lets
                .iter()
                .take(n)
                .any(|other| other.name.it == one.name.it)
            {
                let message = format!("${} is bound twice", one.name.it);
                return Err(Error::new(Code::DuplicateParameter, one.name.at, message));
            }
            check.recall(&one.recall)?;
            check.extract(&one.recall, one.extract, one.name.at)?;
            check.lets.push(one.name.it.clone());
        }
        check.statement(&self.statement)?;
        Ok(check.warnings)
    }
}

#[derive(Default)]
struct Check {
    warnings: Vec<Error>,
    /// The names of the LETs.
    lets: Vec<String>,
}

impl Check {
    fn statement(&mut self, statement: &Statement) -> Result<(), Error> {
        match statement {
            Statement::Recall(recall) => self.recall(recall),
            Statement::Assemble(assemble) => self.assemble(assemble),
            Statement::SetOp(it) => {
                if leaves(statement) > OPERANDS_MAX {
                    let message = format!("set operations have at most {OPERANDS_MAX} operands");
                    return Err(Error::new(Code::TooManyOperands, it.at, message));
                }
                self.statement(&it.left)?;
                self.statement(&it.right)
            }
            Statement::Exists(_) | Statement::Describe(_) => Ok(()),
            Statement::History(history) => self.history(history),
            Statement::Explain(explain) => self.statement(&explain.of),
            Statement::Batch(batch) => {
                if batch.entries.len() > BATCH_MAX {
                    return Err(too_many("statements of a BATCH", BATCH_MAX, batch.at));
                }
                for (n, entry) in batch.entries.iter().enumerate() {
                    let mut before = batch.entries.iter().take(n);
                    if before.any(|other| other.label.it == entry.label.it) {
                        let message = format!("the label {} stands there twice", entry.label.it);
                        return Err(Error::new(Code::Unexpected, entry.label.at, message));
                    }
                    self.statement(&entry.entry)?;
                }
                Ok(())
            }
            Statement::Coalesce(it) => {
                if it.branches.len() < 2 {
                    let message = "COALESCE has two recalls or more";
                    return Err(Error::new(Code::Unexpected, it.at, message));
                }
                if it.branches.len() > BRANCHES_MAX {
                    return Err(too_many("recalls of a COALESCE", BRANCHES_MAX, it.at));
                }
                it.branches
                    .iter()
                    .try_for_each(|branch| self.recall(branch))
            }
            Statement::Add(add) => change::add(add),
            Statement::Supersede(it) => change::supersede(it),
            Statement::Revert(it) => change::reason(it.reason.as_ref(), it.target.at),
            Statement::DefineTemplate(it) => define(it),
        }
    }

    fn recall(&mut self, recall: &Recall) -> Result<(), Error> {
        exclusive(recall)?;
        times(recall)?;
        if recall.thread.is_some() {
            // THREAD stands for a field of events.
            conditions::of_type("session_id", Kind::Event, recall, recall.at)?;
        }
        for condition in &recall.conditions {
            self.condition(condition, recall)?;
        }
        stages::check(recall)?;
        recall
            .with
            .iter()
            .try_for_each(|opt| self.option(&opt.it, opt.at))
    }

    fn option(&mut self, opt: &Opt, at: At) -> Result<(), Error> {
        if opt.name.starts_with("x_") {
            let message = format!("the option {} is not supported and has no effect", opt.name);
            self.warnings
                .push(Error::new(Code::UnknownExtension, at, message));
            return Ok(());
        }
        let Some((_, args_max)) = OPTIONS.iter().find(|(name, _)| *name == opt.name) else {
            let message = format!("{} is no option", opt.name);
            let names = OPTIONS.iter().map(|(name, _)| *name);
            return Err(Error::new(Code::Unexpected, at, message).did_you_mean(&opt.name, names));
        };
        if opt.args.len() > *args_max {
            let message = format!("{} takes at most {args_max} arguments", opt.name);
            return Err(Error::new(Code::Unexpected, at, message));
        }
        let word = opt.args.first().and_then(|arg| arg.word.as_deref());
        let known: &[&str] = match opt.name.as_str() {
            "progressive_disclosure" => &["summary", "standard", "headlines", "full"],
            "diversity" => &["mmr", "threshold"],
            "consistency" => &["eventual", "bounded", "linearizable"],
            _ => return Ok(()),
        };
        match word {
            Some(word) if !known.contains(&word) => {
                let error = Error::new(Code::Unexpected, at, format!("{word} is no argument"));
                Err(error.did_you_mean(word, known.iter().copied()))
            }
            _ => Ok(()),
        }
    }

    fn assemble(&mut self, assemble: &Assemble) -> Result<(), Error> {
        let at = assemble.at;
        if assemble.sources.len() > SOURCES_MAX {
            return Err(too_many("sources", SOURCES_MAX, at));
        }
        if let Some(name) = assemble
            .name
            .as_ref()
            .filter(|name| name.it.len() > NAME_MAX)
        {
            return Err(too_many("characters of a name", NAME_MAX, name.at));
        }
        let intent = assemble.intent.as_ref();
        let long = intent.filter(|it| it.it.as_text().map_or(0, |it| it.chars().count()) > FOR_MAX);
        if let Some(intent) = long {
            return Err(too_many("characters of FOR", FOR_MAX, intent.at));
        }
        let mut labels = Vec::new();
        for (n, source) in assemble.sources.iter().enumerate() {
            let label = source.label.as_ref();
            let label = label.map_or_else(|| format!("s{}", n + 1), |label| label.it.clone());
            if labels.contains(&label) {
                let message = format!("the label {label} stands there twice");
                return Err(Error::new(Code::Unexpected, at, message));
            }
            labels.push(label);
            match (&source.recall, &source.named) {
                (Some(recall), None) => self.recall(recall)?,
                (None, Some(name)) if self.lets.contains(&name.it) => {}
                (_, Some(name)) => {
                    let message = format!("no LET has the name ${}", name.it);
                    return Err(Error::new(Code::UnboundParameter, name.at, message));
                }
                (None, None) => return Err(Error::new(Code::Unexpected, at, "an empty source")),
            }
        }
        for (n, label) in assemble.priority.iter().enumerate() {
            let is_twice = assemble
                .priority
                .iter()
                .take(n)
                .any(|other| other.it == label.it);
            if is_twice || !labels.contains(&label.it) {
                let message = format!("PRIORITY names {} twice, or no source has it", label.it);
                let error = Error::new(Code::Unexpected, label.at, message);
                let labels = labels.iter().map(String::as_str);
                return Err(error.did_you_mean(&label.it, labels));
            }
        }
        budget(assemble)?;
        if let Some(format) = &assemble.format
            && let Shape::Inline(sections) = &format.it
        {
            Template::of(sections, Preset::Readable, format.at)?;
        }
        for option in assemble.stream.iter().flat_map(|stream| &stream.it) {
            if let Some(Value::Int(n)) = option.value
                && !(20..=1_000).contains(&n)
            {
                return Err(Error::new(Code::ChunkSize, at, "chunk_size is 20 to 1000"));
            }
        }
        assemble
            .with
            .iter()
            .try_for_each(|opt| self.option(&opt.it, opt.at))
    }

    fn history(&mut self, history: &History) -> Result<(), Error> {
        if let Some(as_of) = history.as_of.as_ref().filter(|it| !is_open(&it.it)) {
            is_time(&as_of.it, as_of.at)?;
        }
        if history.hash.is_some() {
            return Ok(());
        }
        let of = |name: &str| {
            let mut all = history.conditions.iter();
            all.any(|one| one.field.it == name && one.op == Op::Eq)
        };
        if history.conditions.len() != 2 || !of("subject") || !of("relation") {
            let message = "HISTORY asks for subject = .. AND relation = ..";
            return Err(Error::new(Code::Unexpected, history.at, message));
        }
        let recall = Recall::default();
        for condition in &history.conditions {
            self.condition(condition, &recall)?;
        }
        Ok(())
    }
}

fn define(it: &DefineTemplate) -> Result<(), Error> {
    if it.name.it.len() > NAME_MAX {
        return Err(too_many("characters of a name", NAME_MAX, it.name.at));
    }
    // The name of a template in place of a preset is known to the host alone.
    let parent = parent(it.extends.as_ref())?.unwrap_or(Preset::Readable);
    Template::of(&it.sections, parent, it.name.at).map(drop)
}

/// Checks the times of the clauses.
fn times(recall: &Recall) -> Result<(), Error> {
    if let Some(since) = &recall.since {
        is_time(&since.it, since.at)?;
    }
    let between = recall.between.iter();
    let mut values = between.flat_map(|both| both.it.iter().map(|value| (value, both.at)));
    values.try_for_each(|(value, at)| is_time(value, at))
}

fn is_time(value: &Value, at: At) -> Result<(), Error> {
    match is_open(value) || time::within(value, time::ANY_DAY).is_some() {
        true => Ok(()),
        false => Err(no_time(at)),
    }
}

/// Returns the error of a value that is no time.
pub(crate) fn no_time(at: At) -> Error {
    let error = Error::new(Code::Incompatible, at, "this is no time");
    let suggestion = format!("such as {}", time::EXAMPLES.join(", "));
    error
        .suggest(suggestion)
        .expecting(time::EXAMPLES.iter().copied())
}

fn leaves(statement: &Statement) -> usize {
    match statement {
        Statement::SetOp(it) => leaves(&it.left) + leaves(&it.right),
        _ => 1,
    }
}

fn budget(assemble: &Assemble) -> Result<(), Error> {
    use crate::assemble::Unit;
    let Some(budget) = &assemble.budget else {
        return Ok(());
    };
    let max = match budget.it.unit {
        Unit::Tokens => 16_000,
        Unit::Grains => 200,
    };
    match budget.it.amount {
        Value::Param { .. } | Value::Int(1..) => {}
        _ => {
            return Err(Error::new(
                Code::BadNumber,
                budget.at,
                "a BUDGET is 1 or more",
            ));
        }
    }
    match budget.it.amount {
        Value::Int(n) if n > max => {
            let message = format!("a BUDGET is at most {max}");
            Err(Error::new(Code::BudgetExceeded, budget.at, message))
        }
        _ => Ok(()),
    }
}

/// Refuses clauses that exclude each other.
fn exclusive(recall: &Recall) -> Result<(), Error> {
    let stage = |is_it: fn(&Stage) -> bool| recall.pipeline.iter().any(|stage| is_it(&stage.it));
    let condition = |name: &str| recall.conditions.iter().any(|one| one.field.it == name);
    let recent = recall.recent.is_some();
    let sorts = stage(|stage| matches!(stage, Stage::OrderBy { .. }));
    let (since, between) = (recall.since.is_some(), recall.between.is_some());
    let thread = recall.thread.is_some();
    let pairs = [
        (
            recall.about.is_some() && recall.like.is_some(),
            "ABOUT",
            "LIKE",
        ),
        (
            recent && stage(|it| matches!(it, Stage::Limit { .. })),
            "RECENT",
            "LIMIT",
        ),
        (recent && sorts, "RECENT", "ORDER BY"),
        (since && condition("time"), "SINCE", "WHERE time"),
        (since && between, "SINCE", "BETWEEN"),
        (between && condition("time"), "BETWEEN", "WHERE time"),
        (recall.my && condition("user_id"), "MY", "WHERE user_id"),
        (thread && sorts, "THREAD", "ORDER BY"),
        (thread && recent, "THREAD", "RECENT"),
        (
            thread && condition("session_id"),
            "THREAD",
            "WHERE session_id",
        ),
    ];
    let searches = recall
        .conditions
        .iter()
        .filter(|one| is_search(&one.field.it));
    if searches.count() + usize::from(recall.like.is_some()) > 1 {
        let error = Error::new(
            Code::NotApplicable,
            recall.at,
            "a recall searches for one text",
        );
        return Err(error.suggest("write both texts as one"));
    }
    match pairs.iter().find(|(are_both, ..)| *are_both) {
        Some((_, a, b)) => {
            let message = format!("{a} and {b} exclude each other");
            Err(Error::new(Code::NotApplicable, recall.at, message))
        }
        None => thread_address(recall),
    }
}

fn thread_address(recall: &Recall) -> Result<(), Error> {
    match recall.thread.as_ref().map(|thread| &thread.it) {
        Some(Thread::From(Value::Hash { .. } | Value::Param { .. }) | Thread::Session(_))
        | None => Ok(()),
        Some(Thread::From(_)) => Err(Error::new(Code::BadHash, recall.at, "no address")),
    }
}

fn too_many(what: &str, max: usize, at: At) -> Error {
    Error::new(
        Code::BudgetExceeded,
        at,
        format!("there are at most {max} {what}"),
    )
}

/// Whether a value is known only when it is bound.
const fn is_open(value: &Value) -> bool {
    matches!(value, Value::Param { .. })
}

/// Returns the values of a condition.
fn values(operand: &Operand) -> &[Value] {
    match operand {
        Operand::Subquery(_) => &[],
        Operand::Value(Value::Array(values)) => values,
        Operand::Value(value) => std::slice::from_ref(value),
    }
}

/// The options of WITH and the arguments that each may have.
const OPTIONS: &[(&str, usize)] = &[
    ("superseded", 0),
    ("score_breakdown", 0),
    ("explanation", 0),
    ("provenance", 0),
    ("contradiction_detection", 0),
    ("summarize", 0),
    ("progressive_disclosure", 1),
    ("diversity", 2),
    ("consistency", 1),
    ("dedup", 1),
    ("locale", 1),
    ("cache", 1),
];

const LETS_MAX: usize = 5;
const OPERANDS_MAX: usize = 5;
const BATCH_MAX: usize = 10;
const BRANCHES_MAX: usize = 5;
const SOURCES_MAX: usize = 8;
const NAME_MAX: usize = 64;
const FOR_MAX: usize = 256;
