"""Signatures, trusted signers, receipts and checkpoints."""

from __future__ import annotations

import asyncio
import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import grainstore
from grainstore import AsyncStore, ErasureReceipt, SigningKey, Store, errors

ASKED = {"reason": "request 17", "authority": "the DPO"}


@pytest.fixture
def key() -> SigningKey:
    return SigningKey.generate()


# Keys.


@pytest.mark.parametrize("algorithm", ["Ed25519", "P-256"])
def test_a_key_comes_back_from_its_file(algorithm: str) -> None:
    key = SigningKey.generate(algorithm)
    assert SigningKey.from_pem(key.to_pem()).did == key.did
    assert repr(key) == f"SigningKey({key.did})"


def test_a_key_is_in_no_pickle_and_a_wrong_file_is_refused(key: SigningKey) -> None:
    with pytest.raises(TypeError):
        pickle.dumps(key)
    with pytest.raises(errors.Key):
        SigningKey.from_pem("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
    with pytest.raises(ValueError, match="RSA"):
        SigningKey.generate("RSA")
    with pytest.raises(TypeError):
        SigningKey()  # type: ignore[call-arg]


# Signed grains.


def test_a_handle_signs_whatever_it_stores(store: Store, key: SigningKey) -> None:
    signing = store.signed_by(key)
    note = signing.remember("hello")
    batch = signing.put_batch({"type": "event", "content": f"turn {n}"} for n in range(200))
    tea = signing.put(grainstore.grains.belief("ana", "likes", "tea"))
    milk = signing.correct(tea, object="milk")
    water = signing.supersede(milk, grainstore.grains.belief("ana", "likes", "water"))
    for address in [note, *batch, tea, milk, water]:
        signature = store.signature(address)
        assert signature is not None and signature.signer == key.did
    assert store.signature(store.remember("unsigned")) is None
    grain = store.get(note)
    assert grain is not None and grain.is_signed
    with pytest.raises(errors.NotFound):
        store.signature("0" * 64)


def test_a_refused_grain_of_a_signed_batch_has_its_place(store: Store, key: SigningKey) -> None:
    with pytest.raises(errors.Schema) as raised:
        store.signed_by(key).put_batch([{"type": "event", "content": "x"}, {"type": "belief"}])
    assert raised.value.place == "grain 1" and store.count() == 0


def test_a_narrowed_handle_signs_and_one_that_signs_is_narrowed(
    store: Store, key: SigningKey
) -> None:
    for handle in (
        store.as_actor(key.did).of_user("ana").in_namespace("work").signed_by(key),
        store.signed_by(key).as_actor(key.did).of_user("ana").in_namespace("work"),
    ):
        grain = handle.get(handle.remember("hello"))
        assert grain is not None and grain.is_signed
        assert (grain["author_did"], grain["user_id"], grain["namespace"]) == (key.did, "ana", "work")


def test_a_signer_of_another_author_is_refused_without_a_rule(
    store: Store, key: SigningKey
) -> None:
    bot = "did:web:bot.example"
    with pytest.raises(errors.Untrusted):
        store.as_actor(bot).signed_by(key).remember("hello")
    store.trust(key.did, authors=[bot], reason="its operator")
    note = store.as_actor(bot).signed_by(key).remember("hello")
    signature = store.signature(note)
    assert signature is not None and (signature.trust, signature.doubt) == ("verified", None)


def test_trust_is_that_of_the_rules_now(store: Store, key: SigningKey) -> None:
    note = store.signed_by(key).remember("hello", namespace="acme:hr")

    def doubt() -> str | None:
        signature = store.signature(note)
        assert signature is not None
        return signature.doubt

    assert doubt() == "unknown_signer" and store.count(verified=True) == 0
    store.trust(key.did, namespaces=["other"], reason="there")
    assert doubt() == "other_namespace"
    store.trust(key.did, namespaces=["acme"], types=["belief"], reason="beliefs")
    assert doubt() == "other_type"
    store.trust(key.did, reason="all")
    assert doubt() is None and store.search("hello")[0].trust == "verified"
    assert [rule.types for rule in store.trusted()] == [[], ["belief"], []]
    assert store.distrust(key.did, reason="lost") and not store.distrust(key.did, reason="again")
    assert doubt() == "unknown_signer" and store.trusted() == []


def test_an_exclusive_rule_closes_its_namespaces(store: Store, key: SigningKey) -> None:
    with pytest.raises(errors.Trust):
        store.trust(key.did, exclusive=True, reason="everything")
    store.trust(key.did, namespaces=["acme"], exclusive=True, reason="signed only")
    with pytest.raises(errors.Untrusted):
        store.remember("hello", namespace="acme")
    assert store.signed_by(key).remember("hello", namespace="acme")
    assert store.remember("hello", namespace="other")


def test_only_the_owner_trusts(store: Store, key: SigningKey) -> None:
    with pytest.raises(errors.AccessDenied):
        store.of_user("ana").trust(key.did, reason="x")
    with pytest.raises(errors.AccessDenied):
        store.of_user("ana").trusted()
    with pytest.raises(errors.Did):
        store.trust("ana", reason="x")


# Transfer form.


def test_a_grain_is_received_with_its_signature(store: Store, key: SigningKey) -> None:
    note = store.signed_by(key).remember("hello")
    plain = store.remember("unsigned")
    with grainstore.in_memory() as there:
        for address in (note, plain):
            sent = store.delivery(address)
            assert sent is not None and there.receive(sent) == address
        signature = there.signature(note)
        assert signature is not None and signature.signer == key.did
    assert store.delivery("0" * 64) is None


def test_a_forged_delivery_is_refused(store: Store, key: SigningKey) -> None:
    sent = store.delivery(store.signed_by(key).remember("hello"))
    assert sent is not None
    forged = sent.replace(b"hello", b"jello")
    with grainstore.in_memory() as there:
        with pytest.raises(errors.Signature):
            there.receive(forged)
        with pytest.raises(grainstore.GrainstoreError):
            there.receive(b"no grain")
        assert there.count() == 0


def test_the_keys_of_a_web_did_come_from_its_document(key: SigningKey) -> None:
    document = {
        "id": "did:web:acme.example",
        "verificationMethod": [
            {
                "id": "did:web:acme.example#1",
                "type": "Multikey",
                "controller": "did:web:acme.example",
                "publicKeyMultibase": key.did.removeprefix("did:key:"),
            }
        ],
    }
    acme = "did:web:acme.example"
    with grainstore.in_memory(did_documents=[json.dumps(document)]) as store:
        note = store.signed_by(key, did=acme).remember("hello")
        signature, sent = store.signature(note), store.delivery(note)
        assert signature is not None and signature.signer == acme and sent is not None
        with pytest.raises(errors.Signature):
            store.signed_by(SigningKey.generate(), did=acme).remember("forged")
    with grainstore.in_memory() as without, pytest.raises(errors.Unresolved):
        without.receive(sent)
    with pytest.raises(errors.Key):
        grainstore.in_memory().signed_by(key, did=SigningKey.generate().did).remember("hello")
    with pytest.raises(errors.Did):
        grainstore.in_memory(did_documents=["{}"])


# Receipts.


def test_an_erasure_has_a_receipt_that_names_its_person_to_who_knows_them(
    store: Store, key: SigningKey
) -> None:
    store.remember("I like tea", user="ana")
    held = store.remember("tea", subject="ana", relation="likes", user="ben")
    done = store.erase_person("ana", key=key, **ASKED)
    receipt = done.receipt
    assert receipt is not None
    assert (receipt.signer, receipt.erased, receipt.mentions) == (key.did, 1, 1)
    assert receipt.names("ana") and not receipt.names("ben")
    assert receipt.is_proven and receipt.kept == {}
    assert ErasureReceipt.open(receipt.message) == receipt
    assert b"ana" not in receipt.message and held not in receipt.to_json()
    assert store.agrees_with(receipt) and store.agrees_with(receipt.message)
    with grainstore.in_memory() as other:
        assert not other.agrees_with(receipt)
    with pytest.raises(errors.AccessDenied):
        store.of_user("ben").agrees_with(receipt)


def test_an_erasure_without_a_key_has_no_receipt(store: Store) -> None:
    store.remember("I like tea", user="ana")
    assert store.erase_person("ana", **ASKED).receipt is None


def test_a_forged_receipt_is_refused(store: Store, key: SigningKey) -> None:
    store.remember("I like tea", user="ana")
    receipt = store.erase_person("ana", key=key, **ASKED).receipt
    assert receipt is not None
    forged = bytearray(receipt.message)
    forged[-1] ^= 1
    with pytest.raises(errors.Signature):
        ErasureReceipt.open(bytes(forged))
    with pytest.raises(errors.Corrupt):
        ErasureReceipt.open(store.receipt(store.remember("hello"), key).message)
    for never in (b"", b"no receipt"):
        with pytest.raises(grainstore.GrainstoreError):
            ErasureReceipt.open(never)


def test_the_command_verifies_a_receipt(store: Store, key: SigningKey, tmp_path: Path) -> None:
    store.remember("I like tea", user="ana")
    receipt = store.erase_person("ana", key=key, **ASKED).receipt
    assert receipt is not None
    file = tmp_path / "receipt.json"
    file.write_text(receipt.to_json())
    command = [sys.executable, "-m", "grainstore", "user", "verify", str(file), "--person", "ana"]
    told = subprocess.run([*command, "--json"], capture_output=True, text=True, timeout=120)
    assert told.returncode == 0
    told_of = json.loads(told.stdout)
    assert told_of["is_proven"] and told_of["is_of_this_person"] and told_of["signer"] == key.did


def test_a_sealed_person_is_erased_with_a_receipt_of_the_key(key: SigningKey) -> None:
    with grainstore.in_memory(master_key=bytes(range(32))) as store:
        store.add_keys("ana")
        store.unlock("ana")
        store.remember("I like tea", user="ana")
        receipt = store.erase_person("ana", key=key, **ASKED).receipt
        assert receipt is not None and "key_check" in json.loads(receipt.to_json())
        assert store.agrees_with(receipt)


def test_a_grain_has_a_receipt(store: Store, key: SigningKey) -> None:
    note = store.remember("hello")
    receipt = store.receipt(note, key)
    assert (receipt.address, receipt.signer) == (note, key.did)
    (change,) = (it for it in store.changes() if it.address == note)
    assert (receipt.entry, receipt.time) == (change.entry, change.at)
    with pytest.raises(errors.NotFound):
        store.receipt("0" * 64, key)
    with pytest.raises(errors.AccessDenied):
        store.of_user("ana").receipt(note, key)


# Checkpoints.


def test_a_checkpoint_tells_a_store_that_was_rolled_back(folder: Path, key: SigningKey) -> None:
    with grainstore.open(folder) as store:
        store.remember("first")
        store.backup(folder.with_name("earlier.grains"))
        store.remember("second")
        message = store.checkpoint(key)
        store.remember("third")
        checked = store.verify_checkpoint(message)
        assert checked.is_of_this_ledger and checked.signer == key.did
        with pytest.raises(errors.AccessDenied):
            store.read_only().checkpoint(key)
    with grainstore.open(folder.with_name("earlier.grains")) as earlier:
        assert not earlier.verify_checkpoint(message).is_of_this_ledger
        with pytest.raises(errors.Signature):
            earlier.verify_checkpoint(message[:-1] + bytes([message[-1] ^ 1]))


def test_the_async_twin_signs(store: Store, key: SigningKey) -> None:
    async def main() -> None:
        twin = AsyncStore(store).signed_by(key)
        note = await twin.remember("hello", user="ana")
        signature = await twin.signature(note)
        assert signature is not None and signature.signer == key.did
        done = await twin.erase_person("ana", key=key, **ASKED)
        assert done.receipt is not None and await twin.agrees_with(done.receipt)

    asyncio.run(main())
