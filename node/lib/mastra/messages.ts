import {
  type StorageCloneThreadInput,
  type StorageListMessagesInput,
  storageMessageMatchesMetadataFilter,
  validateStorageMetadataFilter,
} from "@mastra/core/storage";

import type { Conditions, Fields } from "../options.js";
import type { Message } from "./kinds.js";
import { named, type Row, type Rows } from "./row.js";

type Filter = StorageListMessagesInput["filter"];
type Around = NonNullable<StorageListMessagesInput["include"]>[number];
type Direction = "ASC" | "DESC";

/** So many rows are read at once. */
const PAGE_MAX = 500;

/** The messages of all threads, in the order of their times. */
export class Messages {
  readonly #rows: Rows<Message>;

  constructor(rows: Rows<Message>) {
    this.#rows = rows;
  }

  /** Returns the rows of ids, in their order, without those that are not there. */
  async rows(ids: readonly string[]): Promise<Row<Message>[]> {
    const rows = await Promise.all([...new Set(ids)].map((id) => this.#rows.get(id)));
    return rows.filter((row) => row !== undefined);
  }

  /** Returns the messages of ids. */
  async of(ids: readonly string[]): Promise<Message[]> {
    return (await this.rows(ids)).map(valueOf);
  }

  /** Returns the rows of a thread. */
  ofThread(threadId: string): Promise<Row<Message>[]> {
    return this.#rows.all({ session: named(threadId) });
  }

  /**
   * Returns the first messages of scopes that pass a filter, at least `count` if there are so many, and how
   * many pass.
   */
  async first(
    scopes: readonly Conditions[],
    filter: Filter,
    direction: Direction,
    count: number,
  ): Promise<{ messages: Message[]; total: number }> {
    const metadata = validateStorageMetadataFilter(filter?.metadata);
    const passes = ({ value }: Row<Message>) => storageMessageMatchesMetadataFilter(value.content, metadata);
    const rows: Row<Message>[] = [];
    let total = 0;
    for (const scope of scopes) {
      const conditions = { ...scope, ...within(filter?.dateRange) };
      const of = await this.#first(conditions, direction, metadata === undefined ? count : Number.POSITIVE_INFINITY);
      const found = of.rows.filter(passes);
      rows.push(...found);
      total += metadata === undefined ? of.total : found.length;
    }
    return { messages: rows.sort(byTime(direction)).map(valueOf), total };
  }

  /** Returns a message and those around it in its thread; none if it is not in the scope. */
  async around({ id, withPreviousMessages = 0, withNextMessages = 0 }: Around, scope: Conditions): Promise<Message[]> {
    const target = await this.#rows.get(id);
    if (target === undefined) return [];
    const { threadId, createdAt } = target.value;
    const conditions = { ...scope, session: named(threadId) };
    const time = createdAt.getTime();
    const beside = await Promise.all([
      this.#first({ ...conditions, until: time - 1 }, "DESC", withPreviousMessages),
      this.#first({ ...conditions, since: time, until: time }, "ASC", Number.POSITIVE_INFINITY),
      this.#first({ ...conditions, since: time + 1 }, "ASC", withNextMessages),
    ]);
    const rows = beside.flatMap((it) => it.rows).sort(byTime("ASC"));
    const at = rows.findIndex(({ value }) => value.id === id);
    if (at === -1) return [];
    return rows.slice(Math.max(0, at - withPreviousMessages), at + withNextMessages + 1).map(valueOf);
  }

  /** Returns the messages of a thread that a copy is to have. */
  async chosen(threadId: string, options: StorageCloneThreadInput["options"] = {}): Promise<Message[]> {
    const { messageFilter: { startDate: start, endDate: end, messageIds = [] } = {}, messageLimit = 0 } = options;
    const scope = { session: named(threadId) };
    const filter = { dateRange: { start, end } };
    const { messages } = await this.first([scope], filter, "ASC", Number.POSITIVE_INFINITY);
    const ids = new Set(messageIds);
    const chosen = messages.filter(({ id }) => ids.size === 0 || ids.has(id));
    return messageLimit > 0 ? chosen.slice(-messageLimit) : chosen;
  }

  put(messages: readonly Message[]): Promise<void> {
    return this.#rows.put(messages);
  }

  grains(messages: readonly Message[]): Promise<Fields[]> {
    return this.#rows.grains(messages);
  }

  change(id: string, change: (message: Message) => Message): Promise<Message | undefined> {
    return this.#rows.change(id, change);
  }

  erase(rows: readonly Row<Message>[]): Promise<void> {
    return this.#rows.erase(rows);
  }

  /**
   * Returns the first rows in the order of time, at least `count` if there are so many: all of the last time,
   * as the store has those in the order of their newest versions.
   */
  async #first(conditions: Conditions, direction: Direction, count: number): Promise<{ rows: Row<Message>[]; total: number }> {
    const found: Row<Message>[] = [];
    const { since, until } = conditions;
    if (typeof since === "number" && typeof until === "number" && until < since) return { rows: found, total: 0 };
    const sort = direction === "ASC" ? "time" : "-time";
    let total = 0;
    for await (const page of this.#rows.pages({ ...conditions, sort, page: Math.min(PAGE_MAX, count + 1) })) {
      total = page.total;
      found.push(...page.rows);
      if (count === 0 || (found.length > count && timeOf(found.at(-1)!) !== timeOf(found[count - 1]!))) break;
    }
    return { rows: found, total };
  }
}

const valueOf = ({ value }: Row<Message>): Message => value;
const timeOf = ({ value }: Row<Message>): number => value.createdAt.getTime();

/** Returns the order of rows by time; those of one time stay in the order in which they came. */
function byTime(direction: Direction) {
  const sign = direction === "ASC" ? 1 : -1;
  return (one: Row<Message>, two: Row<Message>) => (timeOf(one) - timeOf(two)) * sign || one.order - two.order;
}

/** Returns the conditions of a range of times. */
function within(range: NonNullable<Filter>["dateRange"] = {}): Conditions {
  const { start, end, startExclusive, endExclusive } = range;
  return {
    since: start && new Date(start).getTime() + (startExclusive ? 1 : 0),
    until: end && new Date(end).getTime() - (endExclusive ? 1 : 0),
  };
}
