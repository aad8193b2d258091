//! EXPLAIN and DESCRIBE: neither asks the store for grains.

use serde_json::{Value as Json, json};

use super::Run;
use super::answer::Body;
use super::facade::Facade;
use super::failure::Failure;
use super::plan::Plan;
use crate::recall::Recall;
use crate::statement::{Describe, Described, Statement};
use crate::vocabulary::{FIELDS, GRAMMAR, Kind};

impl<F: Facade> Run<'_, F> {
    /// Tells how a statement would be answered.
    pub(super) fn explain(&mut self, statement: &Statement) -> Result<Body, Failure> {
        Ok(Body::Plan(self.plan(statement)?))
    }

    fn plan(&self, statement: &Statement) -> Result<Json, Failure> {
        Ok(match statement {
            Statement::Recall(recall) => self.plan_of(recall)?,
            Statement::SetOp(it) => json!({
                "operation": it.op.as_str(),
                "left": self.plan(&it.left)?,
                "right": self.plan(&it.right)?,
            }),
            Statement::Coalesce(it) => {
                let branches = it.branches.iter().map(|branch| self.plan_of(branch));
                json!({"branches": branches.collect::<Result<Vec<Json>, Failure>>()?})
            }
            Statement::Batch(batch) => {
                let mut slots = serde_json::Map::new();
                for entry in &batch.entries {
                    slots.insert(entry.label.it.clone(), self.plan(&entry.entry)?);
                }
                Json::Object(slots)
            }
            other => json!({"statement": other.to_string()}),
        })
    }

    fn plan_of(&self, recall: &Recall) -> Result<Json, Failure> {
        let plan = Plan::of(recall, self.asker())?;
        let steps = plan.steps.iter();
        let steps: Vec<Json> = steps
            .map(|step| json!({"condition": step.condition, "way": step.way.name()}))
            .collect();
        let stages: Vec<String> = plan.stages.iter().map(ToString::to_string).collect();
        Ok(json!({
            "statement": recall.to_string(),
            "search": plan.words,
            "conditions": steps,
            "stages": stages,
            "is_empty": plan.is_empty,
        }))
    }

    pub(super) fn describe(&self, describe: &Describe) -> Result<Json, Failure> {
        let abilities = self.facade.describe();
        Ok(match describe.what {
            Described::GrainTypes => {
                let all = Kind::ALL.iter();
                let all = all.map(|kind| json!({"name": kind.singular(), "plural": kind.plural()}));
                json!({"grain_types": all.collect::<Vec<Json>>()})
            }
            Described::Fields => {
                let is_of = |kind: Option<Kind>| kind.is_none() || kind == describe.grain_type;
                let fields = FIELDS.iter().filter(|field| is_of(field.kind));
                let fields = fields.map(|field| {
                    let ops: Vec<&str> = field.ops.iter().map(|op| op.as_str()).collect();
                    json!({"name": field.name, "type": field.kind.map(Kind::singular), "operators": ops})
                });
                json!({"fields": fields.collect::<Vec<Json>>()})
            }
            Described::Capabilities => json!({
                "cal_conformance": "core",
                "cal_version": "1.0",
                "tiers": if self.takes_changes() { json!([0, 1]) } else { json!([0]) },
                "namespace": abilities.namespace,
                "user": abilities.user,
                "cross_lingual_search": false,
                "auto_toon_enabled": self.options.auto_toon,
                "limits": {
                    "query_bytes": 8192, "limit_default": 20, "limit_max": 1000,
                    "timeout_ms": self.options.timeout.as_secs_f64() * 1_000.0,
                },
            }),
            Described::Server => json!({
                "server": "grainstore",
                "version": env!("CARGO_PKG_VERSION"),
                "oms_version": "1.3",
            }),
            Described::Templates => json!({"templates": self.template_names()}),
            Described::Grammar => json!({"grammar": GRAMMAR}),
        })
    }
}
