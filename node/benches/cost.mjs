// What the package costs, beside the library in the same run: `just cost-node` prints a line for each figure.
//
// `node --expose-gc benches/cost.mjs COMMAND...` takes the command that runs the bench `cost` of the library. An
// extension of the release profile is measured (`node build.mjs`); another one says nothing.
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { promisify } from "node:util";

import { Store } from "grainstore";

const ROUNDS = 20;

const folder = mkdtempSync(join(tmpdir(), "cost-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

/** Returns the shortest of some runs, in microseconds. */
async function shortest(run, times) {
  let best = Number.POSITIVE_INFINITY;
  for (let n = 0; n < times; n++) {
    const start = performance.now();
    await run();
    best = Math.min(best, 1e3 * (performance.now() - start));
  }
  return best;
}

/** Returns beliefs that differ. */
function beliefs(count, of) {
  return Array.from({ length: count }, (_, number) => ({
    type: "belief",
    subject: `user-${number % 97}`,
    relation: "likes",
    object: `${of} tea number ${number} from the garden of ${(number * 7919) % 1000}`,
    confidence: 0.9,
    user_id: `user-${number % 97}`,
    created_at: 1_768_471_200_000 + number,
  }));
}

/** Returns the microseconds of a get: of those one after the other, and of 1,000 at once. */
async function gets(store) {
  const addresses = await store.putBatch(beliefs(1_000, "get"));
  await store.flush();
  const inTurn = async () => {
    for (const address of addresses) await store.get(address);
  };
  // What any promise costs that is kept by libuv's pool: waking a thread, and the event loop after it.
  const pool = async () => {
    for (const _ of addresses) await promisify(randomBytes)(4);
  };
  return {
    "randomBytes(4) of Node.js": (await shortest(pool, ROUNDS)) / 1_000,
    get: (await shortest(inTurn, ROUNDS)) / 1_000,
    "get, 1,000 at once": (await shortest(() => Promise.all(addresses.map((it) => store.get(it))), ROUNDS)) / 1_000,
    "get of a list of 1,000": (await shortest(() => store.get(addresses), ROUNDS)) / 1_000,
  };
}

/** Returns the shortest microseconds of a batch of 1,000 objects. */
async function puts(store) {
  let best = Number.POSITIVE_INFINITY;
  for (let number = 0; number < ROUNDS; number++) {
    const objects = beliefs(1_000, `round ${number}`);
    await store.flush();
    best = Math.min(best, await shortest(() => store.putBatch(objects), 1));
  }
  return best;
}

/** Prints what calls cost here and in the library. */
async function beside(command) {
  const [memory, disk] = [await Store.inMemory(), await Store.open(join(folder, "puts.grains"))];
  const ours = { put_batch: await puts(memory), ...(await gets(memory)), put_batch_on_disk: await puts(disk) };
  await Promise.all([memory.close(), disk.close()]);
  const theirs = command.length > 0 ? JSON.parse(execFileSync(command[0], command.slice(1), { encoding: "utf8" })) : {};
  for (const [name, us] of Object.entries(ours)) {
    const library = theirs[name.split(/,| of/)[0]];
    const more = library === undefined ? "" : `, in the library ${library.toFixed(1)} us, ${(us - library).toFixed(1)} us more`;
    console.log(`${name}: ${us.toFixed(1)} us${more}`);
  }
}

/** Prints the delays of the event loop while a load is run over and over. */
async function delays(name, load, seconds = 4) {
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  const end = performance.now() + 1e3 * seconds;
  let calls = 0;
  histogram.enable();
  while (performance.now() < end) calls += await load();
  histogram.disable();
  // The timer that is measured sleeps a millisecond.
  const ms = (percent) => Math.max(0, histogram.percentile(percent) / 1e6 - 1).toFixed(2);
  const longest = (histogram.max / 1e6 - 1).toFixed(1);
  const rate = Math.round(calls / seconds).toLocaleString("en");
  console.log(`event loop, ${name}: ${rate} calls/s, delay p50 ${ms(50)} ms, p99 ${ms(99)} ms, longest ${longest} ms`);
}

/** Prints the delays of the event loop under each kind of calls, 64 at once, and under all. */
async function loops(store, addresses) {
  let number = 0;
  const kinds = {
    get: () => store.get(addresses[number % addresses.length]),
    search: () => store.search(`tea garden ${number % 400}`, { limit: 10 }),
    recall: () => store.recall(`tea number ${number % 400}`),
    remember: () => store.remember(`note ${number}`),
    "pages of 500": () => store.queryPage({ limit: 500 }),
    "lists of 1,000": () => store.get(addresses.slice(0, 1_000)),
    "batches of 1,000": () => store.putBatch(beliefs(1_000, `batch ${number}`)),
  };
  const many = (of) => async () => {
    await Promise.all(Array.from({ length: 64 }, () => (number++, of())));
    return 64;
  };
  for (const [name, call] of Object.entries(kinds)) await delays(name, many(call));
  const all = [kinds.get, kinds.get, kinds.get, kinds.search, kinds.recall, kinds.remember, kinds["pages of 500"]];
  await delays("all but the batches", many(() => all[number % all.length]()), 10);
}

/** Prints how long 10,000 promises take that wait at once. */
async function together(store, addresses) {
  const us = await shortest(() => Promise.all(addresses.map((address) => store.get(address))), 5);
  console.log(`${addresses.length.toLocaleString("en")} promises at once: ${(us / 1e3).toFixed(1)} ms`);
}

/** Prints how the memory grows over calls. */
async function resident(store, addresses, calls) {
  const call = async (count) => {
    for (let number = 0; number < count; number += 100) {
      const some = Array.from({ length: 99 }, (_, n) => store.get(addresses[(number + n) % addresses.length]));
      const found = await Promise.all([store.count({ subject: "user-1" }), ...some]);
      if (found.some((it) => it === null)) throw new Error("a grain is missing");
    }
  };
  const kibibytes = () => {
    globalThis.gc?.();
    return Math.round(process.memoryUsage().rss / 1_024).toLocaleString("en");
  };
  await call(calls / 10);
  const before = kibibytes();
  await call(calls);
  console.log(`memory: ${before} KiB before ${calls.toLocaleString("en")} calls, ${kibibytes()} KiB after`);
}

await beside(process.argv.slice(2));
const store = await Store.open(join(folder, "calls.grains"));
const addresses = await store.putBatch(beliefs(10_000, "first"));
await store.flush();
await together(store, addresses);
await loops(store, addresses);
await resident(store, addresses, Number(process.env.GRAINSTORE_CALLS ?? 1_000_000));
await store.close();
