//! Records of trust: a trust rule that is added, a signer whose rules are removed, or a signature
//! that is shown for a grain in place of its first one.

use crate::codec::{ContentAddress, Map, Value};
use crate::crypto::Did;
use crate::grain::{Namespace, Type};
use crate::policy::TrustRule;

use super::fields::{address, bytes, flag, text, texts};

/// A change of the trust rules, with the reason that the operator gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TrustRecord {
    Added {
        rule: TrustRule,
        reason: String,
    },
    Removed {
        signer: Did,
        reason: String,
    },
    /// A COSE_Sign1 without its payload, of a signer who is trusted more than the first.
    Signed {
        of: ContentAddress,
        envelope: Vec<u8>,
    },
}

impl TrustRecord {
    pub(super) fn to_map(&self) -> Map {
        match self {
            Self::Added { rule, reason } => {
                let texts = |texts: &[String]| -> Value { texts.to_vec().into() };
                let namespaces = rule.namespaces.iter();
                let namespaces = namespaces.map(|namespace| namespace.as_str().into());
                let types = rule.types.iter().map(|of| i64::from(of.byte()).into());
                Map::from_iter([
                    ("op", Value::from(ADD)),
                    ("did", rule.signer.as_str().into()),
                    ("ns", Value::Array(namespaces.collect())),
                    ("t", Value::Array(types.collect())),
                    ("for", texts(&rule.authors)),
                    ("only", Value::Bool(rule.is_exclusive)),
                    ("why", reason.as_str().into()),
                ])
            }
            Self::Removed { signer, reason } => Map::from_iter([
                ("op", REMOVE),
                ("did", signer.as_str()),
                ("why", reason.as_str()),
            ]),
            Self::Signed { of, envelope } => Map::from_iter([
                ("op", Value::from(SIGN)),
                ("a", bytes(of)),
                ("sig", Value::Bytes(envelope.clone())),
            ]),
        }
    }

    pub(super) fn from_map(map: &Map) -> Option<Self> {
        if text(map, "op")? == SIGN {
            let envelope = map.get("sig")?.as_bytes()?.to_vec();
            let of = address(map, "a")?;
            return Some(Self::Signed { of, envelope });
        }
        let signer: Did = text(map, "did")?.parse().ok()?;
        let reason = text(map, "why").unwrap_or_default().to_owned();
        match text(map, "op")? {
            ADD => Some(Self::Added {
                rule: rule_of(map, signer)?,
                reason,
            }),
            REMOVE => Some(Self::Removed { signer, reason }),
            _ => None,
        }
    }
}

fn rule_of(map: &Map, signer: Did) -> Option<TrustRule> {
    let types = map.get("t")?.as_array()?.iter();
    let types = types.map(|of| Some(Type::from_byte(u8::try_from(of.as_i64()?).ok()?)));
    let namespaces = texts(map, "ns")?.into_iter();
    Some(TrustRule {
        signer,
        namespaces: namespaces.map(Namespace::new).collect(),
        types: types.collect::<Option<_>>()?,
        authors: texts(map, "for")?,
        is_exclusive: flag(map, "only")?,
    })
}

const ADD: &str = "add";
const REMOVE: &str = "remove";
const SIGN: &str = "sign";
