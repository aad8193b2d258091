//! The records of an export, built of one conversation after the other.

use std::ops::Range;

use crate::codec::Value;
use crate::interchange::formats::pam::{Converted, ConvertedConversation, Converter};
use crate::interchange::io::file_set::FileSet;
use crate::interchange::io::record_sink::{Output, RecordSink, changed};
use crate::interchange::io::source_file::SourceFile;
use crate::interchange::json::{BUFFER_LEN, JsonError, Position, read_in_order, stream_file};
use crate::interchange::model::compact_table::CompactTable;
use crate::interchange::model::record_set::RecordSource;
use crate::interchange::{Diagnostics, Error, Finding, Loss, ReadOptions, Record};

use super::beside::{Beside, first_account};
use super::code::fault;
use super::conversation::Conversation;
use super::fact::Fact;
use super::item::Item;
use super::kinds::chatgpt::{self, Feedback};
use super::kinds::copilot;
use super::kinds::gemini::{self, Plan};
use super::parts::Parts;
use super::validation_pass::{Kind, ValidationIndex, ValidationPass, broken, is_alone};
use super::{Provider, code};
use crate::interchange::formats::provider::item;
use crate::interchange::formats::provider::item::{conversations_and_facts, importer, item, names};

/// A valid export; its records are built when they are asked for.
pub(crate) struct Export {
    files: FileSet,
    builder: Builder,
    index: ValidationIndex,
    output: Option<Output>,
}

/// The facts about an export that building the records of a conversation needs.
pub(super) struct Builder {
    pub(super) provider: Provider,
    feedback: Feedback,
    converter: Converter,
}

/// The result of validating an export.
pub(crate) struct Validation {
    pub(crate) output: Output,
    pub(crate) warnings: Vec<Finding>,
    pub(crate) findings: Diagnostics,
    pub(crate) loss: Loss,
}

impl Export {
    /// Validates an export.
    ///
    /// # Errors
    /// Files that cannot be read, and an export of another provider.
    pub(super) fn open(
        Parts { files, provider }: Parts,
        options: &ReadOptions,
    ) -> Result<(Self, Validation), Vec<Error>> {
        let Beside {
            owner,
            feedback,
            read,
        } = Beside::of(&files);
        // A file alone often names no owner, whom the whole export names.
        let owner = options.scope.clone().or(owner);
        let owner = owner.or_else(|| first_account(&files, provider));
        let owner = owner.as_deref().unwrap_or("local");
        let builder = Builder {
            provider,
            feedback,
            converter: Converter::new(owner, names(provider), options.profile),
        };
        let mut take = |_| true;
        let mut pass = ValidationPass::new(Pass::new(&builder, &mut take));
        pass.go(&files, read).map_err(|error| vec![error])?;
        let (index, pass, mut findings, mut loss) = pass.finish();
        if !pass.faults.is_empty() {
            return Err(pass.faults.list);
        }
        findings.append(pass.findings);
        loss.merge(&pass.loss);
        let (output, warnings) = pass.sink.finish();
        let validated = Validation {
            output,
            warnings,
            findings,
            loss,
        };
        let export = Self {
            files,
            builder,
            index,
            output: Some(output),
        };
        Ok((export, validated))
    }
}

impl RecordSource for Export {
    /// Conversations come first.
    fn each(&mut self, take: &mut dyn FnMut(Record) -> bool) -> Result<(), Error> {
        let mut pass = Pass::new(&self.builder, take);
        pass.go(&self.files, &self.index).map_err(|_| changed())?;
        match self.output {
            Some(output) if pass.faults.is_empty() => pass.sink.compare(output),
            _ => Err(changed()),
        }
    }
}

/// One pass over the records of an export.
pub(super) struct Pass<'a> {
    pub(super) builder: &'a Builder,
    sink: RecordSink<'a>,
    faults: Diagnostics,
    findings: Diagnostics,
    loss: Loss,
    conversations: CompactTable<()>,
    talk_count: u64,
    facts: CompactTable<()>,
    fact_count: u64,
}

/// A conversation on its way to records.
pub(super) struct Said {
    id: String,
    /// `None`: it has no time.
    converted: Option<ConvertedConversation>,
    lost: Loss,
}

impl<'a> Pass<'a> {
    fn new(builder: &'a Builder, take: &'a mut dyn FnMut(Record) -> bool) -> Self {
        Self {
            builder,
            sink: RecordSink::new(take),
            faults: Diagnostics::default(),
            findings: Diagnostics::default(),
            loss: Loss::default(),
            conversations: CompactTable::new(),
            talk_count: 0,
            facts: CompactTable::new(),
            fact_count: 0,
        }
    }

    /// Passes on the records of an export that is valid.
    fn go(&mut self, files: &FileSet, index: &ValidationIndex) -> Result<(), Error> {
        for (file, kind) in files.each().zip(&index.kinds) {
            let (name, part) = file?;
            let read = match kind {
                Kind::Other => Ok(()),
                Kind::Items { .. } => self.items(&part),
                Kind::CompactTable => self.table(&part),
                Kind::Activity(plan) => self.activity(&part, plan),
            };
            read.map_err(|error| broken(name, &part, error))?;
        }
        self.known(files, index)
    }

    fn items(&mut self, part: &SourceFile) -> Result<(), JsonError> {
        let builder = self.builder;
        let provider = builder.provider;
        let make = |value: Value, position: Position| match item(provider, value, position) {
            Item::Conversation(conversation) => Some(builder.said(*conversation)),
            Item::Facts(_) | Item::Other => None,
        };
        let (arrays, _) = conversations_and_facts(provider);
        self.stream(part, arrays, make, |pass, said| {
            if let Some(said) = said {
                pass.conversation(said);
            }
        })
    }

    /// Passes on the facts, which come after all conversations.
    pub(super) fn known(&mut self, files: &FileSet, index: &ValidationIndex) -> Result<(), Error> {
        let newest = index.newest.text();
        for (file, kind) in files.each().zip(&index.kinds) {
            let (name, part) = file?;
            if matches!(kind, Kind::Items { has_facts: true }) {
                let read = self.known_in(&part, newest);
                read.map_err(|error| broken(name, &part, error))?;
            }
        }
        Ok(())
    }

    fn known_in(&mut self, part: &SourceFile, newest: Option<&str>) -> Result<(), JsonError> {
        let provider = self.builder.provider;
        let make = |value: Value, position: Position| match item(provider, value, position) {
            Item::Facts(facts) => facts,
            Item::Conversation(_) | Item::Other => Vec::new(),
        };
        let (_, arrays) = conversations_and_facts(provider);
        self.stream(part, arrays, make, |pass, facts: Vec<Fact>| {
            facts.into_iter().for_each(|fact| pass.fact(fact, newest));
        })
    }

    /// Reads some of the arrays of a file, or the one element that the file is.
    fn stream<T: Send>(
        &mut self,
        part: &SourceFile,
        wanted: Range<usize>,
        make: impl Fn(Value, Position) -> T + Sync,
        mut take: impl FnMut(&mut Self, T),
    ) -> Result<(), JsonError> {
        if !self.sink.is_wanted() {
            return Ok(());
        }
        let arrays = item::arrays(self.builder.provider);
        let is_wanted = |array: usize| wanted.contains(&array);
        let value = stream_file(part, arrays, is_wanted, &make, |one| {
            take(self, one);
            self.sink.is_wanted()
        })?;
        if let Some(value) = value.filter(|value| is_alone(value, arrays)) {
            take(self, make(value, Position::default()));
        }
        Ok(())
    }

    fn table(&mut self, part: &SourceFile) -> Result<(), JsonError> {
        // The validation pass has read this table.
        let read = part.read(BUFFER_LEN, |input| copilot::conversations(input))?;
        let (conversations, ..) = read.unwrap_or_default();
        for conversation in conversations {
            self.conversation(self.builder.said(conversation));
        }
        Ok(())
    }

    pub(super) fn activity(&mut self, part: &SourceFile, plan: &Plan) -> Result<(), JsonError> {
        if !self.sink.is_wanted() {
            return Ok(());
        }
        let order = plan.order.iter().copied();
        let mut together = Vec::new();
        let make = |value: Value, number: usize| (value, number);
        read_in_order(part, &plan.starts, order, make, |(value, number)| {
            together.push(value);
            if plan.is_last(number) {
                let (conversations, _) = gemini::conversations(&std::mem::take(&mut together));
                for conversation in conversations {
                    self.conversation(self.builder.said(conversation));
                }
            }
            self.sink.is_wanted()
        })
    }

    pub(super) fn conversation(&mut self, said: Said) {
        // The place names it: equal findings are shown as one.
        let place = format!("conversation {}", said.id);
        let Some(conversation) = said.converted else {
            self.loss.count("conversation");
            let timeless = fault(code::TIME, &place, "has no time".into());
            return self.findings.push(timeless);
        };
        if !self.conversations.add(self.conversations.key(&said.id)) {
            self.loss.count("duplicate");
            return self.findings.push(Converter::duplicate(&place));
        }
        if Conversation::had_circle(&said.lost) {
            let message =
                "messages of it answer each other in a circle: the first of them answers none";
            self.findings
                .push(fault(code::SHAPE, &place, message.into()));
        }
        self.loss.merge(&said.lost);
        let number = self.talk_count;
        self.talk_count = number.saturating_add(1);
        self.give(conversation.numbered(number));
    }

    fn fact(&mut self, fact: Fact, newest: Option<&str>) {
        let provider = self.builder.provider;
        let (name, importer) = (provider.name(), importer(provider));
        let id = fact.id.clone();
        let Some(memory) = fact.into_pam(name, importer, newest) else {
            self.loss.count("memory");
            let message = "has no time, and nothing it came with has one".into();
            return self.findings.push(fault(code::TIME, &id, message));
        };
        if !self.facts.add(self.facts.key(&id)) {
            self.loss.count("duplicate");
            return self.findings.push(Converter::duplicate(&id));
        }
        let number = self.fact_count;
        self.fact_count = number.saturating_add(1);
        self.give(self.builder.converter.memory(&memory, number));
    }

    fn give(&mut self, converted: Converted) {
        self.faults.extend(converted.faults);
        self.findings.extend(converted.findings);
        converted.lost.iter().for_each(|what| self.loss.count(what));
        if self.faults.is_empty() {
            for record in converted.records {
                self.sink.push(record);
            }
        }
    }
}

impl Builder {
    /// Builds the records of a conversation, whose number is not known yet.
    pub(super) fn said(&self, mut conversation: Conversation) -> Said {
        let id = conversation.id.clone();
        conversation.untangle();
        chatgpt::add_feedback(&mut conversation, &self.feedback);
        let lost = std::mem::take(&mut conversation.lost);
        let pair = conversation.into_pam(self.provider.name(), importer(self.provider));
        let converted = pair.map(|(entry, document)| self.converter.conversation(entry, &document));
        Said {
            id,
            converted,
            lost,
        }
    }
}
