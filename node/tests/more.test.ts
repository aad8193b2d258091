// Changes, signals, vectors, files, persons, signatures and the audit trail.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { errors, ErasureReceipt, grains, GrainstoreError, Note, Proof, Receipt, SigningKey, Store } from "grainstore";

import { all, folder, likes, memory, NOWHERE } from "./place.js";

const BY = { reason: "request 17", authority: "the DPO" };

// Changes.

test("a feed has what was stored, and goes on", async (t) => {
  const store = await memory(t);
  const feed = store.changes();
  const note = await store.remember("hello");
  const [change] = await all(feed);
  assert.deepEqual([change!.kind, change!.address, change!.entry], ["stored", note, 0]);
  assert.equal(String(change), `0 stored ${change!.grain}`);
  assert.equal(change!.grain!.get("content"), "hello");
  assert.ok(change!.at instanceof Date);
  await store.verify(note);
  assert.deepEqual((await all(feed)).map((it) => it.kind), ["status"]);
  assert.equal(await feed.position(), 2);
});

test("a feed of more than is read at once keeps its order", async (t) => {
  const store = await memory(t);
  await store.putBatch(Array.from({ length: 200 }, (_, n) => grains.event(`${n}`)));
  const feed = store.changes();
  const { value } = await feed.next();
  assert.equal(value!.entry, 0);
  assert.equal(await feed.position(), 1);
  assert.deepEqual((await all(feed)).map((it) => it.entry), Array.from({ length: 199 }, (_, n) => n + 1));
});

test("a feed begins where it is told, and is narrowed by conditions", async (t) => {
  const store = await memory(t);
  await store.remember("one", { user: "ana" });
  await store.remember("two", { user: "ben" });
  assert.equal((await all(store.changes({ first: 1 }))).length, 1);
  assert.equal((await all(store.changes({ first: null }))).length, 0);
  const ben = await all(store.changes({ user: "ben" }));
  assert.deepEqual(ben.map((it) => it.grain!.get("content")), ["two"]);
  await assert.rejects(all(store.changes({ first: -1 })), RangeError);
  await assert.rejects(all(store.changes({ first: 0.5 })), RangeError);
});

test("a deletion is in the feed", async (t) => {
  const store = await memory(t);
  const note = await store.remember("hello");
  const feed = store.changes({ first: null });
  await store.delete(note, BY);
  const [change] = await all(feed);
  assert.deepEqual([change!.kind, change!.entries], ["erasing", [0]]);
});

test("waiting for a change ends when there is one, or the time is over", async (t) => {
  const store = await memory(t);
  const feed = store.changes({ first: null });
  assert.equal(await feed.wait(0.01), false);
  const waiting = feed.wait(20);
  await store.remember("hello");
  assert.equal(await waiting, true);
});

test("those who wait take no thread of the pool", async (t) => {
  const store = await memory(t);
  const feeds = Array.from({ length: 12 }, () => store.changes({ first: null }));
  await Promise.all(feeds.map((feed) => feed.position()));
  const waiting = feeds.map((feed) => feed.wait(20));
  assert.equal(await store.count(), 0);
  await store.remember("hello");
  assert.deepEqual(await Promise.all(waiting), feeds.map(() => true));
});

test("a program follows what is stored until it has enough", async (t) => {
  const store = await memory(t);
  const stop = new AbortController();
  const seen: unknown[] = [];
  const following = (async () => {
    for await (const change of store.follow({ first: 0, signal: stop.signal })) {
      seen.push(change.grain?.get("content"));
      if (seen.length === 2) stop.abort();
    }
  })();
  await store.remember("one");
  await store.remember("two");
  await assert.rejects(following, { name: "AbortError" });
  assert.deepEqual(seen, ["one", "two"]);
});

test("closing a store ends those who wait", async () => {
  const store = await Store.inMemory();
  const feed = store.changes({ first: null });
  await feed.position();
  const waiting = assert.rejects(feed.wait(30), errors.Usage);
  await store.close();
  await waiting;
});

// Signals.

test("a signal that was given begins nothing", async (t) => {
  const store = await memory(t);
  const signal = AbortSignal.abort(new Error("mine"));
  await assert.rejects(store.remember("hello", { signal }), /mine/);
  await assert.rejects(store.search("hello", { signal }), /mine/);
  await assert.rejects(all(store.query({ signal })), /mine/);
  assert.equal(await store.count(), 0);
});

test("what waits for its turn when a signal is given is not begun", async (t) => {
  await using store = await Store.open(join(folder(t), "memory.grains"));
  const stop = new AbortController();
  const notes = Array.from({ length: 500 }, (_, n) => store.remember(`${n}`, { signal: stop.signal }));
  stop.abort();
  const outcomes = await Promise.allSettled(notes);
  for (const it of outcomes) {
    assert.equal(it.status, "rejected");
    assert.equal((it.reason as Error).name, "AbortError");
  }
  assert.ok((await store.count()) < 250);
});

test("a signal that is not given changes nothing", async (t) => {
  const store = await memory(t);
  const { signal } = new AbortController();
  for (let n = 0; n < 20; n++) await store.remember(`${n}`, { signal });
  assert.equal(await store.count({ signal }), 20);
});

// Vectors.

test("the nearest vectors are found", async (t) => {
  const store = await memory(t);
  const [tea, sea] = await store.putBatch([grains.event("she likes tea"), grains.event("she lives by the sea")]);
  await store.putEmbeddings("tiny", { [tea!]: [0.9, 0.1], [sea!]: Float32Array.of(0.2, 0.8) });
  const found = await store.nearest("tiny", [1, 0], { limit: 1 });
  assert.equal(found.at(0)!.address, tea);
  await store.putEmbeddings("other", new Map([[tea!, [2, 0]]]));
  assert.deepEqual(await store.embedding("other", tea!), Float32Array.of(1, 0));
  assert.equal(await store.embedding("other", sea!), null);
  await assert.rejects(store.nearest("tiny", [1, 0, 0]), errors.Embedding);
  await assert.rejects(store.putEmbeddings("tiny", { [tea!]: [0, 0] }), errors.Embedding);
  await assert.rejects(store.putEmbeddings("tiny", { [NOWHERE]: [1, 0] }), errors.NotFound);
});

const drinks = {
  model: "drinks@1",
  dimensions: 2,
  embed: async (texts: string[]) =>
    texts.map((text) => (/tea|thirsty/.test(text) ? [1, 0] : [0, 1])),
};

test("a model of the program embeds what is stored and asked", async (t) => {
  const store = await memory(t, { embedders: [drinks] });
  const tea = await store.remember("green tea is fine");
  await store.remember("the train was late");
  await store.flush();
  assert.equal((await store.search("thirsty", { limit: 1 })).at(0)!.address, tea);
});

test("a model may embed questions otherwise", async (t) => {
  const asked: string[] = [];
  const embedQuery = (text: string) => (asked.push(text), Float32Array.of(1, 0));
  const store = await memory(t, { embedders: [{ ...drinks, embedQuery }] });
  await store.remember("green tea is fine");
  await store.flush();
  await store.search("zzz");
  assert.deepEqual(asked, ["zzz"]);
});

test("a model that fails makes a search fail, and no put", async (t) => {
  const embed = () => Promise.reject(new Error("out of order"));
  const store = await memory(t, { embedders: [{ ...drinks, embed }] });
  await store.remember("hello");
  await assert.rejects(store.search("hello"), (error) => {
    assert.ok(error instanceof errors.Embedder);
    assert.match(error.message, /out of order/);
    return true;
  });
});

// Files.

test("a file is imported, with its progress and what was refused", async (t) => {
  const store = await memory(t);
  const file = join(folder(t), "memory.jsonl");
  writeFileSync(file, '{"type":"event","content":"hi","created_at":1}\n{"type":"belief"}');
  assert.equal((await store.importFile(file, { preview: true })).inserted, 1);
  assert.equal(await store.count(), 0);
  const seen: number[] = [];
  const outcome = await store.importFile(file, { progress: (done) => seen.push(done) });
  assert.deepEqual([outcome.inserted, outcome.isComplete], [1, false]);
  assert.deepEqual(outcome.refused.map((it) => it.place), ["line 2"]);
  assert.equal((await store.importFile(file)).unchanged, 1);
  await assert.rejects(store.importFile(file, { format: "paper" }), RangeError);
});

test("an error about a whole file names it", async (t) => {
  const store = await memory(t);
  const file = join(folder(t), "nothing.bin");
  writeFileSync(file, new Uint8Array([0, 1, 2, 3]));
  await assert.rejects(store.importFile(file), (error) => {
    assert.ok(error instanceof GrainstoreError);
    assert.equal(error.place, file);
    return true;
  });
  await assert.rejects(store.importFile(join(folder(t), "none")), GrainstoreError);
});

test("an export is imported elsewhere", async (t) => {
  const store = await memory(t);
  await likes(store, "tea", { user: "ana" });
  await store.remember("hello", { user: "ben" });
  for (const format of ["mg", "jsonl"]) {
    const file = join(folder(t), `memory.${format}`);
    const done = await store.export(file, { format, user: "ana" });
    assert.deepEqual([done.grains, done.loss], [1, {}]);
    const other = await memory(t);
    await other.importFile(file);
    assert.equal(await other.count(), 1);
  }
});

// Persons.

test("what is sealed is found only while its person is unlocked", async (t) => {
  const store = await memory(t, { masterKey: new Uint8Array(32) });
  const note = await store.remember("I like tea", { user: "ana" });
  await store.addKeys(["ben", "ana"]);
  assert.deepEqual(await store.users(), ["ana", "ben"]);
  assert.equal(await store.seal("ana"), 1);
  await store.unlock("ana");
  assert.equal(await store.isUnlocked("ana"), true);
  assert.ok(await store.get(note));
  await store.lock("ana");
  assert.equal(await store.get(note), null);
  await assert.rejects(store.remember("more", { user: "ana" }), errors.Locked);
  await assert.rejects(store.unlock("eve"), errors.UserUnknown);
  await assert.rejects(store.addKeys("ana"), errors.UserExists);
});

test("keys need a master key", async (t) => {
  const store = await memory(t);
  await assert.rejects(store.addKeys("ana"), errors.Key);
});

test("a person is erased, with a receipt", async (t) => {
  const store = await memory(t);
  const note = await store.remember("I like tea", { user: "ana" });
  assert.deepEqual((await store.personReport("ana")).about.map((it) => it.foundBy), [["user_id"]]);
  const key = SigningKey.generate();
  const done = await store.erasePerson("ana", { ...BY, key });
  assert.deepEqual([done.erased, done.kept, await store.get(note)], [[note], [], null]);
  const receipt = ErasureReceipt.open(done.receipt!.message);
  assert.ok(receipt.names("ana") && !receipt.names("ben") && receipt.isProven);
  assert.equal(receipt.signer, key.did);
  assert.ok(await store.agreesWith(receipt));
  assert.ok(!(await (await memory(t)).agreesWith(receipt.message)));
  assert.ok(JSON.parse(receipt.toText()));
  assert.throws(() => ErasureReceipt.open(new Uint8Array(3)), errors.Corrupt);
});

test("a hold keeps a grain of a person", async (t) => {
  const store = await memory(t);
  const note = await store.remember("the contract", { user: "ana" });
  await store.remember("I like tea", { user: "ana" });
  await store.placeHold(note, BY);
  await assert.rejects(store.erasePerson("ana", BY), errors.InvalidationDenied);
  const done = await store.erasePerson("ana", { ...BY, exceptKept: true });
  assert.deepEqual([done.kept, done.erased.length, done.receipt], [[note], 1, undefined]);
});

// Signatures.

test("a signed grain says who signed it, and whether they are trusted", async (t) => {
  const store = await memory(t);
  const key = SigningKey.generate();
  const note = await store.signedBy(key).remember("hello");
  assert.deepEqual(await store.signature(note), { signer: key.did, trust: "untrusted", doubt: "unknown_signer" });
  await store.trust(key.did, { reason: "our own agent", types: ["event"] });
  assert.equal((await store.signature(note))!.trust, "verified");
  assert.equal(await store.count({ verified: true }), 1);
  assert.deepEqual((await store.trusted()).map((it) => it.types), [["event"]]);
  assert.equal((await store.search("hello")).at(0)!.signer, key.did);
  assert.equal(await store.distrust(key.did, { reason: "it was lost" }), true);
  assert.equal(await store.signature(await store.remember("unsigned")), null);
  await assert.rejects(store.trust("me", { reason: "x" }), errors.Did);
});

test("a grain goes from store to store with its signature", async (t) => {
  const [here, there] = [await memory(t), await memory(t)];
  const note = await here.signedBy(SigningKey.generate("P-256")).remember("hello");
  const sent = (await here.delivery(note))!;
  assert.equal(await there.receive(sent), note);
  assert.equal(await here.delivery(NOWHERE), null);
  const broken = Uint8Array.from(sent);
  broken[broken.length - 1]! ^= 1;
  await assert.rejects(there.receive(broken), errors.Signature);
});

test("a key is a file and comes back", () => {
  const key = SigningKey.generate();
  assert.match(key.did, /^did:key:z6Mk/);
  assert.equal(SigningKey.fromPem(key.toPem()).did, key.did);
  assert.throws(() => SigningKey.fromPem("secret"), GrainstoreError);
  assert.throws(() => SigningKey.generate("RSA" as never), RangeError);
});

test("agreements permit what a policy guards", async (t) => {
  const store = await memory(t);
  const key = SigningKey.generate();
  const policy = { mode: "delegated", authorized: [key.did] };
  const old = await store.put(grains.belief("rent", "is", "900", { invalidation_policy: policy }));
  const fresh = grains.belief("rent", "is", "950", { created_at: 1_768_471_200_000 });
  await assert.rejects(store.supersede(old, fresh), errors.InvalidationDenied);
  const storeId = await store.storeId();
  const auth = key.cosign(fresh, { old, storeId });
  const stored = await store.supersede(old, fresh, { auth });
  assert.equal((await store.get(stored))!.get("object"), "950");
  const other = await store.put(grains.belief("rent", "was", "900", { invalidation_policy: policy }));
  await store.contradict(other, { auth: [key.agree(other, "contradict", { storeId })] });
  assert.ok((await store.status(other)).isContradicted);
  assert.throws(() => key.agree(other, "contradict", { storeId: "x" }), RangeError);
});

// The audit trail.

test("a note tells whether a ledger goes on from it", async (t) => {
  const store = await memory(t);
  const key = SigningKey.generate();
  await store.remember("monday");
  const monday = await store.auditHead({ key });
  assert.equal(String(Note.read(String(monday))), String(monday));
  assert.ok(monday.isSignedBy(monday.logKey(key)));
  assert.equal(monday.signers([monday.logKey(key), monday.logKey(SigningKey.generate())]), 1);
  const note = await store.remember("tuesday");
  const tuesday = await store.auditHead();
  assert.equal(tuesday.entries, 2);
  assert.ok(await store.auditExtends(monday));
  assert.ok(!(await (await memory(t)).auditExtends(monday)));
  const proof = Proof.read((await store.auditProve(note)).toText());
  assert.deepEqual([proof.entry, proof.first, proof.entries], [1, null, 2]);
  assert.ok(proof.isIn(tuesday) && !proof.isIn(monday));
  assert.ok((await store.auditProve(0)).isIn(tuesday));
  assert.ok((await store.auditGrowth(1)).extends(monday, tuesday));
  await assert.rejects(store.auditProve(7), errors.Range);
  assert.throws(() => Proof.read("{}"), errors.Corrupt);
});

test("a store that was rolled back does not open since a note", async (t) => {
  const path = join(folder(t), "memory.grains");
  const elsewhere = await memory(t);
  await elsewhere.remember("hello");
  const since = await elsewhere.auditHead();
  await assert.rejects(Store.open(path, { since }), GrainstoreError);
});

test("receipts and checkpoints are signed statements", async (t) => {
  const store = await memory(t);
  const key = SigningKey.generate();
  const note = await store.remember("hello");
  const receipt = await store.receipt(note, key);
  assert.deepEqual(Receipt.open(receipt.message).address, note);
  const checked = await store.verifyCheckpoint(await store.checkpoint(key));
  assert.deepEqual([checked.signer, checked.isOfThisLedger], [key.did, true]);
  await assert.rejects(store.verifyCheckpoint(new Uint8Array(2)), GrainstoreError);
});

test("the trail is exported to a new file", async (t) => {
  const store = await memory(t);
  await store.remember("hello");
  const file = join(folder(t), "trail.jsonl");
  assert.equal((await store.auditExport(file, { key: SigningKey.generate() })).entries, 1);
  assert.ok(readFileSync(file, "utf8").length > 0);
  await assert.rejects(store.auditExport(file), errors.Io);
});
