"""The operations on persons: their keys, what is known of them, their erasure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .results import Erased, ErasureReceipt, Named, PersonReport

if TYPE_CHECKING:
    from . import _native
    from ._native import SigningKey


class Persons:
    """The part of `Store` about persons."""

    __slots__ = ()

    _native: _native.Store

    def add_keys(self, *users: str) -> None:
        """Gives persons a key each, under the master key with which the store was opened. What is stored
        about them from then on is sealed; `seal` seals what is there.

        >>> import grainstore
        >>> store = grainstore.in_memory(master_key=bytes(32))
        >>> store.add_keys("ana")
        >>> store.unlock("ana")
        >>> address = store.of_user("ana").remember("I like tea")
        >>> store.lock("ana")
        >>> store.is_unlocked("ana")
        False

        Raises `UserExists`, `Key` without a master key, `MasterKey` with another one.
        """
        self._native.add_keys(list(users))

    def users(self) -> list[str]:
        """Returns the ids of the persons who have a key. Grains that are held of an erased person have a hold
        key, `hold:` and a pseudonym.

        >>> import grainstore
        >>> store = grainstore.in_memory(master_key=bytes(32))
        >>> store.add_keys("ben", "ana")
        >>> store.users()
        ['ana', 'ben']

        Raises `Key` without a master key, `MasterKey` with another one.
        """
        return self._native.users()

    def seal(self, user: str) -> int:
        """Seals what is stored about a person who has a key, and returns how many grains that were.

        >>> import grainstore
        >>> store = grainstore.in_memory(master_key=bytes(32))
        >>> _ = store.remember("I like tea", user="ana")
        >>> store.add_keys("ana")
        >>> store.seal("ana")
        1

        Raises `UserUnknown`.
        """
        return self._native.seal(user)

    def unlock(self, user: str) -> None:
        """Takes the key of a person into memory.

        >>> import grainstore
        >>> store = grainstore.in_memory(master_key=bytes(32))
        >>> store.add_keys("ana")
        >>> store.unlock("ana")
        >>> store.is_unlocked("ana")
        True

        Raises `UserUnknown`, and `Key` and `MasterKey` as `add_keys`.
        """
        self._native.unlock(user)

    def lock(self, user: str) -> None:
        """Wipes the key of a person from memory: what is sealed is not found, and nothing is stored about
        them (`Locked`), until they are unlocked.

        >>> import grainstore
        >>> store = grainstore.in_memory(master_key=bytes(32))
        >>> store.add_keys("ana")
        >>> store.unlock("ana")
        >>> note = store.remember("I like tea", user="ana")
        >>> store.lock("ana")
        >>> store.get(note) is None
        True
        """
        self._native.lock(user)

    def is_unlocked(self, user: str) -> bool:
        """Returns whether the key of a person is in memory.

        >>> import grainstore
        >>> grainstore.in_memory(master_key=bytes(32)).is_unlocked("ana")
        False
        """
        return self._native.is_unlocked(user)

    def person_report(self, *ids: str) -> PersonReport:
        """Returns everything that the store has about a person, by all ids of theirs.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> note = store.remember("I like tea", user="ana")
        >>> [it.address == note for it in store.person_report("ana").about]
        [True]

        Raises `ScopeIncomplete` for a sealed person who is locked, `AccessDenied` for a handle that is
        not the owner's.
        """
        about, mentions, *counts = self._native.person_report(list(ids))
        return PersonReport([Named(*it) for it in about], [Named(*it) for it in mentions], *counts)

    def erase_person(
        self,
        *ids: str,
        reason: str,
        authority: str,
        mentions: bool = False,
        except_kept: bool = False,
        reseal_held: bool = False,
        key: SigningKey | None = None,
    ) -> Erased:
        """Erases everything about a person from every file of the store. `mentions` erases grains that
        only mention them too; with `except_kept` those that a rule keeps stay and the others go. With
        `reseal_held` those that are kept of a sealed person stay under a hold key, which answers to no
        id of theirs, and everything else goes with the key: `unlock` takes the name of it in `users`.

        `key` signs a receipt, which is for the person and the operator: the store keeps no copy.

        >>> import grainstore
        >>> store = grainstore.in_memory()
        >>> note = store.remember("I like tea", user="ana")
        >>> key = grainstore.SigningKey.generate()
        >>> done = store.erase_person("ana", reason="request 17", authority="the DPO", key=key)
        >>> done.erased == [note], store.get(note)
        (True, None)
        >>> done.receipt.names("ana"), done.receipt.is_proven, store.agrees_with(done.receipt)
        (True, True, True)

        Raises `InvalidationDenied` if a rule keeps a grain, and nothing is erased; as `person_report`.
        """
        scope = (mentions, except_kept, reseal_held)
        done = self._native.erase_person(list(ids), *scope, reason, authority, key)
        erased, kept, held, mentioning, blanked, message, locked, is_damaged = done
        receipt = None if message is None else ErasureReceipt.open(message)
        return Erased(erased, kept, mentioning, blanked, receipt, held, locked, is_damaged)

    def agrees_with(self, receipt: ErasureReceipt | bytes) -> bool:
        """Returns whether a receipt is of this store, is proven, and the ledger begins with the entries
        that it states. All of the ledger is read and verified.

        >>> import grainstore
        >>> store, key = grainstore.in_memory(), grainstore.SigningKey.generate()
        >>> _ = store.remember("I like tea", user="ana")
        >>> done = store.erase_person("ana", reason="request 17", authority="the DPO", key=key)
        >>> grainstore.in_memory().agrees_with(done.receipt)
        False

        Raises `Signature` and `Corrupt` for a message that is no receipt; `AccessDenied` for a handle
        that is not the owner's.
        """
        message = receipt if isinstance(receipt, bytes) else receipt.message
        return self._native.agrees_with(message)
