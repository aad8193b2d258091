//! A part of a file behind a buffer of its own, so that several parts can be read in turn.

use std::cell::RefCell;
use std::io::{self, BufRead, ErrorKind, Read, Seek, SeekFrom};

/// A part of a file, read from front to back.
pub(super) struct Section<'a, R> {
    source: &'a RefCell<R>,
    /// Where in the file the buffer ends, and where the part does.
    next: u64,
    end: u64,
    buf: Vec<u8>,
    at: usize,
}

impl<'a, R: Read + Seek> Section<'a, R> {
    pub(super) const fn new(source: &'a RefCell<R>, start: u64, end: u64) -> Self {
        Self {
            source,
            next: start,
            end,
            buf: Vec::new(),
            at: 0,
        }
    }

    /// Returns where in the file the next byte stands.
    pub(super) fn position(&self) -> u64 {
        self.next.saturating_sub(super::len_u64(self.ready().len()))
    }

    /// Returns how many bytes are left.
    pub(super) fn left(&self) -> u64 {
        self.end.saturating_sub(self.position())
    }

    /// Returns the next bytes without taking them: at least `want`, or all that are left.
    pub(super) fn ahead(&mut self, want: usize) -> io::Result<&[u8]> {
        if self.ready().len() < want && self.next < self.end {
            self.buf.drain(..self.at);
            self.at = 0;
            let missing = super::len_u64(want.max(CHUNK_LEN).saturating_sub(self.buf.len()));
            let len = missing.min(self.end.saturating_sub(self.next));
            let mut source = self.source.borrow_mut();
            source.seek(SeekFrom::Start(self.next))?;
            let got = (&mut *source).take(len).read_to_end(&mut self.buf)?;
            let got = super::len_u64(got);
            self.next = self.next.saturating_add(got);
            if got < len {
                return Err(io::Error::new(
                    ErrorKind::UnexpectedEof,
                    "the file became shorter while it was read",
                ));
            }
        }
        Ok(self.ready())
    }

    /// Takes exactly `N` bytes; fewer left is an error.
    pub(super) fn array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let bytes = self.ahead(N)?.first_chunk().copied();
        let bytes = bytes.ok_or(ErrorKind::UnexpectedEof)?;
        self.consume(N);
        Ok(bytes)
    }

    fn ready(&self) -> &[u8] {
        self.buf.get(self.at..).unwrap_or_default()
    }
}

impl<R: Read + Seek> Read for Section<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let len = self.ahead(1)?.read(out)?;
        self.consume(len);
        Ok(len)
    }
}

impl<R: Read + Seek> BufRead for Section<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.ahead(1)
    }

    fn consume(&mut self, len: usize) {
        self.at = self.at.saturating_add(len).min(self.buf.len());
    }
}

const CHUNK_LEN: usize = 64 * 1024;
