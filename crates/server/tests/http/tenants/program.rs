//! The requests of the programs, and what they are made of.

use proptest::prelude::*;
use serde_json::{Value, json};

/// One request of a tenant. Addresses are named by the place of an earlier request, of either tenant.
#[derive(Debug, Clone)]
pub(super) enum Request {
    Put {
        text: u8,
        link: Option<u8>,
        key: Option<u8>,
    },
    Foreign {
        text: u8,
    },
    Batch {
        texts: Vec<u8>,
    },
    Supersede {
        of: u8,
        text: u8,
    },
    Contradict {
        of: u8,
    },
    Delete {
        of: u8,
    },
    Read {
        of: u8,
        what: u8,
    },
    Get {
        of: Vec<u8>,
    },
    Query {
        limit: u8,
        is_paged: bool,
    },
    Search {
        text: u8,
    },
    Recall {
        text: u8,
    },
    Export {
        format: u8,
    },
    Import {
        text: u8,
        what: u8,
    },
    Copy {
        format: u8,
    },
    Consent {
        withdraws: Option<u8>,
    },
    Rest {
        on: u8,
        text: u8,
    },
    Delegate {
        to: u8,
        is_wide: bool,
    },
    Follow,
    Bundle {
        urn: u8,
        text: u8,
    },
    Growth,
    Report {
        is_other: bool,
    },
    Erase {
        is_other: bool,
        is_preview: bool,
    },
    Whole {
        what: u8,
    },
    Tool {
        what: u8,
        of: u8,
        text: u8,
    },
    File {
        what: u8,
        text: u8,
    },
    Cal {
        what: u8,
        of: u8,
        text: u8,
        is_tool: bool,
    },
}

impl Request {
    /// Whether it may change what a store answers.
    pub(super) const fn changes(&self) -> bool {
        !matches!(
            self,
            Self::Read { .. }
                | Self::Get { .. }
                | Self::Query { .. }
                | Self::Search { .. }
                | Self::Recall { .. }
                | Self::Export { .. }
                | Self::Growth
                | Self::Report { .. }
                | Self::Whole { .. }
                | Self::Follow
                | Self::Cal { .. }
        )
    }
}

pub(super) fn request() -> impl Strategy<Value = Request> {
    let text = 0..6_u8;
    prop_oneof![
        4 => (text.clone(), prop::option::of(any::<u8>()), prop::option::of(0..3_u8))
            .prop_map(|(text, link, key)| Request::Put { text, link, key }),
        1 => text.clone().prop_map(|text| Request::Foreign { text }),
        1 => prop::collection::vec(0..6_u8, 1..4).prop_map(|texts| Request::Batch { texts }),
        2 => (any::<u8>(), text.clone()).prop_map(|(of, text)| Request::Supersede { of, text }),
        1 => any::<u8>().prop_map(|of| Request::Contradict { of }),
        1 => any::<u8>().prop_map(|of| Request::Delete { of }),
        3 => (any::<u8>(), 0..4_u8).prop_map(|(of, what)| Request::Read { of, what }),
        1 => prop::collection::vec(any::<u8>(), 1..4).prop_map(|of| Request::Get { of }),
        2 => (1..4_u8, any::<bool>())
            .prop_map(|(limit, is_paged)| Request::Query { limit, is_paged }),
        2 => text.clone().prop_map(|text| Request::Search { text }),
        1 => text.clone().prop_map(|text| Request::Recall { text }),
        1 => (0..4_u8).prop_map(|format| Request::Export { format }),
        3 => (text.clone(), 0..6_u8).prop_map(|(text, what)| Request::Import { text, what }),
        1 => (0..5_u8).prop_map(|format| Request::Copy { format }),
        1 => prop::option::of(any::<u8>()).prop_map(|withdraws| Request::Consent { withdraws }),
        1 => (any::<u8>(), text.clone()).prop_map(|(on, text)| Request::Rest { on, text }),
        1 => (0..5_u8, any::<bool>())
            .prop_map(|(to, is_wide)| Request::Delegate { to, is_wide }),
        1 => Just(Request::Follow),
        2 => (0..2_u8, text.clone()).prop_map(|(urn, text)| Request::Bundle { urn, text }),
        1 => Just(Request::Growth),
        1 => any::<bool>().prop_map(|is_other| Request::Report { is_other }),
        1 => any::<(bool, bool)>()
            .prop_map(|(is_other, is_preview)| Request::Erase { is_other, is_preview }),
        1 => (0..10_u8).prop_map(|what| Request::Whole { what }),
        2 => (0..7_u8, text.clone()).prop_map(|(what, text)| Request::File { what, text }),
        3 => (0..12_u8, any::<u8>(), text.clone(), any::<bool>())
            .prop_map(|(what, of, text, is_tool)| Request::Cal { what, of, text, is_tool }),
        5 => (0..14_u8, any::<u8>(), text)
            .prop_map(|(what, of, text)| Request::Tool { what, of, text }),
    ]
}

pub(super) const WORDS: [&str; 6] = ["tea", "coffee", "water", "tea and milk", "porto", "rain"];

/// Queries whose words are in grains of either tenant, as written or not.
pub(super) const QUERIES: [&str; 6] = [
    "tea",
    "coff*",
    "watr~",
    "\"tea and milk\"",
    "porto rain",
    "teas",
];

/// A statement of CAL that asks for a grain, for words, or for all that the tenant has.
pub(super) fn statement(what: u8, address: &str, text: u8) -> String {
    let words = WORDS[usize::from(text)];
    match what {
        0 => format!("EXISTS sha256:{address}"),
        1 => format!("EXISTS sha256:{}", &address[..8]),
        2 => format!("HISTORY sha256:{address}"),
        3 => format!("RECALL LIKE \"{words}\" | LIMIT 3"),
        4 => "RECALL | COUNT".to_owned(),
        5 => "RECALL | GROUP BY type".to_owned(),
        6 => format!("RECALL events WHERE content != \"{words}\" | ORDER BY time DESC | LIMIT 2"),
        7 => format!("RECALL WHERE hash = sha256:{address}"),
        8 => format!("ASSEMBLE FROM a: (RECALL LIKE \"{words}\"), b: (RECALL) BUDGET 900 TOKENS"),
        9 => "(RECALL events) MINUS (RECALL consents) | COUNT".to_owned(),
        10 => format!("EXPLAIN RECALL LIKE \"{words}\""),
        _ => format!("COALESCE (RECALL ABOUT \"{words}\", RECALL SINCE \"last 30 days\" | COUNT)"),
    }
}

/// A grain whose address depends on its text and little else, so that tenants meet.
pub(super) fn grain(at: usize, text: u8) -> Value {
    json!({
        "type": "event", "content": WORDS[usize::from(text)], "session_id": "s1",
        "created_at": 1_768_471_200_000_i64 + i64::from(at.is_multiple_of(3)),
    })
}
