//! `Grain`: one memory, read-only, whose fields become JavaScript's values when they are asked for.

use grainstore::ContentAddress;
use napi::Env;
use napi::bindgen_prelude::{Object, Result, Uint8Array, Unknown};
use napi_derive::napi;

use crate::value::{fields, unknown};

/// A memory under its address: a map of fields that never changes.
#[napi]
pub struct Grain(grainstore::Grain);

impl Grain {
    pub(crate) const fn of(grain: grainstore::Grain) -> Self {
        Self(grain)
    }

    pub(crate) const fn content_address(&self) -> ContentAddress {
        self.0.address()
    }
}

#[napi]
impl Grain {
    /// The address: the SHA-256 of its bytes, as 64 hexadecimal digits.
    #[napi(getter)]
    pub fn address(&self) -> String {
        self.0.address().to_string()
    }

    /// The name of the type, such as `belief`; `null` for one that this version does not know.
    #[napi(getter, js_name = "type", ts_return_type = "string | null")]
    pub fn type_name(&self) -> Option<&'static str> {
        self.0.type_().name()
    }

    /// The fields under their full names, as a new object; times are milliseconds since 1970.
    #[napi(getter, ts_return_type = "Record<string, any>")]
    pub fn fields<'env>(&self, env: &'env Env) -> Result<Object<'env>> {
        fields(env, self.0.fields())
    }

    /// When it was made, in milliseconds since 1970.
    #[napi(getter)]
    pub fn created_at(&self) -> i64 {
        self.0.created_at().ms()
    }

    /// Its content in one line.
    #[napi(getter)]
    pub fn summary(&self) -> String {
        self.0.summary()
    }

    /// The bytes that the address is the hash of.
    #[napi(getter)]
    pub fn blob(&self) -> Uint8Array {
        Uint8Array::from(self.0.blob())
    }

    /// Whether it is signed.
    #[napi(getter)]
    pub const fn is_signed(&self) -> bool {
        self.0.is_signed()
    }

    /// Returns a field; `null` if the grain has none of this name.
    #[napi(ts_return_type = "any")]
    pub fn get<'env>(&self, env: &'env Env, name: String) -> Result<Option<Unknown<'env>>> {
        let field = self.0.field(&name);
        field.map(|value| unknown(env, value)).transpose()
    }

    /// Whether it has a field.
    #[napi]
    pub fn has(&self, name: String) -> bool {
        self.0.field(&name).is_some()
    }

    /// Whether it is the same grain: its bytes are the same, as its address is.
    #[napi]
    #[allow(
        clippy::use_self,
        reason = "the macro moves the type out of the block, where Self is none"
    )]
    pub fn equals(&self, other: &Grain) -> bool {
        self.0.address() == other.0.address()
    }

    /// Returns the fields as the text of a JSON object; bytes are base64.
    #[napi]
    pub fn to_text(&self) -> String {
        self.0.to_json()
    }

    /// Returns its content in one line, with its type and the beginning of its address.
    #[napi(js_name = "toString")]
    pub fn in_one_line(&self) -> String {
        let of = self.0.type_().name().unwrap_or("unknown");
        let address = self.0.address().to_string();
        format!("Grain({of}: {:?}, {address:.12}…)", self.0.summary())
    }
}
