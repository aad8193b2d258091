import { InMemoryDB, InMemoryMemory, MemoryStorage, type ObservationalMemoryRecord } from "@mastra/core/storage";

import type { Store } from "../store.js";
import { type Kind, named, type Row, Rows } from "./row.js";

/** A record of what was observed, with its place among those of its thread or resource: the highest is first. */
interface Ranked {
  rank: number;
  record: ObservationalMemoryRecord;
}

type Arguments<Name extends keyof MemoryStorage> = MemoryStorage[Name] extends (...given: infer Given) => unknown ? Given : never;

const OBSERVATIONS: Kind<Ranked> = {
  name: "observations",
  idOf: ({ record }) => record.id,
  toGrain: ({ record }) => ({
    type: "state",
    session_id: record.threadId ? named(record.threadId) : undefined,
    user_id: named(record.resourceId),
    recall_priority: "cold",
  }),
  revive: ({ rank, record }) => ({ rank, record: revived(record) }),
};

/**
 * What Mastra observes of conversations. Its own memory does the work on the records of a thread or resource,
 * which are read before and stored after.
 */
export abstract class Observed extends MemoryStorage {
  override readonly supportsObservationalMemory = true;
  readonly #rows: Rows<Ranked>;

  constructor(store: Store, namespace: string) {
    super();
    this.#rows = new Rows(store, namespace, OBSERVATIONS);
  }

  /** Does work after that which was begun before. */
  protected abstract inTurn<T>(work: () => Promise<T>): Promise<T>;

  override getObservationalMemory(...given: Arguments<"getObservationalMemory">) {
    return this.#ofKey(given[0], given[1], (memory) => memory.getObservationalMemory(...given));
  }

  override getObservationalMemoryHistory(...given: Arguments<"getObservationalMemoryHistory">) {
    return this.#ofKey(given[0], given[1], (memory) => memory.getObservationalMemoryHistory(...given));
  }

  override initializeObservationalMemory(...given: Arguments<"initializeObservationalMemory">) {
    const [{ threadId, resourceId }] = given;
    return this.#ofKey(threadId, resourceId, (memory) => memory.initializeObservationalMemory(...given));
  }

  override insertObservationalMemoryRecord(...given: Arguments<"insertObservationalMemoryRecord">) {
    const [{ threadId, resourceId }] = given;
    return this.#ofKey(threadId, resourceId, (memory) => memory.insertObservationalMemoryRecord(...given));
  }

  override createReflectionGeneration(...given: Arguments<"createReflectionGeneration">) {
    const { threadId, resourceId } = given[0].currentRecord;
    return this.#ofKey(threadId, resourceId, (memory) => memory.createReflectionGeneration(...given));
  }

  override swapBufferedReflectionToActive(...given: Arguments<"swapBufferedReflectionToActive">) {
    const { threadId, resourceId } = given[0].currentRecord;
    return this.#ofKey(threadId, resourceId, (memory) => memory.swapBufferedReflectionToActive(...given));
  }

  override clearObservationalMemory(...given: Arguments<"clearObservationalMemory">) {
    return this.#ofKey(given[0], given[1], (memory) => memory.clearObservationalMemory(...given));
  }

  override updateActiveObservations(...given: Arguments<"updateActiveObservations">) {
    return this.#ofId(given[0].id, (memory) => memory.updateActiveObservations(...given));
  }

  override updateBufferedObservations(...given: Arguments<"updateBufferedObservations">) {
    return this.#ofId(given[0].id, (memory) => memory.updateBufferedObservations(...given));
  }

  override swapBufferedToActive(...given: Arguments<"swapBufferedToActive">) {
    return this.#ofId(given[0].id, (memory) => memory.swapBufferedToActive(...given));
  }

  override updateBufferedReflection(...given: Arguments<"updateBufferedReflection">) {
    return this.#ofId(given[0].id, (memory) => memory.updateBufferedReflection(...given));
  }

  override setReflectingFlag(...given: Arguments<"setReflectingFlag">) {
    return this.#ofId(given[0], (memory) => memory.setReflectingFlag(...given));
  }

  override setObservingFlag(...given: Arguments<"setObservingFlag">) {
    return this.#ofId(given[0], (memory) => memory.setObservingFlag(...given));
  }

  override setBufferingObservationFlag(...given: Arguments<"setBufferingObservationFlag">) {
    return this.#ofId(given[0], (memory) => memory.setBufferingObservationFlag(...given));
  }

  override setBufferingReflectionFlag(...given: Arguments<"setBufferingReflectionFlag">) {
    return this.#ofId(given[0], (memory) => memory.setBufferingReflectionFlag(...given));
  }

  override setPendingMessageTokens(...given: Arguments<"setPendingMessageTokens">) {
    return this.#ofId(given[0], (memory) => memory.setPendingMessageTokens(...given));
  }

  override updateObservationalMemoryConfig(...given: Arguments<"updateObservationalMemoryConfig">) {
    return this.#ofId(given[0].id, (memory) => memory.updateObservationalMemoryConfig(...given));
  }

  #ofKey<T>(threadId: string | null, resourceId: string, work: (memory: InMemoryMemory) => Promise<T>): Promise<T> {
    return this.inTurn(async () => this.#done(await this.#rowsOf(threadId, resourceId), work));
  }

  #ofId<T>(id: string, work: (memory: InMemoryMemory) => Promise<T>): Promise<T> {
    return this.inTurn(async () => this.#done([await this.#rows.get(id)].filter((row) => row !== undefined), work));
  }

  /** Returns the rows of a thread, or those of a resource that are of no thread. */
  async #rowsOf(threadId: string | null, resourceId: string): Promise<Row<Ranked>[]> {
    if (threadId) return this.#rows.all({ session: named(threadId) });
    const rows = await this.#rows.all({ user: named(resourceId) });
    return rows.filter(({ value }) => !value.record.threadId);
  }

  /** Has Mastra's memory do work on the records of rows, and stores what is new. */
  async #done<T>(rows: readonly Row<Ranked>[], work: (memory: InMemoryMemory) => Promise<T>): Promise<T> {
    const before = rows.map(({ value }) => value).sort((one, two) => two.rank - one.rank);
    const db = new InMemoryDB();
    const key = "records";
    if (before.length > 0) db.observationalMemory.set(key, before.map(({ record }) => ({ ...record })));
    const memory = new InMemoryMemory({ db });
    // It asks for the records by a name that it makes of their thread or resource: here there are no others.
    Object.assign(memory, { getObservationalMemoryKey: () => key });
    const outcome = await work(memory);
    const after = db.observationalMemory.get(key) ?? [];
    await this.#rows.put(ranked(before, after));
    const ids = new Set(after.map(({ id }) => id));
    await this.#rows.erase(rows.filter(({ value }) => !ids.has(value.record.id)));
    return outcome;
  }

  /** Erases what was observed of a thread. */
  protected async forgetThread(threadId: string): Promise<void> {
    await this.#rows.erase(await this.#rowsOf(threadId, ""));
  }
}

/** Returns records in their order with ranks that keep it: a new one is ranked between those beside it. */
function ranked(before: readonly Ranked[], after: readonly ObservationalMemoryRecord[]): Ranked[] {
  const ranks = new Map(before.map(({ rank, record }) => [record.id, rank]));
  const found: Ranked[] = [];
  for (const [at, record] of [...after.entries()].reverse()) {
    const below = found.at(-1)?.rank ?? 0;
    const next = after.slice(0, at).findLast(({ id }) => ranks.has(id));
    const above = (next && ranks.get(next.id)) ?? below + 2;
    found.push({ rank: ranks.get(record.id) ?? (below + above) / 2, record });
  }
  return found;
}

/** Returns a record with its dates, which JSON has as texts. */
function revived(record: ObservationalMemoryRecord): ObservationalMemoryRecord {
  const { createdAt, updatedAt, lastObservedAt, lastBufferedAtTime, bufferedObservationChunks: chunks } = record;
  return {
    ...record,
    createdAt: new Date(createdAt),
    updatedAt: new Date(updatedAt),
    lastObservedAt: lastObservedAt && new Date(lastObservedAt),
    lastBufferedAtTime: lastBufferedAtTime && new Date(lastBufferedAtTime),
    bufferedObservationChunks: chunks?.map((chunk) => ({
      ...chunk,
      createdAt: new Date(chunk.createdAt),
      lastObservedAt: new Date(chunk.lastObservedAt),
    })),
  };
}
