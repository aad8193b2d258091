//! The grains of an export, made of one conversation after the other.

use crate::codec::{Profile, Value};
use crate::interchange::formats::pam::{Made, MadeTalk, Outcome, Told};
use crate::interchange::io::file_set::Files;
use crate::interchange::io::record_sink::{Outlet, Output, changed};
use crate::interchange::io::source_file::Part;
use crate::interchange::json::{Broken, Spot, in_array, in_order};
use crate::interchange::model::compact_table::Table;
use crate::interchange::{Error, Loss, Record};

use super::conversation::Talk;
use super::fact::Fact;
use super::gemini::{self, Plan};
use super::item::Item;
use super::validation_pass::{Kind, Survey, broken};
use super::{Provider, chatgpt, code, copilot, fault};

/// An export that was judged; its records are made when they are asked for.
pub(in crate::interchange) struct Export {
    files: Files,
    provider: Provider,
    survey: Survey,
    made: Made,
    output: Option<Output>,
}

/// What an export comes to beside its records.
pub(in crate::interchange) struct Judged {
    pub(in crate::interchange) output: Output,
    pub(in crate::interchange) findings: Told,
    pub(in crate::interchange) loss: Loss,
}

impl Export {
    /// Judges an export.
    ///
    /// # Errors
    /// What cannot be read, and what is of another provider.
    pub(super) fn open(
        files: Files,
        provider: Provider,
        profile: Profile,
    ) -> Result<(Self, Judged), Vec<Error>> {
        let mut survey = Survey::of(&files, provider).map_err(|error| vec![error])?;
        let mut findings = std::mem::take(&mut survey.findings);
        let owner = survey.owner.as_ref().or(survey.account.as_ref());
        let owner = owner.map_or("local", String::as_str);
        let mut export = Self {
            made: Made::new(owner, provider.names(), profile),
            files,
            provider,
            survey,
            output: None,
        };
        let mut take = |_| true;
        let mut pass = Pass::new(&export, &mut take);
        pass.go().map_err(|error| vec![error])?;
        let Pass {
            outlet,
            faults,
            findings: found,
            loss,
            ..
        } = pass;
        if !faults.is_empty() {
            return Err(faults.list);
        }
        findings.append(found);
        let output = outlet.close();
        export.output = Some(output);
        let judged = Judged {
            output,
            findings,
            loss,
        };
        Ok((export, judged))
    }

    /// Hands the records over, conversations first, while they are wanted.
    ///
    /// # Errors
    /// `ERR_IO`, also if a file is not what it was.
    pub(in crate::interchange) fn each(
        &mut self,
        take: &mut dyn FnMut(Record) -> bool,
    ) -> Result<(), Error> {
        let mut pass = Pass::new(self, take);
        pass.go().map_err(|_| changed())?;
        match self.output {
            Some(output) if pass.faults.is_empty() => pass.outlet.compare(output),
            _ => Err(changed()),
        }
    }
}

/// One way through the records of an export.
struct Pass<'a> {
    export: &'a Export,
    outlet: Outlet<'a>,
    faults: Told,
    findings: Told,
    loss: Loss,
    talks: Table<()>,
    talk_count: u64,
    facts: Table<()>,
    fact_count: u64,
}

/// A conversation: its id, and what it comes to unless it has no time.
type Said = (String, Option<MadeTalk>);

impl<'a> Pass<'a> {
    fn new(export: &'a Export, take: &'a mut dyn FnMut(Record) -> bool) -> Self {
        Self {
            export,
            outlet: Outlet::new(take),
            faults: Told::default(),
            findings: Told::default(),
            loss: Loss::default(),
            talks: Table::new(),
            talk_count: 0,
            facts: Table::new(),
            fact_count: 0,
        }
    }

    fn go(&mut self) -> Result<(), Error> {
        let export = self.export;
        for (file, kind) in export.files.each().zip(&export.survey.kinds) {
            let (name, part) = file?;
            let read = match kind {
                Kind::Other => Ok(()),
                Kind::Items { .. } => self.items(&part),
                Kind::Table => self.table(&part),
                Kind::Activity(plan) => self.activity(&part, plan),
            };
            read.map_err(|error| broken(name, &part, error))?;
        }
        for (file, kind) in export.files.each().zip(&export.survey.kinds) {
            let (name, part) = file?;
            if matches!(kind, Kind::Items { has_facts: true }) {
                let read = self.known(&part);
                read.map_err(|error| broken(name, &part, error))?;
            }
        }
        Ok(())
    }

    fn items(&mut self, part: &Part) -> Result<(), Broken> {
        let export = self.export;
        let make = |value: Value, spot: Spot| match export.provider.item(&value, spot) {
            Item::Talk(talk) => Some(export.said(*talk)),
            Item::Facts(_) | Item::Other => None,
        };
        self.stream(part, 0, make, |pass, said| {
            if let Some(said) = said {
                pass.talk(said);
            }
        })
    }

    fn known(&mut self, part: &Part) -> Result<(), Broken> {
        let export = self.export;
        // Of a file that is one list, the facts stand among the conversations.
        let arrays = match export.provider.arrays().len() {
            1 => 0..1,
            count => 1..count,
        };
        for array in arrays {
            let make = |value: Value, spot: Spot| match export.provider.item(&value, spot) {
                Item::Facts(facts) => facts,
                Item::Talk(_) | Item::Other => Vec::new(),
            };
            self.stream(part, array, make, |pass, facts: Vec<Fact>| {
                facts.into_iter().for_each(|fact| pass.fact(fact));
            })?;
        }
        Ok(())
    }

    /// Goes through one of the arrays of a file.
    fn stream<T: Send>(
        &mut self,
        part: &Part,
        array: usize,
        make: impl Fn(Value, Spot) -> T + Sync,
        mut take: impl FnMut(&mut Self, T),
    ) -> Result<(), Broken> {
        if !self.outlet.is_wanted() {
            return Ok(());
        }
        let arrays = self.export.provider.arrays();
        in_array(part, arrays, array, make, |one| {
            take(self, one);
            self.outlet.is_wanted()
        })
    }

    fn table(&mut self, part: &Part) -> Result<(), Broken> {
        // That this is a table was seen before.
        let (talks, _) = copilot::talks(&part.bytes()?).unwrap_or_default();
        for talk in talks {
            self.talk(self.export.said(talk));
        }
        Ok(())
    }

    fn activity(&mut self, part: &Part, plan: &Plan) -> Result<(), Broken> {
        if !self.outlet.is_wanted() {
            return Ok(());
        }
        let order = plan.order.iter().copied();
        let mut together = Vec::new();
        let make = |value: Value, number: usize| (value, number);
        in_order(part, &plan.starts, order, make, |(value, number)| {
            together.push(value);
            if plan.is_last(number) {
                let (talks, _) = gemini::talks(&std::mem::take(&mut together));
                for talk in talks {
                    self.talk(self.export.said(talk));
                }
            }
            self.outlet.is_wanted()
        })
    }

    fn talk(&mut self, (id, talk): Said) {
        let Some(talk) = talk else {
            let message = format!("conversation {id} has no time");
            return self.findings.push(fault(code::TIME, "", message));
        };
        if !self.talks.add(self.talks.key(&id)) {
            let what = format!("conversation {id}");
            return self.findings.push(Made::twice(&what));
        }
        let number = self.talk_count;
        self.talk_count = number.saturating_add(1);
        self.give(talk.numbered(number));
    }

    fn fact(&mut self, fact: Fact) {
        let export = self.export;
        let (name, importer) = (export.provider.name(), export.provider.importer());
        let id = fact.id.clone();
        let Some(memory) = fact.into_pam(name, importer, export.survey.newest.text()) else {
            let message = format!("{id} has no time, and nothing it came with has one");
            return self.findings.push(fault(code::TIME, "", message));
        };
        if !self.facts.add(self.facts.key(&id)) {
            return self.findings.push(Made::twice(&id));
        }
        let number = self.fact_count;
        self.fact_count = number.saturating_add(1);
        self.give(export.made.memory(&memory, number));
    }

    fn give(&mut self, outcome: Outcome) {
        self.faults.extend(outcome.faults);
        self.findings.extend(outcome.findings);
        outcome.lost.iter().for_each(|what| self.loss.count(what));
        if self.faults.is_empty() {
            for record in outcome.records {
                self.outlet.give(record);
            }
        }
    }
}

impl Export {
    fn said(&self, mut talk: Talk) -> Said {
        let id = talk.id.clone();
        chatgpt::add_feedback(&mut talk, &self.survey.feedback);
        let pair = talk.into_pam(self.provider.name(), self.provider.importer());
        let talk = pair.map(|(entry, document)| self.made.talk(entry, &document));
        (id, talk)
    }
}
