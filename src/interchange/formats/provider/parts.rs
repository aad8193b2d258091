//! The files of a file, a folder or an archive, each recognised by its content: the exports among
//! them, one for each provider, and what none of them takes, which is named.

use std::collections::BTreeMap;

use crate::interchange::detect_json::detect_json;
use crate::interchange::io::file_set::FileSet;
use crate::interchange::io::source_file::{Input, SourceFile};
use crate::interchange::json::BUFFER_LEN;
use crate::interchange::model::diagnostics::Finding;
use crate::interchange::{Error, Format, Place};

use super::Provider;
use super::detect::{BESIDE, PAGE_HEAD_LEN, is_activity_page, is_copilot, is_part};

/// The files of one export.
pub(super) struct Parts {
    pub(super) provider: Provider,
    pub(super) files: FileSet,
}

/// The kind of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Of(Provider),
    /// It says something about the conversations that it stands beside.
    Beside,
    /// A file of another format.
    Foreign(Format),
    Unknown,
}

/// Returns the providers whose exports a container holds, in the order of its files.
pub(super) fn providers(input: Input<'_>) -> Result<Vec<Provider>, Error> {
    let files = FileSet::list(input, is_part)?;
    let mut found = Vec::new();
    for part in recognised(&files)? {
        if let Part::Of(provider) = part
            && !found.contains(&provider)
        {
            found.push(provider);
        }
    }
    Ok(found)
}

/// Returns the exports of a file or a container: that of the provider that was asked for, or all of
/// them; and a finding for each file that is in none of these.
pub(super) fn exports(
    input: Input<'_>,
    wanted: Provider,
    is_only_it: bool,
) -> Result<(Vec<Parts>, Vec<Finding>), Error> {
    let files = FileSet::list(input, is_part)?;
    let mut parts = recognised(&files)?;
    // A file alone is what the caller says, unless it says itself that it is another.
    if let ([part @ (Part::Unknown | Part::Beside)], true) = (parts.as_mut_slice(), files.is_one())
    {
        *part = Part::Of(wanted);
    }
    let is_taken = |provider: Provider| !is_only_it || provider == wanted;
    let mut folders: BTreeMap<&str, Vec<Provider>> = BTreeMap::new();
    let mut providers = vec![wanted];
    for (name, part) in files.names().zip(&parts) {
        if let Part::Of(provider) = part {
            folders.entry(folder(name)).or_default().push(*provider);
            if !providers.contains(provider) && is_taken(*provider) {
                providers.push(*provider);
            }
        }
    }
    let is_alone = providers.len() == 1;
    let belongs = |name: &str, part: Part, provider: Provider| match part {
        Part::Of(it) => it == provider,
        Part::Beside => {
            is_alone
                || folders
                    .get(folder(name))
                    .is_some_and(|it| it.contains(&provider))
        }
        Part::Foreign(_) | Part::Unknown => false,
    };
    let mut findings = Vec::new();
    for (name, part) in files.names().zip(&parts) {
        let is_read = providers.iter().any(|it| belongs(name, *part, *it));
        if !is_read {
            findings.push((Place::pointer(name), why(*part)));
        }
    }
    for (name, more) in files.left_out() {
        let others = match more {
            0 => String::new(),
            more => format!(", nor are {more} more files with this ending"),
        };
        findings.push((Place::pointer(name), format!("is not read{others}")));
    }
    let exports = providers.into_iter().map(|provider| Parts {
        provider,
        files: files.subset(|at, name| {
            let part = parts.get(at).copied();
            part.is_some_and(|part| belongs(name, part, provider))
        }),
    });
    let exports: Vec<Parts> = exports.collect();
    if exports.len() > 1 {
        let names: Vec<&str> = exports.iter().map(|it| it.provider.name()).collect();
        let names = names.join(", ");
        let message = format!(
            "holds exports of {names}; each is read, with users of its own: import --user NAME makes \
             them one person's"
        );
        findings.insert(0, (Place::File, message));
    }
    Ok((exports, findings))
}

fn why(part: Part) -> String {
    match part {
        Part::Of(provider) => format!("is an export of {} and not read", provider.name()),
        Part::Foreign(format) => {
            format!("is a file of the format {format} and not read: import it by itself")
        }
        Part::Beside | Part::Unknown => "is not read: it holds no conversations".to_owned(),
    }
}

fn folder(name: &str) -> &str {
    name.rsplit_once(['/', '\\'])
        .map_or("", |(folder, _)| folder)
}

fn recognised(files: &FileSet) -> Result<Vec<Part>, Error> {
    let part = |file: Result<(&str, SourceFile), Error>| {
        let (name, file) = file?;
        let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
        if BESIDE.contains(&last) {
            return Ok(Part::Beside);
        }
        part(name, &file).map_err(|source| file.error(name, source))
    };
    files.each().map(part).collect()
}

fn part(name: &str, file: &SourceFile) -> std::io::Result<Part> {
    let head = file.head(u64::try_from(PAGE_HEAD_LEN).unwrap_or_default())?;
    if is_copilot(&head) {
        return Ok(Part::Of(Provider::Copilot));
    }
    if is_activity_page(name, &head) {
        return Ok(Part::Of(Provider::Gemini));
    }
    let found = file.read(BUFFER_LEN, |input| detect_json(input))??;
    Ok(match found {
        Some(Format::Provider(provider)) => Part::Of(provider),
        // Any object on a line may be one of JSON lines.
        Some(Format::Jsonl) | None => Part::Unknown,
        Some(format) => Part::Foreign(format),
    })
}
