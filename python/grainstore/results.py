"""What a store answers with: plain dataclasses that hold what was true when they were made.

>>> import grainstore
>>> store = grainstore.in_memory()
>>> address = store.remember("tea", subject="ana", relation="likes")
>>> found = store.search("tea")
>>> found.total, found[0].grain["object"], found[0].is_current
(1, 'tea', True)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from html import escape
from typing import TYPE_CHECKING, Any, Literal, overload

from . import _native

if TYPE_CHECKING:
    from ._native import Grain

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def moment(ms: int) -> datetime:
    """Returns the time of so many milliseconds since 1970, in UTC.

    >>> moment(1_768_471_200_000).isoformat()
    '2026-01-15T10:00:00+00:00'
    """
    return _EPOCH + timedelta(milliseconds=ms)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Returns a table of HTML in which nothing of a memory is markup."""

    def row(tag: str, cells: tuple[str, ...]) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    return f"<table>{row('th', head)}{''.join(row('td', cells) for cells in rows)}</table>"


@dataclass(frozen=True, slots=True)
class Status:
    """What the store says about a grain besides its bytes.

    >>> import grainstore
    >>> store = grainstore.in_memory()
    >>> store.status(store.remember("hello")).verification
    'unverified'
    """

    is_current: bool
    """Whether the store still holds it for true."""
    superseded_by: str | None
    """The address of the grain that replaced it."""
    verification: str
    """`unverified`, `verified`, `contested` or `retracted`."""
    is_contradicted: bool
    """Whether it was contradicted."""


@dataclass(frozen=True, slots=True)
class Found:
    """One result of a search or a query.

    >>> import grainstore
    >>> store = grainstore.in_memory()
    >>> _ = store.remember("green tea")
    >>> found = store.search("tea")[0]
    >>> found.matched_fields, found.is_current
    (['content'], True)
    """

    grain: Grain
    status: Status
    score: float
    """The relevance from 0 to 1; 1 for every result of a query. It says nothing about trust."""
    matched_fields: list[str]
    """The fields that have words of the search."""
    signer: str | None = None
    """The DID of the signer, for a signed grain."""
    trust: str | None = None
    """Whether that signer is trusted to write the grain."""

    @property
    def address(self) -> str:
        """The address of the grain."""
        return self.grain.address

    @property
    def is_current(self) -> bool:
        """Whether the store still holds the grain for true."""
        return self.status.is_current


@dataclass(frozen=True, slots=True)
class Results:
    """The best results of a search, or a page of a query. It is read like a list.

    >>> import grainstore
    >>> store = grainstore.in_memory()
    >>> _ = store.put_batch({"type": "event", "content": f"turn {n}"} for n in range(3))
    >>> page = store.query_page(limit=2)
    >>> len(page), page.total, [found.grain["content"] for found in page]
    (2, 3, ['turn 0', 'turn 1'])
    """

    found: list[Found]
    total: int
    """The number of all that match."""
    total_is_lower_bound: bool = False
    is_partial: bool = False
    """Whether the search ended at its deadline or at its limit of bytes."""
    read_as: dict[str, str] = field(default_factory=dict)
    """Words that no grain has, each with the word that it was read as."""
    next_cursor: str | None = None
    """Where the next page of a query begins; `None` on the last one."""

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[Found]:
        return iter(self.found)

    @overload
    def __getitem__(self, index: int) -> Found: ...
    @overload
    def __getitem__(self, index: slice) -> list[Found]: ...
    def __getitem__(self, index: int | slice) -> Found | list[Found]:
        return self.found[index]

    def _repr_html_(self) -> str:
        rows = (
            (f"{one.score:.2f}", f"{moment(one.grain.created_at):%Y-%m-%d}", one.grain.summary)
            for one in self.found
        )
        return _table(("score", "day", f"{len(self.found)} of {self.total}"), rows)


@dataclass(frozen=True, slots=True)
class Line:
    """One memory of a recall.

    >>> import grainstore
    >>> store = grainstore.in_memory()
    >>> _ = store.remember("I moved to Porto", user="ana", role="user")
    >>> line = store.recall("Porto").lines[0]
    >>> line.text, line.is_turn, line.standing
    ('I moved to Porto', True, None)
    """

    address: str
    time: datetime
    speaker: str | None
    text: str
    """What it says, as it was stored."""
    sentence: str
    """What it says, as a sentence."""
    tags: list[str]
    standing: str | None
    """`contested`, `ended`, `superseded` or `contradicted`; `None` for what is current."""
    contradicts: list[str]
    score: float | None
    is_turn: bool
    """Whether it is a turn of a conversation."""


@dataclass(frozen=True, slots=True)
class Recollection:
    """The memories for a question, within a budget of tokens. `str()` gives Markdown for a prompt.

    >>> import grainstore
    >>> store = grainstore.in_memory()
    >>> _ = store.remember("I moved to Porto")
    >>> found = store.recall("Porto")
    >>> len(found), found.is_cut, "Porto" in str(found)
    (1, False, True)
    """

    lines: list[Line]
    tokens: int
    """The size of the Markdown, in tokens of about four characters."""
    is_cut: bool
    """Whether the budget had no room for everything that was found."""
    is_partial: bool
    """Whether the search ended at its deadline."""
    _native: _native.Recollection = field(repr=False, compare=False)

    def render(self, format: Literal["markdown", "json", "text", "sml"] = "markdown") -> str:
        """Returns it as text: for a prompt, as JSON with every detail, or a line for each grain.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> _ = store.remember("I moved to Porto")
        >>> "Porto" in store.recall("Porto").render("json")
        True
        """
        return self._native.render(format)

    def __str__(self) -> str:
        return self.render()

    def __len__(self) -> int:
        return len(self.lines)

    def __iter__(self) -> Iterator[Line]:
        return iter(self.lines)

    def __bool__(self) -> bool:
        return bool(self.lines)

    def _repr_html_(self) -> str:
        rows = (
            (f"{line.time:%Y-%m-%d}", line.speaker or "", line.sentence, line.standing or "")
            for line in self.lines
        )
        return _table(("day", "speaker", "memory", "standing"), rows)


@dataclass(frozen=True, slots=True)
class Version:
    """One grain of a lineage.

    >>> import grainstore
    >>> store = grainstore.in_memory()
    >>> tea = store.remember("tea", subject="ana", relation="likes")
    >>> versions = store.history(store.correct(tea, object="milk"))
    >>> [version.status.is_current for version in versions]
    [False, True]
    """

    grain: Grain
    status: Status
    stored_at: datetime
    stored_by: str | None
    """The author of the handle that stored it; `None` for the owner of the store."""


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of the ledger.

    >>> import grainstore
    >>> store = grainstore.in_memory()
    >>> note = store.remember("hello")
    >>> change = list(store.changes())[-1]
    >>> change.kind, change.address == note
    ('stored', True)
    """

    entry: int
    """Its number: `changes(first=change.entry + 1)` goes on behind it."""
    at: datetime
    kind: Literal["stored", "status", "erased", "erasing", "other"]
    grain: Grain | None = None
    """The grain that was stored."""
    address: str | None = None
    """The address of the grain that was stored, or whose status changed."""
    entries: list[int] = field(default_factory=list)
    """The entries that are erased from here on."""


@dataclass(frozen=True, slots=True)
class Imported:
    """The outcome of an import: its records counted by outcome.

    >>> import grainstore, pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "memory.jsonl")
    >>> _ = file.write_text('{"type":"event","content":"hi","created_at":1}')
    >>> outcome = grainstore.in_memory().import_file(file)
    >>> outcome.inserted, outcome.is_complete
    (1, True)
    """

    inserted: int
    """New grains."""
    updated: int
    """New grains that replace earlier versions of their records."""
    unchanged: int
    """Grains that were stored already, and records older than the stored version."""
    corrected: int
    held: int
    """Legal holds placed as in the owner's own copy."""
    embedded: int
    conflicts: int
    """Records that contradict an earlier import or a change made in this store."""
    unapplied: int
    denied: int
    """Records that would replace a protected grain."""
    refused: list[Refused]
    """Records that are not valid grains."""
    erased: int
    """Records of grains that were deleted here."""
    loss: dict[str, int]
    """What grains cannot carry, counted by the name of the field."""

    @property
    def is_complete(self) -> bool:
        """Whether every record is stored and none contradicts another."""
        left = self.conflicts + self.unapplied + self.denied + len(self.refused) + self.erased
        return left == 0


@dataclass(frozen=True, slots=True)
class Refused:
    """A record of a file that is not a valid grain.

    >>> import grainstore, pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "memory.jsonl")
    >>> _ = file.write_text('{"type":"event","content":"hi","created_at":1}\\n{"type":"belief"}')
    >>> [one.place for one in grainstore.in_memory().import_file(file).refused]
    ['line 2']
    """

    place: str
    """Where it stands: `line 3`, a byte, a JSON pointer."""
    message: str
    code: str


@dataclass(frozen=True, slots=True)
class Exported:
    """The outcome of an export.

    >>> import grainstore, tempfile
    >>> store = grainstore.in_memory()
    >>> _ = store.remember("hello")
    >>> done = store.export(tempfile.mkdtemp() + "/memory.jsonl", format="jsonl")
    >>> done.grains, done.loss
    (1, {})
    """

    grains: int
    files: int
    loss: dict[str, int]
    """What the format cannot carry, counted by the name of the field."""
    next: int
    """The entry of the ledger that the next increment begins with."""


@dataclass(frozen=True, slots=True)
class Named:
    """A grain that names a person.

    >>> import grainstore
    >>> store = grainstore.in_memory()
    >>> _ = store.remember("I like tea", user="ana")
    >>> store.person_report("ana").about[0].found_by
    ['user_id']
    """

    address: str
    found_by: list[str]
    """The fields by which it was found."""
    kept: str | None
    """The rule that keeps it from being erased now; `None` if none does."""


@dataclass(frozen=True, slots=True)
class PersonReport:
    """Everything that a store has about a person.

    >>> import grainstore
    >>> store = grainstore.in_memory()
    >>> _ = store.remember("I like tea", user="ana")
    >>> report = store.person_report("ana")
    >>> len(report.about), len(report.mentions)
    (1, 0)
    """

    about: list[Named]
    """The grains about the person, which `erase_person` erases."""
    mentions: list[Named]
    """Other grains that name the person."""
    written: int
    """The number of entries that were written in the person's name."""
    entries: int
    """The number of entries of the ledger that were searched: all of them."""
    locked_persons: int = 0
    """The number of other sealed persons who are locked: their grains may mention this one."""


@dataclass(frozen=True, slots=True)
class Erased:
    """The outcome of the erasure of a person.

    >>> import grainstore
    >>> store = grainstore.in_memory()
    >>> note = store.remember("I like tea", user="ana")
    >>> done = store.erase_person("ana", reason="request 17", authority="the DPO")
    >>> done.erased == [note], done.receipt
    (True, None)
    """

    erased: list[str]
    kept: list[str]
    """The grains that a rule keeps."""
    mentions: list[str]
    """The grains that mention the person and stay."""
    blanked: int
    """The number of entries that were blanked: grains, and entries about them."""
    receipt: ErasureReceipt | None = None
    """What a key of `erase_person` signed."""
    held: list[str] = field(default_factory=list)
    """Those of the kept grains that are under a hold key now."""
    locked_persons: int = 0
    """The number of other sealed persons who are locked: their grains may mention this one."""
    is_vault_damaged: bool = False
    """Whether it is unknown whether the person has a key: if so, their sealed grains are still there."""


@dataclass(frozen=True, slots=True)
class Hold:
    """A legal hold on a grain.

    >>> import grainstore
    >>> store = grainstore.in_memory()
    >>> note = store.remember("the contract was signed", user="ana")
    >>> store.place_hold(note, reason="Doe v. Acme", authority="counsel")
    >>> hold = store.holds()[0]
    >>> hold.address == note, hold.authority
    (True, 'counsel')
    """

    address: str
    since: datetime
    """When it was placed."""
    reason: str
    authority: str


@dataclass(frozen=True, slots=True)
class ErasureReceipt:
    """What the operator of a store signed about the erasure of a person. It names the person only to
    who knows an id of theirs, and no content.

    `grainstore user verify` reads the text of `to_json`, and needs no store.

    >>> import grainstore
    >>> store, key = grainstore.in_memory(), grainstore.SigningKey.generate()
    >>> _ = store.remember("I like tea", user="ana")
    >>> done = store.erase_person("ana", reason="request 17", authority="the DPO", key=key)
    >>> received = grainstore.ErasureReceipt.open(done.receipt.message)
    >>> received.names("ana"), received.names("ben"), received.erased, received.signer == key.did
    (True, False, 1, True)
    """

    message: bytes = field(repr=False)
    """The signed COSE_Sign1 message."""
    signer: str
    """The DID of the signer, whom the reader may trust or not."""
    time: datetime
    """When the erasure was complete, by the clock of the store."""
    entries: int
    """The number of entries of the ledger then."""
    erased: int
    """The number of grains that were erased."""
    blanked: int
    """The number of entries that were blanked: grains, and entries about them."""
    mentions: int
    """The number of grains that mention the person and stay."""
    kept: dict[str, str]
    """The grains that stay, each with the rule that keeps it."""
    is_proven: bool
    """Whether the entries of the erasure are proven to be in the ledger that was signed."""

    @classmethod
    def open(cls, message: bytes) -> ErasureReceipt:
        """Verifies the signature of a message and returns its content.

        >>> ErasureReceipt.open(b"no receipt")
        Traceback (most recent call last):
        grainstore.errors.Corrupt: ...

        Raises `Signature`; `Corrupt` for a message of another kind; `Unresolved` for a signer that is
        no `did:key`.
        """
        opened = _native.open_erasure_receipt(message)
        signer, time, entries, erased, blanked, mentions, kept, is_proven = opened
        at = moment(time)
        return cls(
            message, signer, at, entries, erased, blanked, mentions, dict(kept), is_proven
        )

    def names(self, id: str) -> bool:
        """Returns whether the person has an id."""
        return _native.erasure_receipt_names(self.message, id)

    def to_json(self) -> str:
        """Returns it as a JSON document, with the message in hexadecimal digits."""
        return _native.erasure_receipt_json(self.message)


@dataclass(frozen=True, slots=True)
class Receipt:
    """What the operator of a store signed about a grain: that it is there.

    >>> import grainstore
    >>> store, key = grainstore.in_memory(), grainstore.SigningKey.generate()
    >>> receipt = store.receipt(store.remember("hello"), key)
    >>> grainstore.Receipt.open(receipt.message) == receipt
    True
    """

    message: bytes = field(repr=False)
    """The signed COSE_Sign1 message."""
    signer: str
    """The DID of the signer, whom the reader may trust or not."""
    address: str
    entry: int
    """The number of the entry of the ledger."""
    time: datetime
    """When it was stored, by the clock of the store."""

    @classmethod
    def open(cls, message: bytes) -> Receipt:
        """Verifies the signature of a message and returns its content.

        Raises what `ErasureReceipt.open` raises.
        """
        signer, address, entry, time = _native.open_receipt(message)
        return cls(message, signer, address, entry, moment(time))


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint, compared with the ledger of a store.

    >>> import grainstore
    >>> store, key = grainstore.in_memory(), grainstore.SigningKey.generate()
    >>> checked = store.verify_checkpoint(store.checkpoint(key))
    >>> checked.signer == key.did, checked.is_of_this_ledger
    (True, True)
    """

    signer: str
    """The DID of the signer, whom the reader may trust or not."""
    time: datetime
    entries: int
    """The number of entries that were signed."""
    is_of_this_ledger: bool
    """Whether the ledger begins with these entries; if not, it was rolled back or rewritten."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The signer of a grain, and how far the rules of `trust` trust the signer with it now.

    >>> import grainstore
    >>> store, key = grainstore.in_memory(), grainstore.SigningKey.generate()
    >>> signature = store.signature(store.signed_by(key).remember("hello"))
    >>> signature.trust, signature.doubt
    ('untrusted', 'unknown_signer')
    """

    signer: str
    """The DID of the signer."""
    trust: Literal["verified", "untrusted"]
    doubt: str | None
    """`unknown_signer`, `other_author`, `other_namespace` or `other_type`; `None` for `verified`."""


@dataclass(frozen=True, slots=True)
class TrustRule:
    """The grains that a signer is trusted with.

    >>> import grainstore
    >>> store, key = grainstore.in_memory(), grainstore.SigningKey.generate()
    >>> store.trust(key.did, types=["belief"], reason="our own agent")
    >>> store.trusted()[0].types
    ['belief']
    """

    signer: str
    """The DID of the signer."""
    namespaces: list[str]
    """The namespaces, with those inside them; all if there is none."""
    types: list[str]
    """The types; all if there is none."""
    authors: list[str]
    """The other authors whose grains the signer may sign."""
    is_exclusive: bool
    """Whether only trusted signers may write in the namespaces."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a statement of CAL.

    >>> import grainstore
    >>> store = grainstore.in_memory()
    >>> _ = store.remember("tea", subject="ana", relation="likes")
    >>> answer = store.cal("RECALL WHERE subject = $who | COUNT", who="ana")
    >>> answer.is_found, answer.envelope["count"]
    (True, 1)
    """

    envelope: dict[str, Any]
    """The envelope of CAL 1.0, as docs/cal.md describes it."""
    text: str | None
    """The text of `AS`, or of an assembled context."""
    is_found: bool
    """Whether something was found."""

    def __str__(self) -> str:
        return self.text if self.text is not None else json.dumps(self.envelope, ensure_ascii=False)
