//! Export to a directory: a tree of Markdown, and nothing outside it.

use std::fs;
use std::io::{self, Write};
use std::path::{Component, Path};

use crate::interchange::markdown::{self, MANIFEST, Manifest};
use crate::interchange::{WriteOptions, sha256};
use crate::store::Owner;

use super::file::whole_file;
use super::{Error, ExportReport, Filter, io_error, unsupported};

/// Writes a tree to a directory that is empty, or that an export wrote.
pub(super) fn export_tree(
    admin: Owner<'_>,
    filter: &Filter,
    options: &WriteOptions,
    folder: &Path,
) -> Result<ExportReport, Error> {
    if options.encryption.is_some() || options.sign.is_some() {
        return Err(unsupported(
            "a tree of Markdown is neither encrypted nor signed",
        ));
    }
    let before = earlier(folder, options.replace_edited).map_err(io_error)?;
    let entries = super::entries(admin, filter, options)?;
    let (mut count, mut marks) = (0, Manifest::default());
    let mut written = markdown::write(&entries, options, None, &mut |path, text| {
        let target = folder.join(path);
        create_above(folder, Path::new(path)).map_err(io_error)?;
        whole_file(&target, options, |file| {
            file.write_all(text.as_bytes()).map_err(io_error)
        })?;
        count += u64::from(path != MANIFEST);
        if path == MANIFEST {
            marks = Manifest::parse(text).unwrap_or_default();
        }
        Ok::<(), Error>(())
    })?;
    for (path, _) in before.files().filter(|(path, _)| !marks.has(path)) {
        remove(folder, Path::new(path)).map_err(io_error)?;
    }
    entries.count_vectors(|_| false, &mut written.loss)?;
    Ok(ExportReport::of(written, count, &entries.loss()))
}

/// Reads what an earlier export wrote there.
///
/// # Errors
/// For a directory with anything else in it, and for files that were edited since.
fn earlier(folder: &Path, replaces_edited: bool) -> io::Result<Manifest> {
    fs::create_dir_all(folder)?;
    let marks = folder.join(MANIFEST);
    if !is_regular(&marks)? {
        return match fs::read_dir(folder)?.next() {
            None => Ok(Manifest::default()),
            Some(_) => Err(refused("is not empty, and no tree that was exported here")),
        };
    }
    let text = fs::read_to_string(&marks)?;
    let manifest = Manifest::parse(&text);
    let manifest = manifest.ok_or_else(|| refused("has a mark that is not understood"))?;
    for (path, digest) in manifest.files().filter(|_| !replaces_edited) {
        check_above(folder, Path::new(path))?;
        let file = folder.join(path);
        if is_regular(&file)? && sha256(&fs::read(&file)?) != format!("sha256:{digest}") {
            let message = format!("has {path}, which was edited since it was exported");
            return Err(refused(&message));
        }
    }
    Ok(manifest)
}

pub(super) fn refused(what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::AlreadyExists,
        format!("the directory {what}"),
    )
}

pub(super) fn is_regular(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(found.is_file()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Creates the folders of a file below `folder`. None may be a link: the file would lie elsewhere.
pub(super) fn create_above(folder: &Path, path: &Path) -> io::Result<()> {
    walk_above(folder, path, &mut |folder| match fs::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    })
}

fn check_above(folder: &Path, path: &Path) -> io::Result<()> {
    walk_above(folder, path, &mut |_| Ok(()))
}

fn walk_above(
    folder: &Path,
    path: &Path,
    visit: &mut dyn FnMut(&Path) -> io::Result<()>,
) -> io::Result<()> {
    let mut at = folder.to_owned();
    for part in path.parent().into_iter().flat_map(Path::components) {
        let Component::Normal(part) = part else {
            return Err(refused("has a file that would lie outside it"));
        };
        at.push(part);
        visit(&at)?;
        match fs::symlink_metadata(&at) {
            Ok(found) if !found.is_dir() => {
                return Err(refused(&format!(
                    "has {}, which is no folder",
                    at.display()
                )));
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Removes a file that an earlier export wrote, and the folders that are empty then.
pub(super) fn remove(folder: &Path, path: &Path) -> io::Result<()> {
    check_above(folder, path)?;
    let file = folder.join(path);
    if is_regular(&file)? {
        fs::remove_file(&file)?;
    }
    let mut above = path.parent();
    while let Some(parent) = above.filter(|parent| *parent != Path::new("")) {
        if fs::remove_dir(folder.join(parent)).is_err() {
            break;
        }
        above = parent.parent();
    }
    Ok(())
}
