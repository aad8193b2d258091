import { call } from "./failure.js";
import * as native from "./native/index.cjs";
import { type AddressOf, addressOf, type Fields } from "./options.js";

/** What a key agrees to in one store. */
export interface Agreement {
  /** That of `Store.storeId`. */
  storeId: string;
  /** A `did:web` of the key; its `did:key` by default. */
  did?: string | undefined;
}

/**
 * A private key, which signs grains and statements; `did` names its public half. It is wiped from memory
 * when it goes.
 */
export class SigningKey {
  /** @internal */
  readonly native: native.SigningKey;

  private constructor(key: native.SigningKey) {
    this.native = key;
  }

  /** Draws a new key. */
  static generate(algorithm: "Ed25519" | "P-256" = "Ed25519"): SigningKey {
    return new SigningKey(call(() => native.SigningKey.generate(algorithm)));
  }

  /** Reads a key of PKCS#8 in PEM, as `openssl genpkey` and `grainstore did new` write it. */
  static fromPem(pem: string): SigningKey {
    return new SigningKey(call(() => native.SigningKey.fromPem(pem)));
  }

  /** Returns the key as PKCS#8 in PEM, which is secret. */
  toPem(): string {
    return call(() => this.native.toPem());
  }

  /** The `did:key` of the key. */
  get did(): string {
    return this.native.did;
  }

  /**
   * Agrees that a grain replaces another in one store, as a policy of `quorum` or `delegated` requires
   * (OMS 23.2), and returns the signature for `auth` of `Store.supersede`. It needs no store.
   *
   * `fields` are all those of the new grain, with `created_at` and what the handle that stores it adds:
   * the agreement is to no other grain.
   */
  cosign(fields: Fields, { old, storeId, did }: Agreement & { old: AddressOf }): Uint8Array {
    return call(() => this.native.cosign(fields, addressOf(old), storeId, did));
  }

  /**
   * Agrees that a grain is contradicted, or has a verification status, in one store, and returns the
   * signature for `auth` of `Store.contradict` and `Store.verify`. It needs no store.
   */
  agree(
    address: AddressOf,
    to: "contradict" | "unverified" | "verified" | "contested" | "retracted",
    { storeId, did }: Agreement,
  ): Uint8Array {
    return call(() => this.native.agree(addressOf(address), to, storeId, did));
  }
}

/**
 * A checkpoint of a ledger as text, which others may sign too (C2SP signed-note). Kept elsewhere it tells
 * whether the store was rolled back, cut short or rewritten since.
 */
export class Note {
  /** @internal */
  readonly native: native.Note;

  /** @internal */
  constructor(note: native.Note) {
    this.native = note;
  }

  /** Reads a note, signed or not. */
  static read(text: string): Note {
    return new Note(call(() => native.Note.read(text)));
  }

  /** The name of the log: `grainstore/` and the id of the store. */
  get origin(): string {
    return this.native.origin;
  }

  /** The number of entries of the ledger, those included that were erased. */
  get entries(): number {
    return this.native.entries;
  }

  /** The root of the Merkle tree over the entries, as 64 hexadecimal digits. */
  get root(): string {
    return this.native.root;
  }

  /** Returns the public key under which `isSignedBy` finds a signature of the store's operator. */
  logKey(key: SigningKey): string {
    return call(() => this.native.logKey(key.native));
  }

  /** Returns whether a key has signed the note: that of the operator, or of a witness. */
  isSignedBy(key: string): boolean {
    return call(() => this.native.isSignedBy(key));
  }

  /** Returns how many of these keys have signed the note. Two names of one key count once. */
  signers(keys: string[]): number {
    return call(() => this.native.signers(keys));
  }

  toString(): string {
    return this.native.toString();
  }
}

/**
 * A proof of RFC 9162 under the root of a note: that an entry is in the ledger, or that the ledger grew
 * without a change. It has no content, and stays valid when the content is erased.
 */
export class Proof {
  readonly #native: native.Proof;

  /** @internal */
  constructor(proof: native.Proof) {
    this.#native = proof;
  }

  /** Reads what `toText` or `grainstore audit prove` wrote. */
  static read(text: string): Proof {
    return new Proof(call(() => native.Proof.read(text)));
  }

  /** Returns it as a JSON document, which `grainstore audit verify` and `tools/verify_audit.py` read. */
  toText(): string {
    return this.#native.toText();
  }

  /** The number of the entry that it proves; `null` for a proof of growth. */
  get entry(): number | null {
    return this.#native.entry;
  }

  /** The number of entries that were there before the growth; `null` for a proof of an entry. */
  get first(): number | null {
    return this.#native.first;
  }

  /** The number of entries under the root. */
  get entries(): number {
    return this.#native.entries;
  }

  /** Returns whether it proves its entry under the root of a note; false for a proof of growth. */
  isIn(note: Note): boolean {
    return this.#native.isIn(note.native);
  }

  /**
   * Returns whether it proves that the entries of `note` begin with those of `since`; false for a proof of
   * an entry.
   */
  extends(since: Note, note: Note): boolean {
    return this.#native.extends(since.native, note.native);
  }
}

/**
 * What the operator of a store signed about the erasure of a person. It names the person only to who knows
 * an id of theirs, and no content. `grainstore user verify` reads the text of `toText`.
 */
export class ErasureReceipt {
  /** The signed COSE_Sign1 message. */
  readonly message: Uint8Array;
  /** The DID of the signer, whom the reader may trust or not. */
  readonly signer: string;
  /** When the erasure was complete, by the clock of the store. */
  readonly time: Date;
  /** The number of entries of the ledger then. */
  readonly entries: number;
  /** The number of grains that were erased. */
  readonly erased: number;
  /** The number of entries that were blanked: grains, and entries about them. */
  readonly blanked: number;
  /** The number of grains that mention the person and stay. */
  readonly mentions: number;
  /** The grains that stay, each with the rule that keeps it. */
  readonly kept: Readonly<Record<string, string>>;
  /** Whether the entries of the erasure are proven to be in the ledger that was signed. */
  readonly isProven: boolean;

  private constructor(message: Uint8Array) {
    const opened = call(() => native.openErasureReceipt(message));
    this.message = message;
    this.signer = opened.signer;
    this.time = new Date(opened.time);
    this.entries = opened.entries;
    this.erased = opened.erased;
    this.blanked = opened.blanked;
    this.mentions = opened.mentions;
    this.kept = opened.kept;
    this.isProven = opened.isProven;
  }

  /** Verifies the signature of a message and returns its content. */
  static open(message: Uint8Array): ErasureReceipt {
    return new ErasureReceipt(message);
  }

  /** Returns whether the person has an id. */
  names(id: string): boolean {
    return call(() => native.erasureReceiptNames(this.message, id));
  }

  /** Returns it as a JSON document, with the message in hexadecimal digits. */
  toText(): string {
    return call(() => native.erasureReceiptJson(this.message));
  }
}

/** What the operator of a store signed about a grain: that it is there. */
export class Receipt {
  /** The signed COSE_Sign1 message. */
  readonly message: Uint8Array;
  /** The DID of the signer, whom the reader may trust or not. */
  readonly signer: string;
  readonly address: string;
  /** The number of the entry of the ledger. */
  readonly entry: number;
  /** When it was stored, by the clock of the store. */
  readonly time: Date;

  private constructor(message: Uint8Array) {
    const opened = call(() => native.openReceipt(message));
    this.message = message;
    this.signer = opened.signer;
    this.address = opened.address;
    this.entry = opened.entry;
    this.time = new Date(opened.time);
  }

  /** Verifies the signature of a message and returns its content. */
  static open(message: Uint8Array): Receipt {
    return new Receipt(message);
  }
}
