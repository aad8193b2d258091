//! The grains of a memory store, made record by record.

use std::collections::HashMap;
use std::sync::Arc;

use crate::codec::{ContentAddress, Value};
use crate::grain::Time;
use crate::interchange::io::record_sink::{Output, changed};
use crate::interchange::io::source_file::Part;
use crate::interchange::{Error, ForeignId, Loss, Record, Signature};

use super::super::files::conversation_files::Talks;
use super::super::schema::validate;
use super::super::types::head::Head;
use super::super::{ARRAYS, Options, broken, outline};
use super::build::{Maker, Names};
use super::record_pass::Pass;
use super::told::Told;
use super::validation_pass::{self, Survey};
use super::vectors::Vectors;

/// A store that was judged and found right; its records are made when they are asked for.
pub(in crate::interchange) struct File {
    part: Part,
    talks: Talks,
    options: Options,
    /// What the store says beside its records.
    root: Value,
    survey: Arc<Survey>,
    known: Arc<Known>,
    output: Output,
}

/// What is remembered of the memories that were made.
#[derive(Default)]
pub(in crate::interchange) struct Known {
    /// The grains of the memories by their numbers.
    pub(in crate::interchange) addresses: Vec<ContentAddress>,
    /// When those that replace others were created.
    pub(in crate::interchange) created: HashMap<usize, Time>,
}

/// What a store comes to beside its records.
pub(in crate::interchange) struct Judged {
    pub(in crate::interchange) output: Output,
    pub(in crate::interchange) findings: Told,
    pub(in crate::interchange) loss: Loss,
    pub(in crate::interchange) base: Option<ForeignId>,
    pub(in crate::interchange) signature: Option<Signature>,
    pub(in crate::interchange) vectors: Option<Vectors>,
}

impl File {
    /// Judges a store: what its records say, and whether each of them fits a grain.
    ///
    /// # Errors
    /// Everything that is wrong, as far as it can be told.
    pub(in crate::interchange) fn open(
        part: Part,
        talks: Talks,
        options: &Options,
    ) -> Result<(Self, Judged), Vec<Error>> {
        let root = outline(&part, &ARRAYS).map_err(|error| vec![broken(&part, error)])?;
        let mut findings = Told::default();
        let survey = Arc::new(validation_pass::judge(
            &part,
            &root,
            options,
            &mut findings,
        )?);
        let mut take = |_| true;
        let mut pass = Pass::new(&part, &talks, &survey, None, &mut take);
        let head = Head::read(&root, &mut pass.faults).map_err(|error| vec![error])?;
        let maker = maker(&head, options);
        let found = pass.embeddings(&head);
        pass.go(&head, &maker)?;
        let known = Arc::new(std::mem::take(&mut pass.made));
        let (mut faults, minded) = (pass.faults, pass.minded);
        findings.append(pass.findings);
        validate::mind(minded, options, &mut faults, &mut findings);
        if !faults.is_empty() {
            return Err(faults.list);
        }
        let output = pass.outlet.close();
        let judged = Judged {
            output,
            findings,
            loss: pass.loss,
            base: head
                .base
                .map(|id| maker.foreign_id(super::super::EXPORT, id)),
            signature: survey.signature,
            vectors: found.map(|(file, len)| Vectors {
                file,
                len,
                owner: maker.owner.id.to_owned(),
                of: Some((Arc::clone(&survey), Arc::clone(&known))),
                is_delta: head.is_delta(),
            }),
        };
        let file = Self {
            part,
            talks,
            options: options.clone(),
            root,
            survey,
            known,
            output,
        };
        Ok((file, judged))
    }

    /// Hands the records over, in an order in which they can be stored, while they are wanted.
    ///
    /// # Errors
    /// `ERR_IO`, also if the file is not what it was.
    pub(in crate::interchange) fn each(
        &self,
        take: &mut dyn FnMut(Record) -> bool,
    ) -> Result<(), Error> {
        let known = Some(&*self.known);
        let (part, talks) = (&self.part, &self.talks);
        let mut pass = Pass::new(part, talks, &self.survey, known, take);
        let head = Head::read(&self.root, &mut pass.faults)?;
        let maker = maker(&head, &self.options);
        pass.go(&head, &maker).map_err(|_| changed())?;
        if !pass.faults.is_empty() {
            return Err(changed());
        }
        pass.outlet.compare(self.output)
    }
}

fn maker<'a>(head: &Head<'a>, options: &Options) -> Maker<'a> {
    Maker {
        owner: head.owner,
        version: head.version,
        names: Names::PAM,
        profile: options.profile,
    }
}
