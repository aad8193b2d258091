//! `Recollection`: the memories for a question, as text for a prompt or line by line.

use grainstore::render::Format;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The memories that a question recalls, within a budget.
#[pyclass(frozen, module = "grainstore")]
#[derive(Debug)]
pub(crate) struct Recollection(grainstore::render::Recollection);

impl Recollection {
    pub(crate) const fn new(recollection: grainstore::render::Recollection) -> Self {
        Self(recollection)
    }
}

/// The address, time, speaker, text, sentence, tags, standing, contradicted addresses and score of a line, and whether it is a turn.
type Line = (
    String,
    i64,
    Option<String>,
    String,
    String,
    Vec<String>,
    Option<&'static str>,
    Vec<String>,
    Option<f64>,
    bool,
);

#[pymethods]
impl Recollection {
    /// Returns it as `"markdown"`, `"json"` or `"text"`.
    #[pyo3(signature = (format = "markdown"))]
    fn render(&self, py: Python<'_>, format: &str) -> PyResult<String> {
        let format: Format = format
            .parse()
            .map_err(|_| PyValueError::new_err(format!("no such format: {format}")))?;
        Ok(py.detach(|| self.0.render(format)))
    }

    /// The lines: facts first, then conversations.
    #[getter]
    fn get_lines(&self) -> Vec<Line> {
        let lines = self.0.passages.iter().flat_map(|passage| {
            let is_turn = passage.is_conversation;
            passage.lines.iter().map(move |line| {
                let contradicts = line.contradicts.iter().map(ToString::to_string);
                (
                    line.address.to_string(),
                    line.time.ms(),
                    line.speaker.clone(),
                    line.text.clone(),
                    line.sentence.clone(),
                    line.tags.clone(),
                    line.standing.name(),
                    contradicts.collect(),
                    line.score,
                    is_turn,
                )
            })
        });
        lines.collect()
    }

    /// The size of its Markdown, in tokens of about four characters.
    #[getter]
    const fn get_tokens(&self) -> usize {
        self.0.tokens
    }

    /// Whether the budget had no room for everything that was found.
    #[getter]
    const fn get_is_cut(&self) -> bool {
        self.0.is_cut
    }

    /// Whether the search ended at its deadline.
    #[getter]
    const fn get_is_partial(&self) -> bool {
        self.0.is_partial
    }
}
