import { randomBytes } from "node:crypto";

import type { Store } from "./store.js";
import { erase } from "./versions.js";

/** An item of a conversation with its role and its text. */
export interface Said {
  item: unknown;
  role: string | undefined;
  text: string;
}

/** The items of one conversation, in their order: each whole beside its text, which search finds. */
export class Turns {
  readonly #store: Store;
  readonly #session: string;
  readonly #user: string | undefined;

  constructor(store: Store, session: string, user?: string) {
    this.#store = store;
    this.#session = session;
    this.#user = user;
  }

  /** Stores items of JSON together. */
  async add(items: readonly Said[]): Promise<void> {
    const grains = items.map(({ item, role, text }) => ({
      type: "event",
      // An item without text is found by what it is.
      content: text || "(no text)",
      role,
      session_id: this.#session,
      user_id: this.#user,
      // The same item twice is two turns.
      context: { item: JSON.stringify(item), id: randomBytes(8).toString("hex") },
    }));
    await this.#store.putBatch(grains);
  }

  /** Returns the items, oldest first; the newest `limit` of them. */
  async items(limit?: number): Promise<unknown[]> {
    return (await this.#newest(limit)).map(({ item }) => item);
  }

  /** Erases the newest item and returns it; `undefined` if there is none. */
  async pop(): Promise<unknown> {
    const [newest] = await this.#newest(1);
    if (newest !== undefined) await erase(this.#store, [newest.address]);
    return newest?.item;
  }

  /** Erases all items from the files. */
  async clear(): Promise<void> {
    await erase(this.#store, (await this.#newest()).map(({ address }) => address));
  }

  async #newest(limit = Number.POSITIVE_INFINITY): Promise<{ address: string; item: unknown }[]> {
    const found: { address: string; item: unknown }[] = [];
    if (limit <= 0) return found;
    const conditions = { session: this.#session, user: this.#user, type: "event" };
    for await (const it of this.#store.query({ sort: "-stored", ...conditions })) {
      const context = it.grain.get("context") as { item?: string } | undefined;
      if (context?.item !== undefined) {
        found.push({ address: it.address, item: JSON.parse(context.item) });
      }
      if (found.length >= limit) break;
    }
    return found.reverse();
  }
}

/** Returns the text of a message as frameworks write it: a text, or parts with a `text`. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map(textOf).filter(Boolean).join("\n");
  if (typeof content === "object" && content !== null) {
    const { text, content: inner } = content as { text?: unknown; content?: unknown };
    return textOf(text ?? inner ?? "");
  }
  return "";
}
