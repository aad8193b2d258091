//! Files byte by byte.

use super::*;

/// A file put together by hand: flags, codec, declared count, offsets, grains and what follows.
#[derive(Clone)]
pub(super) struct Raw {
    pub(super) flags: u8,
    pub(super) codec: u8,
    pub(super) count: u32,
    pub(super) offsets: Vec<u32>,
    pub(super) region: Vec<u8>,
    pub(super) manifest: Vec<u8>,
}

impl Raw {
    pub(super) fn of(grains: &[Grain]) -> Self {
        let count = u32::try_from(grains.len()).unwrap();
        let mut raw = Self {
            flags: 0,
            codec: 0,
            count,
            offsets: Vec::new(),
            region: Vec::new(),
            manifest: Vec::new(),
        };
        for grain in grains {
            let at = 16 + 4 * grains.len() + raw.region.len();
            raw.offsets.push(u32::try_from(at).unwrap());
            raw.region.extend_from_slice(grain.blob());
        }
        raw
    }

    pub(super) fn zstd(grains: &[Grain], region: &[u8]) -> Self {
        let mut raw = Self::of(grains);
        let base = raw.offsets[0];
        raw.offsets.iter_mut().for_each(|offset| *offset -= base);
        (raw.flags, raw.codec) = (4, 1);
        raw.region = zstd::encode_all(region, 3).unwrap();
        raw
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut file = vec![b'M', b'G', 1, self.flags];
        file.extend(self.count.to_be_bytes());
        file.extend([1, self.codec, 0, 0, 0, 0, 0, 0]);
        file.extend(self.offsets.iter().flat_map(|offset| offset.to_be_bytes()));
        file.extend(&self.region);
        file.extend(&self.manifest);
        file.extend([0; 32]);
        seal(file)
    }

    pub(super) fn with_manifest(&self, parts: &[&[u8]]) -> Vec<u8> {
        let mut raw = self.clone();
        raw.manifest = parts.concat();
        raw.bytes()
    }

    pub(super) fn code(&self) -> &'static str {
        code(&self.bytes())
    }
}
