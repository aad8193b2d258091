//! The builders of a draft: a method for each type, and for each field that most grains have.

use crate::codec::{ContentAddress, Map, Value};

use super::Draft;
use crate::grain::{IDENTITY, OWNED_BY, Owner, Time, Type};

/// Builders for the ten types: their required fields as arguments (OMS 8).
impl Draft {
    /// Starts a Belief that is certain: [`confidence`](Self::confidence) says otherwise.
    pub fn belief(
        subject: impl Into<String>,
        relation: impl Into<String>,
        object: impl Into<Value>,
    ) -> Self {
        Self::new(Type::Belief)
            .set("subject", subject.into())
            .set("relation", relation.into())
            .set("object", object)
            .set("confidence", 1.0)
    }

    /// Starts an Event with its text.
    pub fn event(content: impl Into<String>) -> Self {
        Self::new(Type::Event).set("content", content.into())
    }

    /// Starts a State with its snapshot.
    pub fn state(context: Map) -> Self {
        Self::new(Type::State).set("context", context)
    }

    /// Starts a Workflow with its steps, in order, and what sets it off.
    pub fn workflow<S: Into<String>>(
        steps: impl IntoIterator<Item = S>,
        trigger: impl Into<String>,
    ) -> Self {
        Self::new(Type::Workflow)
            .set("steps", texts(steps))
            .set("trigger", trigger.into())
    }

    /// Starts an Action that was called and answered in one go.
    pub fn action(
        tool_name: impl Into<String>,
        input: Map,
        content: impl Into<Value>,
        is_error: bool,
    ) -> Self {
        Self::new(Type::Action)
            .set("tool_name", tool_name.into())
            .set("input", input)
            .set("content", content)
            .set("is_error", is_error)
    }

    /// Starts an Observation with who observed, and what kind of observer that is.
    pub fn observation(observer_id: impl Into<String>, observer_type: impl Into<String>) -> Self {
        Self::new(Type::Observation)
            .set("observer_id", observer_id.into())
            .set("observer_type", observer_type.into())
    }

    /// Starts a Goal that is active.
    pub fn goal(description: impl Into<String>) -> Self {
        Self::new(Type::Goal)
            .set("description", description.into())
            .set("goal_state", "active")
    }

    /// Starts a Reasoning with its conclusion.
    pub fn reasoning(conclusion: impl Into<String>) -> Self {
        Self::new(Type::Reasoning).set("conclusion", conclusion.into())
    }

    /// Starts a Consensus of observers: how many must agree, do agree and disagree.
    pub fn consensus<S: Into<String>>(
        participating_observers: impl IntoIterator<Item = S>,
        threshold: u32,
        agreement_count: u32,
        dissent_count: u32,
    ) -> Self {
        Self::new(Type::Consensus)
            .set("participating_observers", texts(participating_observers))
            .set("threshold", threshold)
            .set("agreement_count", agreement_count)
            .set("dissent_count", dissent_count)
    }

    /// Starts a Consent: who permits whom to do what.
    pub fn consent<S: Into<String>>(
        subject_did: impl Into<String>,
        grantee_did: impl Into<String>,
        scope: impl IntoIterator<Item = S>,
    ) -> Self {
        Self::new(Type::Consent)
            .set("subject_did", subject_did.into())
            .set("grantee_did", grantee_did.into())
            .set("scope", texts(scope))
            .set("is_withdrawal", false)
    }

    /// Starts the grain that states the owner of an agent (OMS 12.5.3): written and to be signed by
    /// the operator, and locked, so that nothing an agent is told changes it.
    pub fn ownership(agent: &str, owner: &Owner, operator: &str) -> Self {
        let mut policy = Map::from_iter([
            ("mode", "locked"),
            ("scope", "lineage"),
            ("protection_reason", "ownership declaration"),
        ]);
        let authorized = owner.did.as_deref().unwrap_or(operator);
        policy.insert("authorized", vec![authorized.to_owned()]);
        Self::belief(agent, OWNED_BY, owner.name.as_str())
            .confidence(1.0)
            .source("system")
            .author(operator)
            .namespace(IDENTITY)
            .tag("legal:ownership")
            .tag("mg:protected")
            .set("owner", owner.to_map())
            .set("invalidation_policy", policy)
            .to_be_signed()
    }
}

/// Common fields (OMS 6.1); any other by [`Draft::set`].
impl Draft {
    /// Sets `confidence`, from 0 to 1.
    #[must_use]
    pub fn confidence(self, confidence: f64) -> Self {
        self.set("confidence", confidence)
    }

    /// Sets `importance`, from 0 to 1.
    #[must_use]
    pub fn importance(self, importance: f64) -> Self {
        self.set("importance", importance)
    }

    /// Sets `created_at`, the time of the grain: when it was said or learned. A store sets it to its
    /// clock where it is absent.
    #[must_use]
    pub fn created_at(self, time: Time) -> Self {
        self.set("created_at", time.ms())
    }

    /// Sets `valid_from`: when it became true.
    #[must_use]
    pub fn valid_from(self, time: Time) -> Self {
        self.set("valid_from", time.ms())
    }

    /// Sets `valid_to`: when it stopped being true. After that, answers leave it out (ruling I23).
    #[must_use]
    pub fn valid_to(self, time: Time) -> Self {
        self.set("valid_to", time.ms())
    }

    /// Sets `namespace`, whose parts are separated by `:` (OMS 28.2).
    #[must_use]
    pub fn namespace(self, namespace: impl Into<String>) -> Self {
        self.set("namespace", namespace.into())
    }

    /// Sets `user_id`: the person this is about (OMS 12.4).
    #[must_use]
    pub fn user(self, user_id: impl Into<String>) -> Self {
        self.set("user_id", user_id.into())
    }

    /// Sets `session_id`.
    #[must_use]
    pub fn session(self, session_id: impl Into<String>) -> Self {
        self.set("session_id", session_id.into())
    }

    /// Sets `role`: whose turn of a conversation an Event is, such as `user` or `assistant`.
    #[must_use]
    pub fn role(self, role: impl Into<String>) -> Self {
        self.set("role", role.into())
    }

    /// Sets `author_did`.
    #[must_use]
    pub fn author(self, did: impl Into<String>) -> Self {
        self.set("author_did", did.into())
    }

    /// Sets `source_type` (OMS 27.3).
    #[must_use]
    pub fn source(self, source_type: impl Into<String>) -> Self {
        self.set("source_type", source_type.into())
    }

    /// Adds one of the `structural_tags`.
    #[must_use]
    pub fn tag(self, tag: impl Into<String>) -> Self {
        self.push("structural_tags", tag.into())
    }

    /// Adds a grain this one is derived from.
    #[must_use]
    pub fn derived_from(self, address: ContentAddress) -> Self {
        self.push("derived_from", address)
    }

    /// Names a grain that this one replaces, unless it does already: a Consent in `prior_consent`, any
    /// other in `derived_from` (ruling I5).
    ///
    /// A Consent that names another one there withdraws that; `derived_from` then has the address too.
    #[must_use]
    pub fn replacing(self, address: ContentAddress) -> Self {
        let names = |field: &str| {
            let value = self.fields.get(field);
            let mut texts = value.into_iter().flat_map(Value::texts);
            texts.any(|text| ContentAddress::from_reference(text).is_ok_and(|it| it == address))
        };
        let is_absent = |field: &str| matches!(self.fields.get(field), None | Some(Value::Nil));
        match self.of {
            Type::Consent if names("prior_consent") => self,
            Type::Consent if is_absent("prior_consent") => self.set("prior_consent", address),
            _ if names("derived_from") => self,
            // A value of another kind is left to be refused.
            _ => match self.fields.get("derived_from") {
                None | Some(Value::Nil | Value::Array(_)) => self.derived_from(address),
                Some(_) => self,
            },
        }
    }
}
fn texts<S: Into<String>>(items: impl IntoIterator<Item = S>) -> Value {
    let items: Vec<String> = items.into_iter().map(Into::into).collect();
    Value::from(items)
}
