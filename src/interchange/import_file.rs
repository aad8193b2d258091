use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Seek};
use std::path::Path;

use crate::codec::Profile;
use crate::crypto::Resolver;
use crate::grain::Time;

use crate::interchange::io::encryption::{self, Decryption};
use crate::interchange::io::file_set::Bytes;
use crate::interchange::io::source_file::{SharedSource, SourceFile};
use crate::interchange::model::record_set::Source;
use crate::interchange::{
    Diagnostics, Error, ForeignId, ForeignVectors, Format, Loss, Place, Record, Records, Signature,
    aimem, jsonl, mg, omi, pam, provider,
};

/// Everything a file says, validated before any of it is stored.
#[derive(Debug)]
pub struct ImportFile {
    /// The format it was read as.
    pub format: Format,
    /// The records that are sound, in an order in which they can be stored.
    pub records: Records,
    /// The records that are not; an error of the file as a whole leaves no records.
    pub errors: Vec<Error>,
    /// What is odd, and where.
    pub findings: Vec<(Place, String)>,
    /// What records cannot carry.
    pub loss: Loss,
    /// The export that this one goes on from (PAM 16).
    pub base: Option<ForeignId>,
    /// The vectors of its records, or of what came in before.
    pub vectors: ForeignVectors,
    /// What became of the signature over the file; none of a format that has none.
    pub signature: Option<Signature>,
}

/// How files are read.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The device profile whose limits the grains are held to.
    pub profile: Profile,
    /// The creation time of JSON grains that have none; without it they are refused.
    pub default_created_at: Option<Time>,
    /// Whether a wrong PAM checksum is a finding instead of an error.
    pub accept_bad_checksum: bool,
    /// What an OMI file is held to; without one, to what an import needs.
    pub omi_level: Option<omi::Level>,
    /// What the ids of an OMI file without a namespace are unique in; without one, the file. Whose
    /// a PAM conversation or embeddings file is that comes without its store; without one, `local`.
    pub scope: Option<String>,
    /// Whether a PAM file is held to everything that its text and its schema say, and not only to
    /// what grains depend on.
    pub is_strict: bool,
    /// Whether the signature beside an AIMEM bundle is passed over, which the ledger records.
    pub skip_signature: bool,
    /// What opens an encrypted file.
    pub unseal: Option<Decryption>,
}

impl ReadOptions {
    const fn jsonl(&self) -> jsonl::Options {
        jsonl::Options {
            profile: self.profile,
            default_created_at: self.default_created_at,
        }
    }

    fn omi(&self) -> omi::Options {
        omi::Options {
            level: self.omi_level,
            scope: self.scope.clone(),
            profile: self.profile,
        }
    }

    fn pam(&self) -> pam::Options {
        pam::Options {
            accept_bad_checksum: self.accept_bad_checksum,
            is_strict: self.is_strict,
            owner: self.scope.clone(),
            profile: self.profile,
        }
    }
}

impl ImportFile {
    /// Reads a file or a directory, as the format given or as what it turns out to be; `pam`,
    /// `aimem` and `omi` are each of their forms.
    ///
    /// # Errors
    /// `ERR_IO`, `ERR_FORMAT_UNKNOWN`; `ERR_SEALED`, `ERR_IDENTITY` of an encrypted one. Everything wrong inside the file is in
    /// [`ImportFile::errors`].
    pub fn open(path: &Path, format: Option<Format>, options: &ReadOptions) -> Result<Self, Error> {
        if let Some(bytes) = encryption::open(path, options.unseal.as_ref())? {
            return Self::of_bytes(&bytes, format, options);
        }
        let format = Format::chosen(format, || Format::detect(path))?;
        let mut reading = Self::new(format);
        match format {
            Format::Pam => reading.take_store(pam::open(path, &options.pam())),
            Format::Provider(provider) => {
                let export = Bytes::At(path);
                reading.take_export(provider::open(export, provider, options.profile));
            }
            Format::PamConversation => reading.read_bytes(&bytes(path)?, options),
            Format::PamEmbeddings => {
                let part = SourceFile::at(path).map_err(world)?;
                reading.take_embeddings(pam::open_embeddings(part, &options.pam()));
            }
            // What cannot be read twice, such as a pipe, is held.
            _ if !path.is_file() => reading.read_bytes(&bytes(path)?, options),
            _ => reading.judge_file(open(path)?, options),
        }
        if matches!(format, Format::Aimem | Format::AimemNdjson) {
            reading.check_signature(path, options)?;
        }
        Ok(reading)
    }

    /// Reads the bytes of a file, as the format given or as what they turn out to be.
    ///
    /// # Errors
    /// `ERR_FORMAT_UNKNOWN`; `PROVIDER_ZIP`. Everything wrong inside is in [`ImportFile::errors`].
    pub fn of_bytes(
        bytes: &[u8],
        format: Option<Format>,
        options: &ReadOptions,
    ) -> Result<Self, Error> {
        let format = Format::chosen(format, || Format::detect_bytes(bytes))?;
        let mut reading = Self::new(format);
        reading.read_bytes(bytes, options);
        Ok(reading)
    }

    /// Starts what a file of a format says, with nothing in it.
    pub fn new(format: Format) -> Self {
        Self {
            format,
            records: Records::default(),
            errors: Vec::new(),
            findings: Vec::new(),
            loss: Loss::default(),
            base: None,
            vectors: ForeignVectors::default(),
            signature: None,
        }
    }

    fn read_bytes(&mut self, bytes: &[u8], options: &ReadOptions) {
        match self.format {
            Format::Mg => {
                let mut records = Vec::new();
                self.judge_mg(Cursor::new(bytes), |record| records.push(record));
                self.records = records.into();
            }
            Format::Jsonl => {
                let mut records = Vec::new();
                self.judge_jsonl(bytes, options, |record| records.push(record));
                self.records = records.into();
            }
            Format::Pam => self.take_store(pam::open_bytes(bytes, &options.pam())),
            Format::Aimem => self.take_aimem(aimem::read(bytes, options.profile)),
            Format::AimemNdjson => self.take_aimem(aimem::read_stream(bytes, options.profile)),
            Format::Omi => self.take_omi(omi::read(bytes, &options.omi())),
            Format::OmiJsonl => self.take_omi(omi::read_lines(bytes, &options.omi())),
            Format::PamConversation => {
                self.take_pam(pam::read_conversation(bytes, &options.pam()));
            }
            Format::PamEmbeddings => {
                let part = SourceFile::Whole(SharedSource::here(bytes));
                self.take_embeddings(pam::open_embeddings(part, &options.pam()));
            }
            Format::Provider(provider) => {
                let export = Bytes::Here(bytes);
                self.take_export(provider::open(export, provider, options.profile));
            }
        }
    }

    /// Validates a file whose records are read again when they are asked for.
    fn judge_file(&mut self, file: File, options: &ReadOptions) {
        let mut input = BufReader::with_capacity(BUFFER_LEN, file);
        let (mut len, mut has_signed) = (0_u64, false);
        let count = |record: Record| {
            len = len.saturating_add(1);
            has_signed |= record.grain.is_signed();
        };
        let source = match self.format {
            Format::Mg => {
                self.judge_mg(&mut input, count);
                Source::Mg(input)
            }
            Format::Jsonl => {
                self.judge_jsonl(&mut input, options, count);
                Source::Jsonl(input, options.jsonl())
            }
            Format::Aimem | Format::AimemNdjson => {
                let is_stream = self.format == Format::AimemNdjson;
                match aimem::open(input, is_stream, options.profile) {
                    Ok((bundle, validated)) => {
                        self.findings = validated.findings.into();
                        len = validated.records;
                        Source::Aimem(Box::new(bundle))
                    }
                    Err(errors) => return self.errors = errors,
                }
            }
            Format::Omi | Format::OmiJsonl => {
                let is_lines = self.format == Format::OmiJsonl;
                match omi::open(input, is_lines, &options.omi()) {
                    Ok((file, validated)) => {
                        self.findings = validated.findings.into();
                        len = validated.records;
                        // Whole grains inside may be signed.
                        has_signed = true;
                        Source::Omi(Box::new(file))
                    }
                    Err(errors) => return self.errors = errors,
                }
            }
            Format::Pam | Format::PamConversation | Format::PamEmbeddings | Format::Provider(_) => {
                return;
            }
        };
        self.records = Records::new(source, len, has_signed);
    }

    /// Looks for the signature beside a bundle (AIMEM 5.3); one that does not fit refuses it.
    fn check_signature(&mut self, path: &Path, options: &ReadOptions) -> Result<(), Error> {
        let is_stream = match self.format {
            Format::Aimem => false,
            Format::AimemNdjson => true,
            _ => return Ok(()),
        };
        let Some(beside) = aimem::signature_paths(path).find(|path| path.is_file()) else {
            self.signature = Some(Signature::Absent);
            return Ok(());
        };
        if options.skip_signature {
            self.signature = Some(Signature::Skipped);
            return Ok(());
        }
        // What a signature is over is hashed twice, so this bundle is held whole.
        match aimem::verify(&bytes(path)?, is_stream, &bytes(&beside)?) {
            Ok(signer) => {
                self.signature = Some(Signature::Valid);
                let message = format!("signed by {}", signer.did);
                self.findings.push((Place::File, message));
            }
            Err(error) => {
                self.signature = Some(Signature::Invalid);
                self.records = Records::default();
                self.errors.push(error);
            }
        }
        Ok(())
    }

    /// Checks the signatures of signed grains; those that do not verify become errors.
    pub fn verify_signatures(&mut self, resolver: &dyn Resolver) {
        self.errors.extend(self.records.verify(resolver));
    }

    fn judge_mg(&mut self, file: impl BufRead + Seek, mut take: impl FnMut(Record)) {
        let result = (|| {
            let archive = mg::Archive::open(file, mg::ReadOptions::default())?;
            let warnings = archive.warnings().iter().cloned();
            self.findings
                .extend(warnings.map(|warning| (Place::File, warning)));
            let mut records = archive.records()?;
            for record in &mut records {
                match record {
                    Ok(record) => take(record),
                    Err(error) => self.errors.push(error),
                }
            }
            // Ruling I18: a status for a grain that the file does not have says nothing here.
            let mut findings = Diagnostics::default();
            for address in records.unclaimed() {
                let message = format!("the manifest names {address}, which the file does not hold");
                findings.push(Place::File, message);
            }
            self.findings.extend(Vec::from(findings));
            Ok(())
        })();
        if let Err(error) = result {
            self.errors.push(error);
        }
    }

    fn judge_jsonl(
        &mut self,
        file: impl BufRead,
        options: &ReadOptions,
        mut take: impl FnMut(Record),
    ) {
        for record in jsonl::Reader::new(file, options.jsonl()) {
            match record {
                Ok(record) => take(record),
                Err(error) => self.errors.push(error),
            }
        }
    }

    fn take_aimem(&mut self, read: Result<aimem::Import, Vec<Error>>) {
        match read {
            Ok(import) => {
                self.records = import.records.into();
                self.findings = import.findings;
                self.loss = import.loss;
            }
            Err(errors) => self.errors = errors,
        }
    }

    fn take_omi(&mut self, read: Result<omi::Import, Vec<Error>>) {
        match read {
            Ok(import) => {
                self.records = import.records.into();
                self.findings = import.findings;
                self.loss = import.loss;
            }
            Err(errors) => self.errors = errors,
        }
    }

    fn take_store(&mut self, opened: Result<(pam::File, pam::Validation), Vec<Error>>) {
        let (file, validated) = match opened {
            Ok(opened) => opened,
            Err(errors) => return self.errors = errors,
        };
        let output = validated.output;
        let source = Source::Pam(Box::new(file));
        self.records = Records::new(source, output.len, output.has_signed);
        self.findings = told(&validated.findings.list, validated.findings.more);
        self.loss = validated.loss;
        self.base = validated.base;
        self.signature = validated.signature;
        self.vectors = validated.vectors.into();
    }

    fn take_export(
        &mut self,
        opened: Result<(provider::Export, provider::Validation), Vec<Error>>,
    ) {
        match opened {
            Ok((export, validated)) => {
                let output = validated.output;
                let source = Source::Provider(Box::new(export));
                self.records = Records::new(source, output.len, output.has_signed);
                self.findings = told(&validated.findings.list, validated.findings.more);
                self.loss = validated.loss;
            }
            Err(errors) => self.errors = errors,
        }
    }

    fn take_embeddings(&mut self, opened: Result<(pam::Vectors, pam::Import), Vec<Error>>) {
        match opened {
            Ok((vectors, import)) => {
                self.take_pam(Ok(import));
                self.vectors = Some(vectors).into();
            }
            Err(errors) => self.errors = errors,
        }
    }

    fn take_pam(&mut self, read: Result<pam::Import, Vec<Error>>) {
        match read {
            Ok(import) => {
                self.records = import.records.into();
                self.findings = told(&import.findings, import.unlisted);
                self.loss = import.loss;
            }
            Err(errors) => self.errors = errors,
        }
    }
}

/// Says what is odd, and how much of it is not listed.
fn told(listed: &[Error], unlisted: u64) -> Vec<(Place, String)> {
    let mut findings: Vec<_> = listed.iter().map(Error::to_finding).collect();
    if unlisted > 0 {
        findings.push((Place::File, Diagnostics::more(unlisted)));
    }
    findings
}

fn open(path: &Path) -> Result<File, Error> {
    File::open(path).map_err(world)
}

fn bytes(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(world)
}

const fn world(source: std::io::Error) -> Error {
    Error::Io {
        place: Place::File,
        source,
    }
}

/// Large enough that asking the system costs nothing beside the rest.
const BUFFER_LEN: usize = 256 * 1024;
