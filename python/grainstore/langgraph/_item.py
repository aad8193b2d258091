"""Items as grains: where the namespace, the key, the value and the expiry are kept."""

from __future__ import annotations

import hashlib
import json
import secrets
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

from grainstore import Grain
from grainstore.results import moment

Namespace = tuple[str, ...]

# The bytes and parts that a namespace of grains has at most are 512 and 64.
_PATH_MAX = 480
_PARTS_MAX = 60
# A payload is at most 32 deep, and the value of an item lies two levels inside it.
_DEPTH_MAX = 28


def path_of(root: str, namespace: Namespace) -> tuple[str, bool]:
    """Returns the namespace of the grains of an item, and whether it says all of the item's.

    >>> path_of("langgraph", ("users", "a:b"))
    ('langgraph:users:a%3Ab', True)
    """
    path = root
    for count, label in enumerate(namespace):
        longer = f"{path}:{quote(label, safe='', errors='surrogatepass')}"
        if len(longer) > _PATH_MAX or count == _PARTS_MAX:
            return path, False
        path = longer
    return path, True


def tag_of(root: str, namespace: Namespace) -> str:
    """Returns the tag of all items of exactly this namespace."""
    path, is_whole = path_of(root, namespace)
    if is_whole:
        return path
    return f"{root}#{hashlib.sha256(json.dumps(namespace).encode()).hexdigest()}"


def id_of(root: str, namespace: Namespace, key: str) -> str:
    """Returns the entity that the versions of an item are about."""
    name = json.dumps([root, *namespace, key])
    if len(name) <= _PATH_MAX:
        return name
    return f"{root}#{hashlib.sha256(name.encode()).hexdigest()}"


@dataclass(frozen=True, slots=True)
class Stored:
    """An item as it is stored."""

    address: str
    namespace: Namespace
    key: str
    value: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    ttl: float | None
    """Minutes."""
    expires_at: int | None
    """Milliseconds since 1970."""
    paths: list[str]
    """The parts of the value that have a vector."""


def to_grain(
    root: str,
    namespace: Namespace,
    key: str,
    value: dict[str, Any],
    *,
    now: int,
    created_at: int,
    ttl: float | None,
    paths: list[str],
) -> dict[str, Any]:
    """Returns the grain of an item."""
    # JSON in ASCII keeps what a grain does not: null in maps, text that is not NFC.
    as_json = not _is_kept(value, 0)
    # A member whose name begins with `x-` is not searched.
    context = {
        "value": None if as_json else value,
        "json": json.dumps(value) if as_json else None,
        "x-namespace": json.dumps(namespace),
        "x-key": json.dumps(key),
        "x-created_at": created_at,
        "x-ttl": ttl,
        "x-paths": paths or None,
        # Two versions of one millisecond are two grains, and one that was deleted may come again.
        "x-revision": secrets.token_hex(8),
    }
    return {
        "type": "state",
        "context": context,
        "namespace": path_of(root, namespace)[0],
        "structural_tags": [tag_of(root, namespace)],
        "entity_id": id_of(root, namespace, key),
        "created_at": now,
        "valid_to": None if ttl is None else now + round(ttl * 60_000),
    }


def from_grain(grain: Grain) -> Stored:
    """Returns the item of a grain."""
    context = grain["context"]
    return Stored(
        address=grain.address,
        namespace=tuple(json.loads(context["x-namespace"])),
        key=json.loads(context["x-key"]),
        value=json.loads(context["json"]) if "json" in context else context["value"],
        created_at=moment(context["x-created_at"]),
        updated_at=moment(grain.created_at),
        ttl=context.get("x-ttl"),
        expires_at=grain.get("valid_to"),
        paths=context.get("x-paths", []),
    )


def _is_kept(value: Any, depth: int) -> bool:
    """Returns whether a grain gives a value back as it is."""
    if depth > _DEPTH_MAX:
        return False
    if isinstance(value, str):
        return unicodedata.is_normalized("NFC", value) and "\ufeff" not in value
    if isinstance(value, dict):
        pairs = value.items()
        return all(it is not None and _is_kept(name, depth) for name, it in pairs) and all(
            _is_kept(it, depth + 1) for it in value.values()
        )
    if isinstance(value, list):
        return all(_is_kept(it, depth + 1) for it in value)
    if isinstance(value, bool) or value is None:
        return True
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    # NaN and the infinities are no values of a grain.
    return isinstance(value, float) and value - value == 0
