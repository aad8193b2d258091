import {
  BaseStore,
  type GetOperation,
  getTextAtPath,
  type IndexConfig,
  type Item,
  type ListNamespacesOperation,
  type MatchCondition,
  type Operation,
  type OperationResults,
  type PutOperation,
  type SearchItem,
  type SearchOperation,
  validateNamespace,
} from "@langchain/langgraph-checkpoint";

import type { Store } from "../store.js";
import { eraseVersions, putNext } from "../versions.js";
import { passes } from "./filter.js";
import { fromGrain, idOf, pathOf, type Stored, toGrain } from "./item.js";

type Vectors = Map<string, number[]>;

/**
 * The long-term memory of an agent: a `BaseStore` that survives the process, and that several processes
 * share. A put of a key that is there is a new version, and `history` has all; a delete erases them from the
 * files.
 *
 * Results without a query come newest first. A query is answered by vectors with an `index`, by words
 * without; items that it does not find follow without a score. A namespace without items is none.
 */
export class GrainStore extends BaseStore {
  readonly #store: Store;
  readonly #root: string;
  readonly #index: IndexConfig | undefined;
  // Puts of this process take turns: each looks which version it replaces.
  #turn: Promise<unknown> = Promise.resolve();

  /** Takes a store, the namespace of its grains, and perhaps a model for vectors. */
  constructor(store: Store, { index, namespace = "langgraph" }: { index?: IndexConfig; namespace?: string } = {}) {
    super();
    this.#store = store;
    this.#root = namespace;
    this.#index = index;
  }

  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    for (const op of operations) {
      if ("namespace" in op) validateNamespace(op.namespace, { allowReservedRoot: true });
    }
    const puts = new Map<string, PutOperation>();
    const results: unknown[] = [];
    const embedded = await this.#embedded(operations);
    for (const op of operations) {
      if ("namespacePrefix" in op) results.push(await this.#search(op, embedded));
      else if ("value" in op) {
        // The last put of a key is the one that counts.
        puts.set(idOf(this.#root, op.namespace, op.key), op);
        results.push(null);
      } else if ("key" in op) results.push(await this.#get(op));
      else results.push(await this.#listNamespaces(op as ListNamespacesOperation));
    }
    if (puts.size > 0) {
      const put = this.#turn.then(() => this.#put([...puts.values()], embedded));
      this.#turn = put.catch(() => undefined);
      await put;
    }
    return results as OperationResults<Op>;
  }

  /** Returns the versions of an item, oldest first. */
  async history(namespace: string[], key: string): Promise<Item[]> {
    const [current] = await this.#versions(namespace, key);
    if (current === undefined) return [];
    const versions = await this.#store.history(current.address);
    return versions.map(({ grain }) => itemOf(fromGrain(grain)));
  }

  // Reading.

  async #get({ namespace, key }: GetOperation): Promise<Item | null> {
    const [current] = await this.#versions(namespace, key);
    return current === undefined ? null : itemOf(current);
  }

  /** Returns the current version of an item; two that were put at once are both current. */
  async #versions(namespace: string[], key: string): Promise<Stored[]> {
    const entity = idOf(this.#root, namespace, key);
    const found = await this.#store.queryPage({ sort: "-stored", entity, type: "state" });
    return [...found].map(({ grain }) => fromGrain(grain));
  }

  async *#below(prefix: string[], filter?: Record<string, any>): AsyncGenerator<Stored> {
    const [path] = pathOf(this.#root, prefix);
    for await (const { grain } of this.#store.query({ sort: "-stored", namespace: path, type: "state" })) {
      const stored = fromGrain(grain);
      const isBelow = prefix.every((label, at) => stored.namespace[at] === label);
      if (isBelow && passes(stored.value, filter)) yield stored;
    }
  }

  async #search(op: SearchOperation, embedded: Vectors): Promise<SearchItem[]> {
    const { namespacePrefix: prefix, filter, offset = 0, limit = 10, query } = op;
    const found = new Map<string, SearchItem>();
    if (query) {
      for (const [stored, score] of await this.#ranked(op, embedded.get(query))) {
        found.set(stored.address, { ...itemOf(stored), score });
      }
    }
    for await (const stored of this.#below(prefix, filter)) {
      if (found.size >= offset + limit) break;
      if (!found.has(stored.address)) found.set(stored.address, { ...itemOf(stored), score: undefined });
    }
    return [...found.values()].slice(offset, offset + limit);
  }

  /** Returns the items that a query finds, best first. */
  async #ranked(op: SearchOperation, vector: number[] | undefined): Promise<[Stored, number][]> {
    const { namespacePrefix: prefix, filter, offset = 0, limit = 10, query = "" } = op;
    const known = new Map<string, Stored>();
    for await (const stored of this.#below(prefix, filter)) known.set(stored.address, stored);
    if (known.size === 0) return [];
    const within = { limit: offset + limit, among: [...known.keys()] };
    if (vector === undefined) {
      const words = await this.#store.search(query, { plain: true, ...within });
      return [...words].map(({ address, score }) => [known.get(address)!, score]);
    }
    const best = new Map<string, number>();
    for (const path of new Set([...known.values()].flatMap(({ paths }) => paths))) {
      for (const { address, score } of await this.#store.nearest(this.#model(path), vector, within)) {
        best.set(address, Math.max(best.get(address) ?? -1, 2 * score - 1));
      }
    }
    const ranked = [...best].sort(([, one], [, two]) => two - one).slice(0, offset + limit);
    return ranked.map(([address, score]) => [known.get(address)!, score]);
  }

  async #listNamespaces(op: ListNamespacesOperation): Promise<string[][]> {
    const found = new Map<string, string[]>();
    for await (const { namespace } of this.#below([])) {
      if ((op.matchConditions ?? []).every((condition) => matches(condition, namespace))) {
        const cut = namespace.slice(0, op.maxDepth);
        found.set(JSON.stringify(cut), cut);
      }
    }
    const names = [...found.values()].sort((one, two) => one.join(":").localeCompare(two.join(":")));
    const offset = op.offset ?? 0;
    return names.slice(offset, offset + (op.limit ?? names.length));
  }

  // Writing.

  async #put(puts: readonly PutOperation[], embedded: Vectors): Promise<void> {
    const fresh: { op: PutOperation; parts: Vectors }[] = [];
    const erased: Stored[] = [];
    for (const op of puts) {
      const known = await this.#versions(op.namespace, op.key);
      const parts = new Map([...this.#parts(op)].map(([path, text]) => [path, embedded.get(text)!]));
      if (op.value === null) erased.push(...known);
      else if (known.length === 0) fresh.push({ op, parts });
      else {
        const again = async () => (await this.#versions(op.namespace, op.key))[0];
        const next = (current?: Stored) => this.#grain(op, current, [...parts.keys()]);
        await this.#keep(await putNext(this.#store, known[0], again, next), parts);
        erased.push(...known.slice(1));
      }
    }
    const grains = fresh.map(({ op, parts }) => this.#grain(op, undefined, [...parts.keys()]));
    if (grains.length > 0) {
      const addresses = await this.#store.putBatch(grains);
      for (const [at, { parts }] of fresh.entries()) await this.#keep(addresses[at]!, parts);
    }
    await eraseVersions(this.#store, erased);
  }

  #grain({ namespace, key, value }: PutOperation, known: Stored | undefined, paths: string[]) {
    const updatedAt = new Date();
    const createdAt = known?.createdAt ?? updatedAt;
    return toGrain(this.#root, { namespace, key, value: value ?? {}, createdAt, updatedAt, paths });
  }

  /** Stores the vectors of the parts of an item. */
  async #keep(address: string, parts: Vectors): Promise<void> {
    for (const [path, vector] of parts) {
      await this.#store.putEmbeddings(this.#model(path), { [address]: vector });
    }
  }

  // Vectors.

  #model(path: string): string {
    return `${this.#root}:${path}`;
  }

  /** Returns the vectors of the texts that a batch puts and asks for; the model is asked once for each. */
  async #embedded(operations: readonly Operation[]): Promise<Vectors> {
    const vectors: Vectors = new Map();
    if (this.#index === undefined) return vectors;
    const { embeddings } = this.#index;
    const texts = new Set<string>();
    for (const op of operations) {
      if ("namespacePrefix" in op && op.query) vectors.set(op.query, await embeddings.embedQuery(op.query));
      else if ("value" in op) for (const [, text] of this.#parts(op)) texts.add(text);
    }
    const left = [...texts].filter((text) => !vectors.has(text));
    if (left.length > 0) {
      const embedded = await embeddings.embedDocuments(left);
      for (const [at, text] of left.entries()) vectors.set(text, embedded[at]!);
    }
    return vectors;
  }

  /** Returns the parts of the value of an item that are embedded, with their texts. */
  *#parts({ value, index }: PutOperation): Generator<[path: string, text: string]> {
    if (this.#index === undefined || value === null || index === false) return;
    for (const path of index ?? this.#index.fields ?? ["$"]) {
      const texts = getTextAtPath(value, path);
      for (const [number, text] of texts.entries()) {
        yield [texts.length > 1 ? `${path}.${number}` : path, text];
      }
    }
  }
}

function itemOf({ namespace, key, value, createdAt, updatedAt }: Stored): Item {
  return { namespace, key, value, createdAt, updatedAt };
}

function matches({ matchType, path }: MatchCondition, namespace: readonly string[]): boolean {
  const start = matchType === "suffix" ? namespace.length - path.length : 0;
  return path.length <= namespace.length && path.every((label, at) => label === "*" || label === namespace[start + at]);
}
