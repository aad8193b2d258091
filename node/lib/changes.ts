import { ask } from "./failure.js";
import * as native from "./native/index.cjs";
import type { Signalled } from "./options.js";
import { Change } from "./results.js";

/**
 * The entries of the ledger as a feed: it ends where the store ends, and goes on after that when there is
 * more.
 */
export class Changes implements AsyncIterableIterator<Change> {
  readonly #feed: Promise<native.Changes>;
  #read: native.Change[] = [];

  /** @internal */
  constructor(feed: Promise<native.Changes>) {
    this.#feed = feed;
    // It is told to the first that reads.
    feed.catch(() => undefined);
  }

  async next(): Promise<IteratorResult<Change, undefined>> {
    if (this.#read.length === 0) {
      const read = await ask(undefined, async () => (await this.#feed).next());
      this.#read = read.reverse();
    }
    const change = this.#read.pop();
    return change === undefined ? { done: true, value: undefined } : { done: false, value: new Change(change) };
  }

  /** Returns the number of the next entry: `changes({ first: position })` goes on there. */
  async position(): Promise<number> {
    const next = this.#read.at(-1);
    return next?.entry ?? (await ask(undefined, async () => (await this.#feed).position()));
  }

  /** Waits up to so many seconds until there is another entry, and returns whether there is. */
  async wait(seconds: number, { signal }: Signalled = {}): Promise<boolean> {
    if (this.#read.length > 0) return true;
    return ask(signal, async (abort) => (await this.#feed).wait(seconds, abort));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
