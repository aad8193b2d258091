//! Values of grains as Python's own: `None`, `bool`, `int`, `float`, `str`, `bytes`, `list`, `dict`.

use grainstore::codec::{Int, Map, Profile, Value};
use grainstore::crypto::Did;
use grainstore::grain::Time;
use grainstore::{ContentAddress, Draft};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple, PyType,
};

use crate::error;
use crate::grain::Grain;

/// Returns the draft that a mapping of full field names describes.
pub(crate) fn draft(fields: &Bound<'_, PyAny>) -> PyResult<Draft> {
    let value = value(fields, 0)?;
    let draft = Draft::from_value(value);
    draft.map_err(|source| error::of(fields.py(), &source.into()))
}

/// Returns the fields of a dict; null is a value, with which a draft ends the field.
pub(crate) fn changes(fields: &Bound<'_, PyDict>) -> PyResult<Vec<(String, Value)>> {
    let pairs = fields.iter();
    pairs.map(|(name, item)| pair(&name, &item, 0)).collect()
}

/// A payload is at most this deep: what is deeper is not looked at, as the store refuses it.
const DEPTH_MAX: usize = Profile::Extended.depth_max() + 2;

/// Returns a value of Python as one of a grain.
fn value(any: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    if let Ok(text) = any.cast::<PyString>() {
        return Ok(Value::Text(text.to_str()?.to_owned()));
    }
    if any.is_none() || depth > DEPTH_MAX {
        return Ok(Value::Nil);
    }
    if let Ok(flag) = any.cast::<PyBool>() {
        return Ok(Value::Bool(flag.is_true()));
    }
    if let Ok(number) = any.cast::<PyFloat>() {
        return Ok(Value::Float(number.value()));
    }
    if any.is_instance_of::<PyInt>() {
        return int(any).map(Value::Int);
    }
    if let Ok(items) = any.cast::<PyList>() {
        let items = items.iter().map(|item| value(&item, depth + 1));
        return Ok(Value::Array(items.collect::<PyResult<_>>()?));
    }
    if let Ok(pairs) = any.cast::<PyDict>() {
        // OMS 4.5: null is omitted in maps, so that a default may stand for it.
        let pairs = pairs.iter().filter(|(_, item)| !item.is_none());
        let pairs = pairs.map(|(name, item)| pair(&name, &item, depth));
        return map(pairs.collect::<PyResult<_>>()?);
    }
    if let Ok(bytes) = any.cast::<PyBytes>() {
        return Ok(Value::Bytes(bytes.as_bytes().to_vec()));
    }
    other(any, depth)
}

/// Returns the value of what is read like one of the plain kinds.
fn other(any: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    if let Ok(items) = any.cast::<PyTuple>() {
        let items = items.iter().map(|item| value(&item, depth + 1));
        return Ok(Value::Array(items.collect::<PyResult<_>>()?));
    }
    if let Ok(pairs) = any.cast::<PyMapping>() {
        let mut found = Vec::new();
        for item in pairs.items()?.iter() {
            let (name, item) = item.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
            if !item.is_none() {
                found.push(pair(&name, &item, depth)?);
            }
        }
        return map(found);
    }
    if let Ok(grain) = any.cast::<Grain>() {
        return Ok(Value::Text(grain.get().address().to_string()));
    }
    if any.is_instance(datetime(any.py())?)? {
        return Ok(Value::Int(milliseconds(any)?.into()));
    }
    // Numbers of numpy and others that say they are one.
    if any.hasattr("__index__")? {
        return int(&any.call_method0("__index__")?).map(Value::Int);
    }
    if any.hasattr("__float__")? {
        return Ok(Value::Float(any.call_method0("__float__")?.extract()?));
    }
    let of = any.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "a grain holds no value of type {of}"
    )))
}

fn pair(
    name: &Bound<'_, PyAny>,
    item: &Bound<'_, PyAny>,
    depth: usize,
) -> PyResult<(String, Value)> {
    let Ok(text) = name.cast::<PyString>() else {
        let of = name.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "a name of a field is text, and not of type {of}"
        )));
    };
    Ok((text.to_str()?.to_owned(), value(item, depth + 1)?))
}

fn map(pairs: Vec<(String, Value)>) -> PyResult<Value> {
    let map = Map::from_pairs(pairs);
    map.map(Value::Map)
        .map_err(|name| PyValueError::new_err(format!("the field {name} is there twice")))
}

fn int(any: &Bound<'_, PyAny>) -> PyResult<Int> {
    match any.extract::<i64>() {
        Ok(number) => Ok(number.into()),
        Err(_) => Ok(any.extract::<u64>()?.into()),
    }
}

/// Returns a value of a grain as one of Python.
pub(crate) fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Nil => py.None().into_bound(py),
        Value::Bool(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Value::Int(int) => match int.as_i64() {
            Some(number) => number.into_pyobject(py)?.into_any(),
            None => int.as_u64().into_pyobject(py)?.into_any(),
        },
        Value::Float(number) => PyFloat::new(py, *number).into_any(),
        Value::Text(text) => PyString::new(py, text).into_any(),
        Value::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
        Value::Array(items) => {
            let items = items.iter().map(|item| object(py, item));
            PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
        Value::Map(map) => dict(py, map)?.into_any(),
    })
}

/// Returns the fields of a grain as a new dict.
pub(crate) fn dict<'py>(py: Python<'py>, map: &Map) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in map.iter() {
        dict.set_item(name, object(py, value)?)?;
    }
    Ok(dict)
}

/// Returns the address that a text or a grain names.
pub(crate) fn address(any: &Bound<'_, PyAny>) -> PyResult<ContentAddress> {
    if let Ok(grain) = any.cast::<Grain>() {
        return Ok(grain.get().address());
    }
    let Ok(text) = any.cast::<PyString>() else {
        let of = any.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "an address is text or a grain, and not of type {of}"
        )));
    };
    let address = text.to_str()?.parse::<ContentAddress>();
    address.map_err(|source| error::of(any.py(), &source.into()))
}

/// Returns the DID of a text.
pub(crate) fn did(py: Python<'_>, text: &str) -> PyResult<Did> {
    text.parse()
        .map_err(|source: grainstore::crypto::Error| error::of(py, &source.into()))
}

/// Returns the time that a `datetime` with an offset, milliseconds since 1970, or a text of RFC 3339
/// names.
pub(crate) fn time(any: &Bound<'_, PyAny>) -> PyResult<Time> {
    if let Ok(text) = any.cast::<PyString>() {
        return Time::parse(text.to_str()?).map_err(PyValueError::new_err);
    }
    if any.is_instance(datetime(any.py())?)? {
        return milliseconds(any).map(Time::from_ms);
    }
    if any.is_instance_of::<PyInt>() {
        return Ok(Time::from_ms(any.extract()?));
    }
    let of = any.get_type().name()?;
    let message =
        format!("a time is a datetime, milliseconds since 1970 or text, and not of type {of}");
    Err(PyTypeError::new_err(message))
}

fn datetime<'py>(py: Python<'py>) -> PyResult<&'py Bound<'py, PyType>> {
    static DATETIME: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    DATETIME.import(py, "datetime", "datetime")
}

/// Returns the milliseconds since 1970 of a `datetime`, the floor as of OMS 4.8.
fn milliseconds(any: &Bound<'_, PyAny>) -> PyResult<i64> {
    let py = any.py();
    if any.call_method0("utcoffset")?.is_none() {
        let message = "a datetime without an offset names no instant: give it a tzinfo";
        return Err(PyValueError::new_err(message));
    }
    let module = py.import("datetime")?;
    let utc = module.getattr("timezone")?.getattr("utc")?;
    let epoch = datetime(py)?.call1((1970, 1, 1, 0, 0, 0, 0, utc))?;
    let millisecond = module.getattr("timedelta")?.call1((0, 0, 0, 1))?;
    let passed = any.sub(epoch)?.floor_div(millisecond)?;
    passed.extract()
}
