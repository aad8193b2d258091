//! Export to files: archives in volumes, PAM folders and ZIP archives, signatures beside bundles.
//!
//! Each file is written atomically.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::entries::copied;
use crate::interchange::{
    Export, Files, Format, Revision, WriteOptions, aimem, embeddings_path, mg, pam,
};
use crate::store::Owner;

use super::entries::StoreEntries;
use super::output::Output;
use super::revision::InRevision;
use super::tree::export_tree;
use super::{
    Error, ExportReport, Filter, check_options, confined, export_plain, io_error, recorded,
    revision_of, sealed, unsupported, write_jsonl, writer_of,
};

/// See [`Admin::export_file`](crate::Admin::export_file).
pub(crate) fn export_file(
    owner: Owner<'_>,
    format: Format,
    filter: &Filter,
    options: &WriteOptions,
    path: &Path,
) -> Result<ExportReport, Error> {
    check_options(format, options)?;
    let filter = &*confined(owner, filter)?;
    let next = owner.store().snapshot().watermark();
    let exported = match format {
        Format::Mg => export_volumes(owner, filter, options, path),
        Format::Jsonl => export_lines(owner, filter, options, path),
        Format::Pam | Format::Cogx if path.is_dir() && options.encryption.is_some() => Err(
            unsupported("a directory is not encrypted: name a .zip.age or a .tar.gz.age"),
        ),
        Format::Pam | Format::Cogx if path.is_dir() => {
            export_folder(owner, format, filter, options, path)
        }
        Format::Markdown => export_tree(owner, filter, options, path),
        Format::Pam if is_zip(path) => export_zip(owner, filter, options, path),
        Format::Aimem | Format::AimemNdjson if options.sign.is_some() => {
            export_signed(owner, format, filter, options, path)
        }
        _ => whole_file(path, options, |file| {
            export_plain(owner, format, filter, options, file)
        }),
    }?;
    recorded(owner, format, filter, exported, next)
}

fn export_volumes(
    owner: Owner<'_>,
    filter: &Filter,
    options: &WriteOptions,
    path: &Path,
) -> Result<ExportReport, Error> {
    let mut exported = ExportReport::default();
    let entries = copied(owner, filter, options)?;
    let (file, list) = InRevision::of(&entries, revision_of(options)?)?;
    let plan = mg::Plan::new(list, options)?;
    for (number, volume) in plan.volumes().enumerate() {
        let path = mg::volume_path(path, number);
        let summary = whole_file(&path, options, |out| {
            volume.write(out, |address| file.fetch(&address))
        })?;
        exported.add(&summary);
    }
    exported.loss.merge(file.loss());
    exported.loss.merge(&entries.loss());
    write_vectors_beside(&entries, options, path, &mut exported)?;
    Ok(exported)
}

fn export_lines(
    owner: Owner<'_>,
    filter: &Filter,
    options: &WriteOptions,
    path: &Path,
) -> Result<ExportReport, Error> {
    let entries = copied(owner, filter, options)?;
    let mut exported = whole_file(path, options, |file| write_jsonl(&entries, options, file))?;
    exported.loss.merge(&entries.loss());
    write_vectors_beside(&entries, options, path, &mut exported)?;
    Ok(exported)
}

fn export_folder(
    owner: Owner<'_>,
    format: Format,
    filter: &Filter,
    options: &WriteOptions,
    folder: &Path,
) -> Result<ExportReport, Error> {
    let entries = super::entries(owner, filter, options)?;
    let mut files = Folder {
        folder,
        options,
        count: 0,
    };
    let writer = writer_of(format)?;
    let export = Export {
        format,
        entries: &entries,
        options,
    };
    let written = writer.write_files(&export, &mut files)?;
    let mut exported = ExportReport::of(written, files.count, &entries.loss());
    entries.count_vectors(
        |grain| writer.holds_vector(grain, options),
        &mut exported.loss,
    )?;
    Ok(exported)
}

fn export_zip(
    owner: Owner<'_>,
    filter: &Filter,
    options: &WriteOptions,
    path: &Path,
) -> Result<ExportReport, Error> {
    let entries = super::entries(owner, filter, options)?;
    let written = whole_file(path, options, |file| {
        let mut archive = pam::Archive::new(BufWriter::new(file));
        let written = pam::write_files(&mut archive, &entries, options)?;
        archive.finish()?;
        Ok(written)
    })?;
    Ok(ExportReport::of(written, 1, &entries.loss()))
}

/// Writes a bundle and its signature file.
fn export_signed(
    owner: Owner<'_>,
    format: Format,
    filter: &Filter,
    options: &WriteOptions,
    path: &Path,
) -> Result<ExportReport, Error> {
    let mut bundle = Vec::new();
    let mut exported = export_plain(owner, format, filter, options, &mut bundle)?;
    let Some(key) = &options.sign else {
        return Ok(exported);
    };
    let signature = aimem::sign(&bundle, format, key.key())?;
    let mut beside = path.as_os_str().to_owned();
    beside.push(".sig");
    // The bundle is written last, so that it never exists without its signature.
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

/// Writes the vectors of an archive or JSON lines to a file beside them, from where an import reads
/// them; counts them where they were not asked for, and beside an encrypted file or a device.
fn write_vectors_beside(
    entries: &StoreEntries<'_>,
    options: &WriteOptions,
    path: &Path,
    exported: &mut ExportReport,
) -> Result<(), Error> {
    // Vectors are named by the addresses of the store, which a file in other words does not have.
    let is_own = revision_of(options)? == Revision::V1_3;
    if !is_own || !entries.has_vectors() || options.encryption.is_some() || !path.is_file() {
        return entries.count_vectors(|_| false, &mut exported.loss);
    }
    whole_file(&embeddings_path(path), options, |file| {
        let mut file = BufWriter::new(file);
        pam::write_embeddings(&mut file, entries)?;
        file.flush().map_err(io_error)
    })?;
    exported.files = exported.files.saturating_add(1);
    Ok(())
}

/// The files of a memory store in a folder.
struct Folder<'a> {
    folder: &'a Path,
    options: &'a WriteOptions,
    count: u64,
}

impl Files<Error> for Folder<'_> {
    fn write(
        &mut self,
        path: &str,
        write: &mut dyn FnMut(&mut dyn Write) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let path = self.folder.join(path);
        create_below(self.folder, &path).map_err(io_error)?;
        whole_file(&path, self.options, |file| {
            let mut file = BufWriter::new(file);
            write(&mut file)?;
            file.flush().map_err(io_error)
        })?;
        self.count = self.count.saturating_add(1);
        Ok(())
    }

    fn may_be_many(&self) -> bool {
        true
    }
}

fn is_zip(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_suffix(".age").unwrap_or(&name).ends_with(".zip")
}

/// Writes a file that is either complete or absent.
pub(super) fn whole_file<T>(
    path: &Path,
    options: &WriteOptions,
    write: impl FnOnce(&mut &mut dyn Write) -> Result<T, Error>,
) -> Result<T, Error> {
    let mut output = Output::open(path).map_err(io_error)?;
    let file = output.file();
    let written = match &options.encryption {
        None => write(&mut (file as &mut dyn Write)),
        Some(seal) => sealed(seal, file, |file| write(&mut (file as &mut dyn Write))),
    }?;
    output.finish().map_err(io_error)?;
    Ok(written)
}

/// Creates the folder of a file below `folder`. One that is there must not be a link: the files in
/// it would be written elsewhere.
fn create_below(folder: &Path, path: &Path) -> io::Result<()> {
    let Some(parent) = path.parent().filter(|parent| *parent != folder) else {
        return Ok(());
    };
    std::fs::create_dir_all(parent)?;
    if std::fs::symlink_metadata(parent)?.is_dir() {
        return Ok(());
    }
    let reason = format!("{} is a link", parent.display());
    Err(io::Error::new(io::ErrorKind::AlreadyExists, reason))
}
