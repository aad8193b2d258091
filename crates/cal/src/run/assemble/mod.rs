//! ASSEMBLE: several recalls as one text within a budget (CAL 8.2).

pub(super) mod stream;
mod template;

use std::collections::BTreeSet;

use grainstore::query::Found;
use grainstore::render::tokens;
use serde_json::{Value as Json, json};

use super::Run;
use super::answer::{Body, Context, Grains, SourceUse};
use super::facade::Facade;
use super::failure::Failure;
use super::field::cells;
use super::recall::level;
use crate::assemble::{Assemble, Shape, Source, Unit};
use crate::code::Code;
use crate::condition::Value;
use crate::error::Error;
use crate::format::{self, Head, Item, Level, Style};
use crate::place::Placed;
use crate::recall::Format;
use crate::template::Template;

/// A source with the grains that it may add.
pub(super) struct Supply {
    pub(super) label: String,
    found: Vec<Found>,
    project: Option<[Vec<String>; 2]>,
    failure: Option<Failure>,
    /// Its grains as they are shown, with what each costs.
    items: Vec<(usize, Item, usize)>,
    /// Which of the items are taken.
    taken: BTreeSet<usize>,
}

impl<F: Facade> Run<'_, F> {
    pub(super) fn assemble(&mut self, assemble: &Assemble) -> Result<Body, Failure> {
        match (&assemble.stream, &mut self.stream) {
            (Some(Placed { it, .. }), Some(stream)) => stream.take(it),
            (Some(stream), None) => {
                let error = Error::new(Code::NoStream, stream.at, "no stream can be sent here");
                return Err(error.suggest("leave STREAM out").into());
            }
            // Events that are not asked for are not told.
            (None, _) => self.stream = None,
        }
        let template = self.template(assemble.format.as_ref())?;
        let sources = assemble.sources.len();
        self.tell(
            "progress",
            "assembly_started",
            || json!({"sources": sources}),
        )?;
        let mut sources = self.sources(assemble)?;
        let left_out = dedup(assemble, &mut sources);
        self.tell(
            "budget",
            "dedup_completed",
            || json!({"left_out": left_out}),
        )?;
        let (budget, unit) = budget(assemble);
        let mut whole = Whole {
            head: &head(assemble, budget, unit),
            budget,
            unit,
            level: disclosure(assemble, budget, unit),
            now: self.options.now,
            format: template.as_ref().map_or(shape(assemble), |it| it.parent),
            template: template.as_ref(),
        };
        sources.iter_mut().for_each(|source| source.show(&whole));
        if self.options.auto_toon && is_crowded(assemble, &sources, budget) {
            whole.format = Format::Toon;
            sources.iter_mut().for_each(|source| source.show(&whole));
            let message = "TOON, since the context would use more than 85 % of its budget";
            let warning = Error::new(Code::AutoToon, assemble.at, message);
            self.warnings.push(warning);
        }
        let context = context(sources, &whole);
        if let Some(stream) = &mut self.stream {
            stream.finish(&context)?;
        }
        Ok(Body::Context(context))
    }

    /// Returns the sources in the order of their importance.
    fn sources(&mut self, assemble: &Assemble) -> Result<Vec<Supply>, Failure> {
        let mut sources = Vec::new();
        for (n, source) in assemble.sources.iter().enumerate() {
            let label = source.label.as_ref();
            let label = label.map_or_else(|| format!("s{}", n + 1), |label| label.it.clone());
            self.tell("progress", "source_started", || json!({"label": label}))?;
            let (grains, failure) = match self.source(source) {
                Ok(grains) => (grains, None),
                Err(Failure::Statement(error)) if error.code == Code::Timeout => {
                    let code = Code::AssembleTimeout;
                    return Err(Error { code, ..error }.into());
                }
                Err(failure) => (Grains::default(), Some(failure)),
            };
            self.tell("progress", "source_completed", || {
                let error = failure.as_ref().map(Failure::code);
                json!({"label": label, "grains": grains.found.len(), "error": error})
            })?;
            sources.push(Supply {
                label,
                found: grains.found,
                project: grains.project,
                failure,
                items: Vec::new(),
                taken: BTreeSet::new(),
            });
        }
        if sources.iter().all(|source| source.failure.is_some()) {
            let error = Error::new(Code::AllSourcesFailed, assemble.at, "every source failed");
            let first = sources.iter().find_map(|source| source.failure.as_ref());
            let reason = first.map(ToString::to_string).unwrap_or_default();
            return Err(error.suggest(reason).into());
        }
        // Ruling A4: labels that PRIORITY omits follow in the order of FROM.
        let rank = |supply: &Supply| {
            let mut labels = assemble.priority.iter();
            labels
                .position(|label| label.it == supply.label)
                .unwrap_or(usize::MAX)
        };
        sources.sort_by_key(rank);
        Ok(sources)
    }

    /// Tells an event, where the statement asks for a stream.
    fn tell(
        &mut self,
        kind: &str,
        name: &'static str,
        data: impl FnOnce() -> Json,
    ) -> Result<(), Error> {
        let stream = self.stream.as_mut();
        stream.map_or(Ok(()), |stream| stream.tell(kind, name, data()))
    }

    fn source(&mut self, source: &Source) -> Result<Grains, Failure> {
        if let Some(name) = &source.named {
            let named = self.lets.get(&name.it);
            return Ok(Grains {
                found: named.map(|named| named.found.clone()).unwrap_or_default(),
                ..Grains::default()
            });
        }
        let recall = source.recall.clone().unwrap_or_default();
        match self.unformatted(&recall)? {
            Body::Grains(grains) => Ok(grains),
            _ => {
                let message = "a source returns grains";
                Err(Error::new(Code::StageMismatch, recall.at, message).into())
            }
        }
    }
}

/// Takes the grains that fit, and writes them.
fn context(mut sources: Vec<Supply>, whole: &Whole<'_>) -> Context {
    let (budget, unit) = (whole.budget, whole.unit);
    let room = match unit {
        Unit::Tokens => budget.saturating_sub(tokens(&text(&[], whole))),
        Unit::Grains => budget,
    };
    spend(&mut sources, room);
    let (text, used) = loop {
        let text = text(&sources, whole);
        let used = match unit {
            Unit::Tokens => tokens(&text),
            Unit::Grains => sources.iter().map(|source| source.taken.len()).sum(),
        };
        // By a template a context has two characters for each token of its budget (CAL 1.9).
        let is_long = whole.template.is_some()
            && unit == Unit::Tokens
            && text.chars().count() > budget.saturating_mul(2);
        // The headings are known only now: the least important gives way.
        if (used <= budget && !is_long) || !drop_last(&mut sources) {
            break (text, used);
        }
    };
    Context {
        format: whole.format,
        text,
        budget,
        used,
        unit,
        level: whole.level.name(),
        sources: sources.into_iter().map(Supply::used).collect(),
    }
}

fn head(assemble: &Assemble, budget: usize, unit: Unit) -> Head {
    let intent = assemble.intent.as_ref();
    Head {
        name: assemble.name.as_ref().map(|name| name.it.clone()),
        intent: intent.and_then(|intent| intent.it.as_text().map(str::to_owned)),
        tokens: (unit == Unit::Tokens).then_some([0, budget]),
    }
}

/// The circumstances that all parts of a context have in common.
pub(super) struct Whole<'a> {
    pub(super) head: &'a Head,
    pub(super) budget: usize,
    pub(super) unit: Unit,
    pub(super) level: Level,
    pub(super) now: grainstore::Time,
    format: Format,
    template: Option<&'a Template>,
}

impl Supply {
    fn show(&mut self, whole: &Whole<'_>) {
        let project = self.project.as_ref();
        let style = Style {
            now: whole.now,
            level: whole.level,
            project: project.map(|[content, attr]| (content.as_slice(), attr.as_slice())),
        };
        let found = self.found.iter().enumerate();
        let items = found.filter_map(|(n, found)| {
            let item = format::item(found, style)?;
            let cost = match (whole.unit, whole.template) {
                (Unit::Grains, _) => 1,
                (Unit::Tokens, None) => format::cost(whole.format, &item),
                (Unit::Tokens, Some(template)) => template::cost(template, found, &item, whole),
            };
            Some((n, item, cost))
        });
        self.items = items.collect();
    }

    /// Takes the best items that fit; returns what they cost.
    fn take(&mut self, room: usize) -> usize {
        let mut spent = 0_usize;
        for (at, (.., cost)) in self.items.iter().enumerate() {
            if spent.saturating_add(*cost) <= room && self.taken.insert(at) {
                spent = spent.saturating_add(*cost);
            }
        }
        spent
    }

    fn shown(&self) -> impl Iterator<Item = &(usize, Item, usize)> {
        let items = self.items.iter().enumerate();
        items
            .filter(|(at, _)| self.taken.contains(at))
            .map(|(_, item)| item)
    }

    /// Returns the grains that are taken, with their items.
    pub(super) fn chosen(&self) -> impl Iterator<Item = (&Found, &Item)> {
        self.shown()
            .filter_map(|(n, item, _)| Some((self.found.get(*n)?, item)))
    }

    /// Returns the tokens of the grains that are taken.
    pub(super) fn tokens(&self) -> usize {
        self.shown().map(|(.., cost)| cost).sum()
    }

    pub(super) fn is_truncated(&self) -> bool {
        self.taken.len() < self.found.len()
    }

    pub(super) fn is_bare(&self) -> bool {
        self.taken.is_empty()
    }

    fn used(self) -> SourceUse {
        let addresses = self.shown().filter_map(|(n, ..)| self.found.get(*n));
        SourceUse {
            used: addresses.map(|found| found.address).collect(),
            tokens: self.tokens(),
            found: self.found.len(),
            label: self.label,
            failure: self.failure,
        }
    }
}

/// Whether a context is written as TOON by itself (CAL 10.9): a budget of tokens is given and no
/// format, each source is of one type, and all grains would use more than 85 % of the budget.
fn is_crowded(assemble: &Assemble, sources: &[Supply], budget: usize) -> bool {
    let given = assemble.budget.as_ref();
    let is_asked = given.is_some_and(|budget| budget.it.unit == Unit::Tokens);
    let is_of_one_type = |source: &Supply| {
        let mut types = source.found.iter().map(|found| found.grain.type_());
        let first = types.next();
        types.all(|of| Some(of) == first)
    };
    let costs = sources.iter().flat_map(|source| &source.items);
    let needed: usize = costs.map(|(.., cost)| cost).sum();
    is_asked
        && assemble.format.is_none()
        && sources.iter().all(is_of_one_type)
        && needed.saturating_mul(100) > budget.saturating_mul(85)
}

/// Spends a budget by the weights of the ranks, then what is left on the rest, the most important
/// first.
fn spend(sources: &mut [Supply], room: usize) {
    let live = sources
        .iter()
        .filter(|source| source.failure.is_none())
        .count();
    let mut weights = weights(live).into_iter();
    let mut left = room;
    for source in sources.iter_mut().filter(|source| source.failure.is_none()) {
        let share = weights.next().unwrap_or(0);
        left = left.saturating_sub(source.take(room.saturating_mul(share) / WHOLE));
    }
    for source in sources.iter_mut() {
        left = left.saturating_sub(source.take(left));
    }
}

/// Returns the weights of so many sources, in thousandths; of five and more each has 0.7 of the one
/// before (the restatement of CAL 8.2).
fn weights(sources: usize) -> Vec<usize> {
    match sources {
        0 => Vec::new(),
        1 => vec![WHOLE],
        2 => vec![650, 350],
        3 => vec![500, 300, 200],
        4 => vec![400, 280, 200, 120],
        _ => {
            let mut parts = vec![WHOLE];
            for _ in 1..sources {
                let last = parts.last().copied().unwrap_or_default();
                parts.push(last * 7 / 10);
            }
            let sum: usize = parts.iter().sum();
            parts.into_iter().map(|part| part * WHOLE / sum).collect()
        }
    }
}

const WHOLE: usize = 1_000;

fn drop_last(sources: &mut [Supply]) -> bool {
    let mut last = sources.iter_mut().rev();
    let source = last.find(|source| !source.taken.is_empty());
    source.is_some_and(|source| source.taken.pop_last().is_some())
}

fn text(sources: &[Supply], whole: &Whole<'_>) -> String {
    if let Some(by) = whole.template {
        let written = |used| template::written(by, sources, whole, used);
        return match whole.unit {
            // The number of tokens can be a part of the text.
            Unit::Tokens => written(tokens(&written(0))),
            Unit::Grains => written(sources.iter().map(|source| source.taken.len()).sum()),
        };
    }
    let (format, head) = (whole.format, whole.head);
    let items = |source: &Supply| source.shown().map(|(_, item, _)| item.clone()).collect();
    let groups = match format {
        // A type has one table, whatever its sources are.
        Format::Toon => format::grouped(
            sources
                .iter()
                .flat_map(|source| -> Vec<Item> { items(source) })
                .collect(),
        ),
        _ => sources
            .iter()
            .flat_map(|source| format::grouped(items(source)))
            .collect(),
    };
    let written = |used| {
        let mut head = head.clone();
        if let Some([tokens, _]) = &mut head.tokens {
            *tokens = used;
        }
        format::written(format, &groups, Some(&head))
    };
    // The number of tokens is a part of the text.
    written(tokens(&written(0)))
}

/// Leaves out what a more important source has: the same grain, or with WITH dedup(field) one of the
/// same type and value (ruling A3). Returns how many.
fn dedup(assemble: &Assemble, sources: &mut [Supply]) -> usize {
    let opt = assemble.with.iter().find(|opt| opt.it.name == "dedup");
    let arg = opt.and_then(|opt| opt.it.args.first());
    let field = arg.and_then(|arg| {
        arg.word
            .as_deref()
            .or_else(|| arg.value.as_ref()?.as_text())
    });
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut left_out = 0_usize;
    for source in sources {
        let keys = |found: &Found| {
            let mut keys = vec![found.address.to_string()];
            if let Some(field) = field {
                let values = cells(found, field).into_iter();
                let of = found.grain.type_();
                keys.extend(values.map(|cell| format!("{of} {}", cell.to_json())));
            }
            keys
        };
        let before = seen.clone();
        source.found.retain(|found| {
            let keys = keys(found);
            let is_new = !keys.iter().any(|key| before.contains(key));
            seen.extend(keys);
            left_out += usize::from(!is_new);
            is_new
        });
    }
    left_out
}

fn budget(assemble: &Assemble) -> (usize, Unit) {
    match &assemble.budget {
        Some(budget) => match budget.it.amount {
            Value::Int(n) => (usize::try_from(n).unwrap_or(0), budget.it.unit),
            _ => (BUDGET_DEFAULT, budget.it.unit),
        },
        None => (BUDGET_DEFAULT, Unit::Tokens),
    }
}

/// Returns the format: SML by default (ruling C2).
fn shape(assemble: &Assemble) -> Format {
    match assemble.format.as_ref().map(|shape| &shape.it) {
        Some(Shape::Format(format)) => *format,
        Some(Shape::Preset(preset)) => preset.format(),
        Some(Shape::Template(_) | Shape::Inline(_)) | None => Format::Sml,
    }
}

/// Returns the level that WITH names; of a bare progressive_disclosure that of the budget (CAL 14.3).
fn disclosure(assemble: &Assemble, budget: usize, unit: Unit) -> Level {
    let opt = assemble
        .with
        .iter()
        .find(|opt| opt.it.name == "progressive_disclosure");
    match opt.map(|opt| opt.it.args.is_empty()) {
        Some(true) => match (unit, budget) {
            (Unit::Tokens, ..1_000) => Level::Summary,
            (Unit::Tokens, 8_000..) | (Unit::Grains, ..=5) => Level::Full,
            _ => Level::Standard,
        },
        _ => level(&assemble.with),
    }
}

const BUDGET_DEFAULT: usize = 4_000;
