use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use clap::Args;
use grainstore::ErrorCode;
use grainstore::crypto::SigningKey;
use zeroize::Zeroizing;

use crate::problem::Problem;

/// Where a secret key is read from: never from an argument, which other users can see.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct KeySource {
    /// The key: a PKCS#8 file in PEM that only you can read, as `did new` and openssl write it
    #[arg(long, value_name = "FILE")]
    key: Option<String>,
    /// The same from an open file descriptor
    #[arg(long, value_name = "N")]
    key_fd: Option<u32>,
}

impl KeySource {
    /// Reads the key.
    ///
    /// # Errors
    /// `ERR_KEY`, `ERR_IO`.
    pub(crate) fn read(&self) -> Result<SigningKey, Problem> {
        match (&self.key, self.key_fd) {
            (Some(name), _) => read_file(name),
            (None, number) => {
                let name = format!("/dev/fd/{}", number.unwrap_or_default());
                read_from(&name, open(&name)?)
            }
        }
    }
}

/// Reads a key file, unless others could have read it.
pub(crate) fn read_file(name: &str) -> Result<SigningKey, Problem> {
    let file = open(name)?;
    let is_open = is_open_to_others(&file).map_err(|error| Problem::of(&error).at(name))?;
    if is_open {
        let message = "others can read the key";
        return Err(Problem::new(ErrorCode::Key, message).at(name));
    }
    read_from(name, file)
}

/// Writes a new key file that nobody else can read, and none over another.
pub(crate) fn write_file(name: &str, key: &SigningKey) -> Result<(), Problem> {
    let pem = key.to_pem().map_err(|error| Problem::of(&error).at(name))?;
    let write = || {
        let mut file = create(Path::new(name))?;
        file.write_all(pem.as_bytes())?;
        file.sync_all()
    };
    write().map_err(|error| Problem::of(&error).at(name))
}

fn open(name: &str) -> Result<File, Problem> {
    File::open(name).map_err(|error| Problem::of(&error).at(name))
}

fn read_from(name: &str, file: File) -> Result<SigningKey, Problem> {
    // Room for all of it at once: a text that grows leaves copies behind.
    let mut pem = Zeroizing::new(String::with_capacity(PEM_LEN_MAX));
    let limit = u64::try_from(PEM_LEN_MAX).unwrap_or(u64::MAX);
    let read = file.take(limit).read_to_string(&mut pem);
    read.map_err(|error| Problem::of(&error).at(name))?;
    SigningKey::from_pem(&pem).map_err(|error| Problem::of(&error).at(name))
}

#[cfg(unix)]
fn is_open_to_others(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(file.metadata()?.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_open_to_others(_: &File) -> io::Result<bool> {
    Ok(false)
}

fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}

/// Several times the longest key that is read here.
const PEM_LEN_MAX: usize = 4096;
