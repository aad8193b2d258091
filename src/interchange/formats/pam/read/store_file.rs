//! The grains of a memory store, made record by record.

use std::collections::HashMap;
use std::sync::Arc;

use crate::codec::{ContentAddress, Value};
use crate::grain::Time;
use crate::interchange::io::record_sink::{Output, changed};
use crate::interchange::io::source_file::SourceFile;
use crate::interchange::{Error, ForeignId, Loss, Record, Signature};

use super::super::files::conversation_files::ConversationFiles;
use super::super::schema::validate;
use super::super::types::head::Head;
use super::super::{ARRAYS, Options, broken, outline};
use super::build::{Names, RecordBuilder};
use super::record_pass::Pass;
use super::told::Diagnostics;
use super::validation_pass::{self, ValidationIndex};
use super::vectors::Vectors;

/// A store that was validated and found right; its records are made when they are asked for.
pub(in crate::interchange) struct File {
    part: SourceFile,
    conversation_files: ConversationFiles,
    options: Options,
    /// What the store says beside its records.
    root: Value,
    index: Arc<ValidationIndex>,
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
pub(in crate::interchange) struct Validation {
    pub(in crate::interchange) output: Output,
    pub(in crate::interchange) findings: Diagnostics,
    pub(in crate::interchange) loss: Loss,
    pub(in crate::interchange) base: Option<ForeignId>,
    pub(in crate::interchange) signature: Option<Signature>,
    pub(in crate::interchange) vectors: Option<Vectors>,
}

impl File {
    /// Validates a store: what its records say, and whether each of them fits a grain.
    ///
    /// # Errors
    /// Everything that is wrong, as far as it can be told.
    pub(in crate::interchange) fn open(
        part: SourceFile,
        conversation_files: ConversationFiles,
        options: &Options,
    ) -> Result<(Self, Validation), Vec<Error>> {
        let root = outline(&part, &ARRAYS).map_err(|error| vec![broken(&part, error)])?;
        let mut findings = Diagnostics::default();
        let index = Arc::new(validation_pass::validate(
            &part,
            &root,
            options,
            &mut findings,
        )?);
        let mut take = |_| true;
        let mut pass = Pass::new(&part, &conversation_files, &index, None, &mut take);
        let head = Head::read(&root, &mut pass.faults).map_err(|error| vec![error])?;
        let builder = builder(&head, options);
        let found = pass.embeddings(&head);
        pass.go(&head, &builder)?;
        let known = Arc::new(std::mem::take(&mut pass.made));
        let (mut faults, non_fatal) = (pass.faults, pass.non_fatal);
        findings.append(pass.findings);
        validate::report_non_fatal(non_fatal, options, &mut faults, &mut findings);
        if !faults.is_empty() {
            return Err(faults.list);
        }
        let output = pass.sink.close();
        let validated = Validation {
            output,
            findings,
            loss: pass.loss,
            base: head
                .base
                .map(|id| builder.foreign_id(super::super::EXPORT, id)),
            signature: index.signature,
            vectors: found.map(|(file, len)| Vectors {
                file,
                len,
                owner: builder.owner.id.to_owned(),
                of: Some((Arc::clone(&index), Arc::clone(&known))),
                is_delta: head.is_delta(),
            }),
        };
        let file = Self {
            part,
            conversation_files,
            options: options.clone(),
            root,
            index,
            known,
            output,
        };
        Ok((file, validated))
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
        let (part, conversation_files) = (&self.part, &self.conversation_files);
        let mut pass = Pass::new(part, conversation_files, &self.index, known, take);
        let head = Head::read(&self.root, &mut pass.faults)?;
        let builder = builder(&head, &self.options);
        pass.go(&head, &builder).map_err(|_| changed())?;
        if !pass.faults.is_empty() {
            return Err(changed());
        }
        pass.sink.compare(self.output)
    }
}

fn builder<'a>(head: &Head<'a>, options: &Options) -> RecordBuilder<'a> {
    RecordBuilder {
        owner: head.owner,
        version: head.version,
        names: Names::PAM,
        profile: options.profile,
    }
}
