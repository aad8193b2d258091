// What a store keeps, answers and refuses.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { inspect } from "node:util";

import { errors, type Fields, Grain, grains, GrainstoreError, Store } from "grainstore";

import { all, folder, likes, memory, NOWHERE } from "./place.js";

test("a grain says what it is", async (t) => {
  const store = await memory(t);
  const grain = (await store.get(await likes(store, "tea", { confidence: 0.5 })))!;
  assert.equal(grain.type, "belief");
  assert.deepEqual([grain.get("subject"), grain.get("relation")], ["ana", "likes"]);
  assert.equal(grain.fields["confidence"], 0.5);
  assert.equal(grain.has("object"), true);
  assert.equal(grain.has("user_id"), false);
  assert.equal(grain.get("user_id"), null);
  assert.match(String(grain), /^Grain\(belief: "ana likes tea", [0-9a-f]{12}…\)$/);
  assert.equal((JSON.parse(grain.toText()) as Fields)["object"], "tea");
  assert.equal(grain.summary, "ana likes tea");
  assert.equal(grain.isSigned, false);
  assert.ok(grain instanceof Grain);
});

test("the fields of a grain are a copy", async (t) => {
  const store = await memory(t);
  const grain = (await store.get(await likes(store)))!;
  grain.fields["object"] = "milk";
  assert.equal(grain.get("object"), "tea");
});

test("a grain is the same as one of the same bytes", async (t) => {
  const store = await memory(t);
  const address = await likes(store);
  const [one, two] = await store.get([address, address]);
  const other = (await store.get(await likes(store, "milk")))!;
  assert.ok(one!.equals(two!));
  assert.ok(!one!.equals(other));
});

test("the address of a grain is the hash of its bytes", async (t) => {
  const store = await memory(t);
  const grain = (await store.get(await likes(store)))!;
  const digest = await crypto.subtle.digest("SHA-256", new Uint8Array(grain.blob));
  assert.equal(Buffer.from(digest).toString("hex"), grain.address);
});

test("a grain is an address where one is asked for", async (t) => {
  const store = await memory(t);
  const grain = (await store.get(await likes(store)))!;
  assert.ok((await store.get(grain))!.equals(grain));
  const child = await store.put({ type: "event", content: "x", derived_from: [grain] });
  const found = await all(store.query({ derivedFrom: grain }));
  assert.deepEqual(found.map((it) => it.address), [child]);
});

test("a grain that is put twice has one address", async (t) => {
  const store = await memory(t);
  const one = await store.put({ type: "event", content: "x", created_at: 1 });
  const two = await store.put({ created_at: 1, content: "x", type: "event" });
  assert.equal(one, two);
  assert.equal(await store.count(), 1);
});

test("an address that is not here is null", async (t) => {
  const store = await memory(t);
  assert.equal(await store.get(NOWHERE), null);
  assert.deepEqual(await store.get([NOWHERE]), [null]);
  await assert.rejects(store.status(NOWHERE), errors.NotFound);
  await assert.rejects(store.history(NOWHERE), errors.NotFound);
});

test("text that is no address is refused", async (t) => {
  const store = await memory(t);
  await assert.rejects(store.get("abc"), errors.HashLength);
  await assert.rejects(store.get("z".repeat(64)), errors.HashFormat);
  await assert.rejects(store.get(1 as never), TypeError);
  await assert.rejects(store.get(null as never), TypeError);
});

const wrong: [unknown, new (...of: never[]) => Error][] = [
  [{}, errors.NoType],
  [{ type: "dream" }, errors.UnknownType],
  [{ type: 1 }, errors.Schema],
  [{ type: "event" }, errors.Schema],
  [{ type: "event", content: "" }, errors.Empty],
  [{ type: "belief", subject: "a", relation: "b", object: "c", confidence: 2 }, errors.Range],
  [[], errors.NotMap],
  [null, errors.NotMap],
  [{ type: "state", context: { it: new Uint8Array([1]) } }, errors.Corrupt],
  ["text", errors.NotMap],
  [{ type: "event", content: Symbol("x") }, TypeError],
  [{ type: "event", content: () => "x" }, TypeError],
  [{ type: "event", content: "x", created_at: new Date(Number.NaN) }, RangeError],
  [{ type: "event", content: "x", context: { n: 1n << 64n } }, RangeError],
];
for (const [fields, error] of wrong) {
  test(`a grain that is none is refused: ${inspect(fields)}`, async (t) => {
    const store = await memory(t);
    await assert.rejects(store.put(fields as Fields), error);
    assert.equal(await store.count(), 0);
  });
}

test("a grain that was stored before is told from a new one", async (t) => {
  const store = await memory(t);
  const turn = { type: "event", content: "x", created_at: 1 };
  const address = await store.put(turn);
  assert.deepEqual(await store.insert(turn), { address, isNew: false });
  assert.equal((await store.insert({ ...turn, content: "y" })).isNew, true);
});

test("a batch is stored whole or not at all", async (t) => {
  const store = await memory(t);
  const good = { type: "event", content: "x" };
  await assert.rejects(store.putBatch([good, good, { type: "event" }]), (error) => {
    assert.ok(error instanceof errors.Schema);
    assert.equal(error.place, "grain 2");
    return true;
  });
  await assert.rejects(store.putBatch([good, {}]), { place: "grain 1", code: "ERR_NO_TYPE" });
  function* failing() {
    yield good;
    throw new Error("mine");
  }
  await assert.rejects(store.putBatch(failing()), /mine/);
  assert.equal(await store.count(), 0);
});

test("a belief needs both subject and relation", async (t) => {
  const store = await memory(t);
  await assert.rejects(store.remember("tea", { subject: "ana" }), /both, or neither/);
});

test("a memory has the fields that are named", async (t) => {
  const store = await memory(t);
  const at = new Date("2026-01-15T10:00:00Z");
  const more = { user: "ana", session: "s", namespace: "work", role: "user", importance: 0.5, tags: ["a"] };
  const address = await store.remember("hello", { ...more, at, fields: { run_id: "r" } });
  const { fields, createdAt } = (await store.get(address))!;
  assert.equal(createdAt, at.getTime());
  assert.equal(fields["user_id"], "ana");
  assert.equal(fields["session_id"], "s");
  assert.equal(fields["namespace"], "work");
  assert.equal(fields["role"], "user");
  assert.equal(fields["importance"], 0.5);
  assert.deepEqual(fields["structural_tags"], ["a"]);
  assert.equal(fields["run_id"], "r");
});

const times = ["2026-01-15T10:00:00Z", 1_768_471_200_000, new Date(1_768_471_200_000)];
for (const at of times) {
  test(`a time is ${inspect(at)}`, async (t) => {
    const store = await memory(t);
    const grain = (await store.get(await store.remember("x", { at })))!;
    assert.equal(grain.createdAt, 1_768_471_200_000);
    assert.equal(await store.count({ since: at, until: at }), 1);
  });
}

const values: [string, unknown, unknown?][] = [
  ["a string", "ünï"],
  ["true", true],
  ["an integer", 42],
  ["a negative integer", -7],
  ["a fraction", 0.1],
  ["a large safe integer", Number.MAX_SAFE_INTEGER],
  ["a bigint", 1n << 60n],
  ["the largest bigint", (1n << 64n) - 1n],
  ["the smallest bigint", -(1n << 63n)],
  ["a small bigint", 5n, 5],
  ["a list", [1, "a", [true]]],
  ["a map", { b: { c: [1.5] } }],
  ["a date", new Date(5), 5],
  ["a map with null", { a: null, b: 1, c: undefined }, { b: 1 }],
];
for (const [name, given, expected = given] of values) {
  test(`a value comes back: ${name}`, async (t) => {
    const store = await memory(t);
    const address = await store.put({ type: "state", context: { it: given } });
    const context = (await store.get(address))!.get("context") as Fields;
    assert.deepEqual(context["it"], expected);
  });
}

test("what is deeper than a grain may be is refused, and is no crash", async (t) => {
  const store = await memory(t);
  let deep: Fields = {};
  for (let n = 0; n < 10_000; n++) deep = { deep };
  await assert.rejects(store.put({ type: "state", context: deep }), GrainstoreError);
  const cycle: Fields = {};
  cycle["me"] = cycle;
  await assert.rejects(store.put({ type: "state", context: cycle }), GrainstoreError);
});

// Search, query, recall.

test("a search finds words of the person who is named", async (t) => {
  const store = await memory(t);
  await likes(store, "green tea", { user: "ana" });
  await likes(store, "black tea", { user: "ben" });
  const found = await store.search("tea", { user: "ana" });
  assert.deepEqual([found.length, found.total], [1, 1]);
  const hit = found.at(0)!;
  assert.equal(hit.grain.get("object"), "green tea");
  assert.deepEqual(hit.matchedFields, ["object"]);
  assert.ok(hit.score > 0 && hit.score <= 1);
  assert.equal(hit.isCurrent, true);
  assert.deepEqual([...found].map((it) => it.address), [hit.address]);
});

test("a query that is none is an error unless it is plain", async (t) => {
  const store = await memory(t);
  await store.remember("what about tea (or coffee");
  await assert.rejects(store.search("tea ("), errors.SearchSyntax);
  assert.equal((await store.search("tea (", { plain: true })).total, 1);
});

test("pages follow each other and show one moment", async (t) => {
  const store = await memory(t);
  const turns = Array.from({ length: 25 }, (_, n) => ({ type: "event", content: `${n}`, created_at: n + 1 }));
  await store.putBatch(turns);
  const seen: string[] = [];
  for await (const page of store.pages({ page: 10 })) {
    if (seen.length === 0) await store.remember("later");
    seen.push(...page.found.map((it) => it.grain.get("content") as string));
  }
  assert.deepEqual(seen, turns.map((it) => it.content));
});

test("a page and a list of any length come whole", async (t) => {
  const store = await memory(t);
  const notes = await store.putBatch(Array.from({ length: 1_300 }, (_, n) => grains.event(`${n}`)));
  const page = await store.queryPage({ limit: 1_200 });
  const rest = await store.queryPage({ limit: 1_200, cursor: page.nextCursor });
  assert.deepEqual([page.length, page.total, rest.length, rest.nextCursor], [1_200, 1_300, 100, undefined]);
  assert.deepEqual([...page, ...rest].map((it) => it.address), notes);
  assert.deepEqual((await store.get([...notes, NOWHERE])).map((it) => it?.address), [...notes, undefined]);
  assert.deepEqual(await store.get([]), []);
});

test("of many pages at once each is answered, and none holds another", async (t) => {
  const store = await memory(t);
  await store.putBatch(Array.from({ length: 200 }, (_, n) => grains.event(`${n}`)));
  const stop = new AbortController();
  const more = [{}, { cursor: "x" }, { signal: stop.signal }];
  const pages = Array.from({ length: 60 }, (_, n) => store.queryPage({ limit: 100, ...more[n % 3] }));
  stop.abort();
  const outcomes = await Promise.allSettled(pages);
  assert.deepEqual(outcomes.map((it) => it.status === "fulfilled"), outcomes.map((_, n) => n % 3 === 0));
  assert.equal((await store.queryPage({ limit: 100 })).length, 100);
});

test("a loop over a query may be left", async (t) => {
  const store = await memory(t);
  await store.putBatch(Array.from({ length: 9 }, (_, n) => grains.event(`${n}`)));
  for await (const found of store.query({ page: 2 })) {
    assert.ok(found.grain.has("content"));
    break;
  }
  assert.equal((await all(store.query({ page: 2 }))).length, 9);
});

test("a result and a version are as text what their grain is", async (t) => {
  const store = await memory(t);
  const grain = (await store.get(await likes(store)))!;
  const [row] = await all(store.query());
  const [found] = await store.search("tea");
  const [version] = await store.history(grain);
  assert.deepEqual([row, found, version].map(String), [1, 2, 3].map(() => String(grain)));
  assert.ok(version!.storedAt instanceof Date);
});

test("a grain and a result show what they hold, and are JSON", async (t) => {
  const store = await memory(t);
  const address = await store.put({ type: "event", content: "hi", created_at: 1, context: { bytes: 1n << 60n } });
  const [found] = await store.search("hi");
  const { grain } = found!;
  assert.equal(inspect(grain), String(grain));
  assert.deepEqual(JSON.parse(JSON.stringify(grain)), JSON.parse(grain.toText()));
  assert.match(inspect(found), /^Found \{[^]*grain: Grain\(event: "hi"/);
  const told = JSON.parse(JSON.stringify(found)) as { address: string; grain: Fields };
  assert.deepEqual([told.address, told.grain["content"]], [address, "hi"]);
});

test("the order is that which is asked for", async (t) => {
  const store = await memory(t);
  for (const confidence of [0.2, 0.9, 0.5]) {
    await store.put(grains.belief(`ana ${confidence}`, "likes", "tea", { confidence }));
  }
  const sorted = await all(store.query({ sort: "-confidence", page: 2 }));
  assert.deepEqual(sorted.map((it) => it.grain.get("confidence")), [0.9, 0.5, 0.2]);
  await assert.rejects(all(store.query({ sort: "colour" })), RangeError);
});

test("a cursor of another query is refused", async (t) => {
  const store = await memory(t);
  await store.putBatch(Array.from({ length: 3 }, (_, n) => grains.event(`${n}`)));
  const { nextCursor: cursor } = await store.queryPage({ limit: 1 });
  await assert.rejects(store.queryPage({ limit: 1, cursor, user: "ana" }), errors.Cursor);
  await assert.rejects(store.queryPage({ cursor: "x" }), GrainstoreError);
});

const conditions: [Fields, number][] = [
  [{ type: "belief" }, 2],
  [{ type: "event" }, 1],
  [{ user: "ana" }, 1],
  [{ subject: "ana" }, 2],
  [{ relation: "likes" }, 2],
  [{ object: "tea" }, 1],
  [{ namespace: "work" }, 1],
  [{ session: "s" }, 1],
  [{ tag: "hot" }, 1],
  [{ tag: ["hot", "cold"] }, 0],
  [{ withoutTag: ["hot"] }, 2],
  [{ confidence: [0.4, 0.6] }, 1],
  [{ confidence: [null, 0.6] }, 1],
  [{ importance: [0, 1] }, 0],
  [{ superseded: "only" }, 0],
  [{ superseded: "include" }, 3],
  [{ verified: true }, 0],
  [{ verified: false, expired: true, unreviewed: false }, 3],
  [{ verification: "unverified" }, 3],
  [{ among: [NOWHERE] }, 0],
  [{ user: null, type: undefined }, 3],
];
for (const [condition, expected] of conditions) {
  test(`a condition is ${inspect(condition)}`, async (t) => {
    const store = await memory(t);
    await likes(store, "tea", { user: "ana", confidence: 0.5, tags: ["hot"] });
    await likes(store, "milk", { namespace: "work" });
    await store.remember("hello", { session: "s" });
    assert.equal(await store.count(condition), expected);
  });
}

const noConditions: [Fields, new (...of: never[]) => Error][] = [
  [{ colour: "green" }, TypeError],
  [{ user: 1 }, TypeError],
  [{ type: "dream" }, RangeError],
  [{ superseded: "perhaps" }, RangeError],
  [{ verified: "yes" }, TypeError],
  [{ confidence: [1] }, RangeError],
  [{ confidence: 1 }, TypeError],
  [{ since: "yesterday" }, RangeError],
  [{ since: 0.5 }, TypeError],
  [{ tag: [1] }, TypeError],
];
for (const [condition, error] of noConditions) {
  test(`a condition that is none is refused: ${inspect(condition)}`, async (t) => {
    const store = await memory(t);
    await assert.rejects(store.count(condition), error);
  });
}

test("a recall gives a prompt its memories", async (t) => {
  const store = await memory(t);
  await store.remember("I moved to Porto in May", { user: "ana", role: "user" });
  const found = await store.recall("Where did Ana move?", { user: "ana" });
  assert.equal(found.length, 1);
  const line = found.lines[0]!;
  assert.equal(line.text, "I moved to Porto in May");
  assert.equal(line.isTurn, true);
  assert.equal(line.standing, undefined);
  assert.ok(line.time instanceof Date);
  assert.match(String(found), /Porto/);
  assert.ok(found.tokens > 0 && !found.isCut && !found.isPartial);
  assert.match(await found.render("text"), /Porto/);
  assert.ok(JSON.parse(await found.render("json")));
  assert.throws(() => found.render("html" as never), /no format/);
  assert.equal((await store.recall("Porto", { user: "ben" })).length, 0);
});

test("a budget cuts a recall", async (t) => {
  const store = await memory(t);
  await store.putBatch(Array.from({ length: 40 }, (_, n) => grains.event(`tea number ${n} is a long story`)));
  assert.ok((await store.recall("tea", { budget: 60 })).isCut);
});

test("a statement of CAL is answered", async (t) => {
  const store = await memory(t);
  await likes(store);
  const parameters = { who: "ana" };
  const answer = await store.cal("RECALL WHERE subject = $who | COUNT", { parameters });
  assert.equal(answer.isFound, true);
  assert.equal(answer.envelope["count"], 1);
  assert.equal(String(answer), JSON.stringify(answer.envelope));
  await assert.rejects(store.cal("RECALL WHERE"), (error) => {
    assert.ok(error instanceof GrainstoreError);
    assert.match(error.code, /^CAL-E/);
    assert.match(error.place!, /^line 1, column/);
    return true;
  });
  await store.cal("RECALL WHERE subject = $who", { parameters, now: new Date(), user: "ana" });
});

// What is changed.

test("a correction leaves the old version in the history", async (t) => {
  const store = await memory(t);
  const tea = await likes(store, "tea", { confidence: 0.5, user: "ana" });
  const milk = await store.correct(tea, { object: "milk", user_id: null }, { reason: "said so" });
  const versions = await store.history(milk);
  assert.deepEqual(versions.map((it) => it.grain.get("object")), ["tea", "milk"]);
  assert.deepEqual(versions.map((it) => it.status.isCurrent), [false, true]);
  assert.equal(versions[1]!.grain.has("user_id"), false);
  assert.ok(versions[0]!.storedAt instanceof Date);
  assert.equal((await store.status(tea)).supersededBy, milk);
});

test("of two that replace a grain one is refused", async (t) => {
  const store = await memory(t);
  const old = await store.remember("It rains");
  const outcomes = await Promise.allSettled(
    [1, 2, 3, 4].map((n) => store.supersede(old, grains.event(`It stopped ${n}`))),
  );
  const refused = outcomes.filter((it) => it.status === "rejected");
  assert.equal(refused.length, 3);
  for (const it of refused) assert.ok(it.reason instanceof errors.Conflict);
});

test("a grain that is contradicted or retracted is not current", async (t) => {
  const store = await memory(t);
  const [tea, milk, water] = [await likes(store), await likes(store, "milk"), await likes(store, "water")];
  await store.contradict(tea, { reason: "she said she does not" });
  const status = await store.status(tea);
  assert.deepEqual([status.isContradicted, status.isCurrent, status.verification], [true, false, "contested"]);
  await store.verify(milk, "retracted");
  assert.equal((await store.status(milk)).isCurrent, false);
  await store.verify(water);
  assert.equal((await store.status(water)).verification, "verified");
  await assert.rejects(store.verify(water, "perhaps" as never), RangeError);
});

test("what is deleted is gone, and does not come back", async (t) => {
  const store = await memory(t);
  const grain = { type: "event", content: "my number is 12345", created_at: 1 };
  const note = await store.put(grain);
  await store.delete(note, { reason: "asked for", authority: "the user" });
  assert.equal(await store.get(note), null);
  assert.equal((await store.search("12345")).total, 0);
  await assert.rejects(store.put(grain), errors.Erased);
});

test("a deletion of many tells the error of the one that stays", async (t) => {
  const store = await memory(t);
  const [one, two] = await store.putBatch([grains.event("one"), grains.event("two")]);
  const by = { reason: "asked", authority: "the user" };
  await assert.rejects(store.delete([one!, NOWHERE, two!], by), errors.NotFound);
  assert.equal(await store.count(), 0);
});

test("a grain under a hold is not deleted", async (t) => {
  const store = await memory(t);
  const note = await store.remember("the contract was signed", { user: "ana" });
  const by = { reason: "Doe v. Acme", authority: "counsel" };
  await store.placeHold(note, by);
  await assert.rejects(store.delete(note, by), errors.InvalidationDenied);
  const [hold] = await store.holds();
  assert.deepEqual([hold!.address, hold!.reason, hold!.authority], [note, by.reason, by.authority]);
  assert.ok(hold!.since instanceof Date);
  assert.equal(await store.liftHold(note, by), true);
  assert.equal(await store.liftHold(note, by), false);
  await store.delete(note, by);
});

// Handles.

test("a handle of a person sees and writes what is theirs", async (t) => {
  const store = await memory(t);
  const note = await store.ofUser("ana").remember("I like tea");
  assert.equal((await store.get(note))!.get("user_id"), "ana");
  assert.equal((await store.ofUser("ben").search("tea")).total, 0);
  assert.equal(await store.ofUser("ben").get(note), null);
});

test("a handle of an author, a namespace, a reader", async (t) => {
  const store = await memory(t);
  const bot = store.asActor("did:web:bot.example");
  assert.equal((await bot.get(await bot.remember("hello")))!.get("author_did"), "did:web:bot.example");
  const work = store.inNamespace("work");
  assert.equal((await work.get(await work.remember("hello")))!.get("namespace"), "work");
  await assert.rejects(store.readOnly().remember("hello"), errors.AccessDenied);
  await assert.rejects(bot.holds(), errors.AccessDenied);
  assert.throws(() => store.asActor("bot"), errors.Did);
  assert.equal(String(work.readOnly()), "<grainstore.Store in memory, in work, read only>");
  assert.equal(inspect(bot), "<grainstore.Store in memory, as did:web:bot.example>");
});

// Opening and closing.

test("a store is there again after it was closed", async (t) => {
  const path = join(folder(t), "memory.grains");
  const first = await Store.open(path);
  const note = await first.remember("hello");
  await first.close();
  await using again = await Store.open(path, { create: "never" });
  assert.equal((await again.get(note))!.get("content"), "hello");
});

test("a store that is not there is made only if that is wanted", async (t) => {
  const path = join(folder(t), "memory.grains");
  await assert.rejects(Store.open(path, { create: "never" }), errors.NotAStore);
  await (await Store.open(path, { create: "new" })).close();
  await assert.rejects(Store.open(path, { create: "new" }), errors.StoreExists);
  await assert.rejects(Store.open(path, { create: "maybe" as never }), RangeError);
  await assert.rejects(Store.open(path, { durability: "none" as never }), RangeError);
});

test("a store is open twice in one process", async (t) => {
  const path = join(folder(t), "memory.grains");
  await using one = await Store.open(path);
  await using two = await Store.open(path);
  const note = await one.remember("hello");
  assert.equal((await two.get(note))!.get("content"), "hello");
  assert.equal((await one.get(await two.remember("hello back")))!.get("content"), "hello back");
});

test("a store that is opened to read changes nothing", async (t) => {
  const path = join(folder(t), "memory.grains");
  await using store = await Store.open(path);
  await store.remember("hello");
  await using reader = await Store.open(path, { readOnly: true });
  assert.equal(await reader.count(), 1);
  await assert.rejects(reader.remember("hello"), errors.StorageReadOnly);
});

test("a closed store refuses every handle", async () => {
  const store = await Store.inMemory();
  const narrowed = store.ofUser("ana");
  const feed = store.changes();
  await store.close();
  await store.close();
  assert.ok(store.isClosed && narrowed.isClosed);
  await assert.rejects(store.count(), errors.Usage);
  await assert.rejects(narrowed.remember("x"), /the store is closed/);
  await assert.rejects(feed.next(), errors.Usage);
  assert.throws(() => store.ofUser("ben"), errors.Usage);
  assert.match(String(store), /closed/);
});

test("a store is closed where its block ends", async (t) => {
  const path = join(folder(t), "memory.grains");
  let left: Store;
  {
    await using store = await Store.open(path);
    left = store;
  }
  assert.ok(left.isClosed);
});

test("calls that are under way end before a store is closed", async (t) => {
  const path = join(folder(t), "memory.grains");
  const store = await Store.open(path);
  const notes = Array.from({ length: 50 }, (_, n) => store.remember(`note ${n}`));
  const [outcomes] = await Promise.all([Promise.allSettled(notes), store.close()]);
  const stored = outcomes.filter((it) => it.status === "fulfilled").map((it) => it.value);
  await using again = await Store.open(path);
  for (const address of stored) assert.ok(await again.get(address));
  for (const it of outcomes) {
    if (it.status === "rejected") assert.ok(it.reason instanceof errors.Usage);
  }
});

test("a backup is a store", async (t) => {
  const copy = join(folder(t), "copy.grains");
  const store = await memory(t);
  await store.remember("hello");
  await store.flush();
  await store.backup(copy);
  await using opened = await Store.open(copy, { create: "never" });
  assert.equal(await opened.count(), 1);
});

// Errors.

test("an error has a code, a hint and the way to it", async (t) => {
  const store = await memory(t);
  await assert.rejects(store.put({ type: "event" }), (error) => {
    assert.ok(error instanceof GrainstoreError);
    assert.equal(error.name, "Schema");
    assert.equal(error.code, "ERR_SCHEMA");
    assert.equal(error.place, undefined);
    assert.match(error.hint!, /schema/);
    assert.match(error.stack!, /store\.test/);
    return true;
  });
});

test("each class of errors is under GrainstoreError and has a code", () => {
  const classes = Object.entries(errors).filter(([name]) => name !== "GrainstoreError");
  assert.ok(classes.length > 70);
  for (const [, of] of classes) assert.ok(of.prototype instanceof GrainstoreError);
});

// Builders.

const built: [string, Fields][] = [
  ["belief", grains.belief("ana", "likes", "tea")],
  ["event", grains.event("hello", { role: "user" })],
  ["state", grains.state({ mood: "good" })],
  ["workflow", grains.workflow(["boil", "pour"], "thirst")],
  ["action", grains.action("kettle", { litres: 1 }, "done")],
  ["observation", grains.observation("cam-1", "camera", { subject: "door" })],
  ["goal", grains.goal("learn Portuguese")],
  ["reasoning", grains.reasoning("she is thirsty", { premises: ["she asked for tea"] })],
  ["consensus", grains.consensus(["a", "b", "c"], { threshold: 2, agreement: 2, dissent: 1 })],
  ["consent", grains.consent("did:web:ana.example", "did:web:shop.example", ["store"])],
];
for (const [type, fields] of built) {
  test(`a builder makes what a store takes: ${type}`, async (t) => {
    const store = await memory(t);
    assert.equal((await store.get(await store.put(fields)))!.type, type);
  });
}
