//! Frames as `docs/format.md` defines them, written without the code under test: what a store with
//! a fault would have left in its ledger.

use std::ops::Range;

use sha2::{Digest, Sha256};

use crate::disk::image::Image;

/// A ledger's last segment, and what a frame in it needs to fit.
pub(crate) struct Tail<'a> {
    store_id: [u8; 16],
    bytes: &'a mut Vec<u8>,
    /// Where each whole frame begins, and how many entries it has.
    frames: Vec<(usize, u64)>,
    /// The sequence of the next entry.
    next: u64,
    /// Where the last whole frame ends.
    end: usize,
}

impl<'a> Tail<'a> {
    /// Finds the last segment of a store; `None` if it has no header yet.
    pub(crate) fn of(image: &'a mut Image) -> Option<Self> {
        let store_id = store_id(image)?;
        let (_, bytes) = image.segments().pop()?;
        let first = u64::from_be_bytes(*bytes.get(16..)?.first_chunk()?);
        let mut tail = Self {
            store_id,
            bytes,
            frames: Vec::new(),
            next: first,
            end: HEADER_LEN,
        };
        while let Some((count, len)) = tail.whole(tail.end) {
            tail.frames.push((tail.end, count));
            tail.next += count;
            tail.end += len;
        }
        Some(tail)
    }

    /// Returns the number of entries and bytes of a frame whose bodies are what they were.
    fn whole(&self, at: usize) -> Option<(u64, usize)> {
        let header = self.bytes.get(at..at + HEADER_LEN)?;
        let count = u64::from(u32::from_be_bytes(*header.get(4..)?.first_chunk()?));
        let len = u64::from_be_bytes(*header.get(8..)?.first_chunk()?);
        let len = usize::try_from(len).ok()?;
        if !header.starts_with(b"GFRM") || !(HEADER_LEN + OVERHEAD..LEN_MAX).contains(&len) {
            return None;
        }
        let mut mended = self.bytes.get(at..at.checked_add(len)?)?.to_vec();
        self.mend(&mut mended, self.next);
        (mended == self.bytes.get(at..at + len)?).then_some((count, len))
    }

    /// Whether something lies behind the last whole frame.
    pub(crate) fn is_torn(&self) -> bool {
        self.end < self.bytes.len()
    }

    /// Makes a frame of what is torn, as code would that does not look at bodies.
    pub(crate) fn accept(&mut self) {
        let Some(claim) = self.bytes.get(self.end + 8..) else {
            return;
        };
        let len = claim.first_chunk().copied().map(u64::from_be_bytes);
        let len = usize::try_from(len.unwrap_or(0)).unwrap_or(0);
        if (HEADER_LEN + OVERHEAD..LEN_MAX).contains(&len) {
            self.bytes.resize(self.end + len, 0);
            let mut frame = self.bytes.split_off(self.end);
            self.mend(&mut frame, self.next);
            self.bytes.append(&mut frame);
        }
    }

    /// Cuts off the last whole frame.
    pub(crate) fn cut(&mut self) {
        if let Some((at, _)) = self.frames.last() {
            self.bytes.truncate(*at);
        }
    }

    /// Stores the last frame once more.
    pub(crate) fn repeat(&mut self) {
        if let Some((at, _)) = self.frames.last() {
            let frame = self.bytes.get(*at..self.end);
            let mut frame = frame.unwrap_or_default().to_vec();
            self.mend(&mut frame, self.next);
            self.push(frame);
        }
    }

    /// Changes the last byte of the first entry of a kind in the last frame, if it has one.
    pub(crate) fn damage(&mut self, kind: u8) {
        let Some((at, body)) = self.last_of(kind) else {
            return;
        };
        if let Some(byte) = self.bytes.get_mut(body.end.saturating_sub(1)) {
            *byte ^= 1;
        }
        let frame = self.bytes.get(at..self.end);
        self.rewrite(at, frame.unwrap_or_default().to_vec());
    }

    /// Leaves only the first entry of the last frame, if that has an entry of a kind.
    pub(crate) fn keep_first(&mut self, kind: u8) {
        let Some((at, _)) = self.last_of(kind) else {
            return;
        };
        let first = self.bytes.get(at + HEADER_LEN..);
        let len = first.and_then(|first| first.get(24..28)?.first_chunk().copied());
        let len = HEADER_LEN + OVERHEAD + u32::from_be_bytes(len.unwrap_or_default()) as usize;
        let frame = self.bytes.get(at..at + len);
        let mut frame = frame.unwrap_or_default().to_vec();
        put(&mut frame, 4, &1_u32.to_be_bytes());
        put(&mut frame, 8, &(len as u64).to_be_bytes());
        self.rewrite(at, frame);
    }

    /// Returns where the last frame begins, and the body of its first entry of a kind.
    fn last_of(&self, kind: u8) -> Option<(usize, Range<usize>)> {
        let (at, count) = *self.frames.last()?;
        let mut entry = at + HEADER_LEN;
        for _ in 0..count {
            let header = self.bytes.get(entry..entry + ENTRY_LEN)?;
            let len = header.get(24..28)?.first_chunk().copied();
            let body = entry + OVERHEAD;
            let body = body..body + u32::from_be_bytes(len?) as usize;
            if header.get(28) == Some(&kind) {
                return Some((at, body));
            }
            entry = body.end;
        }
        None
    }

    /// Puts a frame in the place of the last one.
    fn rewrite(&mut self, at: usize, mut frame: Vec<u8>) {
        let count = self.frames.last().map_or(0, |(_, count)| *count);
        self.mend(&mut frame, self.next - count);
        self.bytes.truncate(at);
        self.bytes.append(&mut frame);
    }

    /// Records an entry.
    pub(crate) fn record(&mut self, kind: u8, body: &[u8]) {
        let len = HEADER_LEN + OVERHEAD + body.len();
        let mut frame = b"GFRM\0\0\0\x01".to_vec();
        frame.extend_from_slice(&(len as u64).to_be_bytes());
        frame.extend_from_slice(&self.next.to_be_bytes());
        frame.extend_from_slice(&[0; 8]);
        frame.extend_from_slice(&[0; 16]); // sequence, time
        frame.extend_from_slice(&u64::MAX.to_be_bytes());
        frame.extend_from_slice(&u32::try_from(body.len()).unwrap_or(0).to_be_bytes());
        frame.extend_from_slice(&[kind, 0, 0, 0]);
        frame.extend_from_slice(&[0; 32]);
        frame.extend_from_slice(&[9; SALT_LEN]);
        frame.extend_from_slice(body);
        self.mend(&mut frame, self.next);
        self.push(frame);
    }

    /// Returns the address of a grain whose bytes hold these.
    pub(crate) fn body_with(&self, part: &[u8]) -> Option<[u8; 32]> {
        for (at, count) in &self.frames {
            let mut at = at + HEADER_LEN;
            for _ in 0..*count {
                let entry = self.bytes.get(at..)?;
                let len = entry.get(24..28)?.first_chunk().copied();
                let len = u32::from_be_bytes(len?) as usize;
                let body = entry.get(OVERHEAD..OVERHEAD + len)?;
                let is_grain = entry.get(28) == Some(&1);
                if is_grain && body.windows(part.len()).any(|found| found == part) {
                    return Some(Sha256::digest(body).into());
                }
                at += OVERHEAD + len;
            }
        }
        None
    }

    fn push(&mut self, mut frame: Vec<u8>) {
        self.bytes.truncate(self.end);
        self.bytes.append(&mut frame);
    }

    /// Makes sequences, commitments and the check of a frame fit what is there.
    fn mend(&self, frame: &mut [u8], first: u64) {
        let Some((header, mut rest)) = frame.split_first_chunk_mut::<HEADER_LEN>() else {
            return;
        };
        let mut entries = Vec::new();
        let mut sequence = first;
        while let Some((entry, after)) = rest.split_first_chunk_mut::<ENTRY_LEN>() {
            let len = entry.get(24..28).and_then(|len| len.first_chunk());
            let len = len.copied().map_or(0, u32::from_be_bytes) as usize;
            let Some((salt, after)) = after.split_first_chunk_mut::<SALT_LEN>() else {
                return;
            };
            let Some((body, after)) = after.split_at_mut_checked(len) else {
                return;
            };
            let inner: [u8; 32] = Sha256::digest(&*body).into();
            let commitment = digest(0x02, &[&*salt, &inner]);
            put(entry, 0, &sequence.to_be_bytes());
            put(entry, 32, &commitment);
            entries.extend_from_slice(entry);
            sequence += 1;
            rest = after;
        }
        let covered = header.get(..24).unwrap_or_default().to_vec();
        let check = digest(0x03, &[&self.store_id, &covered, &entries]);
        put(header, 24, check.get(..8).unwrap_or_default());
    }
}

fn put(place: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(place) = place.get_mut(at..at + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}

fn digest(prefix: u8, parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new_with_prefix([prefix]);
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().into()
}

/// Returns what the manifest says, if it is there.
fn store_id(image: &Image) -> Option<[u8; 16]> {
    let text = std::str::from_utf8(image.files.get("MANIFEST")?).ok()?;
    let (_, text) = text.split_once("\"store_id\":\"")?;
    let mut id = [0; 16];
    for (nth, byte) in id.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * nth..2 * nth + 2)?, 16).ok()?;
    }
    Some(id)
}

/// Of a segment and of a frame.
const HEADER_LEN: usize = 32;
const ENTRY_LEN: usize = 64;
const SALT_LEN: usize = 16;
const OVERHEAD: usize = ENTRY_LEN + SALT_LEN;
const LEN_MAX: usize = 1 << 20;
