// A thread of `load.test.ts` that stores notes.
import { parentPort, workerData } from "node:worker_threads";

import { Store } from "grainstore";

const { path, number, forever } = workerData as { path: string; number: number; forever?: boolean };
const store = await Store.open(path);
for (let n = 0; forever || n < 20; n++) {
  await store.remember(`thread ${number}, note ${n}`);
  if (n === 3) parentPort?.postMessage("at work");
}
await store.close();
