//! The envelope of a memory store: everything beside its records (PAM 3, 16, 17).

use crate::codec::Value;
use crate::grain::Time;
use crate::interchange::{Diagnostics, Error};

use super::super::code;
use super::super::names::SCHEMA;
use super::super::types::owner::Owner;
use super::object::Object;

/// The envelope of a memory store.
pub(crate) struct Head<'a> {
    pub(crate) root: Object<'a>,
    pub(crate) version: &'a str,
    pub(crate) owner: Owner<'a>,
    pub(crate) export_date: Option<Time>,
    pub(crate) export_id: Option<&'a str>,
    /// The export that this one is based on (PAM 16).
    pub(crate) base: Option<&'a str>,
}

impl<'a> Head<'a> {
    /// Reads it; errors of its members are added to `faults`.
    ///
    /// # Errors
    /// `PAM_SCHEMA_ID`, `PAM_VERSION`, `PAM_SCHEMA` if nothing of the store can be read.
    pub(crate) fn read(value: &'a Value, faults: &mut Diagnostics) -> Result<Self, Error> {
        let (root, version) = head(value, SCHEMA, "")?;
        Ok(Self {
            owner: faults.keep(Owner::read(&root)).unwrap_or_default(),
            export_date: faults.keep(root.time("export_date")).flatten(),
            export_id: faults.keep(root.text("export_id")).flatten(),
            base: faults.keep(base(&root)).flatten(),
            version,
            root,
        })
    }

    /// Returns whether this is an incremental store (PAM 16).
    pub(crate) fn is_delta(&self) -> bool {
        self.root.get("export_type").and_then(Value::as_text) == Some("incremental")
    }
}

/// Reads the members that decide whether the rest can be read.
pub(crate) fn head<'a>(
    value: &'a Value,
    schema: &str,
    at: &str,
) -> Result<(Object<'a>, &'a str), Error> {
    let root = Object::new(value, at.to_owned())?;
    if root.text("schema")? != Some(schema) {
        let message = format!("is not \"{schema}\"");
        return Err(root.member_fault("schema", code::SCHEMA_ID, message));
    }
    let version = root.required_text("schema_version")?;
    if !is_known_version(version) {
        let message = format!("{version} is not a version of PAM 1");
        return Err(root.member_fault("schema_version", code::VERSION, message));
    }
    Ok((root, version))
}

/// Returns the base of an incremental export (PAM 16).
fn base<'a>(root: &Object<'a>) -> Result<Option<&'a str>, Error> {
    match root.text("export_type")? {
        None | Some("full") => Ok(None),
        Some("incremental") => root.text("base_export_id"),
        Some(other) => {
            let message = format!("\"{other}\" is neither full nor incremental");
            Err(root.member_fault("export_type", code::SCHEMA, message))
        }
    }
}

/// The pattern of the schema, with the one major version.
fn is_known_version(version: &str) -> bool {
    let (number, stage) = version.split_once('-').unwrap_or((version, "rc"));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_stage = ["rc", "alpha", "beta"]
        .iter()
        .any(|name| stage.strip_prefix(name).is_some_and(digits));
    let minor = number.strip_prefix("1.").unwrap_or_default();
    is_stage && !minor.is_empty() && digits(minor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_the_first_major_are_known_and_patch_versions_are_no_versions() {
        for version in ["1.0", "1.12", "1.0-rc", "1.0-rc1", "1.1-beta2"] {
            assert!(is_known_version(version), "{version}");
        }
        for version in [
            "", "1", "1.", "1.0.1", "2.0", "01.0", "1.0-", "1.0-x", "1.0-rc1x", "1.x",
        ] {
            assert!(!is_known_version(version), "{version}");
        }
    }
}
