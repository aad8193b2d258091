"""Vectors, as numpy arrays or other sequences of numbers, and as the bytes that the store takes."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Union

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

Vector = Union[Sequence[float], "NDArray[Any]"]
"""The numbers of a vector: a list, a numpy array of any kind of floats."""

Floats = Union["NDArray[numpy.float32]", "array[float]"]


def to_bytes(vector: Vector) -> bytes:
    """Returns the bytes of little-endian floats of 32 bits.

    >>> to_bytes([1.0]).hex()
    '0000803f'
    """
    astype = getattr(vector, "astype", None)
    if astype is not None:
        return bytes(astype("<f4").tobytes())
    floats = array("f", vector)
    if sys.byteorder == "big":
        floats.byteswap()
    return floats.tobytes()


def from_bytes(data: bytes) -> Floats:
    """Returns the vector of such bytes.

    >>> list(map(float, from_bytes(to_bytes([0.5, 2.0]))))
    [0.5, 2.0]
    """
    try:
        import numpy
    except ImportError:
        floats = array("f", data)
        if sys.byteorder == "big":
            floats.byteswap()
        return floats
    return numpy.frombuffer(data, dtype="<f4")
