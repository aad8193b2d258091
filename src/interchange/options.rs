//! How files are read and written: the options of all formats in one place.

use crate::codec::{Compression, Profile};
use crate::grain::Time;
use crate::policy::Purpose;

use super::{Decryption, Encryption, ExportKey, aimem, omi};

/// How files are read.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The device profile whose limits apply to the grains.
    pub profile: Profile,
    /// The creation time of JSON grains that have none; without it they are refused.
    pub default_created_at: Option<Time>,
    /// Whether a wrong PAM checksum is a finding instead of an error.
    pub accept_bad_checksum: bool,
    /// The level that an OMI file must conform to; `None`: what an import needs.
    pub omi_level: Option<omi::Level>,
    /// The scope of the ids in an OMI file without a namespace; `None`: the file itself. Also the
    /// owner of a PAM conversation or embeddings file without its store, and of a provider's export or
    /// another memory store; `None`: the one that the files name, else `local`.
    pub scope: Option<String>,
    /// The user whose memory the file of another tool is, whatever owner, account or tenant it names;
    /// `None`: the one that it names. Grains that a file carries whole keep theirs.
    pub user: Option<String>,
    /// Whether a PAM file must obey every rule of the text and its schema, and not only those that
    /// grains depend on.
    pub is_strict: bool,
    /// Whether the signature beside an AIMEM bundle is not checked, which the ledger records.
    pub skip_signature: bool,
    /// The secret that decrypts an encrypted file.
    pub decryption: Option<Decryption>,
    /// The dialect of a tree of Markdown (`okf`, `obsidian`, …); `None`: the one that its files show.
    pub dialect: Option<String>,
    /// Whether the instructions of agents in a tree (`CLAUDE.md`, `AGENTS.md`, rules) are read too.
    pub with_instructions: bool,
    /// Whether a tree is read to be kept in step with the store
    /// ([`Admin::sync_tree`](crate::Admin::sync_tree)): a file that could not be written again under
    /// its name is left out, and named.
    pub in_step: bool,
}

impl ReadOptions {
    /// Returns the owner of a PAM file that names none.
    pub(super) fn owner(&self) -> &str {
        self.scope.as_deref().unwrap_or("local")
    }
}

/// How grains are written to files; a format ignores the options it has no use for.
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// How the grains of an archive (`.mg`) are compressed.
    pub compression: Compression,
    /// The most bytes of one volume of an archive before compression; `None`: as many as its offsets
    /// reach, 2^32 − 1, and of a compressed one 1 GiB of grains, which is what readers decompress.
    pub volume_len_max: Option<u64>,
    /// The revision of OMS in whose words archives and JSON lines are written (`1.4`, `1.5`); `None`: `1.3`,
    /// the form of the store.
    pub revision: Option<String>,
    /// The part of the memory that an AIMEM bundle holds. `Since` also applies to a PAM store: an
    /// incremental export of what was created, updated or ended at that time or later.
    pub scope: aimem::Scope,
    /// The producer of the chunks in an AIMEM bundle, where there are those of several.
    pub producer: Option<String>,
    /// Whether vectors are written: text can be guessed from them (AIMEM 5.5).
    pub with_embeddings: bool,
    /// Whether archives and JSON lines, which are backups, leave out what must not leave the store,
    /// as every other format does.
    pub shareable: bool,
    /// Whether PAM and OMI files, which are to be shared, leave out the ids of accounts, messages and
    /// conversations on the platforms that records came from, and the grains embedded whole; each is
    /// counted (PAM 21, OMI 16.2).
    pub redact: bool,
    /// Whether grains whose bytes are damaged are left out and their entries named in
    /// [`Loss::damaged`](crate::interchange::Loss::damaged); else the first ends the export before
    /// anything is written.
    pub skip_damaged: bool,
    /// Only the grains that were stored, or whose status changed, from this entry of the ledger on: an
    /// increment to the export whose report ended there.
    pub changed_from: Option<u64>,
    /// Whether a PAM store also holds memories that ended in a way that PAM has no word for (those
    /// that were contradicted), as retracted ones; else they are left out and counted.
    pub history: bool,
    /// The purpose of the export; the store checks that its grains may leave it for that (OMS A).
    pub purpose: Purpose,
    /// The recipients of encrypted files; `None`: plain files of mode 0600.
    pub encryption: Option<Encryption>,
    /// The key that signs a PAM store or an AIMEM bundle; the signature of a bundle is a file
    /// beside it.
    pub sign: Option<ExportKey>,
    /// The export that an incremental PAM store is based on (PAM 16).
    pub base: Option<String>,
    /// The time of the export; without one, that of the newest grain.
    pub now: Option<Time>,
    /// The dialect of a tree of Markdown; `None`: `okf`.
    pub dialect: Option<String>,
    /// Whether the files of a tree are replaced that were edited since they were exported.
    pub replace_edited: bool,
}
