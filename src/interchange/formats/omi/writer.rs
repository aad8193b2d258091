//! OMI-AI as a [`FormatWriter`].

use std::io::Write;

use super::reader::Omi;
use super::{write, write_lines};
use crate::interchange::formats::format_writer::{Export, FormatWriter};
use crate::interchange::{Error, Format, Written};

impl<E: From<Error> + Send> FormatWriter<E> for Omi {
    fn write(&self, export: &Export<'_, E>, mut out: &mut dyn Write) -> Result<Written, E> {
        match export.format {
            Format::OmiJsonl => write_lines(&mut out, export.entries, export.options),
            _ => write(&mut out, export.entries, export.options),
        }
    }

    fn is_redacted(&self) -> bool {
        true
    }
}
