"""Values of Python in grains, and back."""

from __future__ import annotations

import collections
import enum
from datetime import datetime, timedelta, timezone
from types import MappingProxyType
from typing import Any

import pytest

import grainstore
from grainstore import Store, errors


def kept(store: Store, value: Any) -> Any:
    """Returns what a field of an event is read as."""
    address = store.put({"type": "event", "content": "x", "x_value": value})
    grain = store.get(address)
    assert grain is not None
    return grain["x_value"]


@pytest.mark.parametrize(
    "value",
    [
        True,
        False,
        0,
        -1,
        2**63 - 1,
        -(2**63),
        2**64 - 1,
        1.5,
        -0.25,
        "",
        "é",
        "𝄞 emoji 🎈",
        [],
        [1, None, "a", [2.5]],
        {},
        {"a": {"b": [True]}},
    ],
    ids=repr,
)
def test_a_value_comes_back_as_it_was(store: Store, value: Any) -> None:
    back = kept(store, value)
    assert back == value
    assert type(back) is type(value)


def test_a_tuple_comes_back_as_a_list(store: Store) -> None:
    assert kept(store, (1, (2,))) == [1, [2]]


def test_a_mapping_that_is_no_dict_is_a_map(store: Store) -> None:
    assert kept(store, MappingProxyType({"a": 1})) == {"a": 1}
    assert kept(store, collections.OrderedDict(b=1, a=2)) == {"a": 2, "b": 1}


def test_members_of_an_enum_of_text_are_text(store: Store) -> None:
    class Colour(str, enum.Enum):
        RED = "red"

    assert kept(store, Colour.RED) == "red"
    assert kept(store, enum.IntEnum("Number", "ONE TWO")["TWO"]) == 2


def test_a_none_in_a_map_is_left_out_and_kept_in_a_list(store: Store) -> None:
    assert kept(store, {"a": None, "b": [None]}) == {"b": [None]}


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1])
def test_an_integer_that_no_grain_holds_is_refused(store: Store, value: int) -> None:
    with pytest.raises(OverflowError):
        kept(store, value)


@pytest.mark.parametrize("value", [{1, 2}, object(), lambda: 0, 1j], ids=repr)
def test_a_value_of_another_kind_is_a_type_error(store: Store, value: Any) -> None:
    with pytest.raises(TypeError, match="a grain holds no value of type"):
        kept(store, value)


def test_the_name_of_a_field_is_text(store: Store) -> None:
    with pytest.raises(TypeError, match="name of a field"):
        kept(store, {1: "a"})


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_float_that_is_no_number_is_refused(store: Store, value: float) -> None:
    with pytest.raises(errors.FloatInvalid):
        kept(store, value)


def test_text_that_is_no_unicode_is_refused(store: Store) -> None:
    with pytest.raises(UnicodeEncodeError):
        kept(store, "\ud800")


def test_a_list_that_holds_itself_is_refused(store: Store) -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(grainstore.GrainstoreError):
        kept(store, endless)


@pytest.mark.parametrize(
    "moment",
    [
        datetime(2026, 1, 15, 10, 0, 0, 999_999, tzinfo=timezone.utc),
        datetime(2026, 1, 15, 12, 0, 0, 999_000, tzinfo=timezone(timedelta(hours=2))),
        1_768_471_200_999,
        "2026-01-15T10:00:00.999Z",
    ],
    ids=repr,
)
def test_a_time_is_the_millisecond_that_it_is_in(store: Store, moment: Any) -> None:
    grain = store.get(store.remember("x", at=moment))
    assert grain is not None and grain.created_at == 1_768_471_200_999


def test_a_time_before_1970_is_floored(store: Store) -> None:
    moment = datetime(1969, 12, 31, 23, 59, 59, 999_500, tzinfo=timezone.utc)
    assert kept(store, moment) == -1


def test_a_datetime_without_an_offset_is_refused(store: Store) -> None:
    with pytest.raises(ValueError, match="names no instant"):
        store.remember("x", at=datetime(2026, 1, 15))
