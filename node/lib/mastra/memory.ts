import { randomUUID } from "node:crypto";

import { type MastraDBMessage, MessageList } from "@mastra/core/agent";
import type { StorageThreadType } from "@mastra/core/memory";
import {
  calculatePagination,
  jsonValueEquals,
  type MemoryStorage,
  normalizePerPage,
  type StorageCloneThreadInput,
  type StorageCopyThreadOutput,
  type StorageListMessagesByResourceIdInput,
  type StorageListMessagesInput,
  type StorageListMessagesOutput,
  type StorageListThreadsInput,
  type StorageListThreadsOutput,
  type StorageResourceType,
} from "@mastra/core/storage";

import type { Conditions } from "../options.js";
import type { Store } from "../store.js";
import { erase } from "../versions.js";
import { type Message, MESSAGES, RESOURCES, THREADS } from "./kinds.js";
import { Messages } from "./messages.js";
import { Observed } from "./observations.js";
import { named, Rows } from "./row.js";

/** The messages of a page and the threads of one, unless the caller says. */
const [MESSAGES_OF_PAGE, THREADS_OF_PAGE] = [40, 100];

type Update = Parameters<MemoryStorage["updateMessages"]>[0]["messages"][number];

/**
 * The memory of Mastra: threads, messages and what is known about a resource, which survive the process, and
 * which several processes share. Messages are turns of a conversation, found by search and recall with
 * everything else in the store: the resource is the user, the thread the session. A change is a new version; a
 * delete erases all versions from the files.
 *
 * ```ts
 * new MastraCompositeStore({ id: "agents", default: other, domains: { memory: new GrainMemory(store) } })
 * ```
 */
export class GrainMemory extends Observed {
  override readonly supportsPartialThreadUpdate = true;
  readonly #store: Store;
  readonly #root: string;
  readonly #threads: Rows<StorageThreadType>;
  readonly #messages: Messages;
  readonly #resources: Rows<StorageResourceType>;
  // Changes of this process take turns: each looks which version it replaces.
  #turn: Promise<unknown> = Promise.resolve();

  /** Takes a store, and perhaps another namespace of its grains. */
  constructor(store: Store, { namespace = "mastra" }: { namespace?: string } = {}) {
    super(store, namespace);
    this.#store = store;
    this.#root = namespace;
    this.#threads = new Rows(store, namespace, THREADS);
    this.#messages = new Messages(new Rows(store, namespace, MESSAGES));
    this.#resources = new Rows(store, namespace, RESOURCES);
  }

  /** Erases everything that was stored through it. */
  dangerouslyClearAll(): Promise<void> {
    return this.inTurn(async () => {
      const addresses: string[] = [];
      for await (const { address } of this.#store.query({ namespace: this.#root, superseded: "include" })) {
        addresses.push(address);
      }
      await erase(this.#store, addresses);
    });
  }

  // Threads.

  async getThreadById({ threadId, resourceId }: { threadId: string; resourceId?: string }): Promise<StorageThreadType | null> {
    const thread = (await this.#threads.get(threadId))?.value;
    return thread === undefined || (resourceId !== undefined && thread.resourceId !== resourceId) ? null : thread;
  }

  async listThreads({ page = 0, perPage: asked, orderBy, filter }: StorageListThreadsInput): Promise<StorageListThreadsOutput> {
    this.validatePaginationInput(page, asked ?? THREADS_OF_PAGE);
    this.validateMetadataKeys(filter?.metadata);
    const limit = normalizePerPage(asked, THREADS_OF_PAGE);
    const { field, direction } = this.parseOrderBy(orderBy);
    const wanted = Object.entries(filter?.metadata ?? {});
    const threads = (await this.#threads.all(ofUser(filter?.resourceId)))
      .map(({ value }) => value)
      .filter(({ metadata }) => wanted.every(([name, value]) => metadata && jsonValueEquals(metadata[name], value)))
      .sort((one, two) => (one[field].getTime() - two[field].getTime()) * (direction === "ASC" ? 1 : -1));
    const { offset, perPage } = calculatePagination(page, asked, limit);
    return {
      threads: threads.slice(offset, offset + limit),
      total: threads.length,
      page,
      perPage,
      hasMore: offset + limit < threads.length,
    };
  }

  async saveThread({ thread }: { thread: StorageThreadType }): Promise<StorageThreadType> {
    await this.inTurn(() => this.#threads.put([thread]));
    return thread;
  }

  updateThread({ id, title, metadata }: { id: string; title?: string; metadata?: Record<string, unknown> }): Promise<StorageThreadType> {
    return this.inTurn(async () => {
      const changed = await this.#threads.change(id, (thread) => ({
        ...thread,
        ...(title !== undefined && { title }),
        metadata: { ...thread.metadata, ...metadata },
        updatedAt: new Date(),
      }));
      if (changed === undefined) throw new Error(`Thread with id ${id} not found`);
      return changed;
    });
  }

  deleteThread({ threadId }: { threadId: string }): Promise<void> {
    return this.inTurn(async () => {
      const thread = await this.#threads.get(threadId);
      await this.#messages.erase(await this.#messages.ofThread(threadId));
      await this.forgetThread(threadId);
      if (thread !== undefined) await this.#threads.erase([thread]);
    });
  }

  override copyThread(args: StorageCloneThreadInput): Promise<StorageCopyThreadOutput> {
    return this.inTurn(async () => {
      const { sourceThreadId, newThreadId = randomUUID(), resourceId, title, metadata, options } = args;
      const source = await this.getThreadById({ threadId: sourceThreadId });
      if (source === null) throw new Error(`Source thread with id ${sourceThreadId} not found`);
      if (await this.#threads.get(newThreadId)) throw new Error(`Thread with id ${newThreadId} already exists`);
      const messages = await this.#messages.chosen(sourceThreadId, options);
      const now = new Date();
      const lastMessageId = messages.at(-1)?.id;
      const thread: StorageThreadType = {
        id: newThreadId,
        resourceId: resourceId || source.resourceId,
        title: title || (source.title ? `Clone of ${source.title}` : undefined),
        metadata: { ...metadata, clone: { sourceThreadId, clonedAt: now, ...(lastMessageId && { lastMessageId }) } },
        createdAt: now,
        updatedAt: now,
      };
      const copies = messages.map((message) => ({
        ...message,
        id: randomUUID(),
        threadId: newThreadId,
        resourceId: resourceId || message.resourceId,
      }));
      const grains = await Promise.all([this.#threads.grains([thread]), this.#messages.grains(copies)]);
      await this.#store.putBatch(grains.flat());
      return { thread, messageIdMap: Object.fromEntries(messages.map(({ id }, at) => [id, copies[at]!.id])) };
    });
  }

  /** Renews the times of threads. */
  async #touch(ids: Iterable<string>): Promise<void> {
    for (const id of new Set(ids)) {
      await this.#threads.change(id, (thread) => ({
        ...thread,
        updatedAt: new Date(Math.max(Date.now(), thread.updatedAt.getTime() + 1)),
      }));
    }
  }

  // Messages.

  async listMessages(args: StorageListMessagesInput): Promise<StorageListMessagesOutput> {
    const threads = [args.threadId].flat();
    if (threads.length === 0 || threads.some((id) => !id.trim())) {
      throw new Error("threadId must be a non-empty string or array of non-empty strings");
    }
    const scopes = [...new Set(threads)].map((id) => ({ session: named(id), ...ofUser(args.resourceId) }));
    // A page of no messages counts none.
    const page = await this.#page({ ...args, scopes: args.perPage === 0 ? [] : scopes });
    if (args.include?.length && args.filter?.metadata === undefined) {
      // Those around that are of the threads are not to come.
      page.hasMore = page.messages.filter(({ threadId = "" }) => threads.includes(threadId)).length < page.total;
    }
    return page;
  }

  override async listMessagesByResourceId(args: StorageListMessagesByResourceIdInput): Promise<StorageListMessagesOutput> {
    const page = await this.#page({ ...args, scopes: [ofUser(args.resourceId)] });
    const { direction } = this.parseOrderBy(args.orderBy, "ASC");
    return { ...page, messages: whole(page.messages).sort(byTime(direction)) };
  }

  async #page({
    scopes,
    resourceId,
    include = [],
    filter,
    perPage: asked,
    page = 0,
    orderBy,
  }: Omit<StorageListMessagesInput, "threadId"> & { scopes: readonly Conditions[] }): Promise<StorageListMessagesOutput> {
    this.validatePaginationInput(page, asked ?? MESSAGES_OF_PAGE);
    const limit = normalizePerPage(asked, MESSAGES_OF_PAGE);
    const { offset, perPage } = calculatePagination(page, asked, limit);
    const { direction } = this.parseOrderBy(orderBy, "ASC");
    const { messages: found, total } = await this.#messages.first(scopes, filter, direction, offset + limit);
    const messages = new Map(found.slice(offset, offset + limit).map((message) => [message.id, message]));
    const hasMore = offset + messages.size < total;
    for (const around of include) {
      for (const message of await this.#messages.around(around, ofUser(resourceId))) {
        if (!messages.has(message.id)) messages.set(message.id, message);
      }
    }
    return { messages: [...messages.values()].sort(byTime(direction)), total, page, perPage, hasMore };
  }

  async listMessagesById({ messageIds }: { messageIds: string[] }): Promise<{ messages: MastraDBMessage[] }> {
    return { messages: whole(await this.#messages.of(messageIds)) };
  }

  async saveMessages({ messages }: { messages: MastraDBMessage[] }): Promise<{ messages: MastraDBMessage[] }> {
    const rows = messages.map((message) => {
      const { id, role, type = "text", content, threadId, resourceId } = message;
      if (!threadId) throw new Error(`The message ${id} has no threadId.`);
      // Mastra's own stores refuse it: a message is of a resource, or says nothing about it.
      if ((resourceId as unknown) === null) throw new Error(`The resourceId of the message ${id} is null.`);
      return { id, role, type, content, threadId, resourceId, createdAt: new Date(message.createdAt ?? Date.now()) };
    });
    await this.inTurn(async () => {
      await this.#messages.put(rows);
      await this.#touch(rows.map(({ threadId }) => threadId));
    });
    return { messages: whole(messages) };
  }

  updateMessages({ messages }: { messages: Update[] }): Promise<MastraDBMessage[]> {
    return this.inTurn(async () => {
      const updated: MastraDBMessage[] = [];
      const threads: string[] = [];
      for (const update of messages) {
        const changed = await this.#messages.change(update.id, (message) => {
          threads.push(message.threadId, update.threadId || message.threadId);
          return merged(message, update);
        });
        if (changed !== undefined) updated.push(changed);
      }
      await this.#touch(threads);
      return updated;
    });
  }

  override deleteMessages(messageIds: string[]): Promise<void> {
    return this.inTurn(async () => {
      const rows = await this.#messages.rows(messageIds);
      await this.#messages.erase(rows);
      await this.#touch(rows.map(({ value }) => value.threadId));
    });
  }

  // Resources.

  override async getResourceById({ resourceId }: { resourceId: string }): Promise<StorageResourceType | null> {
    return (await this.#resources.get(resourceId))?.value ?? null;
  }

  override async saveResource({ resource }: { resource: StorageResourceType }): Promise<StorageResourceType> {
    await this.inTurn(() => this.#resources.put([resource]));
    return resource;
  }

  override updateResource({
    resourceId: id,
    workingMemory,
    metadata,
  }: {
    resourceId: string;
    workingMemory?: string;
    metadata?: Record<string, unknown>;
  }): Promise<StorageResourceType> {
    return this.inTurn(async () => {
      const now = new Date();
      const changed = await this.#resources.change(id, (resource) => ({
        ...resource,
        workingMemory: workingMemory ?? resource.workingMemory,
        metadata: { ...resource.metadata, ...metadata },
        updatedAt: now,
      }));
      if (changed !== undefined) return changed;
      const resource = { id, workingMemory, metadata: metadata ?? {}, createdAt: now, updatedAt: now };
      await this.#resources.put([resource]);
      return resource;
    });
  }

  protected inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }
}

function ofUser(resourceId: string | undefined): Conditions {
  return resourceId ? { user: named(resourceId) } : {};
}

function byTime(direction: "ASC" | "DESC") {
  const sign = direction === "ASC" ? 1 : -1;
  return (one: MastraDBMessage, two: MastraDBMessage) => (one.createdAt.getTime() - two.createdAt.getTime()) * sign;
}

/** Returns messages as Mastra hands them on: those of one answer joined. */
function whole(messages: MastraDBMessage[]): MastraDBMessage[] {
  return new MessageList().add(messages, "memory").get.all.db();
}

/** Returns a message with the members of an update; its content is joined, and the metadata in that. */
function merged(message: Message, update: Update): Message {
  const { threadId, content, ...members } = update as Partial<MastraDBMessage>;
  const given = Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
  const joined = { ...message.content, ...content };
  if (message.content.metadata && joined.metadata) {
    joined.metadata = { ...message.content.metadata, ...joined.metadata };
  }
  return { ...message, ...given, threadId: threadId || message.threadId, content: joined };
}
