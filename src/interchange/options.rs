//! How files are read and written: the options of all formats in one place.

use crate::codec::Profile;
use crate::grain::Time;
use crate::policy::Purpose;

use super::{Decryption, Encryption, Entry, ExportKey, aimem, mg, omi};

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
    pub decryption: Option<Decryption>,
}

impl ReadOptions {
    /// Returns the owner of a PAM file that names none.
    pub(super) fn owner(&self) -> &str {
        self.scope.as_deref().unwrap_or("local")
    }
}

/// How grains are written to files; what a format has no use for is ignored.
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// How archives are written.
    pub mg: mg::WriteOptions,
    /// What an AIMEM bundle holds; of a PAM store with `Since`, what was created, updated or ended
    /// then or later, as an incremental export.
    pub scope: aimem::Scope,
    /// Whose chunks an AIMEM bundle holds, where there are those of several producers.
    pub producer: Option<String>,
    /// Whether vectors are written: text can be guessed from them (AIMEM 5.5).
    pub with_embeddings: bool,
    /// Whether archives and JSON lines, which are backups, leave out what may not leave the store,
    /// as every other format does.
    pub shareable: bool,
    /// What it is written for; the store asks whether its grains may leave it (OMS A).
    pub purpose: Purpose,
    /// Who the files are for; without it they are in the clear, and 0600.
    pub encryption: Option<Encryption>,
    /// Who vouches for a PAM store or an AIMEM bundle; the signature of a bundle stands beside it.
    pub sign: Option<ExportKey>,
    /// The export that an incremental PAM store goes on from (PAM 16).
    pub base: Option<String>,
    /// The time of the export; without one, that of the newest grain.
    pub now: Option<Time>,
}

impl WriteOptions {
    pub(crate) fn now_for(&self, entries: &[Entry]) -> Time {
        let newest = entries.iter().map(|(grain, _)| grain.created_at()).max();
        self.now.or(newest).unwrap_or_default()
    }
}
