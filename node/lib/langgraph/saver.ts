import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  compareWritesSortKeys,
  copyCheckpoint,
  getCheckpointId,
  maxChannelVersion,
  type PendingWrite,
  type SerializerProtocol,
  TASKS,
  WRITES_IDX_MAP,
  writesSortKey,
} from "@langchain/langgraph-checkpoint";

import { type Record, Records } from "../record.js";
import type { Store } from "../store.js";

/** What a channel without a value is kept as. */
const EMPTY = "empty";

/**
 * The checkpoints of LangGraph in a store of grains: threads survive the process, and several processes
 * share them. A thread that is deleted is erased from the files. The grains are of the namespace
 * `langgraph-checkpoints`, and no search or recall returns them.
 */
export class GrainSaver extends BaseCheckpointSaver {
  readonly #records: Records;

  /** Takes a store, and perhaps another serializer and namespace of its grains. */
  constructor(store: Store, options: { serde?: SerializerProtocol; namespace?: string } = {}) {
    super(options.serde);
    this.#records = new Records(store, options.namespace ?? "langgraph-checkpoints");
  }

  /** Returns the checkpoint of a config, or the newest of its thread and namespace. */
  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const thread = config.configurable?.["thread_id"] as string | undefined;
    const namespace = (config.configurable?.["checkpoint_ns"] as string | undefined) ?? "";
    if (thread === undefined) return undefined;
    const name = getCheckpointId(config);
    const found = name
      ? await this.#records.of("checkpoint", thread, namespace, name)
      : (await this.#records.ofThread(thread, "checkpoint")).filter((it) => it.namespace === namespace);
    const newest = found.sort(newestFirst)[0];
    return newest && this.#tuple(newest);
  }

  /** Returns the checkpoints of a thread, or of all, newest first. */
  async *list(
    config: RunnableConfig,
    { limit = Number.POSITIVE_INFINITY, before, filter = {} }: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const { thread_id: thread, checkpoint_ns: namespace, checkpoint_id: name } = config.configurable ?? {};
    const end = before?.configurable?.["checkpoint_id"] as string | undefined;
    const found = thread
      ? await this.#records.ofThread(thread, "checkpoint")
      : await this.#records.ofKind("checkpoint");
    let left = limit;
    for (const record of found.sort(newestFirst)) {
      if (left <= 0) return;
      if (namespace !== undefined && record.namespace !== namespace) continue;
      if ((name && record.of !== name) || (end && record.of >= end)) continue;
      const metadata = (await this.#metadata(record)) as { [name: string]: unknown };
      if (Object.entries(filter).some(([key, value]) => metadata[key] !== value)) continue;
      left -= 1;
      yield this.#tuple(record);
    }
  }

  async #tuple(record: Record): Promise<CheckpointTuple> {
    const { thread, namespace, of } = record;
    const checkpoint = (await this.serde.loadsTyped(record.coding, record.data)) as Checkpoint;
    checkpoint.channel_values = {};
    for (const [channel, version] of Object.entries(checkpoint.channel_versions)) {
      const [value] = await this.#records.of("value", thread, namespace, `${version}:${channel}`);
      if (value !== undefined && value.coding !== EMPTY) {
        checkpoint.channel_values[channel] = await this.serde.loadsTyped(value.coding, value.data);
      }
    }
    const parent = record.told["parent"] as string | null;
    if (checkpoint.v < 4 && parent !== null) await this.#bringSends(checkpoint, thread, namespace, parent);
    const writes = await this.#writes(thread, namespace, of);
    return {
      config: configOf(thread, namespace, of),
      checkpoint,
      metadata: await this.#metadata(record),
      pendingWrites: await Promise.all(writes.map((it) => this.#write(it))),
      ...(parent !== null && { parentConfig: configOf(thread, namespace, parent) }),
    };
  }

  /** Checkpoints of earlier versions have the sends among the writes of their parent. */
  async #bringSends(checkpoint: Checkpoint, thread: string, namespace: string, parent: string): Promise<void> {
    const writes = await this.#writes(thread, namespace, parent);
    const sends = writes.filter((it) => it.told["channel"] === TASKS);
    const values = await Promise.all(sends.map((it) => this.#write(it)));
    checkpoint.channel_values[TASKS] = values.map(([, , value]) => value);
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_versions[TASKS] =
      versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
  }

  async #writes(thread: string, namespace: string, of: string): Promise<Record[]> {
    const key = ({ told }: Record) => writesSortKey(told["path"], told["task"], told["index"]);
    const found = await this.#records.of("write", thread, namespace, of);
    return found.sort((one, two) => compareWritesSortKeys(key(one), key(two)));
  }

  async #write({ told, coding, data }: Record): Promise<CheckpointPendingWrite> {
    return [told["task"], told["channel"], await this.serde.loadsTyped(coding, data)];
  }

  async #metadata(record: Record): Promise<CheckpointMetadata> {
    const [coding, data] = record.told["metadata"] as [string, string];
    return (await this.serde.loadsTyped(coding, Buffer.from(data, "base64"))) as CheckpointMetadata;
  }

  /** Stores a checkpoint with the values of the channels that changed. */
  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { thread, namespace } = where(config);
    const { channel_values: values, ...kept } = copyCheckpoint(checkpoint);
    kept.channel_versions ??= {};
    const [coding, data] = await this.serde.dumpsTyped(kept);
    const [metaCoding, metaData] = await this.serde.dumpsTyped(metadata);
    const told = {
      parent: (config.configurable?.["checkpoint_id"] as string | undefined) ?? null,
      metadata: [metaCoding, Buffer.from(metaData).toString("base64")],
    };
    const records: Record[] = [{ kind: "checkpoint", thread, namespace, of: checkpoint.id, told, coding, data }];
    for (const [channel, version] of Object.entries(newVersions)) {
      const value = { kind: "value" as const, thread, namespace, of: `${version}:${channel}`, told: {} };
      const typed = channel in values && (await this.serde.dumpsTyped(values[channel]));
      const [coding, data] = typed || [EMPTY, new Uint8Array()];
      records.push({ ...value, coding, data });
    }
    const known = records.map((it) => this.#records.of(it.kind, thread, namespace, it.of));
    const replaced = (await Promise.all(known)).flat();
    await this.#records.put(records);
    await this.#records.erase(replaced);
    return configOf(thread, namespace, checkpoint.id);
  }

  /**
   * Stores the writes of a task to a checkpoint. A write that is there stays, except those of errors,
   * interrupts and others that LangGraph overwrites.
   */
  async putWrites(config: RunnableConfig, writes: PendingWrite[], task: string, path = ""): Promise<void> {
    const { thread, namespace } = where(config);
    const of = config.configurable?.["checkpoint_id"] as string | undefined;
    if (of === undefined) throw new Error('The config of the writes has no "checkpoint_id" in its "configurable".');
    const known = await this.#records.of("write", thread, namespace, of);
    const records = new Map<number, Record>();
    const replaced: Record[] = [];
    for (const [number, [channel, value]] of writes.entries()) {
      const index = WRITES_IDX_MAP[channel] || number;
      const before = known.filter(({ told }) => told["task"] === task && told["index"] === index);
      if (before.length > 0 && index >= 0) continue;
      replaced.push(...before);
      const [coding, data] = await this.serde.dumpsTyped(value);
      const told = { task, index, channel, path };
      records.set(index, { kind: "write", thread, namespace, of, told, coding, data });
    }
    await this.#records.put([...records.values()]);
    await this.#records.erase(replaced);
  }

  /** Erases a thread. */
  async deleteThread(threadId: string): Promise<void> {
    await this.#records.erase(await this.#records.ofThread(threadId));
  }
}

function newestFirst(one: Record, two: Record): number {
  return one.of < two.of ? 1 : one.of > two.of ? -1 : 0;
}

function where(config: RunnableConfig): { thread: string; namespace: string } {
  const thread = config.configurable?.["thread_id"] as string | undefined;
  if (thread === undefined) throw new Error('The config has no "thread_id" in its "configurable".');
  return { thread, namespace: (config.configurable?.["checkpoint_ns"] as string | undefined) ?? "" };
}

function configOf(thread: string, namespace: string, name: string): RunnableConfig {
  return { configurable: { thread_id: thread, checkpoint_ns: namespace, checkpoint_id: name } };
}
