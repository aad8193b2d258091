import { inspect, type InspectOptions } from "node:util";

import { INSPECT } from "./grain.js";
import type * as native from "./native/index.cjs";

/** A type whose members `K` are dates, where the extension has milliseconds since 1970. */
export type Dated<T, K extends keyof T> = Omit<T, K> & { readonly [name in K]: Date };

/** Returns an object whose member is a date. */
export function dated<T extends object, K extends keyof T>(of: T, name: K): Dated<T, K> {
  return { ...of, [name]: new Date(of[name] as number) } as Dated<T, K>;
}

export type Status = native.Standing;
export type Line = Dated<native.Line, "time">;
export type Hold = Dated<native.Hold, "since">;
export type Checkpoint = Dated<native.Checkpoint, "time">;
export type { Exported, Imported, Named, PersonReport, Put, Refused, Signature } from "./native/index.cjs";
export type TrustRule = native.Rule;

/** One result of a search or a query. `String(it)` is that of its grain. */
export interface Found extends native.Found {}

export class Found {
  readonly #grains: native.Grains;
  readonly #row: number;
  #grain: native.Grain | undefined;

  /** @internal */
  constructor(found: native.Found, grains: native.Grains, row: number) {
    Object.assign(this, found);
    this.#grains = grains;
    this.#row = row;
  }

  get grain(): native.Grain {
    this.#grain ??= this.#grains.at(this.#row);
    return this.#grain;
  }

  toString(): string {
    return this.grain.toString();
  }

  toJSON(): object {
    return { ...this, grain: this.grain };
  }

  [INSPECT](_: number, options: InspectOptions): string {
    return `Found ${inspect(this.toJSON(), options)}`;
  }
}

/** One version of a grain. `String(it)` is that of its grain. */
export interface Version extends Dated<native.Version, "storedAt"> {}

export class Version {
  /** @internal */
  constructor(version: native.Version) {
    Object.assign(this, dated(version, "storedAt"));
  }

  toString(): string {
    return this.grain.toString();
  }
}

/** One entry of the ledger. `String(it)` is its number, its kind, and its grain or the address of one. */
export interface Change extends Dated<native.Change, "at"> {}

export class Change {
  /** @internal */
  constructor(change: native.Change) {
    Object.assign(this, dated(change, "at"));
  }

  toString(): string {
    const of = this.grain?.toString() ?? this.address ?? this.entries.join(", ");
    return `${this.entry} ${this.kind} ${of}`.trimEnd();
  }
}

/** The best results of a search, or a page of a query. */
export class Results implements Iterable<Found> {
  readonly found: readonly Found[];
  /** The number of all that match. */
  readonly total: number;
  /** Whether there may be more than `total`. */
  readonly totalIsLowerBound: boolean;
  /** Whether the search ended at its deadline or at its limit of bytes. */
  readonly isPartial: boolean;
  /** Words that no grain has, each with the word that it was read as. */
  readonly readAs: Readonly<Record<string, string>>;
  /** Where the next page of a query begins; `undefined` on the last one. */
  readonly nextCursor: string | undefined;

  /** @internal */
  constructor(page: native.Page, found: readonly Found[] = foundIn(page)) {
    this.found = found;
    this.total = page.total;
    this.totalIsLowerBound = page.totalIsLowerBound;
    this.isPartial = page.isPartial;
    this.readAs = page.readAs;
    this.nextCursor = page.nextCursor;
  }

  get length(): number {
    return this.found.length;
  }

  /** Returns the result at a place, from the end for a negative one. */
  at(index: number): Found | undefined {
    return this.found.at(index);
  }

  [Symbol.iterator](): Iterator<Found> {
    return this.found[Symbol.iterator]();
  }
}

/** Returns the results of a page. */
export function foundIn({ found, grains }: native.Page): Found[] {
  return found.map((it, row) => new Found(it, grains, row));
}

/** The memories for a question, within a budget of tokens. `String(it)` gives Markdown for a prompt. */
export class Recollection implements Iterable<Line> {
  readonly #native: native.Recollection;
  /** The memories: facts first, then conversations. */
  readonly lines: readonly Line[];
  /** The size of the Markdown, in tokens of about four characters. */
  readonly tokens: number;
  /** Whether the budget had no room for everything that was found. */
  readonly isCut: boolean;
  /** Whether the search ended at its deadline. */
  readonly isPartial: boolean;

  /** @internal */
  constructor(found: native.Recollection) {
    this.#native = found;
    this.lines = found.lines.map((line) => dated(line, "time"));
    this.tokens = found.tokens;
    this.isCut = found.isCut;
    this.isPartial = found.isPartial;
  }

  get length(): number {
    return this.lines.length;
  }

  /** Returns it as text: for a prompt, as JSON with every detail, or a line for each grain. */
  render(format: "markdown" | "json" | "text" | "sml" = "markdown"): Promise<string> {
    return this.#native.render(format);
  }

  toString(): string {
    return this.#native.toString();
  }

  [Symbol.iterator](): Iterator<Line> {
    return this.lines[Symbol.iterator]();
  }
}

/** The answer to a statement of the Context Assembly Language. */
export class Answer {
  /** The envelope of CAL 1.0, as docs/cal.md describes it. */
  readonly envelope: Record<string, any>;
  /** The text of `AS`, or of an assembled context. */
  readonly text: string | undefined;
  /** Whether something was found. */
  readonly isFound: boolean;

  /** @internal */
  constructor(answered: native.Answered) {
    this.envelope = JSON.parse(answered.envelope) as Record<string, any>;
    this.text = answered.text;
    this.isFound = answered.isFound;
  }

  toString(): string {
    return this.text ?? JSON.stringify(this.envelope);
  }
}
