"""`Store`: the operations on memories."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from os import PathLike
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from . import _native
from ._auditing import Auditing
from ._persons import Persons
from ._signing import Signing
from ._vector import from_bytes, to_bytes
from .results import (
    Answer,
    Change,
    Exported,
    Found,
    Imported,
    Line,
    Recollection,
    Refused,
    Results,
    Status,
    Version,
    moment,
)

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from ._filter import Conditions, Moment
    from ._vector import Floats, Vector
    from ._native import Grain, SigningKey


class Store(Persons, Signing, Auditing):
    """A store of memories, or a handle on it that is narrowed to an author, a person or a namespace.

    It is safe to share between threads, and each call that reads, writes or searches lets other
    threads run. In a child process made by `fork()` every call raises `Usage`: open the store there.

    >>> import grainstore
    >>> with grainstore.in_memory() as store:
    ...     tea = store.remember("tea", subject="ana", relation="likes")
    ...     milk = store.correct(tea, object="milk", reason="said so")
    ...     [version.grain["object"] for version in store.history(milk)]
    ['tea', 'milk']
    """

    __slots__ = ("_native", "__weakref__")

    def __init__(self, native: _native.Store) -> None:
        self._native = native

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return repr(self._native)

    @property
    def is_closed(self) -> bool:
        """Whether it was closed.

        >>> import grainstore
        >>> grainstore.in_memory().is_closed
        False
        """
        return self._native.is_closed

    def close(self) -> None:
        """Closes the store, for all handles that were narrowed from one; a second time does nothing.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> store.close()
        >>> store.is_closed
        True
        """
        self._native.close()

    # What is stored.

    def remember(
        self,
        text: str,
        *,
        subject: str | None = None,
        relation: str | None = None,
        user: str | None = None,
        session: str | None = None,
        namespace: str | None = None,
        role: str | None = None,
        confidence: float | None = None,
        importance: float | None = None,
        tags: Iterable[str] = (),
        at: Moment | None = None,
        **fields: Any,
    ) -> str:
        """Stores a memory and returns its address once it is durable.

        With a subject and a relation it is a belief about them, of confidence 1 unless told
        otherwise; without, it is an event: what happened or was said. `at` is when it was made, now
        by default. Other fields have the names of the specification.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> store.get(store.remember("I moved to Porto", user="ana", role="user")).type
        'event'
        >>> store.get(store.remember("tea", subject="ana", relation="likes")).summary
        'ana likes tea'

        Raises what `put` raises.
        """
        if (subject is None) != (relation is None):
            raise TypeError("a belief has a subject and a relation: give both, or neither")
        if subject is None:
            grain: dict[str, Any] = {"type": "event", "content": text, "confidence": confidence}
        else:
            sure = 1.0 if confidence is None else confidence
            grain = {"type": "belief", "subject": subject, "relation": relation, "object": text}
            grain["confidence"] = sure
        grain["user_id"] = user
        grain["session_id"] = session
        grain["namespace"] = namespace
        grain["role"] = role
        grain["importance"] = importance
        grain["structural_tags"] = list(tags) or None
        grain["created_at"] = at
        grain.update(fields)
        return self._native.put(grain)

    def put(self, fields: Mapping[str, Any]) -> str:
        """Stores a grain of any type and returns its address once it is durable.

        `fields` are those of the specification under their full names, with `type`. A time is a
        `datetime` with an offset, milliseconds since 1970, or a text of RFC 3339; `created_at` is now
        by default. Storing a grain again changes nothing.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> goal = {"type": "goal", "description": "learn Portuguese", "goal_state": "active"}
        >>> store.get(store.put(goal))["description"]
        'learn Portuguese'

        Raises `Schema`, `Empty`, `Range` and the other errors of an invalid grain; `AccessDenied` for
        one outside the handle; `InvalidationDenied` for one that would replace another without
        `supersede`; `Erased` for one that was deleted here; storage errors, after which a retry is
        safe.
        """
        return self._native.put(fields)

    def insert(self, fields: Mapping[str, Any]) -> tuple[str, bool]:
        """Stores a grain as `put` does, and returns its address and whether it is new here.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> turn = {"type": "event", "content": "hello", "created_at": 1_768_471_200_000}
        >>> [is_new for _, is_new in (store.insert(turn), store.insert(turn))]
        [True, False]

        Raises what `put` raises.
        """
        return self._native.insert(fields)

    def put_batch(self, grains: Iterable[Mapping[str, Any]]) -> list[str]:
        """Stores grains together, all or none, and returns their addresses.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> len(store.put_batch({"type": "event", "content": f"turn {n}"} for n in range(3)))
        3

        Raises what `put` raises, with the grain in `.place`.
        """
        return self._native.put_batch(grains)

    # What is read.

    @overload
    def get(self, address: str | Grain) -> Grain | None: ...
    @overload
    def get(self, address: list[str] | list[Grain] | list[str | Grain]) -> list[Grain | None]: ...
    def get(self, address: Any) -> Any:
        """Returns the grain of an address, or those of a list; `None` for one that is not here.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> address = store.remember("hello")
        >>> store.get(address)["content"]
        'hello'
        >>> store.get([address, "0" * 64])
        [Grain(event: 'hello', ...), None]

        Raises `HashFormat` and `HashLength` for a text that is no address, `ConsentRequired` and
        `ReviewRequired` where these are demanded, `StorageDamaged`.
        """
        if isinstance(address, list):
            return self._native.get_batch(address)
        return self._native.get(address)

    def status(self, address: str | Grain) -> Status:
        """Returns what the store says about a grain besides its bytes.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> store.status(store.remember("hello")).is_current
        True

        Raises `NotFound`.
        """
        return Status(*self._native.status(address))

    def search(
        self, text: str, *, limit: int = 10, plain: bool = False, **conditions: Unpack[Conditions]
    ) -> Results:
        """Returns the best grains for a text, best first.

        The text is a query with phrases, fields and operators (docs/search.md), or plain words if
        `plain`.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> _ = store.remember("dark modes", subject="ana", relation="prefers", user="ana")
        >>> store.search("mode", user="ana")[0].grain["object"]
        'dark modes'
        >>> store.search("mode", user="ben").total
        0

        Raises `SearchSyntax`, `Filter`, `Text`, and `Embedder` if a model of yours makes no vector.
        """
        return _results(self._native.search(text, plain, limit, cast("Any", conditions)))

    def recall(
        self,
        question: str,
        *,
        budget: int = 2_000,
        precise: bool = False,
        **conditions: Unpack[Conditions],
    ) -> Recollection:
        """Returns the memories that a question calls for, with the turns around them.

        `budget` is the size of the result as Markdown, in tokens of about four characters. `precise`
        leaves out what is less relevant, and the turns around.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> _ = store.remember("I moved to Porto in May", user="ana")
        >>> "Porto" in str(store.recall("Where did Ana move?", user="ana"))
        True

        Raises what `search` raises, except `SearchSyntax`.
        """
        found = self._native.recall(question, budget, precise, cast("Any", conditions))
        lines = [Line(line[0], moment(line[1]), *line[2:]) for line in found.lines]
        return Recollection(lines, found.tokens, found.is_cut, found.is_partial, found)

    def query(
        self, *, sort: str | None = None, page: int = 500, **conditions: Unpack[Conditions]
    ) -> Iterator[Found]:
        """Returns the grains that satisfy conditions, one after the other.

        All are those of the moment of the first one: what is stored meanwhile changes nothing, and
        what is erased disappears. `sort` is `stored`, `time`, `created_at`, `valid_from`, `valid_to`,
        `system_valid_from`, `confidence` or `importance`, descending after a `-`; by default the order
        of storage, and by time in a session. `page` is how many are read at once.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> for sure in (0.2, 0.9, 0.5):
        ...     _ = store.remember("tea", subject=f"ana {sure}", relation="likes", confidence=sure)
        >>> [found.grain["confidence"] for found in store.query(sort="-confidence", page=2)]
        [0.9, 0.5, 0.2]

        Raises `Filter`.
        """
        cursor = None
        while True:
            results = self.query_page(sort=sort, limit=page, cursor=cursor, **conditions)
            yield from results
            cursor = results.next_cursor
            if cursor is None:
                return

    def query_page(
        self,
        *,
        sort: str | None = None,
        limit: int = 500,
        cursor: str | None = None,
        **conditions: Unpack[Conditions],
    ) -> Results:
        """Returns up to `limit` grains as `query` does, with the cursor of the next page.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> _ = store.put_batch({"type": "event", "content": f"turn {n}"} for n in range(3))
        >>> first = store.query_page(limit=2)
        >>> len(first), first.total, len(store.query_page(limit=2, cursor=first.next_cursor))
        (2, 3, 1)

        Raises `Filter`, and `Cursor` for a cursor of another query.
        """
        return _results(self._native.query(sort, limit, cursor, cast("Any", conditions)))

    def count(self, **conditions: Unpack[Conditions]) -> int:
        """Returns how many grains satisfy conditions.

        >>> import grainstore
        >>> grainstore.in_memory().count(user="ana")
        0

        Raises `Filter`.
        """
        return self._native.query(None, 0, None, cast("Any", conditions))[1]

    def cal(
        self,
        statement: str,
        *,
        user: str | None = None,
        now: Moment | None = None,
        **parameters: Any,
    ) -> Answer:
        """Answers a statement of the Context Assembly Language (docs/cal.md). The parameters are the
        values of its `$names`, `user` is the person of MY, and `now` the moment of words such as
        "yesterday".

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> _ = store.remember("tea", subject="ana", relation="likes")
        >>> store.cal("RECALL WHERE subject = $who | COUNT", who="ana").envelope["count"]
        1

        Raises a `GrainstoreError` with a code of CAL such as `CAL-E003`, its place and a suggestion in
        `hint`; errors of the store.
        """
        envelope, text, is_found = self._native.cal(statement, json.dumps(parameters), user, now)
        return Answer(json.loads(envelope), text, is_found)

    def history(self, address: str | Grain) -> list[Version]:
        """Returns the versions of a grain, oldest first.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> tea = store.remember("tea", subject="ana", relation="likes")
        >>> len(store.history(store.correct(tea, object="milk")))
        2

        Raises `NotFound`.
        """
        versions = self._native.history(address)
        return [
            Version(grain, Status(*status), moment(stored_at), stored_by)
            for grain, status, stored_at, stored_by in versions
        ]

    def changes(self, *, first: int | None = 0, **conditions: Unpack[Conditions]) -> Changes:
        """Returns the entries of the ledger from one on, of this process and of others; from now on
        if `first` is `None`. With conditions, only grains that were stored and satisfy them.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> _ = store.remember("hello")
        >>> [change.kind for change in store.changes()]
        ['stored']

        Raises `Filter`; reading it raises `StorageDamaged` and `StorageIo`.
        """
        return Changes(self._native.changes(first, cast("Any", conditions) or None))

    # What is changed.

    def correct(self, address: str | Grain, *, reason: str | None = None, **fields: Any) -> str:
        """Stores the next version of a grain with these fields, and returns its address. A field that
        is `None` is left out of it; the old version stays in the history.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> tea = store.remember("tea", subject="ana", relation="likes", confidence=0.5)
        >>> store.get(store.correct(tea, confidence=0.9)).summary
        'ana likes tea'

        Raises what `supersede` raises.
        """
        return self._native.correct(address, fields, reason)

    def supersede(
        self,
        old: str | Grain,
        fields: Mapping[str, Any],
        *,
        reason: str | None = None,
        auth: bytes | Iterable[bytes] = (),
    ) -> str:
        """Stores a grain that replaces another, atomically, and returns its address. It names the old
        one in `derived_from`, of a consent in `prior_consent`, here by default.

        `auth` are the agreements of `SigningKey.cosign` that the policy of the old grain requires: they
        become its `supersession_auth`, through a handle that does not sign itself. The signer of one
        that signs has agreed by that.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> old = store.remember("It rains")
        >>> new = store.supersede(old, {"type": "event", "content": "It stopped raining"})
        >>> store.status(old).superseded_by == new
        True

        Raises `NotFound`; `Conflict` for a grain that is no longer current; `InvalidationDenied` where
        its policy forbids it; what `put` raises.
        """
        return self._native.supersede(old, fields, reason, _several(auth))

    def contradict(
        self,
        address: str | Grain,
        *,
        reason: str | None = None,
        auth: bytes | Iterable[bytes] = (),
    ) -> None:
        """Marks a grain as contradicted: it is contested and no longer current. `auth` are the agreements
        of `SigningKey.agree` that its policy requires.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> tea = store.remember("tea", subject="ana", relation="likes")
        >>> store.contradict(tea, reason="she said she does not")
        >>> store.status(tea).is_contradicted
        True

        Raises `NotFound`, and `InvalidationDenied` where its policy forbids it.
        """
        self._native.contradict(address, reason, _several(auth))

    def verify(
        self,
        address: str | Grain,
        status: Literal["unverified", "verified", "contested", "retracted"] = "verified",
        *,
        reason: str | None = None,
        auth: bytes | Iterable[bytes] = (),
    ) -> None:
        """Records how far a grain has been verified; one that is retracted is no longer current. `auth` are
        the agreements of `SigningKey.agree` that its policy requires.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> tea = store.remember("tea", subject="ana", relation="likes")
        >>> store.verify(tea)
        >>> store.status(tea).verification
        'verified'

        Raises what `contradict` raises.
        """
        self._native.verify(address, status, reason, _several(auth))

    def delete(self, *addresses: str | Grain, reason: str, authority: str) -> None:
        """Deletes grains from every file of the store, for good. An entry with the reason and the
        authority stays, and keeps the grains from being stored again.

        Many at once cost about as much as one. All that may be deleted are, before the error of the
        first other one is raised.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> note = store.remember("my number is 12345")
        >>> store.delete(note, reason="asked for", authority="the user")
        >>> store.get(note) is None
        True

        Raises `NotFound`; `InvalidationDenied` for a grain that a hold or its retention keeps;
        `AccessDenied` for a handle that is not the owner's.
        """
        for error in self._native.delete(addresses, reason, authority):
            if error is not None:
                raise error

    # Vectors.

    def put_embeddings(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Stores vectors that a model made of grains, by their addresses, all or none. Each replaces an
        earlier one of the model; only the direction of a vector counts.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> tea, sea = store.remember("she likes tea"), store.remember("she lives by the sea")
        >>> store.put_embeddings("tiny", {tea: [0.9, 0.1], sea: [0.2, 0.8]})
        >>> [found.address == tea for found in store.nearest("tiny", [1.0, 0.0], limit=1)]
        [True]

        Raises `NotFound`, and `Embedding` for a vector that is empty, without a direction, or of
        another length than the others of the model.
        """
        self._native.put_embeddings([(of, model, to_bytes(it)) for of, it in vectors.items()])

    def embedding(self, model: str, address: str | Grain) -> Floats | None:
        """Returns the vector that a model made of a grain, with the length 1: a numpy array of
        `float32`, or an `array` where there is no numpy.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> tea = store.remember("tea")
        >>> store.put_embeddings("tiny", {tea: [2.0, 0.0]})
        >>> list(map(float, store.embedding("tiny", tea)))
        [1.0, 0.0]

        Raises `NotFound`.
        """
        found = self._native.embedding(address, model)
        return None if found is None else from_bytes(found)

    def nearest(
        self, model: str, vector: Vector, *, limit: int = 10, **conditions: Unpack[Conditions]
    ) -> Results:
        """Returns the grains whose vectors of a model are nearest to a vector; the score of each is
        (1 + cosine) / 2. Up to 50,000 vectors of a model are all compared.

        >>> import grainstore
        >>> grainstore.in_memory().nearest("tiny", [1.0, 0.0]).total
        0

        Raises `Filter`, and `Embedding` for a vector of another length.
        """
        conditions_ = cast("Any", conditions)
        return _results(self._native.nearest(model, to_bytes(vector), limit, conditions_))

    # Files.

    def import_file(
        self,
        path: str | PathLike[str],
        *,
        format: str | None = None,
        user: str | None = None,
        preview: bool = False,
        progress: Callable[[int], object] | None = None,
    ) -> Imported:
        """Imports an export of ChatGPT, Claude, Gemini and others, PAM, AIMEM, OMI-AI, `.mg` or JSON
        lines; the content decides which (docs/interchange.md).

        `user` is the person whose export it is. `progress` is called with the number of records that
        are done; an exception of it is raised when the import is. `preview` writes nothing.

        >>> import grainstore, pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp(), "memory.jsonl")
        >>> _ = file.write_text('{"type":"event","content":"hi","created_at":1}')
        >>> grainstore.in_memory().import_file(file).inserted
        1

        Raises storage errors, and what a file raises that cannot be read; records that cannot be
        stored are in the outcome.
        """
        counts, refused, loss = self._native.import_file(path, format, user, preview, progress)
        records = [Refused(*record) for record in refused]
        return Imported(**{**cast("dict[str, Any]", counts), "refused": records}, loss=loss)

    def export(
        self,
        path: str | PathLike[str],
        *,
        format: str = "mg",
        history: bool = False,
        **conditions: Unpack[Conditions],
    ) -> Exported:
        """Writes the grains that satisfy conditions to a file, which is complete or absent.

        `format` is `mg`, `jsonl`, `pam`, `aimem` or another of docs/interchange.md; `history` adds what
        the store says about the grains.

        >>> import grainstore, tempfile
        >>> store = grainstore.in_memory()
        >>> _ = store.remember("hello")
        >>> store.export(tempfile.mkdtemp() + "/memory.mg").grains
        1

        Raises `Filter`, `Unsupported` for a format that is only read, `AccessDenied` for a handle that
        is not the owner's.
        """
        return Exported(
            *self._native.export(path, format, history, cast("Any", conditions))
        )

    def backup(self, path: str | PathLike[str]) -> None:
        """Writes a copy of the store to a folder, or brings the copy there up to date.

        >>> import grainstore, tempfile
        >>> copy = tempfile.mkdtemp() + "/copy.grains"
        >>> grainstore.in_memory().backup(copy)
        >>> grainstore.open(copy, create="never").count()
        0

        Raises storage errors, and `AccessDenied` for a handle that is not the owner's.
        """
        self._native.backup(path)

    def flush(self) -> None:
        """Completes what puts leave for later: makes the vectors that are missing, and writes the index of
        words, so that the next opening need not. Words are found without it.

        >>> import grainstore
        >>> grainstore.in_memory().flush()

        Raises `Text` and `Embedder` if one of them fails, and `AccessDenied` for a handle that is not the
        owner's.
        """
        self._native.flush()

    # Narrowed handles.

    def as_actor(self, did: str) -> Store:
        """Returns a handle of an author: what it stores is theirs, and it may do what the owner
        delegated to them.

        >>> import grainstore
        >>> bot = grainstore.in_memory().as_actor("did:web:bot.example")
        >>> bot.get(bot.remember("hello"))["author_did"]
        'did:web:bot.example'

        Raises `Did`.
        """
        return Store(self._native.as_actor(did))

    def of_user(self, user: str) -> Store:
        """Returns a handle on the memories of one person: grains of others are as if not stored.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> _ = store.of_user("ana").remember("I like tea")
        >>> store.of_user("ben").search("tea").total
        0
        """
        return Store(self._native.of_user(user))

    def in_namespace(self, namespace: str) -> Store:
        """Returns a handle on a namespace and those inside it.

        >>> import grainstore
        >>> work = grainstore.in_memory().in_namespace("work")
        >>> work.get(work.remember("hello"))["namespace"]
        'work'
        """
        return Store(self._native.in_namespace(namespace))

    def read_only(self) -> Store:
        """Returns a handle that changes nothing.

        >>> import grainstore
        >>> grainstore.in_memory().read_only().remember("hello")
        Traceback (most recent call last):
        grainstore.errors.AccessDenied: ...
        """
        return Store(self._native.read_only())

    def signed_by(self, key: SigningKey, *, did: str | None = None) -> Store:
        """Returns a handle that signs what it stores: `remember`, `put`, `put_batch`, `correct` and
        `supersede`. Imports, statements of CAL and the files of the memory tool stay unsigned.

        The signer is `did`, by default the `did:key` of the key. A signature says who signed, and not
        that they are trusted: `trust` does. A grain that names another author than the signer is
        refused (`Untrusted`) unless a rule allows it.

        >>> import grainstore
        >>> store, key = grainstore.in_memory(), grainstore.SigningKey.generate()
        >>> tea = store.signed_by(key).remember("tea", subject="ana", relation="likes")
        >>> store.signature(tea).signer == key.did
        True

        Raises `Did`; what is stored raises `Key` for the `did:key` of another key, and `Unresolved` for
        a `did:web` whose document the store was not opened with.
        """
        return Store(self._native.signed_by(key, did))


class Changes:
    """The entries of the ledger as a feed: it ends where the store ends, and goes on after that when
    there is more. It is for one thread at a time: another one that uses it meanwhile gets a
    `RuntimeError`.

    >>> import grainstore
    >>> store = grainstore.in_memory()
    >>> feed = store.changes(first=None)
    >>> _ = store.remember("hello")
    >>> feed.wait(seconds=5), [change.grain["content"] for change in feed]
    (True, ['hello'])
    """

    __slots__ = ("_native",)

    def __init__(self, native: _native.Changes) -> None:
        self._native = native

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Change:
        change = self._native.next()
        if change is None:
            raise StopIteration
        entry, at, kind, grain, address, entries = change
        return Change(entry, moment(at), cast("Any", kind), grain, address, entries)

    @property
    def position(self) -> int:
        """The number of the next entry: `changes(first=position)` goes on there.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> feed = store.changes(first=None)
        >>> _ = store.remember("hello")
        >>> len(list(store.changes(first=feed.position)))
        1
        """
        return self._native.position

    def wait(self, seconds: float) -> bool:
        """Waits up to so many seconds until there is another entry, and returns whether there is.

        >>> import grainstore
        >>> grainstore.in_memory().changes(first=None).wait(seconds=0.01)
        False
        """
        return self._native.wait(seconds)


def _several(signatures: bytes | Iterable[bytes]) -> list[bytes]:
    return [signatures] if isinstance(signatures, bytes) else list(signatures)


def _results(answer: _native._Answer) -> Results:
    results, total, is_lower_bound, is_partial, read_as, cursor = answer
    found = [
        Found(grain, Status(*status), score, fields, *(signature or (None, None)))
        for grain, status, score, fields, signature in results
    ]
    return Results(found, total, is_lower_bound, is_partial, dict(read_as), cursor)
