//! The files of a source, read element by element, twice: to validate them, and to store their records.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, Read as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::code::ErrorCode;
use crate::codec::{Map, Profile, Value};
use crate::grain::Time;
use crate::interchange::io::file_set::FileSet;
use crate::interchange::io::record_sink::{Output, changed};
use crate::interchange::io::source_file::SourceFile;
use crate::interchange::json::{
    BUFFER_LEN, JsonError, Position, VALUE_LEN_MAX, stream_file, stream_lines, strict,
};
use crate::interchange::model::record_set::RecordSource;
use crate::interchange::{Diagnostics, Error, Finding, Loss, Place, ReadOptions, Record};

use super::builder::Builder;
use super::known::Notes;
use super::source::{Reader, Source};

/// The files of one source.
pub(super) struct Import {
    pub(super) source: &'static Source,
    elements: Elements,
    scope: Option<String>,
    profile: Profile,
    default: Option<Time>,
    /// The result of the first reading.
    first: Option<(Output, Notes)>,
}

/// Where elements come from.
enum Elements {
    Files {
        files: FileSet,
        /// The file, or the directory of the files.
        root: Option<PathBuf>,
    },
    Rows(Box<Rows>),
}

/// Calls a function with each row of a database and the name of its table, until it returns `false`.
pub(super) type Rows =
    dyn Fn(&mut dyn FnMut(&str, Value) -> bool) -> Result<(), String> + Send + Sync;

/// The result of validating the files of a source.
#[derive(Default)]
pub(super) struct Validation {
    pub(super) len: u64,
    pub(super) warnings: Vec<Finding>,
    pub(super) findings: Diagnostics,
    pub(super) loss: Loss,
}

/// How a file holds its elements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A JSON value a line.
    Lines,
    /// A list as text.
    Text,
    /// One JSON document.
    Document,
}

impl Import {
    pub(super) fn new(
        source: &'static Source,
        files: FileSet,
        root: Option<&Path>,
        options: &ReadOptions,
    ) -> Self {
        let root = root.map(Path::to_owned);
        let files = files.by_rank(source.rank);
        Self::of(source, Elements::Files { files, root }, options)
    }

    pub(super) fn of_rows(source: &'static Source, rows: Box<Rows>, options: &ReadOptions) -> Self {
        Self::of(source, Elements::Rows(rows), options)
    }

    fn of(source: &'static Source, elements: Elements, options: &ReadOptions) -> Self {
        Self {
            source,
            elements,
            scope: options.scope.clone(),
            profile: options.profile,
            default: options.default_created_at,
            first: None,
        }
    }

    /// Reads every file once, and remembers what its records were; returns its findings and its
    /// losses.
    ///
    /// # Errors
    /// `PROVIDER_SYNTAX`, `PROVIDER_ZIP`, `ERR_IO`; where nothing is built, its first finding, or
    /// `PROVIDER_SHAPE`.
    pub(super) fn validate(&mut self) -> Result<Validation, Error> {
        let mut take = |_| true;
        let mut builder = self.builder(&mut take);
        self.pass(&mut builder)?;
        let Builder {
            sink,
            findings,
            loss,
            known,
            ..
        } = builder;
        let (output, warnings) = sink.finish();
        if output.len == 0 {
            let message = format!("holds nothing of {}", self.source.format);
            let nothing = Error::format(ErrorCode::ProviderShape, Place::File, message);
            return Err(findings.list.into_iter().next().unwrap_or(nothing));
        }
        self.first = Some((output, known.into_notes()));
        Ok(Validation {
            len: output.len,
            warnings,
            findings,
            loss,
        })
    }

    fn builder<'a>(&'a self, take: &'a mut dyn FnMut(Record) -> bool) -> Builder<'a> {
        let scope = self.scope.as_deref();
        let notes = self.first.as_ref().map(|(_, notes)| notes);
        Builder::new(self.source.format, scope, self.profile, notes, take)
    }

    fn pass(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        let mut reader = (self.source.reader)();
        let files = match &self.elements {
            Elements::Files { files, .. } => files,
            Elements::Rows(rows) => return self.rows(&**rows, reader, builder),
        };
        for file in files.each() {
            let (name, part) = file?;
            if !self.source.spans_files {
                reader = (self.source.reader)();
            }
            let mut reading = Reading {
                import: self,
                reader: &mut *reader,
                name: (!files.is_one()).then_some(name),
            };
            builder.written = self.written(name).or(self.default);
            let read = reading.file(&part, builder);
            read.map_err(|error| match error {
                JsonError::Flaw(_, message) => {
                    Error::format(ErrorCode::ProviderSyntax, Place::pointer(name), message)
                }
                JsonError::Io(source) => part.error(name, source),
            })?;
        }
        if self.source.spans_files {
            reader.finish(builder);
        }
        Ok(())
    }

    /// Reads the rows of a database.
    fn rows(
        &self,
        rows: &Rows,
        mut reader: Box<dyn Reader>,
        builder: &mut Builder<'_>,
    ) -> Result<(), Error> {
        builder.written = self.default;
        let mut counts = BTreeMap::new();
        rows(&mut |table, row| {
            let number: &mut u64 = counts.entry(table.to_owned()).or_default();
            builder.place = Place::pointer(format!("{table}/{number}"));
            *number = number.saturating_add(1);
            if !reader.element(&row, table, builder) {
                builder.lose("record");
            }
            builder.sink.is_wanted()
        })
        .map_err(|message| Error::format(ErrorCode::ProviderSyntax, Place::File, message))?;
        reader.end(builder);
        Ok(())
    }

    /// Returns when a file was last written; unknown inside an archive.
    fn written(&self, name: &str) -> Option<Time> {
        let Elements::Files { files, root } = &self.elements else {
            return None;
        };
        let root = root.as_ref()?;
        let path = match root.is_dir() {
            true => root.join(name),
            false if files.is_one() => root.clone(),
            false => return None,
        };
        let modified = path.symlink_metadata().ok()?.modified().ok()?;
        let since = modified.duration_since(UNIX_EPOCH).ok()?;
        i64::try_from(since.as_millis()).ok().map(Time::from_ms)
    }
}

impl RecordSource for Import {
    fn each(&mut self, take: &mut dyn FnMut(Record) -> bool) -> Result<(), Error> {
        let mut builder = self.builder(take);
        self.pass(&mut builder).map_err(|_| changed())?;
        match &self.first {
            Some((output, _)) => builder.sink.compare(*output),
            None => Err(changed()),
        }
    }
}

/// One file that is read.
struct Reading<'a> {
    import: &'a Import,
    reader: &'a mut dyn Reader,
    /// The name of the file among several.
    name: Option<&'a str>,
}

impl Reading<'_> {
    fn file(&mut self, part: &SourceFile, builder: &mut Builder<'_>) -> Result<(), JsonError> {
        if !builder.sink.is_wanted() {
            return Ok(());
        }
        match self.form(part)? {
            Form::Document => self.document(part, builder)?,
            Form::Lines => {
                let make = |line: &[u8], number| {
                    let is_blank = line.iter().all(u8::is_ascii_whitespace);
                    (number, (!is_blank).then(|| strict::parse(line)))
                };
                stream_lines(part, make, |(number, value)| {
                    self.line(number, value, builder)
                })?;
            }
            Form::Text => {
                let make = |line: &[u8], number| {
                    let line = String::from_utf8_lossy(line).into_owned();
                    (number, Some(Ok(Value::Text(line))))
                };
                stream_lines(part, make, |(number, value)| {
                    self.line(number, value, builder)
                })?;
            }
        }
        self.reader.end(builder);
        Ok(())
    }

    /// Tells how a file holds its elements by its first line that is not blank.
    fn form(&self, part: &SourceFile) -> io::Result<Form> {
        if (self.import.source.is_text)(&part.head(HEAD_LEN)?) {
            return Ok(Form::Text);
        }
        let limit = u64::try_from(VALUE_LEN_MAX).unwrap_or(u64::MAX);
        let first = part.read(BUFFER_LEN, |input| {
            let mut input = input.take(limit);
            let mut line = Vec::new();
            while input.read_until(b'\n', &mut line)? > 0
                && line.iter().all(u8::is_ascii_whitespace)
            {
                line.clear();
            }
            Ok::<_, io::Error>(line)
        })??;
        let arrays = self.import.source.arrays;
        let is_element = strict::parse(&first).is_ok_and(|value| {
            let map = value.as_map();
            map.is_some_and(|map| !arrays.iter().any(|array| holds(map, array)))
        });
        let is_cut = !matches!(first.first(), Some(b'{' | b'[' | b' ' | b'\t' | 0xef));
        Ok(match is_element || is_cut {
            true => Form::Lines,
            false => Form::Document,
        })
    }

    /// A line that is no JSON is counted: a log may end in the middle of one.
    fn line(
        &mut self,
        number: u64,
        value: Option<Result<Value, (strict::Flaw, String)>>,
        builder: &mut Builder<'_>,
    ) -> bool {
        builder.place = match self.name {
            Some(name) => Place::pointer(format!("{name}:{number}")),
            None => Place::Line(number),
        };
        match value {
            Some(Ok(value)) => self.element(&value, "", builder),
            Some(Err((_, message))) => {
                let place = builder.place.clone();
                let error = Error::format(ErrorCode::ProviderSyntax, place, message);
                builder.findings.push(error);
                builder.lose("line");
            }
            None => {}
        }
        builder.sink.is_wanted()
    }

    /// Reads the arrays of a document, or the one element that it is; other members are counted.
    fn document(&mut self, part: &SourceFile, builder: &mut Builder<'_>) -> Result<(), JsonError> {
        let Source {
            arrays,
            is_in_order,
            ..
        } = *self.import.source;
        let make = |value: Value, position: Position| (value, position);
        let passes = if is_in_order { arrays.len() } else { 1 };
        let mut rest = None;
        let mut used: &[&str] = &[];
        for pass in 0..passes {
            let is_wanted = |array| !is_in_order || array == pass;
            let read = stream_file(part, arrays, is_wanted, make, |(value, position)| {
                self.at(&value, position, builder)
            })?;
            match read {
                Some(Value::Map(map)) => rest = Some(map),
                Some(_) => {}
                None => return Ok(()),
            }
            if let Some(rest) = rest.as_ref().filter(|_| pass == 0) {
                used = self.reader.envelope(rest);
            }
        }
        let Some(rest) = rest else {
            return Ok(());
        };
        if !arrays.iter().any(|array| rest.contains(array)) {
            self.element(&Value::Map(rest), "", builder);
            return Ok(());
        }
        let is_nothing = |value: &Value| match value {
            Value::Nil => true,
            Value::Array(items) => items.is_empty(),
            Value::Map(map) => map.is_empty(),
            _ => false,
        };
        let left = rest
            .iter()
            .filter(|(name, value)| !is_nothing(value) && !used.contains(name));
        left.for_each(|(name, _)| builder.lose(name.rsplit('/').next().unwrap_or(name)));
        Ok(())
    }

    fn at(&mut self, value: &Value, position: Position, builder: &mut Builder<'_>) -> bool {
        let arrays = self.import.source.arrays;
        let array = arrays.get(position.array).copied().unwrap_or_default();
        let slash = if array.is_empty() { "" } else { "/" };
        let file = self.name.map(|name| format!("{name}#"));
        let file = file.unwrap_or_default();
        let number = position.number;
        builder.place = Place::pointer(format!("{file}{slash}{array}/{number}"));
        self.element(value, array, builder);
        builder.sink.is_wanted()
    }

    fn element(&mut self, value: &Value, array: &str, builder: &mut Builder<'_>) {
        if !self.reader.element(value, array, builder) {
            builder.lose("record");
        }
    }
}

/// Returns whether an object has an array of that name, which may be one of a member (`outer/inner`).
fn holds(map: &Map, array: &str) -> bool {
    match array.split_once('/') {
        Some((outer, inner)) => {
            let outer = map.get(outer).and_then(Value::as_map);
            outer.is_some_and(|outer| outer.contains(inner))
        }
        None => map.contains(array),
    }
}

/// More than the beginning of a list takes.
pub(super) const HEAD_LEN: u64 = 4096;
