//! The canonical text of a statement: keywords in capitals, clauses in the order of the grammar,
//! stages behind pipes.

use std::fmt::{self, Display, Formatter, Write};

use crate::assemble::{Assemble, Shape, Source, StreamOption, Unit};
use crate::condition::{Condition, Op, Operand, Value};
use crate::place::Placed;
use crate::recall::{Arg, Direction, Opt, Recall, Stage, Thread, Within};
use crate::statement::{Add, Described, History, Query, SetOp, Setting, Statement};
use crate::template::Sections;

impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(version) = self.version {
            write!(f, "CAL/{version} ")?;
        }
        for one in &self.lets {
            write!(f, "LET ${} = {}", one.name.it, one.recall)?;
            if let Some(extract) = one.extract {
                write!(f, " | {}", extract.as_str())?;
            }
            f.write_str("; ")?;
        }
        self.statement.fmt(f)
    }
}

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Recall(recall) => recall.fmt(f),
            Self::Assemble(assemble) => assemble.fmt(f),
            Self::SetOp(SetOp {
                op, left, right, ..
            }) => {
                write!(f, "({left}) {} ({right})", op.as_str())
            }
            Self::Exists(exists) => write!(f, "EXISTS {}", exists.hash.it),
            Self::History(history) => history.fmt(f),
            Self::Explain(explain) => write!(f, "EXPLAIN {}", explain.of),
            Self::Describe(describe) => {
                let known = Described::NAMES.iter().find(|(_, it)| *it == describe.what);
                write!(f, "DESCRIBE {}", known.map_or("", |(name, _)| name))?;
                let kind = describe.grain_type;
                kind.map_or(Ok(()), |kind| write!(f, " {}", kind.singular()))
            }
            Self::Batch(batch) => {
                let entries = batch.entries.iter();
                let entries = entries.map(|one| format!("{}: {}", one.label.it, one.entry));
                write!(f, "BATCH {{ {} }}", joined(entries, ", "))
            }
            Self::Coalesce(it) => write!(f, "COALESCE ({})", joined(&it.branches, ", ")),
            Self::Add(add) => add.fmt(f),
            Self::Supersede(it) => {
                write!(f, "SUPERSEDE {}", it.target.it)?;
                settings(f, &it.set, it.reason.as_ref())
            }
            Self::Revert(it) => {
                write!(f, "REVERT {}", it.target.it)?;
                settings(f, &[], it.reason.as_ref())
            }
            Self::DefineTemplate(it) => {
                write!(f, "DEFINE TEMPLATE {}", it.name.it)?;
                if let Some(parent) = &it.extends {
                    write!(f, " EXTENDS {}", parent.it)?;
                }
                it.sections.fmt(f)
            }
        }
    }
}

impl Display for Sections {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (keyword, text) in self.given() {
            let text = &text.it;
            let end = text.trim_end_matches([' ', '\t']);
            // Where the text begins or ends a line, a line break of our own is what is left out.
            match text.starts_with('\n') || end.ends_with('\n') {
                true => write!(f, " {keyword} {{\n{text}\n}}")?,
                false => write!(f, " {keyword} {{{text}}}")?,
            }
        }
        Ok(())
    }
}

impl Display for Add {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "ADD {}", self.grain_type.it.singular())?;
        settings(f, &self.set, self.reason.as_ref())
    }
}

fn settings(f: &mut Formatter<'_>, set: &[Setting], reason: Option<&Placed<Value>>) -> fmt::Result {
    for one in set {
        write!(f, " SET {} = {}", one.field.it, one.value)?;
    }
    clause(f, "REASON", reason)
}

fn clause(f: &mut Formatter<'_>, keyword: &str, value: Option<&Placed<Value>>) -> fmt::Result {
    value.map_or(Ok(()), |value| write!(f, " {keyword} {}", value.it))
}

fn within(f: &mut Formatter<'_>, within: Option<&Placed<Within>>) -> fmt::Result {
    match within.map(|within| &within.it) {
        Some(Within::Namespace(value)) => write!(f, " IN {value}"),
        Some(Within::Scope(value)) => write!(f, " IN SCOPE {value}"),
        None => Ok(()),
    }
}

fn conditions(f: &mut Formatter<'_>, conditions: &[Condition]) -> fmt::Result {
    match conditions.is_empty() {
        true => Ok(()),
        false => write!(f, " WHERE {}", joined(conditions, " AND ")),
    }
}

fn options(f: &mut Formatter<'_>, with: &[Placed<Opt>]) -> fmt::Result {
    match with.is_empty() {
        true => Ok(()),
        false => write!(f, " WITH {}", joined(with.iter().map(|opt| &opt.it), ", ")),
    }
}

impl Display for Recall {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("RECALL")?;
        if self.my {
            f.write_str(" MY")?;
        }
        if let Some(kind) = &self.grain_type {
            write!(f, " {}", kind.it.plural())?;
        }
        within(f, self.within.as_ref())?;
        clause(f, "ABOUT", self.about.as_ref())?;
        clause(f, "LIKE", self.like.as_ref())?;
        clause(f, "SINCE", self.since.as_ref())?;
        if let Some(Placed { it: [from, to], .. }) = &self.between {
            write!(f, " BETWEEN {from} AND {to}")?;
        }
        match self.thread.as_ref().map(|thread| &thread.it) {
            Some(Thread::Session(session)) => write!(f, " THREAD {session}")?,
            Some(Thread::From(hash)) => write!(f, " THREAD FROM {hash}")?,
            None => {}
        }
        conditions(f, &self.conditions)?;
        options(f, &self.with)?;
        for stage in &self.pipeline {
            write!(f, " | {}", stage.it)?;
        }
        clause(f, "RECENT", self.recent.as_ref())?;
        if self.contradictions {
            f.write_str(" CONTRADICTIONS")?;
        }
        let format = self.format.as_ref();
        format.map_or(Ok(()), |format| write!(f, " AS {}", format.it.as_str()))
    }
}

impl Display for History {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("HISTORY")?;
        if let Some(hash) = &self.hash {
            write!(f, " {}", hash.it)?;
        }
        clause(f, "DIFF", self.diff.as_ref())?;
        within(f, self.within.as_ref())?;
        conditions(f, &self.conditions)?;
        clause(f, "AS OF", self.as_of.as_ref())
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ", self.field.it, self.op.as_str())?;
        match (&self.value, self.op) {
            (Operand::Subquery(sub), _) => {
                write!(f, "({} | {})", sub.recall, sub.extract.as_str())
            }
            (Operand::Value(Value::Array(values)), Op::In) => {
                write!(f, "({})", joined(values, ", "))
            }
            (Operand::Value(Value::Array(ends)), Op::Between) => {
                f.write_str(&joined(ends, " AND "))
            }
            (Operand::Value(Value::Text(category)), Op::Is) => f.write_str(category),
            (Operand::Value(value), _) => value.fmt(f),
        }
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(it) => it.fmt(f),
            Self::Int(n) => n.fmt(f),
            Self::Float(n) if n.fract() == 0.0 => write!(f, "{n:.1}"),
            Self::Float(n) => n.fmt(f),
            Self::Text(text) => {
                f.write_char('"')?;
                for c in text.chars() {
                    if matches!(c, '"' | '\\') {
                        f.write_char('\\')?;
                    }
                    f.write_char(c)?;
                }
                f.write_char('"')
            }
            Self::Array(values) => write!(f, "[{}]", joined(values, ", ")),
            Self::Param { name, .. } => write!(f, "${name}"),
            Self::Hash { digits } => write!(f, "sha256:{digits}"),
        }
    }
}

impl Display for Opt {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match self.args.is_empty() {
            true => Ok(()),
            false => write!(f, "({})", joined(&self.args, ", ")),
        }
    }
}

impl Display for Arg {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "{name} = ")?;
        }
        match (&self.word, &self.value) {
            (Some(word), Some(value)) => write!(f, "{word}({value})"),
            (Some(word), None) => f.write_str(word),
            (None, Some(value)) => value.fmt(f),
            (None, None) => Ok(()),
        }
    }
}

impl Display for Stage {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let names = |fields: &[Placed<String>]| joined(fields.iter().map(|it| &it.it), ", ");
        match self {
            Self::Select { fields } => write!(f, "SELECT {}", names(fields)),
            Self::OrderBy { field, dir } => {
                let dir = match dir {
                    Direction::Asc => "ASC",
                    Direction::Desc => "DESC",
                };
                write!(f, "ORDER BY {} {dir}", field.it)
            }
            Self::Limit { count } => write!(f, "LIMIT {count}"),
            Self::Offset { count } => write!(f, "OFFSET {count}"),
            Self::Count {} => f.write_str("COUNT"),
            Self::First {} => f.write_str("FIRST"),
            Self::Extract { of } => f.write_str(of.as_str()),
            Self::GroupBy { field } => write!(f, "GROUP BY {}", field.it),
            Self::Project { content, attr } => {
                let groups = [("content", content), ("attr", attr)];
                let groups = groups.iter().filter(|(_, fields)| !fields.is_empty());
                let groups = groups.map(|(name, fields)| format!("{name}({})", names(fields)));
                write!(f, "PROJECT {}", joined(groups, ", "))
            }
        }
    }
}

impl Display for Assemble {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("ASSEMBLE")?;
        if let Some(name) = &self.name {
            write!(f, " {}", name.it)?;
        }
        clause(f, "FOR", self.intent.as_ref())?;
        write!(f, " FROM {}", joined(&self.sources, ", "))?;
        if let Some(budget) = &self.budget {
            let unit = match budget.it.unit {
                Unit::Tokens => "tokens",
                Unit::Grains => "grains",
            };
            write!(f, " BUDGET {} {unit}", budget.it.amount)?;
        }
        if !self.priority.is_empty() {
            let labels = self.priority.iter().map(|label| &label.it);
            write!(f, " PRIORITY {}", joined(labels, " > "))?;
        }
        match self.format.as_ref().map(|format| &format.it) {
            Some(Shape::Format(format)) => write!(f, " FORMAT {}", format.as_str())?,
            Some(Shape::Preset(preset)) => write!(f, " FORMAT {}", preset.as_str())?,
            Some(Shape::Template(name)) => write!(f, " FORMAT TEMPLATE {name}")?,
            Some(Shape::Inline(it)) => write!(f, " FORMAT TEMPLATE {{{it} }}")?,
            None => {}
        }
        if let Some(Placed { it: options, .. }) = &self.stream {
            f.write_str(" STREAM")?;
            if !options.is_empty() {
                write!(f, " {{ {} }}", joined(options, ", "))?;
            }
        }
        options(f, &self.with)
    }
}

impl Display for Source {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(label) = &self.label {
            write!(f, "{}: ", label.it)?;
        }
        match (&self.recall, &self.named) {
            (Some(recall), _) => write!(f, "({recall})"),
            (None, Some(name)) => write!(f, "${}", name.it),
            (None, None) => Ok(()),
        }
    }
}

impl Display for StreamOption {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        let value = self.value.as_ref();
        value.map_or(Ok(()), |value| write!(f, " = {value}"))
    }
}

fn joined<T: Display>(items: impl IntoIterator<Item = T>, between: &str) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    items.join(between)
}
