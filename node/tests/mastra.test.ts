// The memory of Mastra, compared with its own in random operations; the suite of its stores, restated.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import type { MastraDBMessage } from "@mastra/core/agent";
import type { StorageThreadType } from "@mastra/core/memory";
import { InMemoryDB, InMemoryMemory, MastraCompositeStore, type MemoryStorage, type StorageMetadataFilter } from "@mastra/core/storage";
import { errors, Store } from "grainstore";
import { GrainMemory } from "grainstore/mastra";

import { folder, memory, random } from "./place.js";

const START = Date.UTC(2026, 0, 15, 10);

/** Stops the clock of JavaScript: each tick is 10 ms. */
function clock(t: TestContext): () => void {
  t.mock.timers.enable({ apis: ["Date"], now: START });
  return () => t.mock.timers.tick(10);
}

function thread(id: string, more: Partial<StorageThreadType> = {}): StorageThreadType {
  return { id, resourceId: "ana", title: `About ${id}`, createdAt: new Date(START), updatedAt: new Date(START), metadata: {}, ...more };
}

function message(id: string, threadId: string, minutes: number, more: Partial<MastraDBMessage> = {}): MastraDBMessage {
  const content = { format: 2 as const, parts: [{ type: "text" as const, text: `note ${id}` }] };
  const createdAt = new Date(START + minutes * 60_000);
  return { id, threadId, resourceId: "ana", role: "user", type: "text", createdAt, content, ...more };
}

const ids = (page: { messages: MastraDBMessage[] }) => page.messages.map(({ id }) => id);

async function grainMemory(t: TestContext) {
  const store = await memory(t);
  return { store, mastra: new GrainMemory(store) };
}

/** Returns a thread of messages `m0`, `m1`, ..., a minute apart. */
async function talk(t: TestContext, count: number) {
  const { store, mastra } = await grainMemory(t);
  await mastra.saveThread({ thread: thread("t") });
  await mastra.saveMessages({ messages: Array.from({ length: count }, (_, n) => message(`m${n}`, "t", n)) });
  return { store, mastra };
}

// Compared with Mastra's memory.

const THREADS = ["t1", "t2", "é", "a thread with a name that is longer than what a field of a grain has ".repeat(9)];
const RESOURCES = ["ana", "ben", "did:web:c"];
const MESSAGES = ["m1", "m2", "m3", "m4", "m5", "m6", "constructor"];

type Draw = (below: number) => number;

function pick<T>(draw: Draw, of: readonly T[]): T {
  return of[draw(of.length)]!;
}

function drawnMessage(draw: Draw): MastraDBMessage {
  const text = pick(draw, ["tea", "e\u0301", "", "a\u0000b"]);
  const metadata = pick(draw, [undefined, { n: draw(3), x: null }, { n: draw(3), s: "é" }]);
  const content = { format: 2 as const, parts: [{ type: "text" as const, text }], ...(metadata && { metadata }) };
  const more = { content, resourceId: pick(draw, [...RESOURCES, undefined]), role: pick(draw, ["user", "assistant"] as const) };
  return message(pick(draw, MESSAGES), pick(draw, THREADS), draw(6), more);
}

function drawnList(draw: Draw) {
  const moment = () => pick(draw, [undefined, new Date(START + draw(6) * 60_000)]);
  const include = Array.from({ length: 1 + draw(2) }, () => ({
    id: pick(draw, MESSAGES),
    withPreviousMessages: pick(draw, [undefined, 1, 3]),
    withNextMessages: pick(draw, [undefined, 1, 3]),
  }));
  const perPage = pick(draw, [undefined, 0, 1, 2, 3, false] as const);
  return {
    perPage,
    page: perPage === false ? 0 : draw(3),
    include: pick(draw, [undefined, include]),
    orderBy: pick(draw, [undefined, { field: "createdAt" as const, direction: pick(draw, ["ASC", "DESC"] as const) }]),
    filter: pick(draw, [
      undefined,
      { dateRange: { start: moment(), end: moment(), startExclusive: draw(2) === 0, endExclusive: draw(2) === 0 } },
      { metadata: pick<StorageMetadataFilter>(draw, [{ n: 1 }, { x: null }, { n: 0, s: "é" }]) },
    ]),
  };
}

type Operation = (mastra: MemoryStorage) => Promise<unknown>;

/** Returns an operation, which does the same to any memory. */
function operation(draw: Draw, newId: string): [name: string, Operation] {
  const [id, other, resourceId] = [pick(draw, THREADS), pick(draw, THREADS), pick(draw, RESOURCES)];
  const metadata = pick(draw, [undefined, { n: draw(3) }, { list: [1, { x: null }], "a key": "é" }]);
  const title = pick(draw, [undefined, "", "Tea"]);
  const list = drawnList(draw);
  const messages = Array.from({ length: 1 + draw(3) }, () => drawnMessage(draw));
  const some = Array.from({ length: 1 + draw(3) }, () => pick(draw, MESSAGES));
  const copied = { messageLimit: pick(draw, [undefined, 2]), messageFilter: pick(draw, [undefined, { messageIds: some }]) };
  const updates = some.map((messageId) => ({
    id: messageId,
    content: pick(draw, [undefined, { metadata: { more: draw(3) } }, { content: "said" }]),
    role: pick(draw, [undefined, "assistant" as const]),
    threadId: pick(draw, [undefined, undefined, other]),
  }));
  const paged = { perPage: pick(draw, [undefined, 1, 2, false] as const), page: 0 };
  const orderBy = pick(draw, [undefined, { field: pick(draw, ["createdAt", "updatedAt"] as const), direction: pick(draw, ["ASC", "DESC"] as const) }]);
  const operations: [string, Operation][] = [
    ["saveThread", (it) => it.saveThread({ thread: thread(id, { resourceId, title, metadata, createdAt: new Date(), updatedAt: new Date() }) })],
    ["getThreadById", (it) => it.getThreadById({ threadId: id, resourceId: metadata && resourceId })],
    ["updateThread", (it) => it.updateThread({ id, title, metadata })],
    ["deleteThread", (it) => it.deleteThread({ threadId: id })],
    ["listThreads", (it) => it.listThreads({ ...paged, orderBy, filter: { resourceId: title && resourceId, metadata: metadata && { n: 1 } } })],
    ["saveMessages", (it) => it.saveMessages({ messages: structuredClone(messages) })],
    ["saveMessages", (it) => it.saveMessages({ messages: structuredClone(messages) })],
    ["saveMessages", (it) => it.saveMessages({ messages: structuredClone(messages) })],
    ["listMessages", (it) => it.listMessages({ threadId: id, ...list })],
    ["listMessages of a resource", (it) => it.listMessages({ threadId: id, resourceId, ...list })],
    ["listMessages of threads", (it) => it.listMessages({ threadId: [id, other], ...list, include: undefined })],
    ["listMessagesByResourceId", (it) => it.listMessagesByResourceId({ resourceId, ...list })],
    ["listMessagesById", (it) => it.listMessagesById({ messageIds: some })],
    ["updateMessages", (it) => it.updateMessages({ messages: structuredClone(updates) as never })],
    ["deleteMessages", (it) => it.deleteMessages(some)],
    ["copyThread", async (it) => copyOf(await it.copyThread({ sourceThreadId: id, newThreadId: newId, title, options: copied }))],
    ["messages of a copy", async (it) => (await it.listMessages({ threadId: newId, perPage: false })).messages.map((one) => [one.content, one.createdAt])],
    ["updateThreadResourceId", (it) => it.updateThreadResourceId({ threadId: id, resourceId })],
    ["getResourceById", (it) => it.getResourceById({ resourceId })],
    ["updateResource", (it) => it.updateResource({ resourceId, workingMemory: title, metadata })],
    ["saveResource", (it) => it.saveResource({ resource: { id: resourceId, workingMemory: "# Ana", createdAt: new Date(), updatedAt: new Date() } })],
  ];
  return pick(draw, operations);
}

/** Returns what a copy says without the ids that it drew. */
function copyOf({ thread: made, messageIdMap }: { thread: StorageThreadType; messageIdMap?: Record<string, string> }) {
  return { made, of: Object.keys(messageIdMap ?? {}) };
}

/** Returns the outcome as JSON in one order, without ids that were drawn, with times of a change to their tick; of an
 * error only that it is one. */
async function outcome(of: () => Promise<unknown>): Promise<string> {
  const toTick = (text: string) => text.replace(/("updatedAt":"[^"]+\.\d\d)\d/g, "$10");
  const unnamed = (text: string) => text.replace(/(ombuf-)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "id");
  const inOrder = (_: string, value: unknown) =>
    value?.constructor === Object ? Object.fromEntries(Object.entries(value).sort(([one], [two]) => (one < two ? -1 : 1))) : value;
  try {
    return unnamed(toTick(JSON.stringify((await of()) ?? null, inOrder)));
  } catch {
    return "an error";
  }
}

test("the answers to random operations are those of Mastra's own memory", async (t) => {
  const times = Number(process.env["GRAINSTORE_TIMES"] ?? 1);
  const tick = clock(t);
  for (let seed = 0; seed < 25 * times; seed++) {
    const draw = random(seed);
    const { mastra: ours } = await grainMemory(t);
    const theirs = new InMemoryMemory({ db: new InMemoryDB() });
    const told: string[] = [];
    for (let round = 0; round < 40; round++) {
      const [name, run] = operation(draw, `copy ${Math.floor(round / 8)}`);
      tick();
      const expected = await outcome(() => run(theirs));
      told.push(name);
      assert.equal(await outcome(() => run(ours)), expected, `seed ${seed}: ${told.join(", ")}`);
    }
  }
});

/** Returns an operation on what was observed of a thread or resource. */
function observing(draw: Draw): [name: string, Operation] {
  const [threadId, resourceId] = pick(draw, [[null, "ana"], ["t1", "ana"], ["t2", "ben"]] as const);
  const [flag, tokens, at] = [draw(2) === 0, draw(500), new Date(START + draw(100) * 1_000)];
  const text = `seen ${draw(9)}\nand ${draw(9)}`;
  const chunk = { cycleId: `c${draw(5)}`, observations: text, tokenCount: tokens, messageIds: ["m1"], messageTokens: tokens, lastObservedAt: at };
  const swap = { activationRatio: pick(draw, [0.5, 1]), messageTokensThreshold: 400, currentPendingTokens: tokens };
  type Record = NonNullable<Awaited<ReturnType<MemoryStorage["getObservationalMemory"]>>>;
  const of = (run: (it: MemoryStorage, record: Record) => Promise<unknown>): Operation => async (it) => {
    const records = await it.getObservationalMemoryHistory(threadId, resourceId);
    return records.length > 0 ? run(it, records[tokens % records.length]!) : null;
  };
  const fresh = { threadId, resourceId, scope: threadId ? "thread" : "resource", config: { a: { b: 1 } }, observedTimezone: "UTC" };
  const operations: [string, Operation][] = [
    ["initialize", (it) => it.initializeObservationalMemory(fresh as never)],
    ["history", (it) => it.getObservationalMemoryHistory(threadId, resourceId, pick(() => tokens % 2, [undefined, 2]), { to: at })],
    ["observe", of((it, { id }) => it.updateActiveObservations({ id, observations: text, tokenCount: tokens, lastObservedAt: at }))],
    ["buffer", of((it, { id }) => it.updateBufferedObservations({ id, chunk, lastBufferedAtTime: at } as never))],
    ["activate", of((it, { id }) => it.swapBufferedToActive({ id, ...swap } as never))],
    ["reflect", of((it, currentRecord) => it.createReflectionGeneration({ currentRecord, reflection: text, tokenCount: tokens }))],
    ["insert", of((it, record) => it.insertObservationalMemoryRecord({ ...record, id: `r${tokens}`, generationCount: tokens % 3 }))],
    ["buffer a reflection", of((it, { id }) => it.updateBufferedReflection({ id, reflection: text, tokenCount: tokens, inputTokenCount: 3, reflectedObservationLineCount: 1 }))],
    ["activate a reflection", of((it, currentRecord) => it.swapBufferedReflectionToActive({ currentRecord, tokenCount: tokens }))],
    ["flags", of(async (it, { id }) => {
      await it.setReflectingFlag(id, flag);
      await it.setObservingFlag(id, !flag);
      await it.setBufferingObservationFlag(id, flag, tokens);
      await it.setBufferingReflectionFlag(id, flag);
      await it.setPendingMessageTokens(id, tokens);
    })],
    ["configure", of((it, { id }) => it.updateObservationalMemoryConfig({ id, config: { a: { c: tokens } } } as never))],
    ["of none", (it) => it.setObservingFlag("none", flag)],
  ];
  if (tokens < 25) operations.splice(0, Number.POSITIVE_INFINITY, ["clear", (it) => it.clearObservationalMemory(threadId, resourceId)]);
  return pick(draw, operations);
}

test("what is observed is kept as Mastra's own memory keeps it", async (t) => {
  const times = Number(process.env["GRAINSTORE_TIMES"] ?? 1);
  const tick = clock(t);
  for (let seed = 0; seed < 8 * times; seed++) {
    const draw = random(seed);
    const { mastra: ours } = await grainMemory(t);
    const theirs = new InMemoryMemory({ db: new InMemoryDB() });
    const told: string[] = [];
    for (let round = 0; round < 40; round++) {
      const [name, run] = observing(draw);
      told.push(name);
      tick();
      const expected = await outcome(() => run(theirs));
      assert.equal(await outcome(() => run(ours)), expected, `seed ${seed}: ${told.join(", ")}`);
      for (const [threadId, resourceId] of [[null, "ana"], ["t1", "ana"], ["t2", "ben"]] as const) {
        const [mine, other] = [ours, theirs].map((it) => outcome(() => it.getObservationalMemoryHistory(threadId, resourceId)));
        assert.equal(await mine, await other, `seed ${seed}: ${told.join(", ")}`);
      }
    }
  }
});

// The suite of Mastra's stores, restated: what it asks of any store.

test("a thread is saved, found, changed and listed", async (t) => {
  const { mastra } = await grainMemory(t);
  assert.equal(await mastra.getThreadById({ threadId: "none" }), null);
  const saved = thread("t", { metadata: { list: [1, { x: null }], text: "e\u0301" } });
  assert.deepEqual(await mastra.saveThread({ thread: saved }), saved);
  assert.deepEqual(await mastra.getThreadById({ threadId: "t" }), saved);
  assert.equal(await mastra.getThreadById({ threadId: "t", resourceId: "ben" }), null);
  const changed = await mastra.updateThread({ id: "t", metadata: { more: true } });
  assert.deepEqual([changed.title, changed.metadata], ["About t", { ...saved.metadata, more: true }]);
  assert.ok(changed.updatedAt > changed.createdAt);
  assert.deepEqual(await mastra.getThreadById({ threadId: "t" }), changed);
  assert.equal((await mastra.patchThread({ id: "t", title: "Tea" })).title, "Tea");
  await assert.rejects(mastra.updateThread({ id: "none", title: "x" }), /none not found/);
});

test("a thread without a title or metadata comes back", async (t) => {
  const { mastra } = await grainMemory(t);
  const { title: _title, metadata: _metadata, ...bare } = thread("t");
  await mastra.saveThread({ thread: bare });
  assert.deepEqual(await mastra.getThreadById({ threadId: "t" }), bare);
});

test("threads are listed in pages, in the order that is asked for", async (t) => {
  const { mastra } = await grainMemory(t);
  const at = (minutes: number) => new Date(START + minutes * 60_000);
  for (const [n, of] of [0, 1, 2, 3, 4].entries()) {
    await mastra.saveThread({ thread: thread(`t${n}`, { createdAt: at(of), updatedAt: at(10 - of), resourceId: n === 4 ? "ben" : "ana" }) });
  }
  const filter = { resourceId: "ana" };
  const list = async (args: Parameters<MemoryStorage["listThreads"]>[0]) => {
    const { threads, ...page } = await mastra.listThreads({ filter, ...args });
    return { ids: threads.map(({ id }) => id), ...page };
  };
  assert.deepEqual(await list({}), { ids: ["t3", "t2", "t1", "t0"], total: 4, page: 0, perPage: 100, hasMore: false });
  assert.deepEqual(await list({ page: 1, perPage: 3 }), { ids: ["t0"], total: 4, page: 1, perPage: 3, hasMore: false });
  assert.deepEqual(await list({ perPage: 2 }), { ids: ["t3", "t2"], total: 4, page: 0, perPage: 2, hasMore: true });
  assert.equal((await list({ perPage: false })).perPage, false);
  assert.deepEqual((await list({ orderBy: { field: "updatedAt", direction: "ASC" } })).ids, ["t3", "t2", "t1", "t0"]);
  assert.equal((await list({ filter: {} })).total, 5);
  await assert.rejects(list({ page: -1 }), /page/);
  await assert.rejects(list({ perPage: -1 }), /perPage/);
  await assert.rejects(list({ page: 1, perPage: false }), /page/);
});

test("threads are found by their metadata", async (t) => {
  const { mastra } = await grainMemory(t);
  await mastra.saveThread({ thread: thread("a", { metadata: { kind: "work", at: { x: 1 } } }) });
  await mastra.saveThread({ thread: thread("b", { metadata: { kind: "work", n: 1 } }) });
  const found = async (metadata: Record<string, unknown>) =>
    (await mastra.listThreads({ filter: { metadata }, orderBy: { direction: "ASC" } })).threads.map(({ id }) => id);
  assert.deepEqual(await found({ kind: "work" }), ["a", "b"]);
  assert.deepEqual(await found({ kind: "work", n: 1 }), ["b"]);
  assert.deepEqual(await found({ at: { x: 1 } }), ["a"]);
  assert.deepEqual(await found({ none: 1 }), []);
  for (const key of ["a b", "x'; DROP TABLE threads", "__proto__", "1st"]) {
    await assert.rejects(found(JSON.parse(`{${JSON.stringify(key)}: 1}`)), /metadata key/i);
  }
});

test("messages come back as they were, in the order of their times", async (t) => {
  const { mastra } = await grainMemory(t);
  await mastra.saveThread({ thread: thread("t") });
  assert.deepEqual(await mastra.saveMessages({ messages: [] }), { messages: [] });
  const content = {
    format: 2 as const,
    parts: [
      { type: "text" as const, text: "e\u0301 \u0000 \ud83c\udf75" },
      { type: "tool-invocation" as const, toolInvocation: { state: "result" as const, toolCallId: "c", toolName: "f", args: { x: null }, result: [null] } },
    ],
    metadata: { nothing: null },
  };
  const said = [message("b", "t", 2, { role: "assistant", content: content as never }), message("a", "t", 1), message("c", "t", 3, { role: "system" })];
  await mastra.saveMessages({ messages: structuredClone(said) });
  const { messages } = await mastra.listMessages({ threadId: "t" });
  assert.deepEqual(messages, [said[1], said[0], said[2]]);
  assert.deepEqual(ids(await mastra.listMessagesById({ messageIds: ["b", "none", "a"] })).sort(), ["a", "b"]);
  assert.deepEqual(ids(await mastra.listMessages({ threadId: "none" })), []);
});

test("messages are listed in pages", async (t) => {
  const { mastra } = await talk(t, 45);
  const list = async (more: object) => {
    const { messages, ...page } = await mastra.listMessages({ threadId: "t", ...more });
    return { first: messages[0]?.id, count: messages.length, ...page };
  };
  assert.deepEqual(await list({}), { first: "m0", count: 40, total: 45, page: 0, perPage: 40, hasMore: true });
  assert.deepEqual(await list({ page: 1 }), { first: "m40", count: 5, total: 45, page: 1, perPage: 40, hasMore: false });
  assert.deepEqual(await list({ page: 9 }), { first: undefined, count: 0, total: 45, page: 9, perPage: 40, hasMore: false });
  assert.deepEqual(await list({ perPage: false }), { first: "m0", count: 45, total: 45, page: 0, perPage: false, hasMore: false });
  assert.deepEqual(await list({ perPage: 0 }), { first: undefined, count: 0, total: 0, page: 0, perPage: 0, hasMore: false });
  const newest = { perPage: 2, orderBy: { field: "createdAt", direction: "DESC" } };
  assert.deepEqual(await list(newest), { first: "m44", count: 2, total: 45, page: 0, perPage: 2, hasMore: true });
  for (const wrong of [{ page: -1 }, { perPage: -1 }, { perPage: 0.5 }, { page: 0.5 }, { threadId: "" }, { threadId: " " }, { threadId: [] }]) {
    await assert.rejects(list(wrong), JSON.stringify(wrong));
  }
});

test("messages of one time stay in the order in which they came", async (t) => {
  const { mastra } = await talk(t, 0);
  await mastra.saveMessages({ messages: ["c", "a", "b", "d"].map((id) => message(id, "t", 1)) });
  await mastra.updateMessages({ messages: [{ id: "c", role: "assistant" }] });
  const list = async (direction: "ASC" | "DESC", page: number) =>
    ids(await mastra.listMessages({ threadId: "t", perPage: 2, page, orderBy: { field: "createdAt", direction } }));
  assert.deepEqual([await list("ASC", 0), await list("ASC", 1)], [["c", "a"], ["b", "d"]]);
  assert.deepEqual([await list("DESC", 0), await list("DESC", 1)], [["c", "a"], ["b", "d"]]);
});

test("messages are found by time and by metadata", async (t) => {
  const { mastra } = await talk(t, 6);
  const at = (minutes: number) => new Date(START + minutes * 60_000);
  const list = async (filter: object) => ids(await mastra.listMessages({ threadId: "t", filter }));
  assert.deepEqual(await list({ dateRange: { start: at(2), end: at(4) } }), ["m2", "m3", "m4"]);
  assert.deepEqual(await list({ dateRange: { start: at(2), end: at(4), startExclusive: true, endExclusive: true } }), ["m3"]);
  assert.deepEqual(await list({ dateRange: { start: at(5) } }), ["m5"]);
  assert.deepEqual(await list({ dateRange: { start: at(4), end: at(2) } }), []);
  await mastra.updateMessages({ messages: [{ id: "m3", content: { metadata: { kind: "work", n: 1 } } as never }] });
  assert.deepEqual(await list({ metadata: { kind: "work" } }), ["m3"]);
  assert.deepEqual(await list({ metadata: { n: "1" } }), []);
  await assert.rejects(list({ metadata: { "a b": 1 } }), TypeError);
  await assert.rejects(list({ metadata: { a: {} } }), TypeError);
});

test("messages around others are added, of other threads too", async (t) => {
  const { mastra } = await talk(t, 8);
  await mastra.saveThread({ thread: thread("other") });
  await mastra.saveMessages({ messages: [0, 1, 2].map((n) => message(`o${n}`, "other", n, { resourceId: "ben" })) });
  const include = [{ id: "m5", withPreviousMessages: 1, withNextMessages: 2 }];
  const list = (more: object) => mastra.listMessages({ threadId: "t", perPage: 2, include, ...more });
  const page = await list({});
  assert.deepEqual([ids(page), page.total, page.hasMore], [["m0", "m1", "m4", "m5", "m6", "m7"], 8, true]);
  assert.deepEqual(ids(await list({ perPage: 0 })), ["m4", "m5", "m6", "m7"]);
  assert.equal((await list({ perPage: 5 })).hasMore, false);
  assert.deepEqual(ids(await list({ include: [{ id: "none" }] })), ["m0", "m1"]);
  const others = { perPage: 0, include: [{ id: "o1", withPreviousMessages: 5, withNextMessages: 5 }] };
  assert.deepEqual(ids(await list(others)), ["o0", "o1", "o2"]);
  // A resource is a boundary.
  assert.deepEqual(ids(await list({ ...others, resourceId: "ana" })), []);
});

test("a message that is saved again is the same message", async (t) => {
  const { store, mastra } = await talk(t, 2);
  await mastra.saveMessages({ messages: [message("m0", "t", 0, { role: "assistant" })] });
  const { messages, total } = await mastra.listMessages({ threadId: "t" });
  assert.deepEqual([messages.map(({ role }) => role), total], [["assistant", "user"], 2]);
  const [hit] = await store.search("m0");
  assert.deepEqual((await store.history(hit!.address)).map(({ grain }) => grain.get("role")), ["user", "assistant"]);
  await mastra.saveMessages({ messages: [message("m0", "t", 0, { role: "assistant" })] });
  assert.equal((await store.history(hit!.address)).length, 2);
});

test("messages are saved all or none", async (t) => {
  const { mastra } = await talk(t, 1);
  const bad = { ...message("bad", "t", 3), resourceId: null as never };
  await assert.rejects(mastra.saveMessages({ messages: [message("good", "t", 2), bad] }), /null/);
  const { threadId: _threadId, ...nowhere } = message("nowhere", "t", 2);
  await assert.rejects(mastra.saveMessages({ messages: [message("good", "t", 2), nowhere] }), /threadId/);
  assert.deepEqual(ids(await mastra.listMessages({ threadId: "t" })), ["m0"]);
});

test("an update changes what it names, and may move a message", async (t) => {
  const { mastra } = await talk(t, 3);
  await mastra.saveThread({ thread: thread("other") });
  await mastra.updateMessages({ messages: [{ id: "m1", content: { metadata: { a: 1 } } as never }] });
  const [updated] = await mastra.updateMessages({
    messages: [{ id: "m1", threadId: "other", content: { metadata: { b: 2 }, content: "new" } as never }, { id: "none", role: "user" }],
  });
  assert.deepEqual(updated!.content, { ...message("m1", "t", 1).content, metadata: { a: 1, b: 2 }, content: "new" });
  assert.deepEqual(ids(await mastra.listMessages({ threadId: "t" })), ["m0", "m2"]);
  assert.deepEqual(ids(await mastra.listMessages({ threadId: "other" })), ["m1"]);
});

test("what is said renews its thread", async (t) => {
  const { mastra } = await talk(t, 2);
  const last = async () => (await mastra.getThreadById({ threadId: "t" }))!.updatedAt;
  const changes = [
    () => mastra.saveMessages({ messages: [message("new", "t", 9)] }),
    () => mastra.updateMessages({ messages: [{ id: "new", role: "assistant" }] }),
    () => mastra.deleteMessages(["new"]),
  ];
  for (const change of changes) {
    const before = await last();
    await change();
    assert.ok((await last()) > before);
  }
  const before = await last();
  await mastra.deleteMessages(["none"]);
  await mastra.deleteMessages([]);
  assert.deepEqual(await last(), before);
});

test("messages of a resource are those of all its threads", async (t) => {
  const { mastra } = await talk(t, 2);
  await mastra.saveMessages({ messages: [message("x", "other", 5), message("y", "other", 6, { resourceId: "ben" })] });
  const { messages, total } = await mastra.listMessagesByResourceId({ resourceId: "ana" });
  assert.deepEqual([messages.map(({ id }) => id), total], [["m0", "m1", "x"], 3]);
});

test("what is deleted is erased with its versions", async (t) => {
  const { store, mastra } = await talk(t, 5);
  await mastra.saveThread({ thread: thread("other") });
  await mastra.saveMessages({ messages: [message("kept", "other", 1)] });
  await mastra.updateMessages({ messages: [{ id: "m1", role: "assistant" }] });
  await mastra.deleteMessages(["m1", "m2"]);
  assert.deepEqual(ids(await mastra.listMessages({ threadId: "t" })), ["m0", "m3", "m4"]);
  assert.equal((await store.search("m1 OR m2", { superseded: "include" })).total, 0);
  await mastra.deleteThread({ threadId: "t" });
  assert.equal(await mastra.getThreadById({ threadId: "t" }), null);
  assert.equal(await store.count({ session: "t", superseded: "include" }), 0);
  assert.deepEqual(ids(await mastra.listMessages({ threadId: "other" })), ["kept"]);
  await mastra.deleteThread({ threadId: "t" });
  await store.remember("not of Mastra");
  await mastra.dangerouslyClearAll();
  assert.equal(await store.count({ superseded: "include" }), 1);
});

test("a thread is cloned, whole or in part", async (t) => {
  const { mastra } = await talk(t, 5);
  const whole = await mastra.cloneThread({ sourceThreadId: "t", metadata: { why: "test" } });
  assert.deepEqual(whole.clonedMessages.map(({ content }) => content), [0, 1, 2, 3, 4].map((n) => message(`m${n}`, "t", n).content));
  assert.equal(new Set([...ids({ messages: whole.clonedMessages }), "m0", "m1", "m2", "m3", "m4"]).size, 10);
  assert.deepEqual([whole.thread.title, whole.thread.resourceId], ["Clone of About t", "ana"]);
  assert.equal((whole.thread.metadata!["clone"] as { lastMessageId: string }).lastMessageId, "m4");
  assert.equal(whole.messageIdMap!["m0"], whole.clonedMessages[0]!.id);
  const clone = async (options: object) =>
    (await mastra.cloneThread({ sourceThreadId: "t", options })).clonedMessages.map(({ createdAt }) => (+createdAt - START) / 60_000);
  assert.deepEqual(await clone({ messageLimit: 2 }), [3, 4]);
  const [startDate, endDate] = [new Date(START + 60_000), new Date(START + 180_000)];
  assert.deepEqual(await clone({ messageFilter: { startDate, endDate } }), [1, 2, 3]);
  assert.deepEqual(await clone({ messageFilter: { messageIds: ["m3", "m0"] } }), [0, 3]);
  const theirs = await mastra.cloneThread({ sourceThreadId: "t", newThreadId: "mine", title: "Mine", resourceId: "ben" });
  assert.deepEqual([theirs.thread.id, theirs.thread.title, theirs.clonedMessages[0]!.resourceId], ["mine", "Mine", "ben"]);
  await assert.rejects(mastra.cloneThread({ sourceThreadId: "none" }), /not found/);
  await assert.rejects(mastra.cloneThread({ sourceThreadId: "t", newThreadId: "mine" }), /already exists/);
});

test("a thread goes to another resource with its messages", async (t) => {
  const { mastra } = await talk(t, 2);
  await mastra.updateThreadResourceId({ threadId: "t", resourceId: "ben" });
  assert.equal((await mastra.getThreadById({ threadId: "t" }))!.resourceId, "ben");
  assert.equal((await mastra.listMessagesByResourceId({ resourceId: "ben" })).total, 2);
  assert.equal((await mastra.listMessagesByResourceId({ resourceId: "ana" })).total, 0);
});

test("a resource keeps its working memory and its metadata", async (t) => {
  const { store, mastra } = await grainMemory(t);
  assert.equal(await mastra.getResourceById({ resourceId: "ana" }), null);
  const made = await mastra.updateResource({ resourceId: "ana", workingMemory: "# Ana\n- drinks tea" });
  assert.deepEqual(await mastra.getResourceById({ resourceId: "ana" }), made);
  const changed = await mastra.updateResource({ resourceId: "ana", metadata: { a: 1 } });
  assert.deepEqual([changed.workingMemory, changed.metadata], ["# Ana\n- drinks tea", { a: 1 }]);
  const resource = { ...changed, workingMemory: "# Ana\n- drinks coffee" };
  await mastra.saveResource({ resource });
  assert.deepEqual(await mastra.getResourceById({ resourceId: "ana" }), resource);
  assert.equal((await store.search("coffee", { user: "ana" })).total, 1);
  assert.equal((await store.search("tea", { user: "ana" })).total, 0);
});

test("changes at once to one thread are all kept", async (t) => {
  const { mastra } = await talk(t, 1);
  const changes = Array.from({ length: 20 }, (_, n) => mastra.updateThread({ id: "t", metadata: { [`k${n}`]: n } }));
  await Promise.all([...changes, mastra.saveMessages({ messages: [message("m1", "t", 1)] })]);
  assert.equal(Object.keys((await mastra.getThreadById({ threadId: "t" }))!.metadata!).length, 20);
  const count = (thread_: StorageThreadType) => ({ n: ((thread_.metadata!["n"] as number | undefined) ?? 0) + 1 });
  await Promise.all([1, 2, 3, 4].map(() => mastra.updateThreadMetadata({ id: "t", update: count })));
  assert.equal((await mastra.getThreadById({ threadId: "t" }))!.metadata!["n"], 4);
});

test("two memories of one folder keep each other's changes", async (t) => {
  const path = join(folder(t), "memory.grains");
  await using one = await Store.open(path);
  await using two = await Store.open(path);
  const [here, there] = [new GrainMemory(one), new GrainMemory(two)];
  await here.saveThread({ thread: thread("t") });
  const changes = Array.from({ length: 10 }, (_, n) => [here, there][n % 2]!.updateThread({ id: "t", metadata: { [`k${n}`]: n } }));
  await Promise.all(changes);
  assert.equal(Object.keys((await there.getThreadById({ threadId: "t" }))!.metadata!).length, 10);
  assert.equal((await here.listThreads({})).total, 1);
});

// What a store of grains adds.

test("what was said to Mastra is found with everything else", async (t) => {
  const { store, mastra } = await talk(t, 0);
  const content = { format: 2 as const, parts: [{ type: "text" as const, text: "I moved to Porto" }] };
  await mastra.saveMessages({ messages: [message("m", "t", 1, { content })] });
  const found = await store.recall("Where did Ana move?", { user: "ana" });
  assert.deepEqual(found.lines.map((line) => [line.text, line.speaker]), [["I moved to Porto", "user"]]);
  assert.equal(found.lines[0]!.time.getTime(), START + 60_000);
  await store.erasePerson("ana", { reason: "request 17", authority: "the DPO" });
  assert.equal((await mastra.listMessages({ threadId: "t" })).total, 0);
});

test("a message of any size is kept, and erased whole", async (t) => {
  const { store, mastra } = await talk(t, 1);
  const text = "ü\ud83c\udf75 tea ".repeat(200_000);
  const content = { format: 2 as const, parts: [{ type: "text" as const, text }] };
  await mastra.saveMessages({ messages: [message("large", "t", 1, { content }), message("small", "t", 2)] });
  assert.deepEqual((await mastra.listMessages({ threadId: "t" })).messages[1]!.content, content);
  await mastra.updateMessages({ messages: [{ id: "large", role: "assistant" }] });
  await mastra.updateMessages({ messages: [{ id: "large", content: { content: "", parts: [] } as never }] });
  await mastra.deleteMessages(["large"]);
  assert.equal(await store.count({ namespace: "mastra:parts" }), 0);
  await mastra.saveMessages({ messages: [message("large", "t", 1, { content })] });
  await store.erasePerson("ana", { reason: "request 17", authority: "the DPO" });
  assert.equal(await store.count({ superseded: "include" }), 0);
});

test("a handle that may not write keeps Mastra from it", async (t) => {
  const { store, mastra } = await talk(t, 1);
  const reader = new GrainMemory(store.readOnly());
  assert.equal((await reader.listMessages({ threadId: "t" })).total, 1);
  await assert.rejects(reader.saveThread({ thread: thread("u") }), errors.AccessDenied);
  const ben = new GrainMemory(store.ofUser("ben"));
  assert.equal(await ben.getThreadById({ threadId: "t" }), null);
  assert.equal((await mastra.listThreads({})).total, 1);
});

test("a composite store of Mastra takes the memory", async (t) => {
  const { mastra } = await grainMemory(t);
  const composite = new MastraCompositeStore({ id: "agents", domains: { memory: mastra } });
  await composite.init();
  assert.equal(await composite.getStore("memory"), mastra);
});
