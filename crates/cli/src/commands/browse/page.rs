//! A grain as a page: everything the store knows about it, for a person.

use grainstore::codec::Value;
use grainstore::policy::Trust;
use grainstore::store::{Hold, Signature, Version};
use grainstore::{ContentAddress, Grain, Store, Time};
use serde_json::json;

use super::survey::readable;
use crate::commands::grains::state::{grain_json, signature_json, status_json, status_line};
use crate::commands::grains::timeline::timeline;
use crate::error::CliError;
use crate::output::{Output, Style, Styling, Table, printable};

/// A grain with everything the store knows about it.
pub(super) struct Page {
    version: Version,
    /// All versions of its lineage, oldest first.
    versions: Vec<Version>,
    /// The grains that it names as its sources.
    sources: Vec<(ContentAddress, Option<Grain>)>,
    /// The grains that rest on it, but for its own versions.
    resting: Vec<Grain>,
    holds: Vec<Hold>,
    awaits_review: bool,
}

impl Page {
    /// Reads the page of a grain; `handle` is the store as the caller may see it.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; storage errors.
    pub(super) fn read(
        store: &Store,
        handle: &Store,
        address: &ContentAddress,
    ) -> anyhow::Result<Self> {
        let mut versions = handle.history(address)?;
        let at = versions
            .iter()
            .position(|it| it.grain.address() == *address);
        let version = at.map(|at| versions[at].clone());
        let version = version.ok_or(grainstore::store::Error::NotFound { address: *address })?;
        let is_version = |other: &ContentAddress| {
            let mut lineage = versions.iter();
            lineage.any(|version| version.grain.address() == *other)
        };
        let admin = store.admin()?;
        let resting = admin.resting_on(address)?;
        let resting: Vec<_> = resting.into_iter().filter(|it| !is_version(it)).collect();
        // A grain outside the scope of the caller is not disclosed.
        let resting = readable(handle, &resting)?.into_iter().flatten().collect();
        let named: Vec<_> = version.grain.derived_from().collect();
        let named: Vec<_> = named.into_iter().filter(|it| !is_version(it)).collect();
        let sources = readable(handle, &named)?;
        let sources = named.into_iter().zip(sources).collect();
        let mut holds = admin.holds();
        holds.retain(|hold| hold.address == *address);
        let awaits_review = admin.awaits_review(address)?;
        if versions.len() == 1 {
            versions.clear();
        }
        Ok(Self {
            version,
            versions,
            sources,
            resting,
            holds,
            awaits_review,
        })
    }

    /// Writes the page, or one JSON document.
    pub(super) fn show(&self, out: &mut Output) -> anyhow::Result<()> {
        if out.is_json() {
            return Ok(out.json(&self.to_json()?)?);
        }
        let grain = &self.version.grain;
        let styling = Styling::of_stdout();
        let heading = |text: &str| styling.show(Style::Strong, text);
        let kind = styling.show(Style::Kind, &grain.type_().to_string());
        out.styled_line(&format!(
            "{kind}  {}",
            heading(&printable(&grain.summary()))
        ))?;
        row(out, "address", &grain.address().to_string())?;
        let by = self.version.stored_by.as_deref();
        let by = by.map_or_else(|| "the owner".to_owned(), printable);
        row(
            out,
            "stored",
            &format!("{}, by {by}", self.version.stored_at),
        )?;
        let status = status_line(&self.version.status);
        row(out, "status", status.as_deref().unwrap_or("is current"))?;
        if self.awaits_review {
            row(out, "review", "awaits review by a person")?;
        }
        row(out, "protection", &self.protection())?;
        for hold in &self.holds {
            let (reason, by) = (&hold.authorization.reason, &hold.authorization.authority);
            let held = format!("since {}: {reason} ({by})", hold.since);
            row(out, "legal hold", &printable(&held))?;
        }
        row(
            out,
            "signature",
            &signature(self.version.signature.as_ref()),
        )?;
        out.styled_line(&format!("\n{}", heading("Fields")))?;
        for (name, value) in grain.fields().iter().filter(|(name, _)| *name != "type") {
            field(out, name, value)?;
        }
        if !self.sources.is_empty() {
            out.styled_line(&format!("\n{}", heading("Derived from")))?;
            let mut table = Table::indented(2);
            for (address, grain) in &self.sources {
                match grain {
                    Some(grain) => table.add("  ", grain, ""),
                    None => {
                        out.line(format!("  {address}  not in this store, or not to be read"))?;
                    }
                }
            }
            lines(out, &table)?;
        }
        if !self.versions.is_empty() {
            out.styled_line(&format!("\n{}", heading("Versions, oldest first")))?;
            lines(out, &timeline(&self.versions, 0))?;
        }
        if !self.resting.is_empty() {
            out.styled_line(&format!("\n{}", heading("Rest on it")))?;
            let mut table = Table::indented(2);
            for grain in &self.resting {
                table.add("  ", grain, "");
            }
            lines(out, &table)?;
        }
        Ok(())
    }

    /// The rule of the grain itself; `policy explain` has the reasons for one operation.
    fn protection(&self) -> String {
        let policy = self.version.grain.field("invalidation_policy");
        let policy = policy.and_then(Value::as_map);
        let Some(mode) = policy.and_then(|policy| policy.get("mode")) else {
            return "none of its own".to_owned();
        };
        let mode = mode.as_text().map_or_else(|| mode.to_json(), str::to_owned);
        let scope = policy.and_then(|policy| policy.get("scope")?.as_text());
        let scope = scope.map(|scope| format!(", scope {scope}"));
        printable(&format!("{mode}{}", scope.unwrap_or_default()))
    }

    fn to_json(&self) -> Result<serde_json::Value, CliError> {
        let mut document = grain_json(&self.version.grain);
        document["status"] = status_json(&self.version.status);
        document["stored_at"] = json!(self.version.stored_at.ms());
        document["stored_by"] = json!(self.version.stored_by);
        let signature = self.version.signature.as_ref();
        document["signature"] = json!(signature.map(signature_json));
        let holds = self.holds.iter().map(|hold| {
            json!({
                "since": hold.since.ms(),
                "reason": hold.authorization.reason,
                "authority": hold.authorization.authority,
            })
        });
        document["holds"] = holds.collect();
        document["awaits_review"] = json!(self.awaits_review);
        let texts = |addresses: &mut dyn Iterator<Item = ContentAddress>| -> Vec<_> {
            addresses.map(|address| address.to_string()).collect()
        };
        let mut sources = self.sources.iter().map(|(address, _)| *address);
        document["sources"] = json!(texts(&mut sources));
        let mut versions = self.versions.iter().map(|version| version.grain.address());
        document["versions"] = json!(texts(&mut versions));
        let mut resting = self.resting.iter().map(Grain::address);
        document["resting"] = json!(texts(&mut resting));
        Ok(document)
    }
}

fn signature(signature: Option<&Signature>) -> String {
    let Some(Signature { signer, trust, .. }) = signature else {
        return "none".to_owned();
    };
    match trust {
        Trust::Verified => format!("{signer}, a trusted signer"),
        Trust::Untrusted(doubt) => format!("{signer}, untrusted: {doubt}"),
    }
}

fn lines(out: &mut Output, table: &Table) -> std::io::Result<()> {
    table.lines().try_for_each(|line| out.styled_line(&line))
}

fn row(out: &mut Output, name: &str, value: &str) -> std::io::Result<()> {
    out.styled_line(&format!("  {name:<12}{value}"))
}

/// Writes a field. The lines of a text after the first are indented: none can pass for a field.
fn field(out: &mut Output, name: &str, value: &Value) -> std::io::Result<()> {
    let text = match (value, value.as_i64()) {
        (Value::Text(text), _) => text.clone(),
        (_, Some(ms)) if TIMES.contains(&name) => Time::from_ms(ms).to_string(),
        _ => value.to_json(),
    };
    let text: Vec<_> = text.lines().map(printable).collect();
    let text = text.join(&format!("\n{:26}", ""));
    out.styled_line(&format!("  {:<24}{text}", printable(name)))
}

/// The fields that hold milliseconds since 1970 (OMS 6).
const TIMES: [&str; 7] = [
    "created_at",
    "timestamp_ms",
    "valid_from",
    "valid_to",
    "system_valid_from",
    "deadline",
    "delegation_expiry",
];
