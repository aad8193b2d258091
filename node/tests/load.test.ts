// Many at once, long, in threads, and in a process that is killed.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { Worker } from "node:worker_threads";

import { grains, Store } from "grainstore";

import { folder, memory } from "./place.js";

const here = import.meta.dirname ?? new URL(".", import.meta.url).pathname;

test("10,000 promises at once are all kept", async (t) => {
  const store = await memory(t);
  const notes = await store.putBatch(Array.from({ length: 1_000 }, (_, n) => grains.event(`note ${n}`)));
  const reads = Array.from({ length: 10_000 }, (_, n) => store.get(notes[n % notes.length]!));
  const found = await Promise.all(reads);
  for (const [n, grain] of found.entries()) assert.equal(grain!.get("content"), `note ${n % 1_000}`);
});

test("the event loop goes on while a store works", async (t) => {
  await using store = await Store.open(join(folder(t), "memory.grains"));
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  for (let n = 0; n < 50; n++) {
    await Promise.all(Array.from({ length: 8 }, (_, part) => store.remember(`note ${n}, part ${part}`)));
    await store.search("note");
  }
  delay.disable();
  const ms = (percent: number) => delay.percentile(percent) / 1e6;
  t.diagnostic(`delay of the event loop: p50 ${ms(50).toFixed(1)} ms, p99 ${ms(99).toFixed(1)} ms`);
  // A call that was done on the thread of the loop would hold it for every write to the disk.
  assert.ok(ms(50) < 20);
});

test("many writes at once are all there", async (t) => {
  const path = join(folder(t), "memory.grains");
  const store = await Store.open(path);
  const written = await Promise.all(Array.from({ length: 400 }, (_, n) => store.remember(`note ${n}`)));
  assert.equal(new Set(written).size, 400);
  await store.close();
  await using again = await Store.open(path);
  assert.equal(await again.count(), 400);
});

test("many calls leave the memory of the process as it is", async (t) => {
  const store = await memory(t);
  const note = await store.remember("hello", { user: "ana" });
  const rounds = Number(process.env["GRAINSTORE_TIMES"] ?? 1);
  const work = async (calls: number) => {
    for (let n = 0; n < calls; n += 100) {
      await Promise.all(Array.from({ length: 50 }, () => store.get(note)));
      await Promise.all(Array.from({ length: 50 }, () => store.count({ user: "ana" })));
    }
  };
  await work(20_000);
  const before = process.memoryUsage().rss;
  await work(30_000 * rounds);
  const grown = (process.memoryUsage().rss - before) / (1 << 20);
  t.diagnostic(`grown by ${grown.toFixed(1)} MiB in ${30_000 * rounds} calls`);
  assert.ok(grown < 48, `grown by ${grown} MiB`);
});

test("worker threads share a store", async (t) => {
  const path = join(folder(t), "memory.grains");
  await using store = await Store.open(path);
  const workers = [1, 2, 3].map(
    (number) => new Worker(join(here, "worker.js"), { workerData: { path, number } }),
  );
  const codes = await Promise.all(workers.map(async (worker) => (await once(worker, "exit"))[0] as number));
  assert.deepEqual(codes, [0, 0, 0]);
  assert.equal(await store.count(), 60);
});

test("a worker that is ended in its work does not end the process", async (t) => {
  const path = join(folder(t), "memory.grains");
  await using store = await Store.open(path);
  for (let n = 0; n < 3; n++) {
    const worker = new Worker(join(here, "worker.js"), { workerData: { path, number: n, forever: true } });
    await once(worker, "message");
    await worker.terminate();
  }
  assert.ok((await store.count()) > 0);
});

test("a process that is killed loses nothing that was acknowledged", async (t) => {
  const path = join(folder(t), "memory.grains");
  const child = spawn(process.execPath, [join(here, "writer.js"), path], { stdio: ["ignore", "pipe", "inherit"] });
  const acknowledged: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    acknowledged.push(line);
    if (acknowledged.length === 40) child.kill("SIGKILL");
  }
  await using store = await Store.open(path);
  const found = await store.get(acknowledged.filter((line) => line.length === 64));
  assert.ok(found.length >= 40);
  for (const grain of found) assert.ok(grain);
});
