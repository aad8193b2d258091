//! `Grain`: one memory, read-only, whose fields become Python values when they are asked for.

use grainstore::ContentAddress;
use grainstore::codec::Value;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use crate::value::{dict, object};

/// A memory under its address: a map of fields that never changes.
///
/// >>> import grainstore
/// >>> store = grainstore.in_memory()
/// >>> grain = store.get(store.remember("tea", subject="ana", relation="likes"))
/// >>> grain["object"], grain.type
/// ('tea', 'belief')
/// >>> grain
/// Grain(belief: 'ana likes tea', ...)
#[pyclass(frozen, module = "grainstore")]
#[derive(Debug)]
pub(crate) struct Grain(grainstore::Grain);

impl Grain {
    pub(crate) const fn new(grain: grainstore::Grain) -> Self {
        Self(grain)
    }

    pub(crate) const fn address(&self) -> ContentAddress {
        self.0.address()
    }
}

#[pymethods]
impl Grain {
    /// The address: the SHA-256 of its bytes, as 64 hexadecimal digits.
    #[getter]
    fn get_address(&self) -> String {
        self.0.address().to_string()
    }

    /// The name of the type, such as `belief`; `None` for one that this version does not know.
    #[getter]
    fn get_type(&self) -> Option<&'static str> {
        self.0.type_().name()
    }

    /// The fields under their full names, as a new dict; times are milliseconds since 1970.
    #[getter]
    fn get_fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, self.0.fields())
    }

    /// When it was made, in milliseconds since 1970.
    #[getter]
    fn get_created_at(&self) -> i64 {
        self.0.created_at().ms()
    }

    /// Its content in one line.
    #[getter]
    fn get_summary(&self) -> String {
        self.0.summary()
    }

    /// The bytes that the address is the hash of.
    #[getter]
    fn get_blob<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.blob())
    }

    /// Whether it is signed.
    #[getter]
    const fn get_is_signed(&self) -> bool {
        self.0.is_signed()
    }

    /// Returns the fields as a JSON object.
    fn to_json(&self) -> String {
        self.0.to_json()
    }

    /// Returns a field, or `default` if the grain has none of this name.
    #[pyo3(signature = (name, default = None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self.0.field(name) {
            Some(value) => object(py, value),
            None => Ok(default.unwrap_or_else(|| py.None().into_bound(py))),
        }
    }

    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        match self.0.field(name) {
            Some(value) => object(py, value),
            None => Err(PyKeyError::new_err(name.to_owned())),
        }
    }

    fn __contains__(&self, name: &str) -> bool {
        self.0.field(name).is_some()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let other = other.cast::<Self>();
        other.is_ok_and(|other| other.get().address() == self.address())
    }

    fn __hash__(&self) -> u64 {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.address().as_bytes()[..8]);
        u64::from_le_bytes(bytes)
    }

    /// Returns the fields as a table, for notebooks.
    fn _repr_html_(&self) -> String {
        let row = |name: &str, value: &str| {
            format!(
                "<tr><th>{}</th><td>{}</td></tr>",
                escaped(name),
                escaped(value)
            )
        };
        let fields = self.0.fields().iter().map(|(name, value)| match value {
            Value::Text(text) => row(name, text),
            value => row(name, &value.to_json()),
        });
        let rows: String = fields.collect();
        let address = row("address", &self.address().to_string());
        format!("<table>{rows}{address}</table>")
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let of = self.0.type_().name().unwrap_or("unknown");
        let address = self.address().to_string();
        let summary = PyString::new(py, &self.0.summary()).repr()?;
        Ok(format!("Grain({of}: {summary}, {address:.12}…)"))
    }
}

/// Returns a text in which nothing is markup.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}
