//! Templates: defining one, and writing a context by one.

use grainstore::Time;
use grainstore::query::Found;

use super::{Supply, Whole};
use crate::assemble::{Preset, Shape, Unit};
use crate::code::Code;
use crate::error::Error;
use crate::format::{self, Head, Item, Level, one_line};
use crate::place::Placed;
use crate::recall::Format;
use crate::run::answer::Body;
use crate::run::{Facade, Failure, Run, cells};
use crate::template::{DefineTemplate, Template, Values, parent, rendered};
use crate::time::ago;

impl<F: Facade> Run<'_, F> {
    /// Keeps a template in the host.
    pub(in crate::run) fn define(&self, it: &DefineTemplate) -> Result<Body, Failure> {
        let at = it.name.at;
        let host = self.options.host.as_ref().ok_or_else(|| {
            let error = Error::new(Code::TemplateNotFound, at, "no template is kept here");
            error.suggest("write FORMAT TEMPLATE { .. }")
        })?;
        let abilities = self.facade.describe();
        if !abilities.may_write {
            let message = "the handle only reads";
            return Err(Error::new(Code::Tier1NotEnabled, at, message).into());
        }
        let reach = abilities.reach();
        let parent = match (parent(it.extends.as_ref())?, &it.extends) {
            (Some(preset), _) => preset,
            (None, Some(name)) if host.template(&reach, &name.it).is_some() => {
                let message = "a template extends a preset";
                return Err(Error::new(Code::CannotExtendCustom, name.at, message).into());
            }
            (None, _) => return Err(missing(it.extends.as_ref().unwrap_or(&it.name)).into()),
        };
        let template = Template::of(&it.sections, parent, at)?;
        host.define(&reach, &it.name, template)?;
        Ok(Body::Defined(it.name.it.clone()))
    }

    /// Returns the names of the templates that are defined in this reach.
    pub(in crate::run) fn template_names(&self) -> Vec<String> {
        let host = self.options.host.as_ref();
        let reach = self.facade.describe().reach();
        host.map(|host| host.template_names(&reach))
            .unwrap_or_default()
    }

    /// Returns the template of FORMAT, if it names one.
    pub(super) fn template(
        &self,
        format: Option<&Placed<Shape>>,
    ) -> Result<Option<Template>, Failure> {
        let Some(Placed { at, it }) = format else {
            return Ok(None);
        };
        Ok(match it {
            Shape::Format(_) | Shape::Preset(_) => None,
            Shape::Inline(sections) => Some(Template::of(sections, Preset::Readable, *at)?),
            Shape::Template(name) => {
                let reach = self.facade.describe().reach();
                let host = self.options.host.as_ref();
                let found = host.and_then(|host| host.template(&reach, name));
                let named = Placed::new(*at, name.clone());
                Some(found.ok_or_else(|| missing(&named))?)
            }
        })
    }

    pub(in crate::run) fn takes_changes(&self) -> bool {
        let host = self.options.host.as_ref();
        host.is_some_and(|host| host.takes_changes()) && self.facade.describe().may_write
    }
}

fn missing(name: &Placed<String>) -> Error {
    let message = format!("no template has the name {}", name.it);
    Error::new(Code::TemplateNotFound, name.at, message)
}

/// Writes a context by a template. A section that it does not have is that of its preset.
pub(super) fn written(
    template: &Template,
    sources: &[Supply],
    whole: &Whole<'_>,
    used: usize,
) -> String {
    let mut text = String::new();
    let scope = Scope::of(template.parent, whole, used, sources);
    match &template.header {
        Some(nodes) => line(&mut text, &rendered(nodes, &scope)),
        None => line(&mut text, &format::header(template.parent, whole.head)),
    }
    let mut is_first = true;
    for (index, source) in sources.iter().enumerate() {
        if source.is_bare() {
            continue;
        }
        if !is_first {
            match &template.source_break {
                Some(nodes) => line(&mut text, &rendered(nodes, &scope.source(index, source))),
                None => text.push('\n'),
            }
        }
        is_first = false;
        for (found, item) in source.chosen() {
            let scope = scope.source(index, source).grain(found, item);
            line(&mut text, &element(template, whole.level, &scope, item));
        }
    }
    match &template.footer {
        Some(nodes) => line(&mut text, &rendered(nodes, &scope)),
        None => line(&mut text, format::footer(template.parent)),
    }
    text
}

/// Returns what a grain costs by a template.
pub(super) fn cost(template: &Template, found: &Found, item: &Item, whole: &Whole<'_>) -> usize {
    let scope = Scope::of(template.parent, whole, 0, &[]).grain(found, item);
    grainstore::render::tokens(&element(template, whole.level, &scope, item)) + 1
}

fn element(template: &Template, level: Level, scope: &Scope<'_>, item: &Item) -> String {
    let summary = template
        .summary
        .as_ref()
        .filter(|_| level == Level::Summary);
    match summary.or(template.element.as_ref()) {
        Some(nodes) => rendered(nodes, scope),
        None => format::line(template.parent, item),
    }
}

/// Adds a section as lines of its own.
fn line(text: &mut String, section: &str) {
    text.push_str(section);
    if !section.is_empty() && !section.ends_with('\n') {
        text.push('\n');
    }
}

/// The values of the variables.
#[derive(Clone, Copy)]
struct Scope<'a> {
    parent: Format,
    whole: &'a Whole<'a>,
    used: usize,
    sources: &'a [Supply],
    source: Option<(usize, &'a Supply)>,
    grain: Option<(&'a Found, &'a Item)>,
}

impl<'a> Scope<'a> {
    const fn of(parent: Format, whole: &'a Whole<'a>, used: usize, sources: &'a [Supply]) -> Self {
        Self {
            parent,
            whole,
            used,
            sources,
            source: None,
            grain: None,
        }
    }

    const fn source(mut self, index: usize, source: &'a Supply) -> Self {
        self.source = Some((index, source));
        self
    }

    const fn grain(mut self, found: &'a Found, item: &'a Item) -> Self {
        self.grain = Some((found, item));
        self
    }

    fn of_assembly(&self, name: &str) -> Option<String> {
        let Head {
            name: of, intent, ..
        } = self.whole.head;
        let (total, used) = (self.whole.budget, self.used);
        Some(match name {
            "assembly.name" => of.clone()?,
            "assembly.intent" => intent.clone()?,
            "assembly.source_count" => self.sources.len().to_string(),
            "assembly.grain_count" => {
                let counts = self.sources.iter().map(|source| source.chosen().count());
                counts.sum::<usize>().to_string()
            }
            "budget.total" => total.to_string(),
            "budget.used" => used.to_string(),
            "budget.remaining" => total.saturating_sub(used).to_string(),
            "budget.unit" => match self.whole.unit {
                Unit::Tokens => "tokens".into(),
                Unit::Grains => "grains".into(),
            },
            "budget.utilization" => format!("{}%", used * 100 / total.max(1)),
            "disclosure.level" => self.whole.level.name().to_owned(),
            // A date: formatted output has no full time (CAL 14.2).
            "timestamp" => date(self.whole.now),
            _ => return None,
        })
    }

    fn of_source(&self, name: &str) -> Option<String> {
        let (index, source) = self.source?;
        Some(match name {
            "source.label" => source.label.clone(),
            "source.index" => index.to_string(),
            "source.priority" => (index + 1).to_string(),
            "source.grain_count" => source.chosen().count().to_string(),
            "source.tokens_used" => source.tokens().to_string(),
            "source.truncated" => truth(source.is_truncated())?,
            _ => return None,
        })
    }

    fn of_grain(&self, name: &str) -> Option<String> {
        let (found, item) = self.grain?;
        let cell = |name: &str| {
            let cells = cells(found, name);
            let first = cells.first()?.to_json();
            Some(
                first
                    .as_str()
                    .map_or_else(|| first.to_string(), str::to_owned),
            )
        };
        match name {
            "grain.content" => Some(item.text.clone()),
            "grain.humanized_relation" => cell("relation").map(|it| format::humanised(&it)),
            "grain.tags" => Some(self.tags().join(",")),
            "grain.created_at" => Some(date(found.grain.created_at())),
            "grain.relative_time" => Some(ago(found.grain.event_time(), self.whole.now)),
            "grain.is_full" => truth(self.whole.level == Level::Full),
            "grain.is_summary" => truth(self.whole.level == Level::Summary),
            // Formatted output has no address (CAL 14.2).
            "grain.hash" => None,
            name => cell(name.strip_prefix("grain.")?),
        }
    }
}

impl Values for Scope<'_> {
    fn value(&self, name: &str) -> String {
        let value = self.of_assembly(name);
        let value = value.or_else(|| self.of_source(name));
        let value = value.or_else(|| self.of_grain(name));
        format::escaped(self.parent, &value.unwrap_or_default())
    }

    fn tags(&self) -> Vec<String> {
        let tags = self.grain.map(|(found, _)| cells(found, "tags"));
        let tags = tags.unwrap_or_default();
        let tags = tags.iter().filter_map(|tag| tag.as_text());
        tags.map(|tag| format::escaped(self.parent, tag)).collect()
    }
}

fn truth(holds: bool) -> Option<String> {
    holds.then(|| "true".to_owned())
}

fn date(time: Time) -> String {
    let text = one_line(&time.to_string());
    text.split_once('T')
        .map_or(text.clone(), |(day, _)| day.to_owned())
}
