use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::interchange::{Format, Loss, WriteOptions, aimem, mg, pam};
use crate::store::Store;

use super::export::{entries, io_error, sealed, unsupported};
use super::{Error, Exported, Filter};

impl Store {
    /// Writes the grains that pass a filter to a file, which is there whole or not at all.
    ///
    /// Archives past 4 GiB go on in `NAME.001.mg` and so on beside it. A PAM store that is to go
    /// to a directory goes there as `memory-store.json`, with the conversations and, if they are
    /// asked for, the vectors beside it, and to `NAME.zip` or `NAME.zip.age` as an archive of that;
    /// in one file these are a [`Loss`].
    /// The signature of an AIMEM bundle goes to `NAME.sig`.
    ///
    /// # Errors
    /// As [`Store::export`], but for `ERR_MG_LIMIT`; `ERR_UNSUPPORTED` for a directory that is to
    /// be encrypted.
    pub fn export_file(
        &self,
        format: Format,
        filter: &Filter,
        options: &WriteOptions,
        path: &Path,
    ) -> Result<Exported, Error> {
        match format {
            Format::Mg => self.export_volumes(filter, options, path),
            Format::Pam if path.is_dir() && options.encryption.is_some() => {
                Err(unsupported("a directory is not encrypted: name a .zip.age"))
            }
            Format::Pam if path.is_dir() => self.export_folder(filter, options, path),
            Format::Pam if is_zip(path) => self.export_zip(filter, options, path),
            Format::Aimem | Format::AimemNdjson if options.sign.is_some() => {
                self.export_signed(format, filter, options, path)
            }
            _ => whole_file(path, options, |file| {
                self.export_plain(format, filter, options, file)
            }),
        }
    }

    fn export_volumes(
        &self,
        filter: &Filter,
        options: &WriteOptions,
        path: &Path,
    ) -> Result<Exported, Error> {
        let mut exported = Exported::default();
        let chosen = self.choose(filter, options, &mut exported.loss)?;
        let plan = mg::Plan::new(entries(&chosen), options.mg)?;
        for (number, volume) in plan.volumes().enumerate() {
            let path = mg::volume_path(path, number);
            let summary = whole_file(&path, options, |file| {
                volume.write(file, |address| self.fetch(&address))
            })?;
            exported.add(&summary);
        }
        Ok(exported)
    }

    fn export_folder(
        &self,
        filter: &Filter,
        options: &WriteOptions,
        folder: &Path,
    ) -> Result<Exported, Error> {
        let (document, loss) = self.with_files(filter, options)?;
        // The store that names the conversations comes last: half an export has none.
        let store = (pam::STORE, &document.store);
        let files = document.conversations.iter();
        let files = files.map(|(path, value)| (path.as_str(), value));
        let files = files.chain(
            document
                .embeddings
                .iter()
                .map(|file| (pam::EMBEDDINGS, file)),
        );
        let mut count = 0;
        for (path, value) in files.chain([store]) {
            let path = folder.join(path);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent).map_err(io_error)?;
            }
            whole_file(&path, options, |file| {
                writeln!(file, "{}", value.to_json()).map_err(io_error)
            })?;
            count += 1;
        }
        Ok(Exported::of(document.written, count, &loss))
    }

    /// Gathers a PAM store with the files beside it.
    fn with_files(
        &self,
        filter: &Filter,
        options: &WriteOptions,
    ) -> Result<(pam::Document, Loss), Error> {
        let mut loss = Loss::default();
        let entries = self.entries(filter, options, &mut loss)?;
        let vectors = self.vectors_of(&entries, options)?;
        let document = pam::Document::with_vectors(&entries, &vectors, options, true)?;
        Ok((document, loss))
    }

    fn export_zip(
        &self,
        filter: &Filter,
        options: &WriteOptions,
        path: &Path,
    ) -> Result<Exported, Error> {
        let (document, loss) = self.with_files(filter, options)?;
        whole_file(path, options, |file| Ok(document.write_zip(file)?))?;
        Ok(Exported::of(document.written, 1, &loss))
    }

    /// Writes a bundle and the signature that stands beside it.
    fn export_signed(
        &self,
        format: Format,
        filter: &Filter,
        options: &WriteOptions,
        path: &Path,
    ) -> Result<Exported, Error> {
        let mut bundle = Vec::new();
        let mut exported = self.export_plain(format, filter, options, &mut bundle)?;
        let is_stream = format == Format::AimemNdjson;
        let Some(key) = &options.sign else {
            return Ok(exported);
        };
        let signature = aimem::sign(&bundle, is_stream, key.key())?;
        let mut beside = path.as_os_str().to_owned();
        beside.push(".sig");
        // A bundle without its signature is one that nobody vouches for, so it comes last.
        let plain = WriteOptions::default();
        for (path, bytes, options) in [
            (Path::new(&beside), &signature, &plain),
            (path, &bundle, options),
        ] {
            whole_file(path, options, |file| {
                file.write_all(bytes).map_err(io_error)
            })?;
        }
        exported.files += 1;
        Ok(exported)
    }
}

fn is_zip(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_suffix(".age").unwrap_or(&name).ends_with(".zip")
}

/// Writes under a temporary name, syncs and renames, so that nobody takes half a file for one.
fn whole_file<T>(
    path: &Path,
    options: &WriteOptions,
    write: impl FnOnce(&mut &mut dyn Write) -> Result<T, Error>,
) -> Result<T, Error> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".partial");
    let temporary = PathBuf::from(temporary);
    let mut open = File::options();
    open.write(true).create(true).truncate(true);
    // What is exported is somebody's memory: only its owner may read the file.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut open, 0o600);
    let mut file = open.open(&temporary).map_err(io_error)?;
    let outcome = match &options.encryption {
        None => write(&mut (&mut file as &mut dyn Write)),
        Some(seal) => sealed(seal, &mut file, |file| write(&mut (file as &mut dyn Write))),
    };
    let result = outcome.and_then(|written| {
        file.sync_all().map_err(io_error)?;
        std::fs::rename(&temporary, path).map_err(io_error)?;
        Ok(written)
    });
    if result.is_err() {
        drop(std::fs::remove_file(&temporary));
    }
    result
}
