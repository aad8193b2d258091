//! The table of routes: everything that is answered, and everything that is described.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

use super::answer::Answer;
use super::api::request::{
    AddressesBody, AliasBody, AuditBody, BatchBody, CalBody, CancelBody, ContradictBody,
    DeleteBody, ErasePersonBody, ExecuteBody, ExportBody, GrainBody, GroupsBody, GrowthBody,
    PersonBody, QueryBody, RecallBody, SearchBody, SettleBody, SupersedeBody,
};
use super::api::{aimem, cal, feed, files, grains, groups, inspect, operator, people, questions};
use super::call::Call;
use super::failure::Failure;
use super::token::Operation;

/// One row of the table.
pub(crate) struct Route {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    /// One sentence, without the full stop.
    pub(crate) about: &'static str,
    /// The operation that its token permits; `None`: anyone may ask, and the answer is quick.
    pub(crate) needs: Option<Operation>,
    /// The parameters of the query and their meanings; any other is refused.
    pub(crate) params: &'static [(&'static str, &'static str)],
    pub(crate) takes: Takes,
    /// The statuses besides 200 and those that every route may answer with.
    pub(crate) statuses: &'static [u16],
    /// The media type of status 200.
    pub(crate) gives: &'static str,
    pub(crate) run: fn(&Call<'_>) -> Result<Answer, Failure>,
}

/// The body of a request.
#[derive(Clone, Copy)]
pub(crate) enum Takes {
    Nothing,
    /// A JSON document, under the limit of a document.
    Json(fn() -> Schema),
    /// A statement of CAL: such a document, the text, or the JSON form.
    Cal(fn() -> Schema),
    /// A file, under the limit of a file. Few are taken at a time.
    File(&'static [&'static str]),
}

impl Route {
    /// Whether errors are told as AIMEM's reference does.
    pub(crate) fn is_aimem(&self) -> bool {
        self.path.starts_with("/v1/brain/")
    }

    /// Whether it may change the store.
    pub(crate) fn is_change(&self) -> bool {
        let changes = [Operation::Write, Operation::Erase, Operation::Import];
        self.needs.is_some_and(|needs| changes.contains(&needs))
            || [SETTLE, ALIAS].contains(&self.path)
    }

    /// Whether its answer follows the store until its reader leaves.
    pub(crate) fn is_feed(&self) -> bool {
        self.gives == "text/event-stream"
    }

    /// Whether it reads or writes so much that few may run at a time.
    pub(crate) fn is_bulk(&self) -> bool {
        let reads_much = [
            "/v1/persons/erase",
            "/v1/audit",
            "/v1/growth",
            // A token that is confined has its grains read one by one.
            "/v1/groups",
            // A statement may have several recalls, each with many grains.
            "/v1/cal",
            "/v1/cal/prepare",
            // The library has all versions in memory at once.
            "/v1/grains/{address}/history",
        ];
        matches!(self.takes, Takes::File(_))
            || self.needs == Some(Operation::Export)
            || reads_much.contains(&self.path)
    }
}

const fn get(
    path: &'static str,
    about: &'static str,
    needs: Option<Operation>,
    run: fn(&Call<'_>) -> Result<Answer, Failure>,
) -> Route {
    Route {
        method: "GET",
        path,
        about,
        needs,
        params: &[],
        takes: Takes::Nothing,
        statuses: &[],
        gives: JSON,
        run,
    }
}

const fn post(
    path: &'static str,
    about: &'static str,
    needs: Operation,
    takes: Takes,
    run: fn(&Call<'_>) -> Result<Answer, Failure>,
) -> Route {
    Route {
        method: "POST",
        takes,
        statuses: &[409, 413, 415, 422],
        ..get(path, about, Some(needs), run)
    }
}

/// Whole, since a reference into a schema would be one into the document around it.
fn schema<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().with(|it| it.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>()
}

const SETTLE: &str = "/v1/conflicts/settle";
const ALIAS: &str = "/v1/persons/alias";
const JSON: &str = "application/json";

/// The forms of a statement of CAL.
pub(super) const CAL_MEDIA: &[&str] = &[JSON, "text/cal", "application/json+cal"];
const READ: Option<Operation> = Some(Operation::Read);
const NDJSON: &str = "application/x-ndjson";

/// Every route.
pub(crate) const ROUTES: &[Route] = &[
    get(
        "/healthz",
        "Says that the process answers",
        None,
        operator::alive,
    ),
    Route {
        statuses: &[503],
        ..get(
            "/readyz",
            "Says that the store answers",
            None,
            operator::ready,
        )
    },
    Route {
        gives: "text/plain",
        ..get(
            "/metrics",
            "Counts requests, for Prometheus",
            Some(Operation::Admin),
            operator::metrics,
        )
    },
    get(
        "/v1/openapi.json",
        "Describes this interface",
        None,
        operator::description,
    ),
    Route {
        statuses: &[409, 410, 413, 415, 422],
        ..post(
            "/v1/grains",
            "Stores a grain",
            Operation::Write,
            Takes::Json(schema::<GrainBody>),
            grains::put,
        )
    },
    Route {
        statuses: &[409, 410, 413, 415, 422],
        ..post(
            "/v1/grains/batch",
            "Stores grains, all or none",
            Operation::Write,
            Takes::Json(schema::<BatchBody>),
            grains::put_batch,
        )
    },
    post(
        "/v1/grains/get",
        "Returns grains by their addresses",
        Operation::Read,
        Takes::Json(schema::<AddressesBody>),
        grains::get_batch,
    ),
    Route {
        statuses: &[404],
        ..get(
            "/v1/grains/{address}",
            "Returns a grain and its status",
            READ,
            grains::get,
        )
    },
    Route {
        statuses: &[404],
        ..get(
            "/v1/grains/{address}/protection",
            "Says what may be done with a grain, and which rule forbids the rest",
            READ,
            inspect::protection,
        )
    },
    get(
        "/v1/grains/{address}/exists",
        "Says whether a grain is there",
        READ,
        grains::exists,
    ),
    Route {
        statuses: &[404],
        ..get(
            "/v1/grains/{address}/history",
            "Returns the versions of a grain",
            READ,
            grains::history,
        )
    },
    Route {
        statuses: &[404, 409, 410, 413, 415, 422],
        ..post(
            "/v1/grains/{address}/supersede",
            "Replaces a grain with a newer version",
            Operation::Write,
            Takes::Json(schema::<SupersedeBody>),
            grains::supersede,
        )
    },
    Route {
        statuses: &[404, 409, 413, 415, 422],
        ..post(
            "/v1/grains/{address}/contradict",
            "Marks a grain as contradicted",
            Operation::Write,
            Takes::Json(schema::<ContradictBody>),
            grains::contradict,
        )
    },
    Route {
        statuses: &[404, 409, 413, 415, 422],
        ..post(
            "/v1/grains/{address}/delete",
            "Erases a grain for good",
            Operation::Erase,
            Takes::Json(schema::<DeleteBody>),
            grains::delete,
        )
    },
    post(
        "/v1/query",
        "Returns a page of the grains that pass a filter",
        Operation::Read,
        Takes::Json(schema::<QueryBody>),
        questions::query,
    ),
    post(
        "/v1/search",
        "Returns the grains that match a text best",
        Operation::Read,
        Takes::Json(schema::<SearchBody>),
        questions::search,
    ),
    post(
        "/v1/recall",
        "Returns what is known for a question, within a budget of tokens",
        Operation::Read,
        Takes::Json(schema::<RecallBody>),
        questions::recall,
    ),
    Route {
        statuses: &[404, 409, 413, 415, 422],
        ..post(
            "/v1/cal",
            "Answers a statement of the Context Assembly Language",
            Operation::Read,
            Takes::Cal(schema::<CalBody>),
            cal::ask,
        )
    },
    Route {
        statuses: &[404, 413, 415, 422],
        ..post(
            "/v1/cal/cancel",
            "Ends an assembly that is being streamed",
            Operation::Read,
            Takes::Json(schema::<CancelBody>),
            cal::cancel,
        )
    },
    Route {
        statuses: &[404, 409, 413, 415, 422],
        ..post(
            "/v1/cal/prepare",
            "Prepares a change in CAL: returns its token and what it would do",
            Operation::Write,
            Takes::Cal(schema::<CalBody>),
            cal::prepare,
        )
    },
    Route {
        statuses: &[404, 409, 410, 413, 415, 422],
        ..post(
            "/v1/cal/execute",
            "Makes a prepared change, once",
            Operation::Write,
            Takes::Json(schema::<ExecuteBody>),
            cal::execute,
        )
    },
    get(
        "/v1/token",
        "Returns the rights of the token",
        READ,
        inspect::token,
    ),
    post(
        "/v1/growth",
        "Counts the newest grains by day, type and namespace",
        Operation::Read,
        Takes::Json(schema::<GrowthBody>),
        inspect::growth,
    ),
    post(
        "/v1/groups",
        "Counts grains by type, session or user, the group with the latest first",
        Operation::Read,
        Takes::Json(schema::<GroupsBody>),
        groups::groups,
    ),
    post(
        "/v1/persons/report",
        "Returns everything about a person",
        Operation::Export,
        Takes::Json(schema::<PersonBody>),
        people::report,
    ),
    post(
        "/v1/persons/erase",
        "Erases a person, or says what that would erase",
        Operation::Erase,
        Takes::Json(schema::<ErasePersonBody>),
        people::erase,
    ),
    post(
        ALIAS,
        "States that two users are one person",
        Operation::Admin,
        Takes::Json(schema::<AliasBody>),
        people::alias,
    ),
    post(
        "/v1/audit",
        "Returns a page of the ledger as a log",
        Operation::Admin,
        Takes::Json(schema::<AuditBody>),
        inspect::audit,
    ),
    get(
        "/v1/conflicts",
        "Returns the conflicts of imports that are not settled",
        Some(Operation::Admin),
        inspect::conflicts,
    ),
    Route {
        statuses: &[404, 409, 413, 415, 422],
        ..post(
            SETTLE,
            "Settles a conflict in favour of one grain",
            Operation::Admin,
            Takes::Json(schema::<SettleBody>),
            inspect::settle,
        )
    },
    Route {
        params: &[
            (
                "from",
                "start, now or a time, where no Last-Event-ID is sent",
            ),
            ("namespace", "a namespace, with those inside it"),
        ],
        gives: "text/event-stream",
        ..get(
            "/v1/changes",
            "Follows the store: an event for each grain that is stored",
            READ,
            feed::changes,
        )
    },
    Route {
        params: &[("format", "the name of a format; by default it is detected")],
        gives: NDJSON,
        ..post(
            "/v1/import",
            "Stores the records of a file",
            Operation::Import,
            Takes::File(&["application/octet-stream", JSON, NDJSON]),
            files::import,
        )
    },
    Route {
        gives: "application/octet-stream",
        ..post(
            "/v1/export",
            "Writes a file of the grains that pass a filter",
            Operation::Export,
            Takes::Json(schema::<ExportBody>),
            files::export,
        )
    },
    Route {
        params: aimem::EXPORT_PARAMS,
        statuses: &[409, 422],
        gives: aimem::MEDIA_TYPE,
        ..get(
            "/v1/brain/export",
            "Returns an AIMEM bundle",
            Some(Operation::Export),
            aimem::export,
        )
    },
    Route {
        params: aimem::EXPORT_PARAMS,
        statuses: &[409, 422],
        gives: NDJSON,
        ..get(
            "/v1/brain/export/stream",
            "Returns an AIMEM bundle as lines",
            Some(Operation::Export),
            aimem::export_stream,
        )
    },
    post(
        "/v1/brain/import",
        "Stores an AIMEM bundle",
        Operation::Import,
        Takes::File(&[aimem::MEDIA_TYPE, JSON, NDJSON]),
        aimem::import,
    ),
    get(
        "/.well-known/aimem-spec",
        "Says what of AIMEM is implemented",
        None,
        aimem::discovery,
    ),
    Route {
        statuses: &[404],
        gives: "application/cose-key",
        ..get(
            "/.well-known/aimem-pubkey",
            "Returns the key that bundles are signed with",
            None,
            aimem::public_key,
        )
    },
];
