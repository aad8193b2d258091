//! The types of grains and their bytes (OMS 8; rulings F1, F2).

/// The type of a grain (OMS 8): the type byte of its header.
///
/// ```
/// use grainstore::grain::Type;
///
/// assert_eq!(Type::from_byte(0x01), Type::Belief);
/// assert_eq!(Type::Belief.name(), Some("belief"));
/// assert_eq!(Type::named("fact"), Some(Type::Belief));
/// assert_eq!(Type::from_byte(0x0b), Type::Opaque(0x0b));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    /// A (subject, relation, object) triple with confidence.
    Belief,
    /// A timestamped occurrence: message, interaction, behaviour.
    Event,
    /// A snapshot of an agent's state.
    State,
    /// A learned sequence of steps.
    Workflow,
    /// A tool invocation or code execution.
    Action,
    /// Raw sensory or cognitive input.
    Observation,
    /// An objective with a lifecycle.
    Goal,
    /// An inference chain.
    Reasoning,
    /// An agreement of several agents.
    Consensus,
    /// A permission granted or withdrawn.
    Consent,
    /// A type of a later revision or of a domain profile: kept verbatim, unjudged (ruling F2).
    Opaque(u8),
}

impl Type {
    /// The ten types of the specification, in the order of their bytes.
    pub const STANDARD: [Self; 10] = [
        Self::Belief,
        Self::Event,
        Self::State,
        Self::Workflow,
        Self::Action,
        Self::Observation,
        Self::Goal,
        Self::Reasoning,
        Self::Consensus,
        Self::Consent,
    ];

    /// Returns the type of a header byte.
    pub const fn from_byte(byte: u8) -> Self {
        match byte {
            0x01 => Self::Belief,
            0x02 => Self::Event,
            0x03 => Self::State,
            0x04 => Self::Workflow,
            0x05 => Self::Action,
            0x06 => Self::Observation,
            0x07 => Self::Goal,
            0x08 => Self::Reasoning,
            0x09 => Self::Consensus,
            0x0a => Self::Consent,
            other => Self::Opaque(other),
        }
    }

    /// Returns the header byte.
    pub const fn byte(self) -> u8 {
        match self {
            Self::Belief => 0x01,
            Self::Event => 0x02,
            Self::State => 0x03,
            Self::Workflow => 0x04,
            Self::Action => 0x05,
            Self::Observation => 0x06,
            Self::Goal => 0x07,
            Self::Reasoning => 0x08,
            Self::Consensus => 0x09,
            Self::Consent => 0x0a,
            Self::Opaque(byte) => byte,
        }
    }

    /// Returns the name in this revision of the specification; opaque types have none.
    pub const fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::Belief => "belief",
            Self::Event => "event",
            Self::State => "state",
            Self::Workflow => "workflow",
            Self::Action => "action",
            Self::Observation => "observation",
            Self::Goal => "goal",
            Self::Reasoning => "reasoning",
            Self::Consensus => "consensus",
            Self::Consent => "consent",
            Self::Opaque(_) => return None,
        })
    }

    /// Returns the type that a later revision of the specification names so (1.5); here it is opaque.
    ///
    /// ```
    /// use grainstore::grain::Type;
    ///
    /// assert_eq!(Type::named("skill"), None); // no grain is written here as one
    /// assert_eq!(Type::of_later("skill"), Some(Type::Opaque(0x0b)));
    /// assert_eq!(Type::Opaque(0x0b).to_string(), "skill");
    /// ```
    pub fn of_later(name: &str) -> Option<Self> {
        let found = LATER.iter().find(|(_, later)| *later == name);
        found.map(|(byte, _)| Self::Opaque(*byte))
    }

    /// Returns the type of a payload's `type`, in any spelling that is accepted.
    pub fn named(name: &str) -> Option<Self> {
        // Ruling F1: the vectors of section 21 say "fact", revision 1.4 says "tool"; both are kept
        // as supplied. The names of drafts before 1.0 stay refused.
        match name {
            "fact" => Some(Self::Belief),
            "tool" => Some(Self::Action),
            _ => Self::STANDARD
                .into_iter()
                .find(|standard| standard.name() == Some(name)),
        }
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let later = LATER.iter().find(|(byte, _)| *byte == self.byte());
        match self.name().or(later.map(|(_, name)| *name)) {
            Some(name) => f.write_str(name),
            None => write!(f, "type 0x{:02x}", self.byte()),
        }
    }
}

/// The types of revision 1.5 that 1.3 does not have.
const LATER: [(u8, &str); 2] = [(0x0b, "skill"), (0x0c, "recommendation")];
