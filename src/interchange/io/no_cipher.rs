//! A build without the feature `encryption`: encrypted files are refused, and none is written.
//!
//! It stands for `cipher`, so that a program need not ask which build it uses.

use std::convert::Infallible;
use std::io::{self, Write};
use std::marker::PhantomData;

use zeroize::Zeroizing;

use super::encryption::refuse;
use super::source_file::{ReadSeek, SharedSource};
use crate::code::ErrorCode;
use crate::interchange::Error;

/// Those who can decrypt a file: they are not known here.
#[derive(Clone)]
pub(super) struct Recipients;

impl Recipients {
    pub(super) fn of(_: &[impl AsRef<str>]) -> Result<Self, Error> {
        Err(unsupported())
    }

    pub(super) fn knowing(passphrase: String) -> Self {
        drop(Zeroizing::new(passphrase));
        Self
    }

    #[expect(clippy::unused_self, reason = "the other build encrypts for them")]
    pub(super) fn wrap<W: Write>(&self, _: W) -> Result<EncryptedWriter<W>, Error> {
        Err(unsupported())
    }
}

/// An encrypted file that is being written: there is none.
pub(crate) struct EncryptedWriter<W: Write>(Infallible, PhantomData<W>);

impl<W: Write> EncryptedWriter<W> {
    pub(crate) fn finish(self) -> Result<(), Error> {
        match self.0 {}
    }
}

impl<W: Write> Write for EncryptedWriter<W> {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        match self.0 {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0 {}
    }
}

/// A secret that would decrypt a file: it is forgotten.
#[derive(Clone)]
pub(super) struct Secret;

impl Secret {
    pub(super) fn identities_of(file: String) -> Self {
        drop(Zeroizing::new(file));
        Self
    }

    pub(super) fn passphrase(passphrase: String) -> Self {
        Self::identities_of(passphrase)
    }
}

pub(super) fn decrypt(_: SharedSource, _: Option<&Secret>) -> Result<Box<dyn ReadSeek>, Error> {
    Err(unsupported())
}

fn unsupported() -> Error {
    let message = "encrypted files need a build with the feature `encryption`";
    refuse(ErrorCode::Unsupported, message.to_owned())
}
