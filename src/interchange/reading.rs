use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Seek};
use std::path::Path;

use crate::codec::Profile;
use crate::crypto::Resolver;
use crate::grain::Time;

use super::archive::Bytes;
use super::sealed::{self, Unseal};
use super::{
    Error, ForeignId, ForeignVector, Format, Loss, Place, Record, Signature, aimem, jsonl, mg, omi,
    pam, provider,
};

/// Everything a file holds, read before any of it is stored.
#[derive(Debug)]
pub struct Reading {
    /// The format it was read as.
    pub format: Format,
    /// The records that are sound, in an order in which they can be stored.
    pub records: Vec<Record>,
    /// The records that are not; an error of the file as a whole leaves no records.
    pub errors: Vec<Error>,
    /// What is odd, and where.
    pub findings: Vec<(Place, String)>,
    /// What records cannot carry.
    pub loss: Loss,
    /// The export that this one goes on from (PAM 16).
    pub base: Option<ForeignId>,
    /// The vectors of its records, or of what came in before.
    pub vectors: Vec<ForeignVector>,
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
    pub unseal: Option<Unseal>,
}

impl ReadOptions {
    fn pam(&self) -> pam::Options {
        pam::Options {
            accept_bad_checksum: self.accept_bad_checksum,
            is_strict: self.is_strict,
            owner: self.scope.clone(),
            profile: self.profile,
        }
    }
}

impl Reading {
    /// Reads a file or a directory, as the format given or as what it turns out to be; `pam`,
    /// `aimem` and `omi` are each of their forms.
    ///
    /// # Errors
    /// `ERR_IO`, `ERR_FORMAT_UNKNOWN`; `ERR_SEALED`, `ERR_IDENTITY` of an encrypted one. Everything wrong inside the file is in
    /// [`Reading::errors`].
    pub fn open(path: &Path, format: Option<Format>, options: &ReadOptions) -> Result<Self, Error> {
        if let Some(bytes) = sealed::open(path, options.unseal.as_ref())? {
            return Self::of_bytes(&bytes, format, options);
        }
        let format = Format::chosen(format, || Format::detect(path))?;
        let mut reading = Self::new(format);
        match format {
            Format::Mg => reading.read_mg(BufReader::new(open(path)?)),
            Format::Jsonl => reading.read_jsonl(BufReader::new(open(path)?), options),
            Format::Pam => reading.take_pam(pam::read(path, &options.pam())),
            Format::Provider(provider) => {
                reading.take_pam(provider::read(path, provider, options.profile));
            }
            Format::PamConversation
            | Format::PamEmbeddings
            | Format::Aimem
            | Format::AimemNdjson
            | Format::Omi
            | Format::OmiJsonl => {
                let bytes = bytes(path)?;
                reading.read_bytes(&bytes, options);
                reading.judge_signature(path, &bytes, options)?;
            }
        }
        Ok(reading)
    }

    /// Reads the bytes of a file, as the format given or as what they turn out to be.
    ///
    /// # Errors
    /// `ERR_FORMAT_UNKNOWN`; `PROVIDER_ZIP`. Everything wrong inside is in [`Reading::errors`].
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
            records: Vec::new(),
            errors: Vec::new(),
            findings: Vec::new(),
            loss: Loss::default(),
            base: None,
            vectors: Vec::new(),
            signature: None,
        }
    }

    fn read_bytes(&mut self, bytes: &[u8], options: &ReadOptions) {
        match self.format {
            Format::Mg => self.read_mg(Cursor::new(bytes)),
            Format::Jsonl => self.read_jsonl(bytes, options),
            Format::Pam => self.take_pam(pam::read_bytes(bytes, &options.pam())),
            Format::PamConversation => {
                self.take_pam(pam::read_conversation(bytes, &options.pam()));
            }
            Format::PamEmbeddings => self.take_pam(pam::read_embeddings(bytes, &options.pam())),
            Format::Aimem | Format::AimemNdjson => self.read_aimem(bytes, options),
            Format::Omi | Format::OmiJsonl => self.read_omi(bytes, options),
            Format::Provider(provider) => {
                let export = Bytes::Here(bytes);
                self.take_pam(provider::read_from(export, provider, options.profile));
            }
        }
    }

    /// Looks for the signature beside a bundle (AIMEM 5.3); one that does not fit refuses it.
    fn judge_signature(
        &mut self,
        path: &Path,
        bundle: &[u8],
        options: &ReadOptions,
    ) -> Result<(), Error> {
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
        match aimem::verify(bundle, is_stream, &bytes(&beside)?) {
            Ok(signer) => {
                self.signature = Some(Signature::Valid);
                let message = format!("signed by {}", signer.did);
                self.findings.push((Place::File, message));
            }
            Err(error) => {
                self.signature = Some(Signature::Invalid);
                self.records.clear();
                self.errors.push(error);
            }
        }
        Ok(())
    }

    /// Checks the signatures of signed grains; those that do not verify become errors.
    pub fn verify_signatures(&mut self, resolver: &dyn Resolver) {
        let errors = &mut self.errors;
        self.records.retain(|record| {
            if !record.grain.is_signed() {
                return true;
            }
            let verified = record.grain.verify_signature(resolver);
            let place = record.place.clone();
            let refused = verified.map_err(|source| Error::Signature { place, source });
            refused.map_err(|error| errors.push(error)).is_ok()
        });
    }

    fn read_mg(&mut self, file: impl BufRead + Seek) {
        let result = (|| {
            let archive = mg::Archive::open(file, mg::ReadOptions::default())?;
            let warnings = archive.warnings().iter().cloned();
            self.findings
                .extend(warnings.map(|warning| (Place::File, warning)));
            let mut records = archive.records()?;
            for record in &mut records {
                match record {
                    Ok(record) => self.records.push(record),
                    Err(error) => self.errors.push(error),
                }
            }
            // Ruling I18: a status for a grain that the file does not have says nothing here.
            for address in records.unclaimed() {
                let message = format!("the manifest names {address}, which the file does not hold");
                self.findings.push((Place::File, message));
            }
            Ok(())
        })();
        if let Err(error) = result {
            self.errors.push(error);
        }
    }

    fn read_jsonl(&mut self, file: impl BufRead, options: &ReadOptions) {
        let options = jsonl::Options {
            profile: options.profile,
            default_created_at: options.default_created_at,
        };
        for record in jsonl::Reader::new(file, options) {
            match record {
                Ok(record) => self.records.push(record),
                Err(error) => self.errors.push(error),
            }
        }
    }

    fn read_aimem(&mut self, bytes: &[u8], options: &ReadOptions) {
        let read = match self.format {
            Format::AimemNdjson => aimem::read_stream,
            _ => aimem::read,
        };
        match read(bytes, options.profile) {
            Ok(import) => {
                self.records = import.records;
                self.findings = import.findings;
                self.loss = import.loss;
            }
            Err(errors) => self.errors = errors,
        }
    }

    fn read_omi(&mut self, bytes: &[u8], options: &ReadOptions) {
        let read = match self.format {
            Format::OmiJsonl => omi::read_lines,
            _ => omi::read,
        };
        let options = omi::Options {
            level: options.omi_level,
            scope: options.scope.clone(),
            profile: options.profile,
        };
        match read(bytes, &options) {
            Ok(import) => {
                self.records = import.records;
                self.findings = import.findings;
                self.loss = import.loss;
            }
            Err(errors) => self.errors = errors,
        }
    }

    fn take_pam(&mut self, read: Result<pam::Import, Vec<Error>>) {
        match read {
            Ok(import) => {
                self.records = import.records;
                self.loss = import.loss;
                self.base = import.base;
                self.vectors = import.vectors;
                self.signature = import.signature;
                let findings = import.findings.into_iter();
                self.findings = findings.map(|finding| finding.to_finding()).collect();
            }
            Err(errors) => self.errors = errors,
        }
    }
}

fn open(path: &Path) -> Result<File, Error> {
    File::open(path).map_err(|source| Error::Io {
        place: Place::File,
        source,
    })
}

fn bytes(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|source| Error::Io {
        place: Place::File,
        source,
    })
}
