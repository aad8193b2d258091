//! The owner's export, the conflicts that an import leaves, and beliefs that a program derives.

use std::io::Write;
use std::path::Path;

use crate::codec::ContentAddress;
use crate::grain::Grain;
use crate::interchange::{Format, ImportFile, ReadOptions, WriteOptions};
use crate::query;
use crate::query::{Consolidated, Consolidation, ExportReport, Filter};
use crate::store::{Conflict, Error, Summary, import};

use super::Admin;

impl Admin<'_> {
    /// Writes the grains that pass a filter to a file. The file is either complete or absent.
    ///
    /// Archives larger than 4 GiB continue in `NAME.001.mg` and so on. A PAM store written to a
    /// directory becomes `memory-store.json` with the conversations, and the vectors if asked for,
    /// beside it; written to `NAME.zip` or `NAME.zip.age` it becomes an archive of these files; in
    /// a single file they are a [`Loss`](crate::interchange::Loss). The signature of an AIMEM bundle is written to
    /// `NAME.sig`, and the vectors of an archive or of JSON lines, if they are asked for and the file
    /// is not encrypted, to `NAME.embeddings.json`, which an import of the file reads. A tree of
    /// Markdown is written to a directory that is empty, or that holds such a tree and nothing that was
    /// edited since.
    ///
    /// # Errors
    /// As [`Admin::export`](crate::Admin::export), except `ERR_MG_LIMIT`; `ERR_UNSUPPORTED` for a directory with
    /// encryption.
    pub fn export_file(
        self,
        format: Format,
        filter: &Filter,
        options: &WriteOptions,
        path: &Path,
    ) -> Result<ExportReport, Error> {
        query::export_file(self.0, format, filter, options, path)
    }

    /// Brings a directory of Markdown notes and the store in step: what was edited in the tree comes in
    /// as with [`Store::import`](crate::Store::import), and what changed here is written there. Returns the outcome of the import, and that
    /// of the export, whose `files` are those that were written or removed.
    ///
    /// A line that changed on both sides is a conflict, and both are kept; a line that is gone from the
    /// tree ends. A file with text that did not come in, or that was edited meanwhile, is left as it is,
    /// which is a finding. The last state of the tree is that of its last import, under the same `scope`.
    ///
    /// ```
    /// use grainstore::interchange::{ReadOptions, WriteOptions};
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// store.put(Draft::belief("Ana", "prefers", "pnpm").confidence(1.0))?;
    /// let folder = tempfile::tempdir().unwrap();
    /// let admin = store.admin()?;
    /// let (_, written) = admin.sync_tree(folder.path(), &ReadOptions::default(), &WriteOptions::default())?;
    /// assert_eq!(written.grains, 1);
    /// let note = std::fs::read_to_string(folder.path().join("subjects/Ana.md")).unwrap();
    /// assert!(note.ends_with("- prefers: pnpm\n"));
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of an import and of [`Admin::export_file`](crate::Admin::export_file); `ERR_IO` for a tree that another process writes, that
    /// is gone, or that has two names which many disks take for one; `ERR_UNSUPPORTED` for another dialect
    /// than the tree has.
    pub fn sync_tree(
        self,
        folder: &Path,
        reading: &ReadOptions,
        writing: &WriteOptions,
    ) -> Result<(Summary, ExportReport), Error> {
        query::sync_tree(self.0, folder, reading, writing)
    }

    /// Returns whether a turn of a conversation with an agent is here as an import of the agent's log brought
    /// it, or was, and was deleted: the Event has the same agent (in its context), session, time, role and
    /// text, whatever else. `id` is the one of the message in the log, if it has one.
    ///
    /// ```
    /// use grainstore::codec::Map;
    /// use grainstore::grain::Time;
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let turn = || {
    ///     let agent: Map = [("agent", "codex")].into_iter().collect();
    ///     let turn = Draft::event("Use pnpm.").role("user").session("s1");
    ///     turn.set("context", agent).created_at(Time::from_ms(1))
    /// };
    /// let store = Store::in_memory(Options::default())?;
    /// let other = turn().namespace("project:app").finish(Default::default())?;
    /// assert!(!store.admin()?.has_turn(&other, None)?);
    /// store.put(turn())?;
    /// assert!(store.admin()?.has_turn(&other, None)?);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// Storage errors.
    pub fn has_turn(self, turn: &Grain, id: Option<&str>) -> Result<bool, Error> {
        import::has_turn(self.0, turn, id)
    }

    /// Hands new turns, with what is believed already, to a program of the caller's, and stores what it
    /// answers: beliefs that are derived from the turns, and name the program as the method. `ask` is given
    /// JSON lines and returns JSON lines (docs/interchange.md); each call has turns of one person in one
    /// namespace, and its beliefs have the same.
    ///
    /// A belief that an answer replaces is superseded as far as policy permits. The beliefs of a call are
    /// stored in one frame with the record of its turns, so an interrupted run goes on where it was, and no
    /// turn is handed over twice. Lines that are no answers are refused and counted; where no line is one, the
    /// turns stay new.
    ///
    /// ```
    /// use grainstore::query::Consolidation;
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// store.put(Draft::event("use pnpm, never npm").user("ana").role("user"))?;
    /// let mut facts = |lines: &str| {
    ///     assert!(lines.contains(r#""text":"use pnpm, never npm""#));
    ///     Ok(r#"{"subject":"ana","relation":"prefers","object":"pnpm","derived_from":["t1"]}"#.to_owned())
    /// };
    /// let admin = store.admin()?;
    /// let done = admin.consolidate(&Consolidation::by("facts"), &mut facts)?;
    /// assert_eq!((done.turns, done.stored.len()), (1, 1));
    /// assert_eq!(admin.consolidate(&Consolidation::by("facts"), &mut facts)?.turns, 0);
    /// assert_eq!(admin.undo_consolidation(None, "a poor model")?, done.stored);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_PROGRAM` with what `ask` returns, and for an answer without a usable line: what was stored before
    /// stays; storage errors.
    #[expect(
        clippy::type_complexity,
        reason = "a name for the error would be one more to look up"
    )]
    pub fn consolidate(
        self,
        asked: &Consolidation,
        ask: &mut dyn FnMut(&str) -> Result<String, Box<dyn std::error::Error + Send + Sync>>,
    ) -> Result<Consolidated, Error> {
        query::consolidate(self.0, asked, ask)
    }

    /// Takes a consolidation back as one, the last or the named [run](Consolidated::run): its beliefs that still
    /// stand end, what they replaced is stored again as the newest version, and its turns are new. Returns the
    /// beliefs that ended. One that was interrupted is completed by the next call.
    ///
    /// # Errors
    /// `ERR_INVALIDATION_DENIED` where policy protects one of the beliefs; storage errors.
    pub fn undo_consolidation(
        self,
        run: Option<&str>,
        justification: &str,
    ) -> Result<Vec<ContentAddress>, Error> {
        query::undo_consolidation(self.0, run, justification)
    }

    /// Writes the grains that pass a filter. Archives and JSON lines are ordered by `created_at`,
    /// then by the order of storage; other formats by the order of storage, so that an import is
    /// exported in its original order. Expired grains and grains that await review are included. A grain whose
    /// bytes are damaged ends the export, unless the options leave it out.
    ///
    /// Equal grains with equal status produce equal archives in any store that has grains of the same
    /// time in the same order.
    ///
    /// ```
    /// use grainstore::interchange::Format;
    /// use grainstore::{Draft, Filter, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// store.put(Draft::event("hello"))?;
    /// let mut archive = Vec::new();
    /// let exported = store.admin()?.export(Format::Mg, &Filter::new(), &Default::default(), &mut archive)?;
    /// assert_eq!(exported.grains, 1);
    /// assert!(archive.starts_with(b"MG\x01"));
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_FILTER`; `ERR_STORAGE_DAMAGED` before anything is written; other storage errors; `ERR_IO`; `ERR_UNSUPPORTED` for a format that is only read,
    /// and for a bundle with a signature ([`Admin::export_file`](crate::Admin::export_file) writes the signature to a file
    /// beside it); `ERR_MG_LIMIT` if one archive cannot hold the grains (`export_file` writes
    /// several); `mixed_producers`, `mixed_tenants` and `PAM_MIXED_OWNERS` for grains that one file
    /// of the format cannot hold together; `PAM_SIGNATURE_FORM` for a key that cannot sign.
    pub fn export(
        self,
        format: Format,
        filter: &Filter,
        options: &WriteOptions,
        out: &mut impl Write,
    ) -> Result<ExportReport, Error> {
        query::export(self.0, format, filter, options, out)
    }

    /// Returns the conflicts of imports that are not resolved yet.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn conflicts(self) -> Result<Vec<Conflict>, Error> {
        import::conflicts(self.0)
    }

    /// Resolves a conflict in favour of one grain: the others are contradicted, and the identifier
    /// belongs to it.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND` for a grain that is not part of an open conflict; `ERR_INVALIDATION_DENIED`
    /// where policy protects one of the others, and the refusal is recorded; storage errors.
    pub fn resolve_conflict(
        self,
        keep: &ContentAddress,
        justification: Option<&str>,
    ) -> Result<(), Error> {
        import::resolve_conflict(self.0, keep, justification)
    }

    /// Returns the summary that an import would have, without writing.
    ///
    /// # Errors
    /// As [`Store::import`](crate::Store::import).
    pub fn preview_import(self, reading: ImportFile) -> Result<Summary, Error> {
        import::preview_import(self.0, reading)
    }
}
