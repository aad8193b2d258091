import type { MastraDBMessage } from "@mastra/core/agent";
import type { StorageThreadType } from "@mastra/core/memory";
import type { StorageResourceType } from "@mastra/core/storage";

import { textOf } from "../turns.js";
import { type Kind, named } from "./row.js";

/** A message as it is stored: of a thread, and perhaps of a resource, which are its session and its user. */
export type Message = MastraDBMessage & { threadId: string };

/** So many characters of a row are searched. */
const TEXT_MAX = 100_000;

export const MESSAGES: Kind<Message> = {
  name: "message",
  idOf: ({ id }) => id,
  toGrain: ({ threadId, resourceId, role, content, createdAt }) => ({
    type: "event",
    // A message without text is found by what it is.
    content: spoken(content).slice(0, TEXT_MAX) || "(no text)",
    role,
    session_id: named(threadId),
    user_id: resourceId && named(resourceId),
    timestamp_ms: createdAt,
  }),
  revive: (message) => ({ ...message, createdAt: new Date(message.createdAt) }),
};

export const THREADS: Kind<StorageThreadType> = {
  name: "thread",
  idOf: ({ id }) => id,
  toGrain: ({ id, resourceId }) => ({
    type: "state",
    session_id: named(id),
    user_id: resourceId && named(resourceId),
    // Not for answers to questions (OMS 22.8).
    recall_priority: "cold",
  }),
  revive: timed,
};

export const RESOURCES: Kind<StorageResourceType> = {
  name: "resource",
  idOf: ({ id }) => id,
  toGrain: ({ id, workingMemory }) => ({
    type: "state",
    user_id: named(id),
    context: { working_memory: workingMemory?.slice(0, TEXT_MAX) || undefined },
  }),
  revive: timed,
};

/** Returns the text of a message: of its parts, or of one without. */
function spoken(content: unknown): string {
  const { parts } = (content ?? {}) as { parts?: unknown[] };
  return textOf(parts ?? content) || textOf(content);
}

/** Returns a row with its dates, which JSON has as texts. */
function timed<T extends { createdAt: Date; updatedAt: Date }>(row: T): T {
  return { ...row, createdAt: new Date(row.createdAt), updatedAt: new Date(row.updatedAt) };
}
