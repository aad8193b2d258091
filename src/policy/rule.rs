//! The rules that can deny an operation, with their names and sections.

use std::fmt;

/// The rule that denied an operation, with its section.
///
/// ```
/// use grainstore::policy::Rule;
///
/// assert_eq!((Rule::Locked.name(), Rule::Locked.section()), ("locked", "23.2"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// `soft_locked`: there is no justification.
    SoftLocked,
    /// `locked`, or a policy that is not understood.
    Locked,
    /// `quorum`: not enough distinct authorized signers.
    Quorum,
    /// `delegated`: none of the authorized signed.
    Delegated,
    /// `timed`: `locked_until` is in the future.
    Timed,
    /// `timed`: the clock jumped ahead and no operator has accepted it (ruling I21).
    Clock,
    /// `hold`, the grain's own or an ancestor's.
    Hold,
    /// A legal hold: the operator's, or that of the grain in `legal:hold_ref` (OMS A.2).
    LegalHold,
    /// `retention_policy`: the grain must be kept longer (ruling I19).
    Retention,
    /// `retention_policy`: the authority is not the one that `deletion_requires` asks for.
    DeletionRequires,
    /// Authorization without a reason or an authority (OMS 28.4, ruling I19).
    Authority,
    /// A goal's successor drops its policy (OMS 23.5).
    Laundering,
    /// A goal is satisfied without the evidence it requires (OMS 23.5).
    Evidence,
    /// A goal becomes active before those it depends on are satisfied (OMS 8.7).
    Dependency,
    /// The consent a grain rests on is withdrawn, or one is required and none is in force (OMS 8.10).
    Consent,
    /// A withdrawn Consent, or the withdrawal: both are retained for audit (OMS 8.10).
    ConsentKept,
    /// A withdrawal of another's consent (OMS 8.10, ruling I7).
    Withdrawal,
    /// A protected grain and unattended background work (AIMEM 5).
    Lasting,
    /// A handle is confined to another namespace (OMS 12.3).
    Namespace,
    /// A handle is confined to another person (OMS 12.3).
    User,
    /// A handle writes as another author (OMS 12.1).
    Author,
    /// A handle that only reads.
    Role,
    /// Health information, and a handle that is not cleared for it (OMS 27.4).
    Clearance,
    /// The grain waits for a person's review (OMS 6.1).
    Unreviewed,
    /// A delegated author without a delegation in force (OMS 6.11).
    Delegation,
    /// Its delegation has expired.
    DelegationExpired,
    /// Its delegation does not cover the namespace, the type or the tool.
    DelegationScope,
    /// It was handed on further than a delegation of the chain allows.
    DelegationDepth,
    /// Privileged, and not on hold (OMS A.2).
    Privilege,
    /// Personal finance data without an agreed basis (OMS A.3).
    FinanceBasis,
    /// A consumer's data without a lawful basis (OMS A.6).
    ConsumerBasis,
    /// A consumer opted out of its sale (OMS A.6).
    OptedOut,
    /// A field of a profile has two values, and neither is stricter (OMS A, ruling P3).
    ProfileConflict,
    /// Reserved to the store's owner.
    Owner,
}

impl Rule {
    /// Returns the name of the rule, as denials in the ledger carry it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SoftLocked => "soft_locked",
            Self::Locked => "locked",
            Self::Quorum => "quorum",
            Self::Delegated => "delegated",
            Self::Timed => "timed",
            Self::Clock => "clock",
            Self::Hold => "hold",
            Self::LegalHold => "legal_hold",
            Self::Retention => "retention",
            Self::DeletionRequires => "deletion_requires",
            Self::Authority => "authority",
            Self::Laundering => "goal_laundering",
            Self::Evidence => "evidence",
            Self::Dependency => "dependency",
            Self::Consent => "consent",
            Self::ConsentKept => "consent_kept",
            Self::Withdrawal => "withdrawal",
            Self::Lasting => "lasting",
            Self::Namespace => "namespace",
            Self::User => "user",
            Self::Author => "author",
            Self::Role => "role",
            Self::Clearance => "clearance",
            Self::Unreviewed => "unreviewed",
            Self::Delegation => "delegation",
            Self::DelegationExpired => "delegation_expired",
            Self::DelegationScope => "delegation_scope",
            Self::DelegationDepth => "delegation_depth",
            Self::Privilege => "privilege",
            Self::FinanceBasis => "finance_basis",
            Self::ConsumerBasis => "consumer_basis",
            Self::OptedOut => "opted_out",
            Self::ProfileConflict => "profile_conflict",
            Self::Owner => "owner",
        }
    }

    /// Returns the specification that contains it.
    pub const fn specification(self) -> &'static str {
        match self {
            Self::Lasting => "AIMEM",
            _ => "OMS",
        }
    }

    /// Returns the section of OMS 1.3, or of the other specification that contains it.
    pub const fn section(self) -> &'static str {
        match self {
            Self::SoftLocked
            | Self::Locked
            | Self::Quorum
            | Self::Delegated
            | Self::Timed
            | Self::Clock
            | Self::Hold => "23.2",
            Self::LegalHold | Self::Authority => "28.4",
            Self::Retention | Self::DeletionRequires => "6.1",
            Self::Laundering | Self::Evidence => "23.5",
            Self::Dependency => "8.7",
            Self::Consent | Self::ConsentKept | Self::Withdrawal => "8.10",
            Self::Lasting => "5",
            Self::Namespace | Self::User | Self::Role | Self::Owner => "12.3",
            Self::Author => "12.1",
            Self::Clearance => "27.4",
            Self::Unreviewed => "6.1",
            Self::Delegation
            | Self::DelegationExpired
            | Self::DelegationScope
            | Self::DelegationDepth => "6.11",
            Self::Privilege => "A.2",
            Self::FinanceBasis => "A.3",
            Self::ConsumerBasis | Self::OptedOut => "A.6",
            Self::ProfileConflict => "A",
        }
    }

    /// Returns the requirement that the refused operation does not meet.
    pub const fn wants(self) -> &'static str {
        match self {
            Self::SoftLocked => "a supersession_justification",
            Self::Locked => "no operation: the grain is locked permanently",
            Self::Quorum => "signatures of enough authorized DIDs in supersession_auth",
            Self::Delegated => "a signature of an authorized DID",
            Self::Timed => "the time of locked_until",
            Self::Clock => "the operator to accept the clock",
            Self::Hold | Self::LegalHold => "the hold to be lifted",
            Self::Retention => "the end of its retention",
            Self::DeletionRequires => "an authority that names what its deletion_requires asks for",
            Self::Authority => "a reason and an authority",
            Self::Laundering => "a successor with the same invalidation_policy or a stricter one",
            Self::Evidence => "satisfaction_evidence that names enough other stored grains",
            Self::Dependency => "every goal in depends_on to be satisfied",
            Self::Consent => "a processing_basis naming a consent in force that covers it",
            Self::Withdrawal => {
                "the handle or the signature of the person or of the consent's writer, or the owner"
            }
            Self::Lasting => "an explicit request: background work must not modify the grain",
            Self::ConsentKept => "no operation: withdrawn consents and withdrawals are retained",
            Self::Namespace => "a namespace inside the handle's own",
            Self::User => "the handle's own user_id",
            Self::Author => "the handle's own author_did",
            Self::Role => "a role with write access",
            Self::Clearance => "clearance for health information",
            Self::Unreviewed => "a person to review and clear it",
            Self::Delegation => "a delegation in force",
            Self::DelegationExpired => "a delegation that has not expired",
            Self::DelegationScope => {
                "a delegation that covers the namespace, the type and the tool"
            }
            Self::DelegationDepth => "a delegation that permits further delegation",
            Self::Privilege => "a legal hold before export",
            Self::FinanceBasis => "a consent or a contract as its processing_basis",
            Self::ConsumerBasis => "a lawful processing_basis",
            Self::OptedOut => "no operation: the consumer opted out of sale",
            Self::ProfileConflict => "one value for each field of a profile",
            Self::Owner => "the handle of the store's owner",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
