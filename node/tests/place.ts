// What the tests share.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

import { Store } from "grainstore";

export const NOWHERE = "0".repeat(64);

/** Returns a folder that is gone after the test. */
export function folder(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), "grainstore-"));
  t.after(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** Returns a store in memory that is closed after the test. */
export async function memory(t: TestContext, options = {}): Promise<Store> {
  const store = await Store.inMemory(options);
  t.after(() => store.close());
  return store;
}

/** Stores a belief about Ana. */
export function likes(store: Store, object = "tea", more = {}): Promise<string> {
  return store.remember(object, { subject: "ana", relation: "likes", ...more });
}

/** Returns what a feed has. */
export async function all<T>(of: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of of) found.push(one);
  return found;
}

/** Returns numbers that follow from a seed (mulberry32). */
export function random(seed: number): (below: number) => number {
  return (below) => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
