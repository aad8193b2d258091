//! The dialects of trees, as one table: where notes lie, how they begin, how an item is written.

use crate::code::ErrorCode;
use crate::interchange::{Error, Place};

/// How one tool lays out its notes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    pub(super) name: &'static str,
    /// Where the beliefs about a subject stand.
    pub(super) subjects: Subjects,
    /// The folder of conversations; `None`: their turns stand under their days.
    pub(super) conversations: Option<&'static str>,
    /// The folder of days; `None`: events have no place.
    pub(super) days: Option<&'static str>,
    /// The file that lists the others.
    pub(super) index: Option<Index>,
    /// The frontmatter, in the order in which it is written; empty for a dialect without.
    pub(super) keys: &'static [Key],
    /// The `type` of a note about a subject, of a conversation and of a day.
    pub(super) types: [&'static str; 3],
    pub(super) line: Line,
}

/// Where the beliefs about a subject stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subjects {
    /// A file for each, in this folder.
    Folder(&'static str),
    /// A section for each, in this file.
    Sections(&'static str),
    /// Entries between separators, in this file.
    Entries(&'static str),
}

/// How the file that lists the others is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Index {
    pub(super) file: &'static str,
    /// The lines before the list.
    pub(super) head: &'static str,
    /// Whether a note is named by a wiki link; else by a link to its file.
    pub(super) wiki: bool,
}

/// One key of the frontmatter: what it says, and its name; a dot separates the levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key(pub(super) Says, pub(super) &'static str);

/// The meaning of a key of the frontmatter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Says {
    Type,
    Title,
    Description,
    Tags,
    Created,
    Updated,
    /// By what program, and when.
    Generated,
    Status,
    Permalink,
    /// All that the items cannot say themselves: times, sources, verification and addresses.
    Grains,
}

/// How an item says its relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// `- relation: object`.
    Colon,
    /// `- [relation] object`, and `- relation [[Object]]`.
    Category,
    /// `[[Subject]] relation: object`, an entry by itself.
    Entry,
}

const OKF: &[Key] = &[
    Key(Says::Type, "type"),
    Key(Says::Title, "title"),
    Key(Says::Description, "description"),
    Key(Says::Tags, "tags"),
    Key(Says::Generated, "generated"),
    Key(Says::Status, "status"),
    Key(Says::Grains, "grains"),
];

const OBSIDIAN: &[Key] = &[
    Key(Says::Type, "type"),
    Key(Says::Title, "title"),
    Key(Says::Tags, "tags"),
    Key(Says::Created, "created"),
    Key(Says::Updated, "updated"),
    Key(Says::Status, "status"),
    Key(Says::Grains, "grains"),
];

const BASIC_MEMORY: &[Key] = &[
    Key(Says::Title, "title"),
    Key(Says::Type, "type"),
    Key(Says::Tags, "tags"),
    Key(Says::Permalink, "permalink"),
    Key(Says::Created, "created"),
    Key(Says::Updated, "updated"),
    Key(Says::Status, "status"),
    Key(Says::Grains, "grains"),
];

const CLAUDE_CODE: &[Key] = &[
    Key(Says::Title, "name"),
    Key(Says::Description, "description"),
    Key(Says::Type, "metadata.type"),
    Key(Says::Grains, "grains"),
];

const KINDS: [&str; 3] = ["subject", "conversation", "day"];

/// Every dialect; the first is the default.
pub(super) static DIALECTS: [Dialect; 7] = [
    Dialect {
        name: "okf",
        subjects: Subjects::Folder("subjects"),
        conversations: Some("conversations"),
        days: Some("days"),
        index: Some(Index {
            file: "index.md",
            head: "# Index\n\n",
            wiki: false,
        }),
        keys: OKF,
        types: KINDS,
        line: Line::Colon,
    },
    Dialect {
        name: "obsidian",
        subjects: Subjects::Folder(""),
        conversations: Some("Conversations"),
        days: Some("Daily"),
        index: Some(Index {
            file: "Index.md",
            head: "# Index\n\n",
            wiki: true,
        }),
        keys: OBSIDIAN,
        types: KINDS,
        line: Line::Colon,
    },
    Dialect {
        name: "basic-memory",
        subjects: Subjects::Folder("notes"),
        conversations: Some("conversations"),
        days: Some("days"),
        index: Some(Index {
            file: "index.md",
            head: "# Index\n\n",
            wiki: true,
        }),
        keys: BASIC_MEMORY,
        types: ["note", "conversation", "day"],
        line: Line::Category,
    },
    Dialect {
        name: "claude-code",
        subjects: Subjects::Folder(""),
        conversations: Some("conversations"),
        days: Some("days"),
        index: Some(Index {
            file: "MEMORY.md",
            head: "",
            wiki: false,
        }),
        keys: CLAUDE_CODE,
        types: ["project", "conversation", "day"],
        line: Line::Colon,
    },
    Dialect {
        name: "codex",
        subjects: Subjects::Sections("MEMORY.md"),
        conversations: Some("rollout_summaries"),
        days: Some("days"),
        index: Some(Index {
            file: "memory_summary.md",
            head: "v1\n\n",
            wiki: false,
        }),
        keys: &[],
        types: KINDS,
        line: Line::Colon,
    },
    Dialect {
        name: "openclaw",
        subjects: Subjects::Sections("MEMORY.md"),
        conversations: None,
        days: Some("memory"),
        index: None,
        keys: &[],
        types: KINDS,
        line: Line::Colon,
    },
    Dialect {
        name: "hermes",
        subjects: Subjects::Entries("MEMORY.md"),
        conversations: None,
        days: None,
        index: None,
        keys: &[],
        types: KINDS,
        line: Line::Entry,
    },
];

impl Dialect {
    /// Returns the dialect of a name; without one, the default.
    ///
    /// # Errors
    /// `ERR_UNSUPPORTED` with the names that there are.
    pub(super) fn named(name: Option<&str>) -> Result<&'static Self, Error> {
        let Some(name) = name else {
            return Ok(Self::okf());
        };
        let found = DIALECTS.iter().find(|dialect| dialect.name == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = DIALECTS.iter().map(|dialect| dialect.name).collect();
            let message = format!("no dialect {name:?}; there are {}", names.join(", "));
            Error::format(ErrorCode::Unsupported, Place::File, message)
        })
    }

    /// Returns the default.
    pub(super) fn okf() -> &'static Self {
        let [first, ..] = &DIALECTS;
        first
    }

    /// Returns the name of the key that says something.
    pub(super) fn key(&self, says: Says) -> Option<&'static str> {
        let key = self.keys.iter().find(|key| key.0 == says);
        key.map(|key| key.1)
    }
}

/// The instructions of agents. They are no memories: they would be believed.
pub(super) fn is_instruction(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let names = [
        "CLAUDE.md",
        "CLAUDE.local.md",
        "AGENTS.md",
        "GEMINI.md",
        "SOUL.md",
        "TOOLS.md",
    ];
    names.iter().any(|it| it.eq_ignore_ascii_case(name))
        || path.split('/').any(|part| part == "rules")
}
