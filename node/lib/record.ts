import { randomBytes } from "node:crypto";

import { short } from "./names.js";
import type { Grain } from "./native/index.cjs";
import type { Conditions, Fields } from "./options.js";
import type { Store } from "./store.js";
import { erase } from "./versions.js";

/** Bytes of a kind of a thread and a namespace of it. */
export interface Record {
  kind: "checkpoint" | "value" | "write";
  thread: string;
  namespace: string;
  /** The name that those share which are read together: of a checkpoint, of a version of a channel. */
  of: string;
  /** What is read without the bytes. */
  told: Fields;
  coding: string;
  data: Uint8Array;
  /** The person whose it is. */
  user?: string | undefined;
  /** The grains that it is stored as. */
  addresses?: string[];
}

// A grain has at most 1 MiB, and base64 makes four bytes of three.
const PART = 600_000;

/** The records of a store below one namespace of grains. */
export class Records {
  readonly #store: Store;
  readonly #root: string;

  constructor(store: Store, root: string) {
    this.#store = store;
    this.#root = root;
  }

  /** Stores records together. */
  async put(records: readonly Record[]): Promise<void> {
    if (records.length > 0) await this.#store.putBatch(records.flatMap((record) => [...this.#grains(record)]));
  }

  /** Returns the records of one name. */
  of(kind: Record["kind"], thread: string, namespace: string, of: string): Promise<Record[]> {
    return this.#records({ entity: this.#name(kind, thread, namespace, of) });
  }

  /** Returns the records of a thread. */
  ofThread(thread: string, kind?: Record["kind"]): Promise<Record[]> {
    return this.#records({ session: short([thread]), tag: kind && this.#tag(kind) });
  }

  /** Returns the records of a kind. */
  ofKind(kind: Record["kind"]): Promise<Record[]> {
    return this.#records({ tag: this.#tag(kind) });
  }

  /** Erases records from the files. */
  async erase(records: readonly Record[]): Promise<void> {
    await erase(this.#store, records.flatMap((record) => record.addresses ?? []));
  }

  *#grains(record: Record): Generator<Fields> {
    const { kind, thread, namespace, of } = record;
    const parts = Math.max(1, Math.ceil(record.data.length / PART));
    // Members whose names begin with `x-` are not searched.
    const context = {
      "x-name": JSON.stringify([kind, thread, namespace, of]),
      "x-told": JSON.stringify(record.told),
      "x-coding": record.coding,
      // Parts of one record, and no others, have one; a deleted one may come again.
      "x-id": randomBytes(8).toString("hex"),
      "x-parts": parts,
    };
    for (let part = 0; part < parts; part++) {
      const data = Buffer.from(record.data).subarray(part * PART, (part + 1) * PART).toString("base64");
      yield {
        type: "state",
        namespace: this.#root,
        entity_id: this.#name(kind, thread, namespace, of),
        session_id: short([thread]),
        user_id: record.user,
        structural_tags: [this.#tag(kind)],
        // Not for answers to questions (OMS 22.8).
        recall_priority: "cold",
        context: { ...context, "x-part": part, "x-data": data },
      };
    }
  }

  async #records(conditions: Conditions): Promise<Record[]> {
    const records: Record[] = [];
    const parts = new Map<string, Grain[]>();
    for await (const { grain } of this.#store.query({ namespace: this.#root, type: "state", ...conditions })) {
      const context = grain.get("context") as Fields;
      const of = parts.get(context["x-id"]) ?? [];
      parts.set(context["x-id"], of);
      of.push(grain);
      if (of.length === context["x-parts"]) {
        parts.delete(context["x-id"]);
        records.push(joined(of));
      }
    }
    return records;
  }

  #name(...name: string[]): string {
    return short([this.#root, ...name]);
  }

  #tag(kind: string): string {
    return `${this.#root}:${kind}`;
  }
}

function joined(grains: readonly Grain[]): Record {
  const parts = grains.map((grain) => ({ grain, context: grain.get("context") as Fields }));
  parts.sort((one, two) => one.context["x-part"] - two.context["x-part"]);
  const { context } = parts[0]!;
  const [kind, thread, namespace, of] = JSON.parse(context["x-name"]);
  return {
    kind,
    thread,
    namespace,
    of,
    told: JSON.parse(context["x-told"]),
    coding: context["x-coding"],
    data: Buffer.concat(parts.map((part) => Buffer.from(part.context["x-data"], "base64"))),
    addresses: parts.map((part) => part.grain.address),
  };
}
