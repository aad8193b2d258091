//! `grainstore stats`: counts and sizes of the store.
//!
//! The integrity of the store is checked by `check`.

use clap::Args;
use grainstore::store::{self, EmbedderStatus};
use serde_json::{Map, Value, json};

use crate::error::Exit;
use crate::hex;
use crate::session::Session;

/// Show the number of grains and entries, and the size of the store
#[derive(Debug, Args)]
pub(crate) struct Stats {}

impl Stats {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let Self {} = self;
        let opened = session.open_with_model()?;
        let stats = opened.maintenance()?.stats()?;
        let path = session.store_path().display().to_string();
        if session.out.is_json() {
            session.out.json(&stats_json(&path, &stats))?;
            return Ok(Exit::Done);
        }
        let head = hex::encode(&stats.head);
        let out = &mut session.out;
        out.line(format!("store    {path}"))?;
        out.line(format!("id       {}", stats.store_id))?;
        out.line(format!("created  {}", stats.created_at))?;
        out.line(format!(
            "grains   {}, {} of them current",
            stats.grains, stats.current
        ))?;
        for (of, count) in &stats.by_type {
            out.line(format!("{count:>14}  {of}"))?;
        }
        let (entries, segments) = (stats.entries, stats.segments);
        let size = indicatif::BinaryBytes(stats.ledger_bytes);
        let noun = if segments == 1 { "segment" } else { "segments" };
        let kind = if entries == 1 { "entry" } else { "entries" };
        out.line(format!(
            "ledger   {entries} {kind}, {size} in {segments} {noun}"
        ))?;
        out.line(format!("head     {head}"))?;
        for torn in &stats.torn_files {
            out.line(format!(
                "torn     {torn}: the incomplete end that a crash left"
            ))?;
        }
        match stats.last_backup {
            Some(at) => out.line(format!("backup   last {at}"))?,
            None => out.line("backup   none known")?,
        }
        if stats.erasures_waiting > 0 {
            let waiting = stats.erasures_waiting;
            out.line(format!(
                "waiting  erasures that are not complete: {waiting}"
            ))?;
        }
        if let Some(reason) = &stats.text_unavailable {
            out.line(format!("text     unavailable: {reason}"))?;
        }
        for model in &stats.embedders {
            let (name, waiting) = (&model.model, model.waiting);
            out.line(format!("model    {name}: {waiting} grains wait"))?;
            if let Some(reason) = &model.failed {
                out.line(format!("         failed: {reason}"))?;
            }
        }
        Ok(Exit::Done)
    }
}

fn stats_json(path: &str, stats: &store::Stats) -> Value {
    let by_type = stats.by_type.iter();
    let by_type: Map<String, Value> = by_type
        .map(|(of, count)| (of.to_string(), json!(count)))
        .collect();
    json!({
        "path": path,
        "store_id": stats.store_id.to_string(),
        "created_at": stats.created_at.to_string(),
        "grains": stats.grains,
        "current": stats.current,
        "by_type": by_type,
        "entries": stats.entries,
        "head": hex::encode(&stats.head),
        "segments": stats.segments,
        "last_backup": stats.last_backup.map(|at| at.to_string()),
        "ledger_bytes": stats.ledger_bytes,
        "torn_files": stats.torn_files,
        "erasures_waiting": stats.erasures_waiting,
        "text_uncommitted": stats.text_uncommitted,
        "text_unavailable": stats.text_unavailable,
        "embedders": stats.embedders.iter().map(embedder).collect::<Vec<_>>(),
    })
}

fn embedder(status: &EmbedderStatus) -> Value {
    json!({
        "model": status.model,
        "waiting": status.waiting,
        "watermark": status.watermark,
        "embedded": status.embedded,
        "failed": status.failed,
    })
}
