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
from typing import TYPE_CHECKING, Any, Literal

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
    """What the store says about a grain besides its bytes."""

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
    """One result of a search or a query."""

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
    """The best results of a search, or a page of a query. It is read like a list."""

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

    def __getitem__(self, index: int) -> Found:
        return self.found[index]

    def _repr_html_(self) -> str:
        rows = (
            (f"{one.score:.2f}", f"{moment(one.grain.created_at):%Y-%m-%d}", one.grain.summary)
            for one in self.found
        )
        return _table(("score", "day", f"{len(self.found)} of {self.total}"), rows)


@dataclass(frozen=True, slots=True)
class Line:
    """One memory of a recall."""

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
    """The memories for a question, within a budget of tokens. `str()` gives Markdown for a prompt."""

    lines: list[Line]
    tokens: int
    """The size of the Markdown, in tokens of about four characters."""
    is_cut: bool
    """Whether the budget had no room for everything that was found."""
    is_partial: bool
    """Whether the search ended at its deadline."""
    _native: _native.Recollection = field(repr=False, compare=False)

    def render(self, format: Literal["markdown", "json", "text", "sml"] = "markdown") -> str:
        """Returns it as text: for a prompt, as JSON with every detail, or a line for each grain."""
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
    """One grain of a lineage."""

    grain: Grain
    status: Status
    stored_at: datetime
    stored_by: str | None
    """The author of the handle that stored it; `None` for the owner of the store."""


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of the ledger."""

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
    """The outcome of an import: its records counted by outcome."""

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
    """A record of a file that is not a valid grain."""

    place: str
    """Where it stands: `line 3`, a byte, a JSON pointer."""
    message: str
    code: str


@dataclass(frozen=True, slots=True)
class Exported:
    """The outcome of an export."""

    grains: int
    files: int
    loss: dict[str, int]
    """What the format cannot carry, counted by the name of the field."""
    next: int
    """The entry of the ledger that the next increment begins with."""


@dataclass(frozen=True, slots=True)
class Named:
    """A grain that names a person."""

    address: str
    found_by: list[str]
    """The fields by which it was found."""
    kept: str | None
    """The rule that keeps it from being erased now; `None` if none does."""


@dataclass(frozen=True, slots=True)
class PersonReport:
    """Everything that a store has about a person."""

    about: list[Named]
    """The grains about the person, which `erase_person` erases."""
    mentions: list[Named]
    """Other grains that name the person."""
    written: int
    """The number of entries that were written in the person's name."""
    entries: int
    """The number of entries of the ledger that were searched: all of them."""


@dataclass(frozen=True, slots=True)
class Erased:
    """The outcome of the erasure of a person."""

    erased: list[str]
    kept: list[str]
    """The grains that a rule keeps."""
    mentions: list[str]
    """The grains that mention the person and stay."""
    blanked: int
    """The number of entries that were blanked: grains, and entries about them."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a statement of CAL."""

    envelope: dict[str, Any]
    """The envelope of CAL 1.0, as docs/cal.md describes it."""
    text: str | None
    """The text of `AS`, or of an assembled context."""
    is_found: bool
    """Whether something was found."""

    def __str__(self) -> str:
        return self.text if self.text is not None else json.dumps(self.envelope, ensure_ascii=False)
