import { Conflict, NotFound } from "./errors.js";
import type { Fields } from "./options.js";
import type { Store } from "./store.js";

/** So often an item is replaced again that another process has replaced meanwhile. */
const TRIES = 16;
const BATCH = 1_000;

/**
 * Stores the next version of an item, or its first one if there is none. `again` finds the version that another
 * process has put meanwhile; without a next version nothing is stored. Returns the address.
 */
export async function putNext<Item extends { address: string }, Next extends Fields | undefined>(
  store: Store,
  current: Item | undefined,
  again: () => Promise<Item | undefined>,
  next: (current: Item | undefined) => Next | Promise<Next>,
): Promise<string | Extract<Next, undefined>> {
  for (let tries = 0; tries < TRIES; tries++) {
    const grain = await next(current);
    if (grain === undefined) return undefined as Extract<Next, undefined>;
    if (current === undefined) return store.put(grain);
    try {
      return await store.supersede(current.address, grain);
    } catch (error) {
      if (!(error instanceof Conflict || error instanceof NotFound)) throw error;
      current = await again();
    }
  }
  throw new Conflict("the item is replaced again and again by other processes");
}

/** Erases all versions of items from the files, and `more` with them. */
export async function eraseVersions(
  store: Store,
  items: readonly { address: string }[],
  more: readonly string[] = [],
): Promise<void> {
  const versions = new Set(more);
  for (const { address } of items) {
    for (const { grain } of await store.history(address)) versions.add(grain.address);
  }
  await erase(store, [...versions]);
}

/** Erases grains from the files. */
export async function erase(store: Store, addresses: readonly string[]): Promise<void> {
  for (let start = 0; start < addresses.length; start += BATCH) {
    const some = addresses.slice(start, start + BATCH);
    await store.delete(some, { reason: "deleted", authority: "the agent" });
  }
}
