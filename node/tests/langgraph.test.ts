// The memory of LangGraph, compared with its own in random batches.
import assert from "node:assert/strict";
import { test } from "node:test";

import { InMemoryStore, type Item, type Operation } from "@langchain/langgraph-checkpoint";
import { GrainStore } from "grainstore/langgraph";

import { memory, random } from "./place.js";

const LABELS = ["a", "b", "users", "ü", "a%b"];
const KEYS = ["k", "k:1", "ключ", "constructor"];

function operation(draw: (below: number) => number): Operation {
  const pick = <T>(of: readonly T[]): T => of[draw(of.length)]!;
  const namespace = Array.from({ length: 1 + draw(3) }, () => pick(LABELS));
  const key = pick(KEYS);
  const prefix = namespace.slice(0, draw(namespace.length + 1));
  const filters = [undefined, { n: 1 }, { n: { $gt: 1 } }, { n: { $in: [0, 2] } }, { n: { $ne: 1, $lte: 2 } }, { text: "é" }];
  switch (draw(6)) {
    case 0:
      return { namespace, key };
    case 1:
      return { namespacePrefix: prefix, filter: pick(filters), limit: 1_000, offset: 0 };
    case 2:
      return {
        matchConditions: [{ matchType: pick(["prefix", "suffix"] as const), path: [pick([...LABELS, "*"])] }],
        maxDepth: pick([undefined, 1, 2]),
        limit: 1_000,
        offset: 0,
      };
    case 3:
      return { namespace, key, value: null };
    default:
      return { namespace, key, value: { n: draw(4), text: pick(["tea", "é", ""]), more: pick([null, [1, null], { x: null }]) } };
  }
}

/** Returns an answer without times, whose order neither promises. */
function plain(answer: unknown): unknown {
  const item = (of: Item) => JSON.stringify([of.namespace, of.key, of.value]);
  if (Array.isArray(answer)) {
    return answer.map((it: Item | string[]) => (Array.isArray(it) ? JSON.stringify(it) : item(it))).sort();
  }
  return answer ? item(answer as Item) : null;
}

test("the answers to random batches are those of InMemoryStore", async (t) => {
  const times = Number(process.env["GRAINSTORE_TIMES"] ?? 1);
  for (let seed = 0; seed < 40 * times; seed++) {
    const draw = random(seed);
    const ours = new GrainStore(await memory(t));
    const theirs = new InMemoryStore();
    for (let round = 0; round < 12; round++) {
      const batch = Array.from({ length: 1 + draw(4) }, () => operation(draw));
      // A namespace from which all was deleted is none here: those of a store that never had it.
      const live = new InMemoryStore();
      for (const { namespace, key, value } of await theirs.search([], { limit: 10_000 })) {
        await live.put(namespace, key, value);
      }
      const answers = await ours.batch(batch);
      const expected = await theirs.batch(batch);
      for (const [at, op] of batch.entries()) {
        const wanted = "matchConditions" in op ? (await live.batch([op]))[0] : expected[at];
        assert.deepEqual(plain(answers[at]), plain(wanted), `seed ${seed}, round ${round}: ${JSON.stringify(op)}`);
      }
    }
  }
});

test("an item keeps its history, and a delete erases it", async (t) => {
  const store = await memory(t);
  const memories = new GrainStore(store);
  await memories.put(["users", "ana"], "drink", { text: "green tea" });
  await memories.put(["users", "ana"], "drink", { text: "black tea" });
  const texts = (await memories.history(["users", "ana"], "drink")).map((it) => it.value["text"]);
  assert.deepEqual(texts, ["green tea", "black tea"]);
  const item = (await memories.get(["users", "ana"], "drink"))!;
  assert.ok(item.updatedAt >= item.createdAt);
  await memories.delete(["users", "ana"], "drink");
  assert.equal(await memories.get(["users", "ana"], "drink"), null);
  assert.equal(await store.count({ superseded: "include" }), 0);
});

test("a query is answered by words, and the others follow", async (t) => {
  const memories = new GrainStore(await memory(t));
  await memories.put(["a"], "1", { text: "green tea" });
  await memories.put(["a"], "2", { text: "a train" });
  await memories.put(["b"], "3", { text: "tea too" });
  const found = await memories.search(["a"], { query: "tea" });
  assert.deepEqual(found.map((it) => it.key), ["1", "2"]);
  assert.ok(found[0]!.score! > 0 && found[1]!.score === undefined);
});

test("a query is answered by the vectors of an index", async (t) => {
  const vector = (text: string) => (/tea|thirsty/.test(text) ? [1, 0.1] : [0.1, 1]);
  const embeddings = {
    embedQuery: async (text: string) => vector(text),
    embedDocuments: async (texts: string[]) => texts.map(vector),
  } as never;
  const memories = new GrainStore(await memory(t), { index: { dims: 2, embeddings, fields: ["text"] } });
  await memories.put(["a"], "1", { text: "the train was late" });
  await memories.put(["a"], "2", { text: "green tea" });
  await memories.put(["a"], "3", { text: "tea, unseen" }, false);
  const found = await memories.search(["a"], { query: "thirsty", limit: 3 });
  assert.deepEqual(found.map((it) => it.key), ["2", "1", "3"]);
  assert.ok(found[0]!.score! > 0.99 && found[2]!.score === undefined);
});

test("two puts at once leave one item", async (t) => {
  const memories = new GrainStore(await memory(t));
  await Promise.all([1, 2, 3, 4].map((n) => memories.put(["a"], "k", { n })));
  assert.equal((await memories.search(["a"])).length, 1);
  assert.equal((await memories.history(["a"], "k")).length, 4);
});

test("a namespace that LangGraph forbids is refused", async (t) => {
  const memories = new GrainStore(await memory(t));
  await assert.rejects(memories.put([], "k", {}));
  await assert.rejects(memories.put(["a.b"], "k", {}));
  await assert.rejects(memories.batch([{ namespace: ["a", ""], key: "k", value: {} }]));
});
