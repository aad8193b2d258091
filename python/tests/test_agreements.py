"""Agreements to what a policy protects: `quorum`, `delegated`, and `locked` where the store allows it."""

from __future__ import annotations

import asyncio
import base64
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import grainstore
from grainstore import AsyncStore, SigningKey, Store, errors, grains

OLD_ID = "0" * 64


@pytest.fixture
def keys() -> list[SigningKey]:
    return [SigningKey.generate(), SigningKey.generate("P-256"), SigningKey.generate()]


def protected(store: Store, mode: str, keys: list[SigningKey], **more: Any) -> str:
    policy = {"mode": mode, "threshold": 2, "authorized": [key.did for key in keys]}
    return store.put(grains.belief("rent", "is", "900", invalidation_policy=policy, **more))


def successor(rent: str = "950", **more: Any) -> grains.Fields:
    return grains.belief("rent", "is", rent, created_at=1_768_471_200_000, **more)


def test_a_quorum_takes_as_many_signers_as_it_says(store: Store, keys: list[SigningKey]) -> None:
    ada, ben, mallory = keys
    old, other = protected(store, "quorum", [ada, ben]), protected(store, "quorum", [ben, ada])
    new, here = successor(), store.store_id()

    def agreed(*keys: SigningKey, **other: Any) -> list[bytes]:
        terms = {"old": old, "store_id": here, "fields": new, **other}
        return [key.cosign(**terms) for key in keys]

    denied: list[list[bytes]] = [
        [],
        agreed(ada),
        agreed(ada, ada),
        agreed(ada, mallory),
        agreed(ada, ben, fields=successor("1")),
        agreed(ada, ben, old=other),
        agreed(ada, ben, store_id="09" * 16),
        [b"no signature"],
    ]
    for auth in denied:
        with pytest.raises(errors.InvalidationDenied, match="quorum"):
            store.supersede(old, new, reason="asked", auth=auth)
    head = store.supersede(old, new, auth=agreed(ada, ben))
    assert store.status(old).superseded_by == head
    grain = store.get(head)
    assert grain is not None and len(grain["supersession_auth"]) == 2


def test_the_second_signer_may_sign_what_carries_the_first_ones_agreement(
    store: Store, keys: list[SigningKey]
) -> None:
    ada, ben, _ = keys
    old, here = protected(store, "quorum", [ada, ben]), store.store_id()
    new = successor(derived_from=[old])
    for key in (ada, ben):
        signed = key.cosign(new, old=old, store_id=here)
        new["supersession_auth"] = [*new.get("supersession_auth", []), signed]
    assert store.status(store.supersede(old, new)).is_current


def test_one_agreement_opens_a_delegated_grain(store: Store, keys: list[SigningKey]) -> None:
    ada, _, mallory = keys
    old, new, here = protected(store, "delegated", [ada]), successor(), store.store_id()
    with pytest.raises(errors.InvalidationDenied, match="delegated"):
        store.supersede(old, new, auth=mallory.cosign(new, old=old, store_id=here))
    grain = store.get(old)
    assert grain is not None
    new_grain = store.supersede(grain, new, auth=ada.cosign(new, old=grain, store_id=here))
    assert store.status(new_grain).is_current


def test_a_handle_that_signs_agrees_by_that(store: Store, keys: list[SigningKey]) -> None:
    ada, _, mallory = keys
    old = protected(store, "delegated", [ada])
    with pytest.raises(errors.InvalidationDenied):
        store.signed_by(mallory).supersede(old, successor())
    assert store.signed_by(ada).supersede(old, successor())


def test_contradictions_and_judgements_take_agreements_too(
    store: Store, keys: list[SigningKey]
) -> None:
    ada, ben, mallory = keys
    here = {"store_id": store.store_id()}
    rent = protected(store, "quorum", [ada, ben])
    for auth in ([], [it.agree(rent, "retracted", **here) for it in (ada, ben)]):
        with pytest.raises(errors.InvalidationDenied):
            store.contradict(rent, auth=auth)
    with pytest.raises(errors.InvalidationDenied):
        store.verify(rent, "retracted", auth=(it.agree(rent, "retracted", **here) for it in (ada, mallory)))
    store.contradict(rent, auth=[it.agree(rent, "contradict", **here) for it in (ada, ben)])
    store.verify(rent, "retracted", auth=(it.agree(rent, "retracted", **here) for it in (ada, ben)))
    status = store.status(rent)
    assert status.is_contradicted and status.verification == "retracted"


def test_a_locked_grain_is_amended_only_where_the_store_allows_it(keys: list[SigningKey]) -> None:
    for amend_locked in (False, True):
        with grainstore.in_memory(amend_locked=amend_locked) as store:
            old, new = protected(store, "locked", [keys[0]]), successor()
            auth = keys[0].cosign(new, old=old, store_id=store.store_id())
            if amend_locked:
                assert store.supersede(old, new, auth=auth)
                continue
            with pytest.raises(errors.InvalidationDenied, match="locked"):
                store.supersede(old, new, auth=auth)


def test_an_agreement_needs_all_of_the_grain_and_a_true_id(keys: list[SigningKey]) -> None:
    key, here = keys[0], "07" * 16
    with pytest.raises(errors.Schema, match="created_at"):
        key.cosign(grains.belief("rent", "is", "950"), old=OLD_ID, store_id=here)
    with pytest.raises(errors.HashLength):
        key.cosign(successor(), old="abc", store_id=here)
    for wrong in ("", "07", "zz" * 16, "+7" * 16):
        with pytest.raises(ValueError, match="32 hexadecimal digits"):
            key.cosign(successor(), old=OLD_ID, store_id=wrong)
    with pytest.raises(ValueError, match="agreement"):
        key.agree(OLD_ID, "perhaps", store_id=here)  # type: ignore[arg-type]
    with pytest.raises(errors.Key):
        key.cosign(successor(), old=OLD_ID, store_id=here, did=keys[2].did)
    with pytest.raises(errors.Did):
        key.agree(OLD_ID, "contradict", store_id=here, did="ana")


def test_the_command_takes_an_agreement_of_python_and_python_one_of_it(
    folder: Path, keys: list[SigningKey], tmp_path: Path
) -> None:
    ada, ben = SigningKey.generate(), keys[1]
    (tmp_path / "ada.pem").write_text(ada.to_pem())
    (tmp_path / "ada.pem").chmod(0o600)
    with grainstore.open(folder) as store:
        old, here = protected(store, "quorum", [ada, ben]), store.store_id()
        new = successor(derived_from=[old])
        (tmp_path / "new.json").write_text(json.dumps(new))
        command = [sys.executable, "-m", "grainstore", "grain", "cosign", "--old", old]
        command += ["--store-id", here, "--key", "ada.pem", "new.json"]
        told = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)
        of_ada = json.loads(told.stdout)
        assert of_ada["signer"] == ada.did
        from_command = base64.b64decode(of_ada["supersession_auth"])
        agreed = [from_command, ben.cosign(new, old=old, store_id=here)]
        assert store.supersede(old, new, auth=agreed)


def test_the_async_twin_supersedes_by_agreement(store: Store, keys: list[SigningKey]) -> None:
    async def main() -> None:
        twin = AsyncStore(store)
        old, new = protected(store, "delegated", keys[:1]), successor()
        auth = keys[0].cosign(new, old=old, store_id=await twin.store_id())
        assert await twin.supersede(old, new, auth=auth)

    asyncio.run(main())
