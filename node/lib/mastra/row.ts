import { randomBytes } from "node:crypto";

import { ascii, NAME_MAX, short } from "../names.js";
import type { Grain } from "../native/index.cjs";
import type { Conditions, Fields } from "../options.js";
import { Records } from "../record.js";
import type { Store } from "../store.js";
import { eraseVersions, putNext } from "../versions.js";

/** A kind of rows. */
export interface Kind<T> {
  name: string;
  idOf(value: T): string;
  /** Returns the grain of a row, besides its JSON. */
  toGrain(value: T): Fields;
  /** Returns a row of JSON with the dates that it has. */
  revive(value: T): T;
}

/** A row of Mastra, in the grain that is its current version. */
export interface Row<T> {
  address: string;
  value: T;
  /** The place of the row among all, which a new version keeps. */
  order: number;
  /** Whether a version of it has its JSON in grains of its own. */
  isLarge: boolean;
}

/** JSON that is longer is kept apart: a grain has at most 1 MiB, and the text of a row beside its JSON. */
const JSON_MAX = 500_000;

/** The JSON of a row as a record: its thread is the row, and it is of a revision. */
const PART = { kind: "value", namespace: "", told: {}, coding: "json" } as const;

/** The rows of one kind below a namespace of grains. */
export class Rows<T extends object> {
  readonly #store: Store;
  readonly #root: string;
  readonly #kind: Kind<T>;
  readonly #parts: Records;
  #newest = 0;

  constructor(store: Store, root: string, kind: Kind<T>) {
    this.#store = store;
    this.#root = root;
    this.#kind = kind;
    this.#parts = new Records(store, `${root}:parts`);
  }

  /** Returns the row of an id. */
  async get(id: string): Promise<Row<T> | undefined> {
    return (await this.#current(id))[0];
  }

  /** Returns the pages of the rows that satisfy conditions. */
  async *pages(
    conditions: Conditions & { sort?: string; page?: number } = {},
  ): AsyncGenerator<{ rows: Row<T>[]; total: number }> {
    for await (const page of this.#store.pages({ namespace: this.#root, tag: this.#tag, ...conditions })) {
      yield { rows: await this.#rows(page), total: page.total };
    }
  }

  /** Returns the rows that satisfy conditions, in the order in which they came. */
  async all(conditions: Conditions = {}): Promise<Row<T>[]> {
    const found: Row<T>[] = [];
    for await (const { rows } of this.pages(conditions)) found.push(...rows);
    return found.sort((one, two) => one.order - two.order);
  }

  /** Stores rows: those that are not there together, next versions of the others one by one. */
  async put(values: readonly T[]): Promise<void> {
    const byId = new Map(values.map((value) => [this.#kind.idOf(value), value]));
    const known = await Promise.all([...byId.keys()].map((id) => this.#current(id)));
    const rows = [...byId.values()].map((value, at) => ({ value, current: known[at]! }));
    const fresh = rows.filter(({ current }) => current.length === 0);
    if (fresh.length > 0) await this.#store.putBatch(await this.grains(fresh.map(({ value }) => value)));
    for (const { value, current } of rows) {
      if (current.length > 0) await this.#replace(current, () => value);
    }
  }

  /** Stores the next version of the row of an id and returns it; `undefined` if there is none. */
  async change(id: string, change: (value: T) => T): Promise<T | undefined> {
    const known = await this.#current(id);
    if (known.length === 0) return undefined;
    return this.#replace(known, (current) => current && change(current));
  }

  /** Returns the grains of new rows. */
  async grains(values: readonly T[]): Promise<Fields[]> {
    const grains: Fields[] = [];
    for (const value of values) grains.push(await this.#grain(value));
    return grains;
  }

  /** Erases rows, all their versions, from the files. */
  async erase(rows: readonly Row<T>[]): Promise<void> {
    const large = rows.filter(({ isLarge }) => isLarge).map(({ value }) => this.#entity(this.#kind.idOf(value)));
    const parts = await Promise.all(large.map((entity) => this.#parts.ofThread(entity)));
    await eraseVersions(this.#store, rows, parts.flat().flatMap(({ addresses = [] }) => addresses));
  }

  /** Stores the next version of a row, unless it is as it was; of several that were put at once, one remains. */
  async #replace(
    [first, ...others]: readonly Row<T>[],
    change: (value: T | undefined) => T | undefined,
  ): Promise<T | undefined> {
    let changed = change(first!.value);
    if (ascii(changed) !== ascii(first!.value)) {
      const again = () => this.get(this.#kind.idOf(first!.value));
      await putNext(this.#store, first, again, (current) => {
        changed = change(current?.value);
        return changed && this.#grain(changed, current);
      });
    }
    await this.erase(others);
    return changed;
  }

  /** Returns the current version of a row; two that were put at once are both current. */
  async #current(id: string): Promise<Row<T>[]> {
    const found = await this.#store.queryPage({ entity: this.#entity(id), tag: this.#tag, namespace: this.#root });
    return this.#rows(found);
  }

  async #grain(value: T, current?: Row<T>): Promise<Fields> {
    const { context, ...fields } = this.#kind.toGrain(value);
    const [entity, json, revision] = [this.#entity(this.#kind.idOf(value)), ascii(value), randomBytes(8).toString("hex")];
    const isLarge = json.length > JSON_MAX;
    if (isLarge) {
      const data = Buffer.from(json);
      await this.#parts.put([{ ...PART, thread: entity, of: revision, data, user: fields["user_id"] }]);
    }
    return {
      namespace: this.#root,
      entity_id: entity,
      structural_tags: [this.#tag],
      ...fields,
      context: {
        ...context,
        // Members whose names begin with `x-` are not searched.
        "x-json": isLarge ? undefined : json,
        "x-order": current?.order ?? this.#next(),
        "x-large": isLarge || current?.isLarge || undefined,
        // A row that was deleted may come again.
        "x-revision": revision,
      },
    };
  }

  #rows(found: Iterable<{ grain: Grain }>): Promise<Row<T>[]> {
    return Promise.all([...found].map(({ grain }) => this.#row(grain)));
  }

  async #row(grain: Grain): Promise<Row<T>> {
    const { "x-json": json, "x-order": order, "x-large": isLarge = false, "x-revision": revision } = grain.get("context");
    const read = json ?? (await this.#apart(grain.get("entity_id"), revision));
    return { address: grain.address, value: this.#kind.revive(JSON.parse(read)), order, isLarge };
  }

  async #apart(entity: string, revision: string): Promise<string> {
    const [part] = await this.#parts.of(PART.kind, entity, PART.namespace, revision);
    return Buffer.from(part!.data).toString();
  }

  #next(): number {
    this.#newest = Math.max(this.#newest + 1, Date.now() * 1_000);
    return this.#newest;
  }

  #entity(id: string): string {
    return short([this.#root, this.#kind.name, id]);
  }

  get #tag(): string {
    return `${this.#root}:${this.#kind.name}`;
  }
}

/** Returns an id as a field of grains has it: the id itself, if that keeps it as it is. */
export function named(id: string): string {
  return id.length <= NAME_MAX / 4 && /^\P{C}+$/u.test(id) && id.normalize() === id ? id : short([id]);
}
