//! Templates of ASSEMBLE: their sections, and the presets that they extend (CAL 10.5, 10.6).

mod mustache;

use serde::{Deserialize, Serialize};

use crate::assemble::Preset;
use crate::code::Code;
use crate::error::Error;
use crate::place::{At, Placed};
use crate::recall::Format;
pub(crate) use mustache::{Node, Values, rendered};

/// The sections of a template, each a text with variables between double braces.
///
/// ```
/// let query = grainstore_cal::parse("ASSEMBLE FROM (RECALL) FORMAT TEMPLATE { ELEMENT {* {{grain.content}}} }")?;
/// let text = "ASSEMBLE FROM (RECALL) FORMAT TEMPLATE { ELEMENT {* {{grain.content}}} }";
/// assert_eq!(query.to_string(), text);
/// # Ok::<(), grainstore_cal::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sections {
    /// Before the first grain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<Placed<String>>,
    /// A grain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element: Option<Placed<String>>,
    /// A grain at the level `summary`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element_summary: Option<Placed<String>>,
    /// In place of a grain at the level `summary`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element_omit: Option<Placed<String>>,
    /// Between two sources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_break: Option<Placed<String>>,
    /// Behind the last grain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub footer: Option<Placed<String>>,
}

impl Sections {
    /// The keywords of the sections in their order.
    pub(crate) const KEYWORDS: [&'static str; 6] = [
        "HEADER",
        "ELEMENT",
        "ELEMENT_SUMMARY",
        "ELEMENT_OMIT",
        "SOURCE_BREAK",
        "FOOTER",
    ];

    /// Returns the section of a keyword.
    pub(crate) fn of(&mut self, keyword: &str) -> &mut Option<Placed<String>> {
        match keyword {
            "HEADER" => &mut self.header,
            "ELEMENT" => &mut self.element,
            "ELEMENT_SUMMARY" => &mut self.element_summary,
            "ELEMENT_OMIT" => &mut self.element_omit,
            "SOURCE_BREAK" => &mut self.source_break,
            _ => &mut self.footer,
        }
    }

    /// Returns the sections that are given, with their keywords.
    pub(crate) fn given(&self) -> impl Iterator<Item = (&'static str, &Placed<String>)> {
        let texts = [
            &self.header,
            &self.element,
            &self.element_summary,
            &self.element_omit,
            &self.source_break,
            &self.footer,
        ];
        let all = Self::KEYWORDS.into_iter().zip(texts);
        all.filter_map(|(keyword, text)| Some((keyword, text.as_ref()?)))
    }
}

/// `DEFINE TEMPLATE name ..`: kept by the host as long as it runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DefineTemplate {
    /// The name.
    pub name: Placed<String>,
    /// EXTENDS: the preset whose sections are those that are not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extends: Option<Placed<String>>,
    /// The sections.
    #[serde(default)]
    pub sections: Sections,
}

/// A template that was read.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    /// The format of the sections that it does not have, and of escapes.
    pub(crate) parent: Format,
    pub(crate) header: Option<Vec<Node>>,
    pub(crate) element: Option<Vec<Node>>,
    /// ELEMENT_SUMMARY, or ELEMENT_OMIT.
    pub(crate) summary: Option<Vec<Node>>,
    pub(crate) source_break: Option<Vec<Node>>,
    pub(crate) footer: Option<Vec<Node>>,
}

impl Template {
    /// Reads the sections of a template.
    ///
    /// # Errors
    /// CAL-E090 to E094, E096.
    pub(crate) fn of(sections: &Sections, parent: Preset, at: At) -> Result<Self, Error> {
        let len: usize = sections.given().map(|(_, text)| text.it.len()).sum();
        if len > BODY_LEN_MAX {
            let message = format!("a template has at most {BODY_LEN_MAX} bytes");
            return Err(Error::new(Code::TemplateTooLarge, at, message));
        }
        if let (Some(_), Some(omit)) = (&sections.element_summary, &sections.element_omit) {
            let message = "ELEMENT_SUMMARY and ELEMENT_OMIT are both for the level summary";
            return Err(Error::new(Code::ConflictingSections, omit.at, message));
        }
        let read = |text: &Option<Placed<String>>| {
            let text = text.as_ref();
            text.map(|text| mustache::read(&text.it, text.at))
                .transpose()
        };
        let summary = sections.element_summary.as_ref();
        let summary = summary.or(sections.element_omit.as_ref()).cloned();
        Ok(Self {
            parent: parent.format(),
            header: read(&sections.header)?,
            element: read(&sections.element)?,
            summary: read(&summary)?,
            source_break: read(&sections.source_break)?,
            footer: read(&sections.footer)?,
        })
    }
}

/// Returns the preset that EXTENDS names; without it `readable`. `None` for another name.
///
/// # Errors
/// CAL-E086 for `data`, whose sections are no lines.
pub(crate) fn parent(extends: Option<&Placed<String>>) -> Result<Option<Preset>, Error> {
    let Some(name) = extends else {
        return Ok(Some(Preset::Readable));
    };
    let is_it = |preset: &&Preset| preset.as_str().eq_ignore_ascii_case(&name.it);
    match Preset::ALL.iter().find(is_it) {
        Some(Preset::Data) => {
            let error = Error::new(Code::CannotExtendData, name.at, "data cannot be extended");
            Err(error.suggest("extend structured, readable or compact"))
        }
        found => Ok(found.copied()),
    }
}

/// CAL 1.9: the bytes of all sections together.
const BODY_LEN_MAX: usize = 4_096;
