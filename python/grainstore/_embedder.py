"""Models of a program that make vectors of texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ._vector import Vector


class Embedder(Protocol):
    """What a store asks of a model. A method `embed_query` of a text is asked for questions, if there is
    one.

    >>> import grainstore
    >>> class Drinks:
    ...     model, dimensions = "drinks@1", 2
    ...     def embed(self, texts):
    ...         return [[1.0, 0.0] if "tea" in text or "thirsty" in text else [0.0, 1.0] for text in texts]
    >>> store = grainstore.in_memory(embedders=[Drinks()])
    >>> tea, train = store.remember("green tea is fine"), store.remember("the train was late")
    >>> store.flush()
    >>> store.search("thirsty", limit=1)[0].address == tea
    True
    """

    @property
    def model(self) -> str:
        """The name of the model with its version: it changes with the vectors."""
        ...

    @property
    def dimensions(self) -> int:
        """The number of numbers of each vector."""
        ...

    def embed(self, texts: list[str]) -> Sequence[Vector]:
        """Returns one vector for each text. An exception is no error of a put: it is tried again."""
        ...
