"""Filters on the value of an item."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda value, given: bool(value == given),
    "$ne": lambda value, given: bool(value != given),
    "$gt": lambda value, given: float(value) > float(given),
    "$gte": lambda value, given: float(value) >= float(given),
    "$lt": lambda value, given: float(value) < float(given),
    "$lte": lambda value, given: float(value) <= float(given),
}


def passes(value: Mapping[str, Any], conditions: Mapping[str, Any] | None) -> bool:
    """Returns whether the value of an item satisfies all conditions.

    A condition is a value of a field, operators on it, conditions on what is inside it, or `$and` and
    `$or` with a list of conditions.

    >>> passes({"n": 3, "of": {"kind": "tea"}}, {"n": {"$gt": 2}, "of": {"kind": "tea"}})
    True
    >>> passes({"n": 3}, {"$or": [{"n": 1}, {"$and": [{"n": {"$gte": 3}}, {"n": {"$lt": 4}}]}]})
    True
    """
    return all(_holds(value, name, given) for name, given in (conditions or {}).items())


def _holds(value: Mapping[str, Any], name: str, given: Any) -> bool:
    if name == "$and":
        return all(passes(value, conditions) for conditions in given)
    if name == "$or":
        return any(passes(value, conditions) for conditions in given)
    return _matches(value.get(name), given)


def _matches(value: Any, given: Any) -> bool:
    if isinstance(given, Mapping):
        if any(name.startswith("$") for name in given):
            return all(_compares(value, name, other) for name, other in given.items())
        return isinstance(value, Mapping) and passes(value, given)
    if isinstance(given, (list, tuple)):
        is_list = isinstance(value, (list, tuple)) and len(value) == len(given)
        return is_list and all(_matches(*pair) for pair in zip(value, given, strict=True))
    return bool(value == given)


def _compares(value: Any, name: str, given: Any) -> bool:
    comparison = _COMPARISONS.get(name)
    if comparison is None:
        raise ValueError(f"Unsupported operator: {name}")
    return comparison(value, given)
