//! `Recollection`: the memories for a question, as text for a prompt or line by line.

use std::sync::Arc;

use grainstore::render::{self, Format};
use napi::bindgen_prelude::Result;
use napi_derive::napi;

use crate::ask::{Ask, Promised};
use crate::failure;

/// One memory of a recall.
#[napi(object, object_from_js = false)]
pub struct Line {
    /// The address of its grain.
    pub address: String,
    /// When it was said or made, in milliseconds since 1970.
    pub time: i64,
    /// Who said it.
    pub speaker: Option<String>,
    /// What it says, as it was stored.
    pub text: String,
    /// What it says, as a sentence.
    pub sentence: String,
    /// Its structural tags.
    pub tags: Vec<String>,
    /// `contested`, `ended`, `superseded` or `contradicted`; missing for what is current.
    pub standing: Option<String>,
    /// The addresses of the memories that it contradicts.
    pub contradicts: Vec<String>,
    /// The relevance; missing for a turn around one that was found.
    pub score: Option<f64>,
    /// Whether it is a turn of a conversation.
    pub is_turn: bool,
}

/// The memories that a question recalls, within a budget of tokens. `String(it)` is Markdown for a prompt.
#[napi]
pub struct Recollection(Arc<render::Recollection>);

impl Recollection {
    pub(crate) fn of(found: render::Recollection) -> Self {
        Self(Arc::new(found))
    }
}

#[napi]
impl Recollection {
    /// The memories, line by line: facts first, then conversations.
    #[napi(getter)]
    pub fn lines(&self) -> Vec<Line> {
        let lines = self.0.passages.iter().flat_map(|passage| {
            let is_turn = passage.is_conversation;
            passage.lines.iter().map(move |line| Line {
                address: line.address.to_string(),
                time: line.time.ms(),
                speaker: line.speaker.clone(),
                text: line.text.clone(),
                sentence: line.sentence.clone(),
                tags: line.tags.clone(),
                standing: line.standing.name().map(ToOwned::to_owned),
                contradicts: line.contradicts.iter().map(ToString::to_string).collect(),
                score: line.score,
                is_turn,
            })
        });
        lines.collect()
    }

    /// The size of its Markdown, in tokens of about four characters.
    #[napi(getter)]
    pub fn tokens(&self) -> f64 {
        self.0.tokens as f64
    }

    /// Whether the budget had no room for everything that was found.
    #[napi(getter)]
    pub fn is_cut(&self) -> bool {
        self.0.is_cut
    }

    /// Whether the search ended at its deadline.
    #[napi(getter)]
    pub fn is_partial(&self) -> bool {
        self.0.is_partial
    }

    /// Returns it as text: `markdown` for a prompt, `json` with every detail, `text` with a line for each
    /// grain, or `sml`.
    #[napi(
        ts_args_type = "format: 'markdown' | 'json' | 'text' | 'sml'",
        ts_return_type = "Promise<string>"
    )]
    pub fn render(&self, format: String) -> Result<Promised<String>> {
        let format: Format = format
            .parse()
            .map_err(|_| failure::unknown("format", &format))?;
        let found = Arc::clone(&self.0);
        Ok(Ask::promise(None, move || Ok(found.render(format))))
    }

    /// Returns it as Markdown for a prompt.
    #[napi(js_name = "toString")]
    pub fn markdown(&self) -> String {
        self.0.render(Format::Markdown)
    }
}
