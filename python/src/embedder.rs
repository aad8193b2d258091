//! Models of Python programs that make vectors of texts.

use grainstore::store::Embedder;
use pyo3::prelude::*;

use crate::store::floats;

/// An object with the members `model`, `dimensions` and `embed`, and perhaps `embed_query`.
#[derive(Debug)]
pub(crate) struct PyEmbedder {
    model: String,
    dimensions: usize,
    object: Py<PyAny>,
}

impl PyEmbedder {
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self {
            model: object.getattr("model")?.extract()?,
            dimensions: object.getattr("dimensions")?.extract()?,
            object: object.clone().unbind(),
        })
    }
}

impl Embedder for PyEmbedder {
    fn model(&self) -> &str {
        &self.model
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed(
        &self,
        texts: &[&str],
    ) -> Result<Vec<Vec<f32>>, Box<dyn std::error::Error + Send + Sync>> {
        let embedded = Python::attach(|py| {
            let vectors = self
                .object
                .bind(py)
                .call_method1("embed", (texts.to_vec(),))?;
            vectors
                .try_iter()?
                .map(|vector| numbers(&vector?))
                .collect::<PyResult<_>>()
        });
        embedded.map_err(|error: PyErr| error.to_string().into())
    }

    fn embed_query(
        &self,
        text: &str,
    ) -> Result<Vec<f32>, Box<dyn std::error::Error + Send + Sync>> {
        let embedded = Python::attach(|py| {
            let object = self.object.bind(py);
            if object.hasattr("embed_query")? {
                return numbers(&object.call_method1("embed_query", (text,))?);
            }
            let vectors = object.call_method1("embed", ([text],))?;
            numbers(&vectors.get_item(0)?)
        });
        embedded.map_err(|error: PyErr| error.to_string().into())
    }
}

/// Returns the numbers of a sequence or a numpy array.
fn numbers(vector: &Bound<'_, PyAny>) -> PyResult<Vec<f32>> {
    let module = vector.py().import("grainstore._vector")?;
    let bytes = module.call_method1("to_bytes", (vector,))?;
    Ok(floats(bytes.extract()?))
}
