//! The text of one file of a tree.

use std::collections::HashMap;

use crate::codec::Value;
use crate::grain::{Grain, Status, Verification};
use crate::interchange::export::{Entry, GENERATOR};
use crate::interchange::formats::tree_ids::digest;
use crate::interchange::model::rfc3339::to_rfc3339;

use super::build::{Kind, file_text, stands};
use super::dialect::{Dialect, Key, Line, Says, Subjects};
use super::head::HeadPart;
use super::line::{described, one_line, tags};
use super::plan::{File, Plan};
use super::residual::{Kept, Laid, said};
use super::yaml::quoted;

/// Writes the text of files.
pub(super) struct Writer<'a> {
    pub(super) dialect: &'static Dialect,
    pub(super) plan: &'a Plan,
}

/// A grain with its text in the file.
struct Written<'a> {
    text: String,
    /// The claim about it as it stood in the frontmatter.
    claim: Option<String>,
    entry: &'a Entry,
}

impl Writer<'_> {
    /// Returns the text of a file, and the first line that it says.
    pub(super) fn text(
        &self,
        file: &File,
        state: Option<&Grain>,
        grains: &HashMap<u32, Entry>,
    ) -> (String, String) {
        let mut written = Vec::new();
        let text = match state.and_then(Kept::of) {
            Some(kept) if file.kind != Kind::File => self.laid(file, &kept, grains, &mut written),
            _ => self.fresh(file, grains, &mut written),
        };
        (text, first_of(&written))
    }

    /// Writes a file as it was read: what lay between its items, and the items as they are now.
    fn laid<'g>(
        &self,
        file: &File,
        kept: &Kept,
        grains: &'g HashMap<u32, Entry>,
        written: &mut Vec<Written<'g>>,
    ) -> String {
        let mut body = String::new();
        let is_entry = self.dialect.line == Line::Entry;
        let mut left: HashMap<u32, ()> = file.numbers().map(|number| (number, ())).collect();
        let mut drop_line_end = false;
        for part in kept.parts() {
            match part {
                Laid::Gap(gap) => {
                    let gap = match drop_line_end {
                        true if is_entry && !body.is_empty() => gap,
                        true if is_entry => gap.strip_prefix("\n§\n").unwrap_or(gap),
                        true => after_line_end(gap),
                        false => gap,
                    };
                    drop_line_end = false;
                    body.push_str(gap);
                }
                Laid::Item(id, _) => {
                    let number = self
                        .plan
                        .by_id
                        .get(id)
                        .filter(|it| left.remove(it).is_some());
                    match number.and_then(|number| grains.get(number)) {
                        Some(entry) => {
                            body.push_str(&self.add(entry, file, written));
                        }
                        None => {
                            drop_mark(&mut body);
                            drop_line_end = true;
                        }
                    }
                }
            }
        }
        for (title, numbers) in &file.sections {
            let added: Vec<u32> = numbers
                .iter()
                .filter(|it| left.contains_key(it))
                .copied()
                .collect();
            if added.is_empty() {
                continue;
            }
            end_line(&mut body);
            self.section(file, title, &added, grains, &mut body, written);
        }
        let mut head = String::new();
        for part in kept.head() {
            match part {
                HeadPart::Text(text) => head.push_str(text),
                HeadPart::Description => head.push_str(&quoted(&first_of(written))),
                HeadPart::Claims(line) => head.extend(claims_below(line, written)),
            }
        }
        head + &body
    }

    /// Writes a file that no tree had.
    fn fresh<'g>(
        &self,
        file: &File,
        grains: &'g HashMap<u32, Entry>,
        written: &mut Vec<Written<'g>>,
    ) -> String {
        let mut body = String::new();
        if file.kind == Kind::File {
            let entry = file.numbers().find_map(|number| grains.get(&number));
            return entry.map_or(body, |entry| self.add(entry, file, written));
        }
        for (title, numbers) in &file.sections {
            self.section(file, title, numbers, grains, &mut body, written);
        }
        let is_alone =
            matches!(self.dialect.subjects, Subjects::Folder(_)) || file.kind != Kind::Subject;
        match self.dialect.keys {
            [] if is_alone => format!("# {}\n\n{body}", one_line(&file.title)),
            [] => body,
            keys => format!("---\n{}---\n\n{body}", self.head(file, keys, written)),
        }
    }

    fn section<'g>(
        &self,
        file: &File,
        title: &str,
        numbers: &[u32],
        grains: &'g HashMap<u32, Entry>,
        body: &mut String,
        written: &mut Vec<Written<'g>>,
    ) {
        let is_entry = self.dialect.line == Line::Entry;
        let is_section = matches!(self.dialect.subjects, Subjects::Sections(_));
        if is_section && file.kind == Kind::Subject {
            if !body.is_empty() {
                body.push('\n');
            }
            body.push_str(&format!("## {}\n\n", one_line(title)));
        }
        for entry in numbers.iter().filter_map(|number| grains.get(number)) {
            let text = self.add(entry, file, written);
            match is_entry {
                true if body.is_empty() => body.push_str(&format!("{text}\n")),
                true => body.push_str(&format!("§\n{text}\n")),
                false => body.push_str(&format!("- {text}\n")),
            }
        }
    }

    /// Returns the text of a grain, and notes it for the frontmatter.
    fn add<'g>(&self, entry: &'g Entry, file: &File, written: &mut Vec<Written<'g>>) -> String {
        let (text, claim) = self.item(&entry.0, file);
        written.push(Written {
            text: text.clone(),
            claim,
            entry,
        });
        text
    }

    /// Returns what a grain says as an item, with the claim about it: both as they stood in a file, if
    /// it is of one.
    fn item(&self, grain: &Grain, file: &File) -> (String, Option<String>) {
        let kept = Kept::of(grain).filter(|_| file.state.is_some());
        let stood = kept.as_ref().and_then(|kept| kept.text("content"));
        if let Some(text) = stood.filter(|text| stands(grain, text, self.dialect.line)) {
            let claim = kept.as_ref().and_then(|kept| kept.text("claim"));
            return (text.to_owned(), claim.map(str::to_owned));
        }
        if let Some(text) = file_text(grain).filter(|_| file.kind == Kind::File) {
            return (text.to_owned(), None);
        }
        let is_entry = self.dialect.line == Line::Entry;
        let link = |object: &str| self.link(object, grain.text("subject").unwrap_or_default());
        let said = said(grain, is_entry);
        let text = said.map(|said| said.write(self.dialect.line, &link));
        (text.unwrap_or_default(), None)
    }

    /// Returns the link to the note of another subject.
    fn link(&self, object: &str, subject: &str) -> Option<String> {
        let stem = self.plan.stems.get(object).filter(|_| object != subject)?;
        let by_title = self.dialect.line == Line::Category;
        let is_section = !matches!(self.dialect.subjects, Subjects::Folder(_));
        Some(match by_title || is_section || stem == object {
            true => format!("[[{object}]]"),
            false => format!("[[{stem}|{object}]]"),
        })
    }

    fn head(&self, file: &File, keys: &[Key], written: &[Written<'_>]) -> String {
        let mut head = String::new();
        let times = written.iter().map(|it| it.entry.0.created_at());
        let time = |time: Option<_>| time.and_then(to_rfc3339);
        let (first, last) = (time(times.clone().min()), time(times.max()));
        for Key(says, name) in keys {
            let value = match says {
                Says::Type => Some(self.type_of(file.kind).to_owned()),
                Says::Title => Some(quoted(&file.title)),
                Says::Description => Some(quoted(&first_of(written))),
                Says::Tags => listed(&common_tags(written)),
                Says::Created => first.as_deref().map(quoted),
                Says::Updated => last.as_deref().map(quoted),
                Says::Generated => last
                    .as_deref()
                    .map(|at| format!("{{by: {}, at: {}}}", quoted(GENERATOR), quoted(at))),
                Says::Status => Some(status_of(written).to_owned()),
                Says::Permalink => Some(quoted(&permalink(&file.path))),
                Says::Grains => {
                    head.extend(claims_below(&format!("{name}:\n"), written));
                    None
                }
            };
            let Some(value) = value else { continue };
            match name.split_once('.') {
                Some((outer, inner)) => {
                    head.push_str(&format!("{outer}:\n  {inner}: {value}\n"));
                }
                None => head.push_str(&format!("{name}: {value}\n")),
            }
        }
        head
    }

    fn type_of(&self, kind: Kind) -> &'static str {
        let [subject, conversation, day] = self.dialect.types;
        match kind {
            Kind::Subject => subject,
            Kind::Conversation => conversation,
            Kind::Day => day,
            Kind::File => "",
        }
    }
}

/// Returns all that the items cannot say themselves, a line each below the line of their key; nothing
/// without an item.
fn claims_below(line: &str, written: &[Written<'_>]) -> Option<String> {
    let claims = claims(written);
    (!claims.is_empty()).then(|| format!("{line}{claims}"))
}

fn claims(written: &[Written<'_>]) -> String {
    let common = common_tags(written);
    let line = |one: &Written<'_>| {
        if let Some(claim) = &one.claim {
            return claim.clone();
        }
        let (grain, status) = one.entry;
        let mut members = vec![
            format!("of: \"{}\"", digest(&one.text)),
            format!("id: \"{}\"", grain.address()),
        ];
        let at = to_rfc3339(grain.created_at());
        members.extend(at.map(|at| format!("at: \"{at}\"")));
        let source = grain
            .text("source_type")
            .map(|it| format!("source: {}", quoted(it)));
        members.extend(source);
        if status.verification != Verification::default() {
            members.push(format!("verification: {}", status.verification.name()));
        }
        if status.contradicted {
            members.push("status: contradicted".to_owned());
        }
        let confidence = grain.field("confidence").and_then(Value::as_f64);
        members.extend(
            confidence
                .filter(|it| *it < 1.0)
                .map(|it| format!("confidence: {it}")),
        );
        let inline = tags(&one.text);
        let own = tags_of(grain).into_iter();
        let own = own.filter(|tag| !common.contains(tag) && !inline.contains(tag));
        members.extend(listed(&own.collect::<Vec<_>>()).map(|tags| format!("tags: {tags}")));
        format!("  - {{{}}}\n", members.join(", "))
    };
    written.iter().map(line).collect()
}

/// Returns the tags of a grain, as a file has them.
fn tags_of(grain: &Grain) -> Vec<String> {
    let tags = grain
        .field("structural_tags")
        .into_iter()
        .flat_map(Value::texts);
    let own = tags.filter(|tag| !tag.starts_with("grainstore:"));
    own.map(|tag| tag.strip_prefix("t:").unwrap_or(tag).to_owned())
        .collect()
}

/// Returns the tags that every item has.
fn common_tags(written: &[Written<'_>]) -> Vec<String> {
    let mut all = written.iter().map(|it| tags_of(&it.entry.0));
    let first = all.next().unwrap_or_default();
    all.fold(first, |mut common, tags| {
        common.retain(|tag| tags.contains(tag));
        common
    })
}

fn listed(tags: &[String]) -> Option<String> {
    let tags: Vec<String> = tags.iter().map(|tag| quoted(tag)).collect();
    (!tags.is_empty()).then(|| format!("[{}]", tags.join(", ")))
}

fn status_of(written: &[Written<'_>]) -> &'static str {
    let is_open = |(_, status): &Entry| {
        let Status { contradicted, .. } = status;
        *contradicted
    };
    match written.iter().any(|it| is_open(it.entry)) {
        true => "draft",
        false => "stable",
    }
}

/// Returns the description of a file: the beginning of its first item.
fn first_of(written: &[Written<'_>]) -> String {
    let first = written.first();
    first.map(|it| described(&it.text)).unwrap_or_default()
}

fn permalink(path: &str) -> String {
    let path = path.strip_suffix(".md").unwrap_or(path).to_lowercase();
    path.split_whitespace().collect::<Vec<_>>().join("-")
}

/// Takes the mark of a list, or the separator, off the end of what was written.
fn drop_mark(body: &mut String) {
    for mark in ["- ", "* ", "+ ", "\n§\n", "§\n"] {
        if body.ends_with(mark) {
            body.truncate(body.len().saturating_sub(mark.len()));
            return;
        }
    }
}

fn after_line_end(gap: &str) -> &str {
    let gap = gap.strip_prefix('\r').unwrap_or(gap);
    gap.strip_prefix('\n').unwrap_or(gap)
}

pub(super) fn end_line(body: &mut String) {
    if !body.is_empty() && !body.ends_with('\n') {
        body.push('\n');
    }
}
