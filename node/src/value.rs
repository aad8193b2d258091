//! Values of grains as JavaScript's own: `null`, booleans, numbers, `bigint`, strings, `Uint8Array`, arrays
//! and plain objects.

use grainstore::codec::{Int, Map, Profile, Value};
use grainstore::crypto::Did;
use grainstore::grain::Time;
use grainstore::{ContentAddress, Draft};
use napi::bindgen_prelude::{
    Array, BigInt, ClassInstance, Date, FromNapiValue, JsObjectValue, Null, Object, Result,
    ToNapiValue, Uint8Array, Unknown,
};
use napi::{Env, JsValue, ValueType};

use crate::failure;
use crate::grain::Grain;

/// A payload is at most this deep: what is deeper is not looked at, as the store refuses it.
const DEPTH_MAX: usize = Profile::Extended.depth_max() + 2;

/// From here on not every integer is a number of JavaScript.
const SAFE: i64 = 1 << 53;

/// Returns the draft that an object of full field names describes.
pub(crate) fn draft(fields: Unknown<'_>) -> Result<Draft> {
    drafted(value(fields, 0, false)?)
}

/// Returns the draft of a value.
pub(crate) fn drafted(value: Value) -> Result<Draft> {
    Draft::from_value(value).map_err(|source| failure::of(&source.into()))
}

/// Returns the fields of an object; null is a value, with which a draft ends the field.
pub(crate) fn changes(fields: Unknown<'_>) -> Result<Vec<(String, Value)>> {
    match value(fields, 0, true)? {
        Value::Map(map) => Ok(map
            .iter()
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .collect()),
        _ => Err(failure::kind("the changes of a grain are an object")),
    }
}

/// Returns the members of an object that are there.
pub(crate) fn members(of: Option<Unknown<'_>>) -> Result<Map> {
    match of.map(|it| value(it, 0, false)).transpose()? {
        None | Some(Value::Nil) => Map::from_pairs(Vec::new()).map_err(twice),
        Some(Value::Map(map)) => Ok(map),
        Some(_) => Err(failure::kind("conditions are an object")),
    }
}

/// Returns a value of JavaScript as one of a grain. `keeps_nil` tells whether a null member of the
/// outermost object stands for itself: elsewhere null is omitted in maps, so that a default may stand for
/// it (OMS 4.5).
fn value(any: Unknown<'_>, depth: usize, keeps_nil: bool) -> Result<Value> {
    if depth > DEPTH_MAX {
        return Ok(Value::Nil);
    }
    Ok(match any.get_type()? {
        ValueType::Undefined | ValueType::Null => Value::Nil,
        ValueType::Boolean => Value::Bool(bool::from_unknown(any)?),
        ValueType::Number => number(f64::from_unknown(any)?),
        ValueType::BigInt => Value::Int(int(&BigInt::from_unknown(any)?)?),
        ValueType::String => Value::Text(String::from_unknown(any)?),
        ValueType::Object => return object(any, depth, keeps_nil),
        other => {
            let message = format!("a grain holds no value of type {other}");
            return Err(failure::kind(&message));
        }
    })
}

fn object(any: Unknown<'_>, depth: usize, keeps_nil: bool) -> Result<Value> {
    if any.is_array()? {
        let items = Array::from_unknown(any)?;
        let item = |index| {
            let item = items.get::<Unknown<'_>>(index)?;
            item.map_or(Ok(Value::Nil), |item| value(item, depth + 1, false))
        };
        return Ok(Value::Array(
            (0..items.len()).map(item).collect::<Result<_>>()?,
        ));
    }
    if any.is_typedarray()? {
        let bytes = Uint8Array::from_unknown(any)
            .map_err(|_| failure::kind("bytes of a grain are a Uint8Array"))?;
        return Ok(Value::Bytes(bytes.to_vec()));
    }
    if any.is_date()? {
        return Ok(Value::Int(milliseconds(&Date::from_unknown(any)?)?.into()));
    }
    if let Ok(grain) = ClassInstance::<'_, Grain>::from_unknown(any) {
        return Ok(Value::Text(grain.content_address().to_string()));
    }
    let fields = Object::from_unknown(any)?;
    let mut pairs = Vec::new();
    for name in Object::keys(&fields)? {
        let item = fields.get_named_property::<Unknown<'_>>(&name)?;
        let is_missing = item.get_type()? == ValueType::Undefined;
        let item = value(item, depth + 1, false)?;
        if !is_missing && (keeps_nil || item != Value::Nil) {
            pairs.push((name, item));
        }
    }
    Map::from_pairs(pairs).map(Value::Map).map_err(twice)
}

fn twice(name: String) -> napi::Error {
    failure::range(&format!("the field {name} is there twice"))
}

/// JavaScript has one kind of numbers: those that are whole are integers.
#[expect(clippy::cast_possible_truncation, reason = "whole, and below 2^53")]
fn number(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < SAFE as f64 {
        return Value::Int((number as i64).into());
    }
    Value::Float(number)
}

fn int(big: &BigInt) -> Result<Int> {
    let (number, is_exact) = big.get_i64();
    if is_exact {
        return Ok(number.into());
    }
    match big.get_u64() {
        (false, number, true) => Ok(number.into()),
        _ => Err(failure::range("an integer of a grain has 64 bits")),
    }
}

/// Returns the milliseconds since 1970 of a date.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a date is whole and below 2^53"
)]
fn milliseconds(date: &Date<'_>) -> Result<i64> {
    let ms = date.value_of()?;
    if ms.is_nan() {
        return Err(failure::range("an invalid Date names no instant"));
    }
    Ok(ms as i64)
}

/// Returns a value of a grain as one of JavaScript.
pub(crate) fn unknown<'env>(env: &'env Env, value: &Value) -> Result<Unknown<'env>> {
    match value {
        Value::Nil => Null.into_unknown(env),
        Value::Bool(flag) => flag.into_unknown(env),
        Value::Int(int) => match (int.as_i64(), int.as_u64()) {
            (Some(number), _) if number.unsigned_abs() < SAFE.unsigned_abs() => {
                number.into_unknown(env)
            }
            (Some(number), _) => BigInt::from(number).into_unknown(env),
            (None, number) => BigInt::from(number.unwrap_or_default()).into_unknown(env),
        },
        Value::Float(number) => number.into_unknown(env),
        Value::Text(text) => text.as_str().into_unknown(env),
        Value::Bytes(bytes) => Uint8Array::from(bytes.as_slice()).into_unknown(env),
        Value::Array(items) => {
            let items = items.iter().map(|item| unknown(env, item));
            items.collect::<Result<Vec<_>>>()?.into_unknown(env)
        }
        Value::Map(map) => fields(env, map)?.into_unknown(env),
    }
}

/// Returns the fields of a grain as a new object.
pub(crate) fn fields<'env>(env: &'env Env, map: &Map) -> Result<Object<'env>> {
    let mut object = Object::new(env)?;
    for (name, value) in map.iter() {
        object.set(name, unknown(env, value)?)?;
    }
    Ok(object)
}

/// Returns the address of a text.
pub(crate) fn address(text: &str) -> Result<ContentAddress> {
    text.parse::<ContentAddress>()
        .map_err(|source| failure::of(&source.into()))
}

/// Returns the addresses of texts.
pub(crate) fn addresses(texts: &[String]) -> Result<Vec<ContentAddress>> {
    texts.iter().map(|text| address(text)).collect()
}

/// Returns the DID of a text.
pub(crate) fn did(text: &str) -> Result<Did> {
    text.parse()
        .map_err(|source: grainstore::crypto::Error| failure::of(&source.into()))
}

/// Returns the time that milliseconds since 1970 or a text of RFC 3339 name.
pub(crate) fn time(value: &Value) -> Result<Time> {
    match value {
        Value::Text(text) => Time::parse(text).map_err(|it| failure::range(&it.to_string())),
        Value::Int(ms) if ms.as_i64().is_some() => {
            Ok(Time::from_ms(ms.as_i64().unwrap_or_default()))
        }
        _ => Err(failure::kind(
            "a time is a Date, whole milliseconds since 1970, or text",
        )),
    }
}
