"""The conditions of a query, as keyword arguments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypedDict, Union

if TYPE_CHECKING:
    from ._native import Grain

Moment = Union[datetime, int, str]
"""A `datetime` with an offset, milliseconds since 1970, or a text of RFC 3339."""


class Conditions(TypedDict, total=False):
    """A grain must satisfy all that are given; `None` is no condition."""

    type: str | None
    """`belief`, `event`, `state`, `workflow`, `action`, `observation`, `goal`, `reasoning`, ..."""
    namespace: str | None
    """A namespace, with those inside it."""
    user: str | None
    session: str | None
    run: str | None
    subject: str | None
    relation: str | None
    object: str | None
    tag: str | Sequence[str] | None
    """Structural tags, all of them."""
    without_tag: str | Sequence[str] | None
    derived_from: str | Grain | None
    among: Iterable[str | Grain] | None
    since: Moment | None
    """The time of the event, or else of its making, at this time or later."""
    until: Moment | None
    valid_at: Moment | None
    known_at: Moment | None
    """Stored and current at this time, whatever its status is now."""
    confidence: tuple[float | None, float | None] | None
    """From and to, both included."""
    importance: tuple[float | None, float | None] | None
    source_type: str | None
    epistemic_status: str | None
    recall_priority: str | None
    observer_type: str | None
    observer: str | None
    author: str | None
    subject_did: str | None
    entity: str | None
    verification: str | None
    """`unverified`, `verified`, `contested` or `retracted`."""
    verified: bool | None
    """Signed by a signer that is trusted to write the grain."""
    superseded: Literal["exclude", "include", "only"] | None
    expired: bool | None
    """Those whose `valid_to` has passed as well."""
    unreviewed: bool | None
    """Those that a person must review first as well."""
