//! Foreign files read whole: everything that an `ImportFile` says, held in memory.
//!
//! A file that is refused as a whole is its errors. Each format has its own functions under the name
//! of its module, beside what the module has.

use std::path::Path;

use grainstore::interchange::{
    Error, ForeignVector, Format, ImportFile, Loss, Place, ReadOptions, Record, Signature,
};

#[derive(Debug, Default)]
pub(crate) struct Import {
    pub(crate) records: Vec<Record>,
    pub(crate) findings: Vec<(Place, String)>,
    pub(crate) loss: Loss,
    pub(crate) vectors: Vec<ForeignVector>,
    pub(crate) signature: Option<Signature>,
}

impl Import {
    /// The codes of the findings, which begin with them.
    pub(crate) fn codes(&self) -> Vec<&str> {
        let codes = self.findings.iter().map(|(_, said)| said.split_once(':'));
        codes.map(|parts| parts.unwrap().0).collect()
    }

    fn of(file: Result<ImportFile, Error>) -> Result<Self, Vec<Error>> {
        let file = file.map_err(|error| vec![error])?;
        if !file.errors.is_empty() {
            return Err(file.errors);
        }
        let mut vectors = Vec::new();
        let read = file.vectors.each(&mut |vector| {
            vectors.push(vector);
            true
        });
        read.map_err(|error| vec![error])?;
        Ok(Self {
            records: file.records.into_vec().map_err(|error| vec![error])?,
            findings: file.findings,
            loss: file.loss,
            vectors,
            signature: file.signature,
        })
    }

    fn of_bytes(bytes: &[u8], format: Format, options: &ReadOptions) -> Result<Self, Vec<Error>> {
        Self::of(ImportFile::of_bytes(bytes, Some(format), options))
    }

    fn of_path(path: &Path, format: Format, options: &ReadOptions) -> Result<Self, Vec<Error>> {
        Self::of(ImportFile::open(path, Some(format), options))
    }
}

fn within(profile: grainstore::codec::Profile) -> ReadOptions {
    ReadOptions {
        profile,
        ..ReadOptions::default()
    }
}

pub(crate) mod pam {
    pub(crate) use grainstore::interchange::pam::*;

    use super::*;

    pub(crate) fn read(path: &Path, options: &ReadOptions) -> Result<Import, Vec<Error>> {
        Import::of_path(path, Format::Pam, options)
    }

    pub(crate) fn read_bytes(bytes: &[u8], options: &ReadOptions) -> Result<Import, Vec<Error>> {
        Import::of_bytes(bytes, Format::Pam, options)
    }

    pub(crate) fn read_embeddings(
        bytes: &[u8],
        options: &ReadOptions,
    ) -> Result<Import, Vec<Error>> {
        Import::of_bytes(bytes, Format::PamEmbeddings, options)
    }
}

pub(crate) mod omi {
    pub(crate) use grainstore::interchange::omi::*;

    use super::*;

    pub(crate) fn read(bytes: &[u8], options: &ReadOptions) -> Result<Import, Vec<Error>> {
        Import::of_bytes(bytes, Format::Omi, options)
    }

    pub(crate) fn read_lines(bytes: &[u8], options: &ReadOptions) -> Result<Import, Vec<Error>> {
        Import::of_bytes(bytes, Format::OmiJsonl, options)
    }
}

pub(crate) mod aimem {
    use grainstore::codec::Profile;
    pub(crate) use grainstore::interchange::aimem::*;

    use super::*;

    pub(crate) fn read(bytes: &[u8], profile: Profile) -> Result<Import, Vec<Error>> {
        Import::of_bytes(bytes, Format::Aimem, &within(profile))
    }

    pub(crate) fn read_stream(bytes: &[u8], profile: Profile) -> Result<Import, Vec<Error>> {
        Import::of_bytes(bytes, Format::AimemNdjson, &within(profile))
    }
}

pub(crate) mod provider {
    use grainstore::codec::Profile;
    pub(crate) use grainstore::interchange::provider::*;

    use super::*;

    pub(crate) fn read(
        path: &Path,
        provider: Provider,
        profile: Profile,
    ) -> Result<Import, Vec<Error>> {
        Import::of_path(path, Format::Provider(provider), &within(profile))
    }
}
