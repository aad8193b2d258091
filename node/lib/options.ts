import type { Grain } from "./native/index.cjs";

/** A `Date`, milliseconds since 1970, or a text of RFC 3339. */
export type Moment = Date | number | string;

/** The address of a grain, or the grain. */
export type AddressOf = string | Grain;

/** The numbers of a vector. */
export type Vector = Float32Array | readonly number[];

/** The fields of a grain under the names of the specification, with `type`. */
export type Fields = Record<string, any>;

/** Lets the caller give up. */
export interface Signalled {
  /**
   * Ends the promise with the reason of the signal. Work that waits for its turn is not begun; a change
   * that was begun is completed, and the caller does not know its outcome.
   */
  signal?: AbortSignal | undefined;
}

/** A model that makes vectors of texts. */
export interface Embedder {
  /** Its name with its version: it changes with the vectors. */
  readonly model: string;
  /** The number of numbers of each vector. */
  readonly dimensions: number;
  /** Returns one vector for each text. An error is no error of a put: it is tried again. */
  embed(texts: string[]): Promise<Vector[]> | Vector[];
  /** Returns the vector of a question; `embed` by default. */
  embedQuery?(text: string): Promise<Vector> | Vector;
}

/** How a store in memory is opened. */
export interface MemoryOptions {
  /** After how many seconds a search ends with what it has: 2. */
  searchDeadline?: number | undefined;
  /** Models that make a vector of what is stored, in the background; the first one embeds questions too. */
  embedders?: readonly Embedder[] | undefined;
  /** Opens the keys of persons: its 32 bytes, or the file that has them. */
  masterKey?: Uint8Array | string | undefined;
  /** The documents of each `did:web` whose signatures are to be verified, as JSON: nothing is fetched. */
  didDocuments?: string[] | undefined;
  /** Lets the agreement of a DID that is `authorized` replace a grain of mode `locked`. */
  amendLocked?: boolean | undefined;
}

/** How the store of a folder is opened. */
export interface OpenOptions extends MemoryOptions {
  create?: "ifMissing" | "never" | "new" | undefined;
  /** Changes nothing, and delays no writer. */
  readOnly?: boolean | undefined;
  /**
   * `relaxed` acknowledges a write before it is on the disk: a failure of the machine may lose the newest
   * ones.
   */
  durability?: "sync" | "relaxed" | undefined;
  /** How many seconds a change waits for other processes: 5. */
  lockWait?: number | undefined;
  /** The text of a note that the ledger must begin with: a store that was rolled back does not open. */
  since?: { toString(): string } | undefined;
}

/** The conditions of a query. A grain must satisfy all that are given; `null` is no condition. */
export interface Conditions {
  /** `belief`, `event`, `state`, `workflow`, `action`, `observation`, `goal`, `reasoning`, ... */
  type?: string | null | undefined;
  /** A namespace, with those inside it. */
  namespace?: string | null | undefined;
  user?: string | null | undefined;
  session?: string | null | undefined;
  run?: string | null | undefined;
  subject?: string | null | undefined;
  relation?: string | null | undefined;
  object?: string | null | undefined;
  /** Structural tags, all of them. */
  tag?: string | readonly string[] | null | undefined;
  withoutTag?: string | readonly string[] | null | undefined;
  derivedFrom?: AddressOf | null | undefined;
  among?: readonly AddressOf[] | null | undefined;
  /** The time of the event, or else of its making, at this time or later. */
  since?: Moment | null | undefined;
  until?: Moment | null | undefined;
  validAt?: Moment | null | undefined;
  /** Stored and current at this time, whatever its status is now. */
  knownAt?: Moment | null | undefined;
  /** From and to, both included. */
  confidence?: readonly [number | null, number | null] | null | undefined;
  importance?: readonly [number | null, number | null] | null | undefined;
  sourceType?: string | null | undefined;
  epistemicStatus?: string | null | undefined;
  recallPriority?: string | null | undefined;
  observerType?: string | null | undefined;
  observer?: string | null | undefined;
  author?: string | null | undefined;
  subjectDid?: string | null | undefined;
  entity?: string | null | undefined;
  verification?: "unverified" | "verified" | "contested" | "retracted" | null | undefined;
  /** Signed by a signer that is trusted to write the grain. */
  verified?: boolean | null | undefined;
  superseded?: "exclude" | "include" | "only" | null | undefined;
  /** Those whose `valid_to` has passed as well. */
  expired?: boolean | null | undefined;
  /** Those that a person must review first as well. */
  unreviewed?: boolean | null | undefined;
}

/** Returns the address of a grain. */
export function addressOf(of: AddressOf): string {
  const address: unknown = typeof of === "string" ? of : of?.address;
  if (typeof address !== "string") throw new TypeError("an address is a string or a grain");
  return address;
}

/** Returns a vector as the extension takes it. */
export function floats(vector: Vector): Float32Array {
  return vector instanceof Float32Array ? vector : Float32Array.from(vector);
}

/** Returns the text of RFC 3339 of a moment. */
export function momentText(moment: Moment): string {
  return typeof moment === "string" ? moment : new Date(moment).toISOString();
}
