//! A memory store that is validated once, and read again for its records.

use std::sync::Arc;

use crate::codec::{Profile, Value};
use crate::interchange::io::record_sink::{Output, changed};
use crate::interchange::io::source_file::SourceFile;
use crate::interchange::model::record_set::RecordSource;
use crate::interchange::{
    Diagnostics, Error, Finding, ForeignId, Loss, ReadOptions, Record, Signature,
};

use super::super::files::conversation_files::ConversationFiles;
use super::super::json::{broken, outline};
use super::super::names::{ARRAYS, EXPORT};
use super::super::schema::validate;
use super::super::types::head::Head;
use super::build::{Names, RecordBuilder};
use super::build_memory::BuiltMemories;
use super::record_pass::Pass;
use super::validation_pass::{self, ValidationIndex};
use super::vectors::Vectors;

/// A valid store; its records are built when they are asked for.
pub(crate) struct StoreFile {
    part: SourceFile,
    conversation_files: ConversationFiles,
    profile: Profile,
    /// The envelope.
    root: Value,
    index: Arc<ValidationIndex>,
    known: Arc<BuiltMemories>,
    output: Output,
}

/// The result of validating a store.
pub(crate) struct Validation {
    pub(crate) output: Output,
    pub(crate) warnings: Vec<Finding>,
    pub(crate) findings: Diagnostics,
    pub(crate) loss: Loss,
    pub(crate) base: Option<ForeignId>,
    pub(crate) signature: Option<Signature>,
    pub(crate) vectors: Option<Vectors>,
    /// The errors of the records that are left out.
    pub(crate) errors: Vec<Error>,
}

impl StoreFile {
    /// Validates a store: its records, and whether each of them fits a grain.
    ///
    /// # Errors
    /// All errors, as far as they can be found.
    pub(crate) fn open(
        part: SourceFile,
        conversation_files: ConversationFiles,
        options: &ReadOptions,
    ) -> Result<(Self, Validation), Vec<Error>> {
        let root = outline(&part, &ARRAYS).map_err(|error| vec![broken(&part, error)])?;
        let mut findings = Diagnostics::default();
        let mut index = validation_pass::validate(&part, &root, options, &mut findings)?;
        let errors = std::mem::take(&mut index.errors);
        let index = Arc::new(index);
        let mut take = |_| true;
        let mut pass = Pass::new(&part, &conversation_files, &index, None, &mut take);
        let head = Head::read(&root, &mut pass.faults).map_err(|error| vec![error])?;
        let builder = builder(&head, options.profile);
        let found = pass.embeddings(&head);
        pass.go(&head, &builder)?;
        let known = Arc::new(std::mem::take(&mut pass.built));
        let mut faults = Diagnostics::default();
        faults.extend(errors);
        faults.append(pass.faults);
        findings.append(pass.findings);
        validate::report_non_fatal(pass.non_fatal, options, &mut faults, &mut findings);
        if options.is_strict && !faults.is_empty() {
            return Err(faults.list);
        }
        let (output, warnings) = pass.sink.finish();
        let validated = Validation {
            output,
            warnings,
            findings,
            loss: pass.loss,
            errors: faults.list,
            base: head.base.map(|id| builder.foreign_id(EXPORT, id)),
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
            profile: options.profile,
            root,
            index,
            known,
            output,
        };
        Ok((file, validated))
    }
}

impl RecordSource for StoreFile {
    fn each(&mut self, take: &mut dyn FnMut(Record) -> bool) -> Result<(), Error> {
        let known = Some(&*self.known);
        let (part, conversation_files) = (&self.part, &self.conversation_files);
        let mut pass = Pass::new(part, conversation_files, &self.index, known, take);
        let head = Head::read(&self.root, &mut pass.faults)?;
        let builder = builder(&head, self.profile);
        // Records that are none were reported by the first pass, and are left out of both.
        pass.go(&head, &builder).map_err(|_| changed())?;
        pass.sink.compare(self.output)
    }
}

fn builder<'a>(head: &Head<'a>, profile: Profile) -> RecordBuilder<'a> {
    RecordBuilder {
        owner: head.owner,
        version: head.version,
        names: Names::PAM,
        profile,
    }
}
