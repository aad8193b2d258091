/** The session memory of the OpenAI Agents SDK in a store of grains. */
import type { AgentInputItem, Session } from "@openai/agents-core";

import type { Store } from "./store.js";
import { textOf, Turns } from "./turns.js";

/**
 * A `Session`: what was said in one conversation, found by search and recall with everything else in the
 * store. Items that are popped or cleared are erased from the files.
 */
export class GrainSession implements Session {
  readonly #id: string;
  readonly #turns: Turns;

  /** Takes a store, the name of the conversation and the person in it. */
  constructor(store: Store, sessionId: string, { user }: { user?: string } = {}) {
    this.#id = sessionId;
    this.#turns = new Turns(store, sessionId, user);
  }

  async getSessionId(): Promise<string> {
    return this.#id;
  }

  /** Returns the items, oldest first; the newest `limit` of them. */
  async getItems(limit?: number): Promise<AgentInputItem[]> {
    return (await this.#turns.items(limit)) as AgentInputItem[];
  }

  /** Stores items, all or none. */
  async addItems(items: AgentInputItem[]): Promise<void> {
    const said = items.map((item) => {
      const { role, content, output } = item as { role?: string; content?: unknown; output?: unknown };
      return { item, role, text: textOf(content ?? output ?? "") };
    });
    await this.#turns.add(said);
  }

  /** Erases the newest item and returns it; `undefined` if there is none. */
  async popItem(): Promise<AgentInputItem | undefined> {
    return (await this.#turns.pop()) as AgentInputItem | undefined;
  }

  /** Erases all items. */
  async clearSession(): Promise<void> {
    await this.#turns.clear();
  }
}
