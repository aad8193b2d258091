"""The operations on signatures: whose they are, who is trusted, and signed statements about the store."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .results import Checkpoint, Receipt, Signature, TrustRule, moment

if TYPE_CHECKING:
    from . import _native
    from ._native import Grain, SigningKey


class Signing:
    """The part of `Store` about signatures."""

    __slots__ = ()

    _native: _native.Store

    def signature(self, address: str | Grain) -> Signature | None:
        """Returns the signer of a grain and how far the signer is trusted now; `None` for a grain that
        is not signed. The signature was verified when the grain was stored.

        >>> import grainstore
        >>> store, key = grainstore.in_memory(), grainstore.SigningKey.generate()
        >>> note = store.signed_by(key).remember("hello")
        >>> store.signature(note).doubt
        'unknown_signer'

        Raises `NotFound`.
        """
        found = self._native.signature(address)
        return None if found is None else Signature(*found)

    def delivery(self, address: str | Grain) -> bytes | None:
        """Returns a grain as it is sent: its bytes, or for a signed grain the COSE_Sign1 message with
        these inside (OMS 9.2). `None` for one that is not here.

        >>> import grainstore
        >>> here, there = grainstore.in_memory(), grainstore.in_memory()
        >>> note = here.signed_by(grainstore.SigningKey.generate()).remember("hello")
        >>> there.receive(here.delivery(note)) == note
        True

        Raises what `get` raises.
        """
        return self._native.delivery(address)

    def receive(self, delivery: bytes) -> str:
        """Stores a grain that was sent, with its signature, and returns its address.

        >>> import grainstore
        >>> here, there = grainstore.in_memory(), grainstore.in_memory()
        >>> note = there.receive(here.delivery(here.remember("hello")))
        >>> there.get(note)["content"]
        'hello'

        Raises `Signature` for a signature that does not verify, `Unresolved` for a `did:web` whose
        document the store was not opened with, `Untrusted` where only trusted signers may write,
        `HashMismatch` and others for bytes that are no grain; what `put` raises.
        """
        return self._native.receive(delivery)

    def trust(
        self,
        signer: str,
        *,
        reason: str,
        namespaces: Iterable[str] = (),
        types: Iterable[str] = (),
        authors: Iterable[str] = (),
        exclusive: bool = False,
    ) -> None:
        """Trusts a signer, by DID, with the grains of namespaces and types, all by default, also with
        those stored before. `authors` are other authors whose grains the signer may sign. With
        `exclusive` only trusted signers may write in the namespaces. The reason goes into the ledger.

        >>> import grainstore
        >>> store, key = grainstore.in_memory(), grainstore.SigningKey.generate()
        >>> note = store.signed_by(key).remember("hello")
        >>> store.trust(key.did, reason="our own agent")
        >>> store.signature(note).trust, store.count(verified=True)
        ('verified', 1)

        Raises `Did`; `Trust` for an exclusive rule without a namespace; `AccessDenied` for a handle
        that is not the owner's.
        """
        rule = (list(namespaces), list(types), list(authors), exclusive)
        self._native.trust(signer, *rule, reason)

    def distrust(self, signer: str, *, reason: str) -> bool:
        """Removes all rules of a signer, and returns whether there were any.

        >>> import grainstore
        >>> grainstore.in_memory().distrust("did:web:bot.example", reason="the key was lost")
        False

        Raises `Did`, and `AccessDenied` for a handle that is not the owner's.
        """
        return self._native.distrust(signer, reason)

    def trusted(self) -> list[TrustRule]:
        """Returns the rules of `trust`, oldest first.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> store.trust("did:web:bot.example", namespaces=["acme:hr"], reason="our own agent")
        >>> store.trusted()[0].namespaces
        ['acme:hr']

        Raises `AccessDenied` for a handle that is not the owner's.
        """
        return [TrustRule(*rule) for rule in self._native.trusted()]

    def receipt(self, address: str | Grain, key: SigningKey) -> Receipt:
        """Signs that a grain is in the store, at which entry of the ledger and since when.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> note = store.remember("hello")
        >>> store.receipt(note, grainstore.SigningKey.generate()).address == note
        True

        Raises `NotFound`, and `AccessDenied` for a handle that is not the owner's.
        """
        return Receipt.open(self._native.receipt(address, key))

    def checkpoint(self, key: SigningKey) -> bytes:
        """Signs the head of the ledger, notes that in the ledger, and returns the message, to be kept
        elsewhere: it tells whether the store was rolled back or rewritten. All of the ledger is read
        and verified.

        >>> import grainstore
        >>> store, key = grainstore.in_memory(), grainstore.SigningKey.generate()
        >>> message = store.checkpoint(key)
        >>> store.verify_checkpoint(message).is_of_this_ledger
        True

        Raises `StorageDamaged`, and `AccessDenied` for a handle that is not the owner's.
        """
        return self._native.checkpoint(key)

    def verify_checkpoint(self, message: bytes) -> Checkpoint:
        """Verifies the signature of a checkpoint, and whether the ledger begins with its entries.

        >>> import grainstore
        >>> message = grainstore.in_memory().checkpoint(grainstore.SigningKey.generate())
        >>> grainstore.in_memory().verify_checkpoint(message).is_of_this_ledger
        False

        Raises `Signature`, `Corrupt`, `Unresolved`, and `AccessDenied` for a handle that is not the
        owner's.
        """
        signer, time, entries, is_of_this_ledger = self._native.verify_checkpoint(message)
        return Checkpoint(signer, moment(time), entries, is_of_this_ledger)
