//! The capability of a handle: its author, namespace, person, role and clearance (OMS 12.1, 12.3,
//! 27.4).
//!
//! It can be narrowed and never widened. The store applies it; nothing here reads the store.

use std::collections::BTreeSet;

use crate::codec::nfc;
use crate::crypto::Did;
use crate::grain::{Draft, Grain, Namespace};

use super::{Delegation, Rule};

/// The permissions of a handle on a store: its author, its namespace, its person, its role and its
/// clearance.
/// It can be narrowed and never widened.
///
/// ```
/// use grainstore::grain::{Draft, Time};
/// use grainstore::policy::{Rule, Capability};
///
/// let capability = Capability::default().inside("acme:chatbot");
/// let grain = |namespace: &str| {
///     let draft = Draft::event("hello").namespace(namespace).created_at(Time::from_ms(1));
///     draft.finish(Default::default())
/// };
/// assert!(capability.sees(&grain("acme:chatbot:agent-7")?));
/// assert!(!capability.sees(&grain("acme:chatbots")?));
/// assert_eq!(capability.authorize_put(&grain("acme")?), Err(Rule::Namespace));
/// # Ok::<(), grainstore::grain::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Capability {
    author: Option<Did>,
    scope: NamespaceScope,
    user: Option<String>,
    token: Option<String>,
    role: Role,
    clearance: BTreeSet<String>,
    brings_unauthored: bool,
}

/// The namespaces of a capability.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum NamespaceScope {
    #[default]
    All,
    /// Each with those inside it; of none, nothing is reached.
    Within(Vec<Namespace>),
}

impl NamespaceScope {
    const NOTHING: Self = Self::Within(Vec::new());
}

/// The role of a handle.
///
/// ```
/// use grainstore::policy::Role;
///
/// assert_eq!(Role::default(), Role::Agent);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Role {
    /// A program that acts on what it reads: it does not see grains that wait for a person's review
    /// (OMS 6.1).
    #[default]
    Agent,
    /// The same, without writing.
    Reader,
    /// A person: sees also grains that wait for review.
    Reviewer,
    /// Unattended background work: decay, consolidation, eviction. It sees what an agent sees, and
    /// must not modify protected grains (AIMEM 5).
    Job,
    /// The store's owner, in the part that the handle reaches: sees what waits for review and what is
    /// guarded, and acts for every grantee.
    Owner,
}

impl Capability {
    /// Narrows it to an author, who becomes the author of everything written with it.
    #[must_use]
    pub fn author(mut self, did: &Did) -> Self {
        // A handle of two authors can act as neither.
        if self.author.as_ref().is_some_and(|own| own != did) {
            self.scope = NamespaceScope::NOTHING;
        }
        self.author = Some(did.clone());
        self
    }

    /// Narrows it to a namespace and those inside it (OMS 28.2).
    #[must_use]
    pub fn inside(self, namespace: &str) -> Self {
        self.inside_any([namespace])
    }

    /// Narrows it to several namespaces and those inside them; to none, it reaches nothing.
    ///
    /// ```
    /// use grainstore::grain::{Draft, Time};
    /// use grainstore::policy::Capability;
    ///
    /// let capability = Capability::default().inside_any(["acme:a", "acme:b"]);
    /// let grain = |namespace: &str| {
    ///     let draft = Draft::event("hello").namespace(namespace).created_at(Time::from_ms(1));
    ///     draft.finish(Default::default())
    /// };
    /// assert!(capability.sees(&grain("acme:b:deep")?) && !capability.sees(&grain("acme:c")?));
    /// # Ok::<(), grainstore::grain::Error>(())
    /// ```
    #[must_use]
    pub fn inside_any<'n>(mut self, namespaces: impl IntoIterator<Item = &'n str>) -> Self {
        let named = namespaces.into_iter().map(Namespace::new);
        let named = named.filter(|name| !name.as_str().is_empty());
        self.scope = NamespaceScope::Within(match self.scope {
            NamespaceScope::All => named.collect(),
            NamespaceScope::Within(own) => named
                .flat_map(|name| own.iter().filter_map(move |own| own.common(&name)))
                .collect(),
        });
        self
    }

    /// Narrows it to the grains of one person, by `user_id` (OMS 12.3).
    ///
    /// ```
    /// use grainstore::grain::{Draft, Time};
    /// use grainstore::policy::{Capability, Rule};
    ///
    /// let capability = Capability::default().of_user("mira");
    /// let grain = |user: &str| {
    ///     let draft = Draft::event("hello").user(user).created_at(Time::from_ms(1));
    ///     draft.finish(Default::default())
    /// };
    /// assert!(capability.sees(&grain("mira")?) && !capability.sees(&grain("noah")?));
    /// assert_eq!(capability.authorize_put(&grain("noah")?), Err(Rule::User));
    /// # Ok::<(), grainstore::grain::Error>(())
    /// ```
    #[must_use]
    pub fn of_user(mut self, user_id: &str) -> Self {
        let user_id = nfc(user_id).into_owned();
        // A handle of two persons reaches neither.
        if self.user.as_ref().is_some_and(|own| *own != user_id) {
            self.scope = NamespaceScope::NOTHING;
        }
        self.user = Some(user_id);
        self
    }

    /// Names the token under which it acts. The ledger names it with the author in each entry.
    #[must_use]
    pub fn by_token(mut self, name: &str) -> Self {
        self.token = Some(name.to_owned());
        self
    }

    /// Lets its author bring records of formats that name no author. They stay without one, and pass the
    /// rules of what the author writes.
    ///
    /// ```
    /// use grainstore::crypto::Did;
    /// use grainstore::grain::{Draft, Time};
    /// use grainstore::policy::Capability;
    ///
    /// let capability = Capability::default().author(&"did:web:bot.example".parse::<Did>()?);
    /// let grain = Draft::event("hello").created_at(Time::from_ms(1)).finish(Default::default()).unwrap();
    /// assert!(capability.authorize_put(&grain).is_err());
    /// assert!(capability.bringing_unauthored().authorize_put(&grain).is_ok());
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    #[must_use]
    pub const fn bringing_unauthored(mut self) -> Self {
        self.brings_unauthored = true;
        self
    }

    /// Sets the role.
    #[must_use]
    pub const fn role(mut self, role: Role) -> Self {
        self.role = role;
        self
    }

    /// Lets it see and write grains with tags of a guarded group, as `phi` of `phi:mrn` (OMS 27.4).
    #[must_use]
    pub fn cleared_for(mut self, group: impl Into<String>) -> Self {
        self.clearance.insert(group.into());
        self
    }

    /// Returns the author it writes as.
    pub const fn acts_as(&self) -> Option<&Did> {
        self.author.as_ref()
    }

    /// Returns the namespace it is confined to; the empty text if that is none or one of several.
    pub fn namespace(&self) -> Option<&str> {
        match self.namespaces()? {
            [namespace] => Some(namespace.as_str()),
            _ => Some(""),
        }
    }

    /// Returns the namespaces it is confined to.
    pub(crate) fn namespaces(&self) -> Option<&[Namespace]> {
        match &self.scope {
            NamespaceScope::All => None,
            NamespaceScope::Within(namespaces) => Some(namespaces),
        }
    }

    /// Returns whether it is confined to a person or to namespaces.
    ///
    /// ```
    /// use grainstore::policy::Capability;
    ///
    /// assert!(Capability::default().of_user("mira").is_confined());
    /// assert!(!Capability::default().cleared_for("phi").is_confined());
    /// ```
    pub const fn is_confined(&self) -> bool {
        self.user.is_some() || matches!(self.scope, NamespaceScope::Within(_))
    }

    /// Returns the person that it is confined to.
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// Returns the name of the token under which it acts.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Returns whether it is for unattended background work.
    pub fn is_job(&self) -> bool {
        self.role == Role::Job
    }

    /// Returns whether it belongs to a person.
    pub fn reviews(&self) -> bool {
        matches!(self.role, Role::Reviewer | Role::Owner)
    }

    /// Returns whether the store's owner acts with it.
    pub(crate) fn is_owners(&self) -> bool {
        self.role == Role::Owner
    }

    /// Fills in the author, the person and the namespace of a draft that has none.
    #[must_use]
    pub fn fill(&self, mut draft: Draft) -> Draft {
        if let Some(did) = &self.author
            && !draft.fields().contains("author_did")
        {
            draft = draft.author(did.as_str());
        }
        if let Some(user) = &self.user
            && !draft.fields().contains("user_id")
        {
            draft = draft.user(user);
        }
        match self.namespaces() {
            Some([namespace]) if !draft.fields().contains("namespace") => {
                draft.namespace(namespace.as_str())
            }
            _ => draft,
        }
    }

    /// Returns whether a grain may be seen with it. The whole namespace is compared: two bytes of
    /// its hash, as the header has them, say nothing (OMS 3.1.1).
    pub fn sees(&self, grain: &Grain) -> bool {
        // Namespace and tags of an encrypted grain are unknown (ruling P4), so only the owner sees it.
        !grain.is_encrypted()
            && self.is_of_user(grain)
            && self.reaches(grain.text("namespace"))
            && self.opens(grain)
    }

    fn is_of_user(&self, grain: &Grain) -> bool {
        self.user.is_none() || grain.text("user_id") == self.user()
    }

    /// Judges whether a grain may be written under it.
    ///
    /// # Errors
    /// The rule that forbids it.
    pub fn authorize_put(&self, grain: &Grain) -> Result<(), Rule> {
        self.authorize_write()?;
        let (own, author) = (
            self.author.as_ref().map(Did::as_str),
            grain.text("author_did"),
        );
        let is_brought = self.brings_unauthored && author.is_none();
        if own.is_some() && author != own && !is_brought {
            return Err(Rule::Author);
        }
        if !self.is_of_user(grain) {
            return Err(Rule::User);
        }
        // A handle that could delegate outside its scope would act there through the delegatee.
        let gives_more = || {
            Delegation::of(grain).is_some_and(|delegation| match delegation.namespaces() {
                None => self.scope != NamespaceScope::All,
                Some(named) => !named.iter().all(|name| self.reaches(Some(name.as_str()))),
            })
        };
        if !self.reaches(grain.text("namespace")) || gives_more() {
            return Err(Rule::Namespace);
        }
        match self.opens(grain) {
            true => Ok(()),
            false => Err(Rule::Clearance),
        }
    }

    /// Judges whether anything may be written under it.
    ///
    /// # Errors
    /// The rule that forbids it.
    pub fn authorize_write(&self) -> Result<(), Rule> {
        match self.role {
            Role::Reader => Err(Rule::Role),
            Role::Agent | Role::Reviewer | Role::Job | Role::Owner => Ok(()),
        }
    }

    fn reaches(&self, namespace: Option<&str>) -> bool {
        let Some(outer) = self.namespaces() else {
            return true;
        };
        namespace.is_some_and(|inner| outer.iter().any(|outer| outer.contains(inner)))
    }

    /// OMS 27.4: any tag of the group counts, not only the eighteen that are listed.
    fn opens(&self, grain: &Grain) -> bool {
        if self.is_owners() {
            return true;
        }
        let tags = grain.field("structural_tags");
        let mut tags = tags
            .into_iter()
            .flat_map(crate::codec::Value::texts)
            .filter_map(|tag| tag.split_once(':'));
        !tags.any(|(group, _)| GUARDED.contains(&group) && !self.clearance.contains(group))
    }
}

/// The groups of tags that only a cleared handle sees.
const GUARDED: &[&str] = &["pci", "phi"];
