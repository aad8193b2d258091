import { Auditing, type Grounds } from "./auditing.js";
import { Changes } from "./changes.js";
import { ask, call, described } from "./failure.js";
import { INSPECT } from "./grain.js";
import type { SigningKey } from "./keys.js";
import { CHUNK, inLane } from "./lane.js";
import * as native from "./native/index.cjs";
import { model } from "./embedder.js";
import {
  type AddressOf,
  addressOf,
  type Conditions,
  type Fields,
  floats,
  type MemoryOptions,
  type Moment,
  momentText,
  type OpenOptions,
  type Signalled,
  type Vector,
} from "./options.js";
import {
  Answer,
  type Change,
  type Found,
  foundIn,
  Recollection,
  Results,
  type Status,
  Version,
} from "./results.js";

/** The fields of `remember` besides its text. */
export interface Memory extends Signalled {
  subject?: string | undefined;
  relation?: string | undefined;
  user?: string | undefined;
  session?: string | undefined;
  namespace?: string | undefined;
  role?: string | undefined;
  confidence?: number | undefined;
  importance?: number | undefined;
  tags?: readonly string[] | undefined;
  /** When it was made; now by default. */
  at?: Moment | undefined;
  /** Other fields under the names of the specification. */
  fields?: Fields | undefined;
}

/** The reason of a change, and the agreements that the policy of the grain requires. */
export interface Reasons extends Signalled {
  reason?: string | undefined;
  auth?: Uint8Array | readonly Uint8Array[] | undefined;
}

/**
 * A store of memories, or a handle on it that is narrowed to an author, a person or a namespace.
 *
 * Everything that reads, writes or searches is a promise whose work is done in libuv's pool; the event loop
 * waits for nothing. A store is closed by `close`, or by `await using`.
 */
export class Store extends Auditing implements AsyncDisposable {
  /**
   * Opens the store of a folder. Any number of processes may have it open.
   *
   * Rejects with `NotAStore`, `StoreExists`, `StoreVersion`, `StoreLocked`, `StorageDamaged` for a ledger
   * that does not begin as `since` says, and what a damaged or inaccessible folder rejects with.
   */
  static async open(path: string, options: OpenOptions = {}): Promise<Store> {
    const { embedders = [], since, ...rest } = options;
    const opened = { ...rest, since: since?.toString() };
    return new Store(await ask(undefined, async () => native.open(path, opened, embedders.map(model))));
  }

  /** Returns a new store that is gone when it is closed. */
  static async inMemory(options: MemoryOptions = {}): Promise<Store> {
    const { embedders = [], ...rest } = options;
    return new Store(await ask(undefined, async () => native.open(undefined, rest, embedders.map(model))));
  }

  /** Whether it was closed. */
  get isClosed(): boolean {
    return this.native.isClosed;
  }

  /**
   * Closes the store, for all handles that were narrowed from one, once the calls that are under way have
   * ended; those that wait for their turn are rejected. A second time does nothing.
   */
  close(): Promise<void> {
    return ask(undefined, () => this.native.close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  override toString(): string {
    return `<grainstore.Store ${this.native.describe()}>`;
  }

  [INSPECT](): string {
    return this.toString();
  }

  // What is stored.

  /**
   * Stores a memory and returns its address once it is durable.
   *
   * With a subject and a relation it is a belief about them, of confidence 1 unless told otherwise;
   * without, it is an event: what happened or was said.
   */
  async remember(text: string, memory: Memory = {}): Promise<string> {
    const { subject, relation, confidence, tags = [], at, signal } = memory;
    if ((subject === undefined) !== (relation === undefined)) {
      throw new TypeError("a belief has a subject and a relation: give both, or neither");
    }
    const said = { type: "event", content: text, confidence };
    const believed = { type: "belief", subject, relation, object: text, confidence: confidence ?? 1 };
    const grain = {
      ...(subject === undefined ? said : believed),
      user_id: memory.user,
      session_id: memory.session,
      namespace: memory.namespace,
      role: memory.role,
      importance: memory.importance,
      structural_tags: tags.length > 0 ? tags : undefined,
      created_at: at,
      ...memory.fields,
    };
    return this.put(grain, { signal });
  }

  /**
   * Stores a grain of any type and returns its address once it is durable.
   *
   * `fields` are those of the specification under their full names, with `type`. A time is a `Date`,
   * milliseconds since 1970, or a text of RFC 3339; `created_at` is now by default. Storing a grain again
   * changes nothing.
   *
   * Rejects with `Schema`, `Empty`, `Range` and the other errors of an invalid grain; `AccessDenied` for one
   * outside the handle; `InvalidationDenied` for one that would replace another without `supersede`;
   * `Erased` for one that was deleted here; storage errors, after which a retry is safe.
   */
  put(fields: Fields, { signal }: Signalled = {}): Promise<string> {
    return ask(signal, async (abort) => this.native.put(fields, abort));
  }

  /** Stores a grain as `put` does, and says whether it is new here. */
  insert(fields: Fields, { signal }: Signalled = {}): Promise<native.Put> {
    return ask(signal, async (abort) => this.native.insert(fields, abort));
  }

  /** Stores grains together, all or none, and returns their addresses. An error names the grain in `place`. */
  putBatch(grains: Iterable<Fields>, { signal }: Signalled = {}): Promise<string[]> {
    return ask(signal, async (abort) => this.native.putBatch([...grains], abort));
  }

  // What is read.

  get(address: AddressOf, options?: Signalled): Promise<native.Grain | null>;
  get(addresses: readonly AddressOf[], options?: Signalled): Promise<(native.Grain | null)[]>;
  /**
   * Returns the grain of an address, or those of a list; `null` for one that is not here.
   *
   * Rejects with `HashFormat` and `HashLength` for a text that is no address, `ConsentRequired` and
   * `ReviewRequired` where these are demanded, `StorageDamaged`.
   */
  get(
    of: AddressOf | readonly AddressOf[],
    { signal }: Signalled = {},
  ): Promise<native.Grain | null | (native.Grain | null)[]> {
    return ask<native.Grain | null | (native.Grain | null)[]>(signal, async (abort) =>
      Array.isArray(of)
        ? this.#list(of.map(addressOf), abort)
        : this.native.get(addressOf(of as AddressOf), abort),
    );
  }

  async #list(addresses: string[], abort: native.Abort | undefined): Promise<(native.Grain | null)[]> {
    const found: (native.Grain | null)[] = [];
    do {
      const some = addresses.slice(found.length, found.length + CHUNK);
      found.push(...(await inLane(some.length, () => this.native.getBatch(some, abort))));
    } while (found.length < addresses.length);
    return found;
  }

  /** Returns what the store says about a grain besides its bytes. Rejects with `NotFound`. */
  status(address: AddressOf, { signal }: Signalled = {}): Promise<Status> {
    return ask(signal, async (abort) => this.native.status(addressOf(address), abort));
  }

  /**
   * Returns the best grains for a text, best first. The text is a query with phrases, fields and operators
   * (docs/search.md), or plain words if `plain`.
   *
   * Rejects with `SearchSyntax`, `Filter`, `Text`, and `Embedder` if a model of yours makes no vector.
   */
  async search(
    text: string,
    { limit = 10, plain = false, signal, ...conditions }: { limit?: number; plain?: boolean } & Conditions & Signalled = {},
  ): Promise<Results> {
    return new Results(
      await ask(signal, async (abort) => this.native.search(text, plain, limit, conditions, abort)),
    );
  }

  /**
   * Returns the memories that a question calls for, with the turns around them. `budget` is the size of the
   * result as Markdown, in tokens of about four characters. `precise` leaves out what is less relevant, and
   * the turns around.
   */
  async recall(
    question: string,
    { budget = 2_000, precise = false, signal, ...conditions }: { budget?: number; precise?: boolean } & Conditions & Signalled = {},
  ): Promise<Recollection> {
    return new Recollection(
      await ask(signal, async (abort) => this.native.recall(question, budget, precise, conditions, abort)),
    );
  }

  /**
   * Returns the grains that satisfy conditions, one after the other. All are those of the moment of the
   * first one: what is stored meanwhile changes nothing, and what is erased disappears.
   *
   * `sort` is `stored`, `time`, `created_at`, `valid_from`, `valid_to`, `system_valid_from`, `confidence` or
   * `importance`, descending after a `-`; by default the order of storage, and by time in a session. `page`
   * is how many are read at once.
   */
  async *query(options: { sort?: string; page?: number } & Conditions & Signalled = {}): AsyncGenerator<Found, void, undefined> {
    for await (const page of this.pages(options)) yield* page;
  }

  /** Returns the pages of `query`. */
  async *pages({ page = 500, ...options }: { sort?: string; page?: number } & Conditions & Signalled = {}): AsyncGenerator<Results, void, undefined> {
    let cursor: string | undefined;
    do {
      const results = await this.queryPage({ ...options, limit: page, cursor });
      yield results;
      cursor = results.nextCursor;
    } while (cursor !== undefined);
  }

  /**
   * Returns up to `limit` grains as `query` does, with the cursor of the next page. Rejects with `Filter`,
   * and `Cursor` for a cursor of another query.
   */
  async queryPage(
    { sort, limit = 500, cursor, signal, ...conditions }: { sort?: string | undefined; limit?: number; cursor?: string | undefined } & Conditions & Signalled = {},
  ): Promise<Results> {
    const found: Found[] = [];
    for (;;) {
      const rows = Math.min(limit - found.length, CHUNK);
      const page = await ask(signal, (abort) =>
        inLane(rows, async () => this.native.query(sort, rows, cursor, conditions, abort)),
      );
      found.push(...foundIn(page));
      cursor = page.nextCursor;
      if (cursor === undefined || found.length >= limit || page.isPartial) return new Results(page, found);
    }
  }

  /** Returns how many grains satisfy conditions. */
  async count(conditions: Conditions & Signalled = {}): Promise<number> {
    return (await this.queryPage({ ...conditions, limit: 0 })).total;
  }

  /**
   * Answers a statement of the Context Assembly Language (docs/cal.md). `parameters` are the values of its
   * `$names`, `user` is the person of MY, and `now` the moment of words such as "yesterday".
   *
   * Rejects with a `GrainstoreError` with a code of CAL such as `CAL-E003`, its place and a suggestion in
   * `hint`; errors of the store.
   */
  async cal(
    statement: string,
    { user, now, parameters = {}, signal }: { user?: string; now?: Moment; parameters?: Record<string, unknown> } & Signalled = {},
  ): Promise<Answer> {
    const moment = now === undefined ? undefined : momentText(now);
    return new Answer(
      await ask(signal, async (abort) =>
        this.native.cal(statement, JSON.stringify(parameters), user, moment, abort),
      ),
    );
  }

  /** Returns the versions of a grain, oldest first. Rejects with `NotFound`. */
  async history(address: AddressOf, { signal }: Signalled = {}): Promise<Version[]> {
    const versions = await ask(signal, async (abort) => this.native.history(addressOf(address), abort));
    return versions.map((version) => new Version(version));
  }

  /**
   * Returns the entries of the ledger from one on, of this process and of others; from now on if `first` is
   * `null`. With conditions, only grains that were stored and satisfy them.
   */
  changes({ first = 0, ...conditions }: { first?: number | null } & Conditions = {}): Changes {
    const narrowed = Object.keys(conditions).length > 0 ? conditions : undefined;
    return new Changes(
      ask(undefined, async () => this.native.changes(first ?? undefined, narrowed)),
    );
  }

  /** Returns the changes from an entry on, from now on by default, and waits for more until it is left. */
  async *follow(
    { first = null, signal, ...conditions }: { first?: number | null } & Conditions & Signalled = {},
  ): AsyncGenerator<Change, void, undefined> {
    const feed = this.changes({ first, ...conditions });
    for (;;) {
      for await (const change of feed) {
        signal?.throwIfAborted();
        yield change;
      }
      // So long that it costs nothing, so short that a loop that is left leaves no thread for long.
      await feed.wait(1, { signal });
    }
  }

  // What is changed.

  /**
   * Stores the next version of a grain with these fields, and returns its address. A field that is `null` is
   * left out of it; the old version stays in the history. Rejects with what `supersede` rejects with.
   */
  correct(address: AddressOf, fields: Fields, { reason, signal }: { reason?: string } & Signalled = {}): Promise<string> {
    return ask(signal, async (abort) => this.native.correct(addressOf(address), fields, reason, abort));
  }

  /**
   * Stores a grain that replaces another, atomically, and returns its address. It names the old one in
   * `derived_from`, of a consent in `prior_consent`, here by default. `auth` are the agreements of
   * `SigningKey.cosign` that the policy of the old grain requires.
   *
   * Rejects with `NotFound`; `Conflict` for a grain that is no longer current; `InvalidationDenied` where
   * its policy forbids it; what `put` rejects with.
   */
  supersede(old: AddressOf, fields: Fields, { reason, auth, signal }: Reasons = {}): Promise<string> {
    return ask(signal, async (abort) =>
      this.native.supersede(addressOf(old), fields, reason, several(auth), abort),
    );
  }

  /**
   * Marks a grain as contradicted: it is contested and no longer current. Rejects with `NotFound`, and
   * `InvalidationDenied` where its policy forbids it.
   */
  contradict(address: AddressOf, { reason, auth, signal }: Reasons = {}): Promise<void> {
    return ask(signal, async (abort) =>
      this.native.contradict(addressOf(address), reason, several(auth), abort),
    );
  }

  /** Records how far a grain has been verified; one that is retracted is no longer current. */
  verify(
    address: AddressOf,
    status: "unverified" | "verified" | "contested" | "retracted" = "verified",
    { reason, auth, signal }: Reasons = {},
  ): Promise<void> {
    return ask(signal, async (abort) =>
      this.native.verify(addressOf(address), status, reason, several(auth), abort),
    );
  }

  /**
   * Deletes grains from every file of the store, for good. An entry with the reason and the authority stays,
   * and keeps the grains from being stored again. Many at once cost about as much as one.
   *
   * All that may be deleted are, before it rejects with the error of the first other one: `NotFound`;
   * `InvalidationDenied` for a grain that a hold or its retention keeps; `AccessDenied` for a handle that is
   * not the owner's.
   */
  async delete(of: AddressOf | readonly AddressOf[], { reason, authority, signal }: Grounds): Promise<void> {
    const errors = await ask(signal, async (abort) =>
      this.native.delete([of].flat().map(addressOf), reason, authority, abort),
    );
    const first = errors.find((error) => error != null);
    if (first != null) throw described(first) ?? new Error(first);
  }

  // Vectors.

  /**
   * Stores vectors that a model made of grains, by their addresses, all or none. Each replaces an earlier
   * one of the model; only the direction of a vector counts.
   */
  putEmbeddings(
    model: string,
    vectors: ReadonlyMap<string, Vector> | Readonly<Record<string, Vector>>,
    { signal }: Signalled = {},
  ): Promise<void> {
    const pairs: [string, Vector][] = vectors instanceof Map ? [...vectors] : Object.entries(vectors);
    const of = pairs.map(([address]) => address);
    const numbers = pairs.map(([, vector]) => floats(vector));
    return ask(signal, async (abort) => this.native.putEmbeddings(model, of, numbers, abort));
  }

  /** Returns the vector that a model made of a grain, with the length 1; `null` if there is none. */
  embedding(model: string, address: AddressOf, { signal }: Signalled = {}): Promise<Float32Array | null> {
    return ask(signal, async (abort) => this.native.embedding(addressOf(address), model, abort));
  }

  /**
   * Returns the grains whose vectors of a model are nearest to a vector; the score of each is
   * (1 + cosine) / 2. Up to 50,000 vectors of a model are all compared.
   */
  async nearest(
    model: string,
    vector: Vector,
    { limit = 10, signal, ...conditions }: { limit?: number } & Conditions & Signalled = {},
  ): Promise<Results> {
    return new Results(
      await ask(signal, async (abort) =>
        this.native.nearest(model, floats(vector), limit, conditions, abort),
      ),
    );
  }

  // Files.

  /**
   * Imports an export of ChatGPT, Claude, Gemini and others, PAM, AIMEM, OMI-AI, `.mg` or JSON lines; the
   * content decides which (docs/interchange.md).
   *
   * `user` is the person whose export it is. `progress` is called with the number of records that are done.
   * `preview` writes nothing. Records that cannot be stored are in the outcome.
   */
  async importFile(
    path: string,
    options: {
      format?: string;
      user?: string;
      preview?: boolean;
      progress?: (done: number) => void;
    } & Signalled = {},
  ): Promise<native.Imported> {
    const { format, user, preview = false, progress, signal } = options;
    let failed: { error: unknown } | undefined;
    const told =
      progress &&
      ((done: number) => {
        try {
          if (failed === undefined) progress(done);
        } catch (error) {
          failed = { error };
        }
      });
    const imported = await ask(signal, async (abort) =>
      this.native.importFile(path, format, user, preview, told, abort),
    );
    if (failed !== undefined) throw (failed as { error: unknown }).error;
    return imported;
  }

  /**
   * Writes the grains that satisfy conditions to a file, which is complete or absent. `format` is `mg`,
   * `jsonl`, `pam`, `aimem` or another of docs/interchange.md; `history` adds what the store says about the
   * grains.
   */
  export(
    path: string,
    { format = "mg", history = false, signal, ...conditions }: { format?: string; history?: boolean } & Conditions & Signalled = {},
  ): Promise<native.Exported> {
    return ask(signal, async (abort) => this.native.export(path, format, history, conditions, abort));
  }

  /** Writes a copy of the store to a folder, or brings the copy there up to date. */
  backup(path: string, { signal }: Signalled = {}): Promise<void> {
    return ask(signal, (abort) => this.native.backup(path, abort));
  }

  /**
   * Completes what puts leave for later: makes the vectors that are missing, and writes the index of words,
   * so that the next opening need not. Words are found without it.
   */
  flush({ signal }: Signalled = {}): Promise<void> {
    return ask(signal, (abort) => this.native.flush(abort));
  }

  // Narrowed handles.

  /**
   * Returns a handle of an author: what it stores is theirs, and it may do what the owner delegated to them.
   * Throws `Did`.
   */
  asActor(did: string): Store {
    return new Store(call(() => this.native.asActor(did)));
  }

  /** Returns a handle on the memories of one person: grains of others are as if not stored. */
  ofUser(user: string): Store {
    return new Store(call(() => this.native.ofUser(user)));
  }

  /** Returns a handle on a namespace and those inside it. */
  inNamespace(namespace: string): Store {
    return new Store(call(() => this.native.inNamespace(namespace)));
  }

  /** Returns a handle that changes nothing. */
  readOnly(): Store {
    return new Store(call(() => this.native.readOnly()));
  }

  /**
   * Returns a handle that signs what it stores: `remember`, `put`, `putBatch`, `correct` and `supersede`.
   * Imports, statements of CAL and the files of the memory tool stay unsigned.
   *
   * The signer is `did`, by default the `did:key` of the key. A signature says who signed, and not that they
   * are trusted: `trust` does.
   */
  signedBy(key: SigningKey, { did }: { did?: string } = {}): Store {
    return new Store(call(() => this.native.signedBy(key.native, did)));
  }
}

function several(signatures: Uint8Array | readonly Uint8Array[] = []): Uint8Array[] {
  return signatures instanceof Uint8Array ? [signatures] : [...signatures];
}
