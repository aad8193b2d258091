import { ask } from "./failure.js";
import { Note, Proof, type SigningKey } from "./keys.js";
import { type AddressOf, addressOf, type Signalled } from "./options.js";
import { dated, type Hold } from "./results.js";
import { Signing } from "./signing.js";

/** Why, and by whose authority. */
export interface Grounds extends Signalled {
  reason: string;
  authority: string;
}

/** The first entries of the ledger; all of them by default. */
export interface First extends Signalled {
  entries?: number | undefined;
}

/** The part of `Store` about legal holds and the audit trail, which is the ledger itself. */
export abstract class Auditing extends Signing {
  /** Returns the id of the store, 32 hexadecimal digits: agreements and notes name it. */
  storeId(): Promise<string> {
    return ask(undefined, () => this.native.storeId());
  }

  /**
   * Places a legal hold: the grain is not replaced, contradicted, verified, deleted or erased, whatever
   * else permits it.
   */
  placeHold(address: AddressOf, { reason, authority, signal }: Grounds): Promise<void> {
    return ask(signal, async (abort) =>
      this.native.placeHold(addressOf(address), reason, authority, abort),
    );
  }

  /** Lifts every hold on a grain, also that of its own policy, and returns whether there was one. */
  liftHold(address: AddressOf, { reason, authority, signal }: Grounds): Promise<boolean> {
    return ask(signal, async (abort) =>
      this.native.liftHold(addressOf(address), reason, authority, abort),
    );
  }

  /** Returns the holds that were placed and stand, by address. */
  async holds({ signal }: Signalled = {}): Promise<Hold[]> {
    const holds = await ask(signal, (abort) => this.native.holds(abort));
    return holds.map((hold) => dated(hold, "since"));
  }

  /**
   * Returns the note of the ledger, or of its first `entries`, to be kept elsewhere; signed, if there is a
   * key, which must be Ed25519. `checkpoint` notes one in the ledger too.
   */
  async auditHead({ key, entries, signal }: { key?: SigningKey } & First = {}): Promise<Note> {
    return new Note(
      await ask(signal, async (abort) => this.native.auditHead(key?.native, entries, abort)),
    );
  }

  /**
   * Returns whether the ledger begins with the entries of a note, none changed, missing or moved. The
   * signatures of the note are for `Note.isSignedBy`.
   */
  auditExtends(note: Note, { signal }: Signalled = {}): Promise<boolean> {
    return ask(signal, (abort) => this.native.auditExtends(note.native, abort));
  }

  /**
   * Proves under the root of the ledger, or of its first `entries`, that an entry is there, by its number,
   * or the one that stored a grain. The proof has no content: an erasure leaves it valid.
   */
  async auditProve(of: number | AddressOf, { entries, signal }: First = {}): Promise<Proof> {
    const named = typeof of === "number" ? of : addressOf(of);
    return new Proof(
      await ask(signal, async (abort) => this.native.auditProve(named, entries, abort)),
    );
  }

  /** Proves that the ledger, or its first `entries`, begin with its first `first`. */
  async auditGrowth(first: number, { entries, signal }: First = {}): Promise<Proof> {
    return new Proof(
      await ask(signal, async (abort) => this.native.auditGrowth(first, entries, abort)),
    );
  }

  /**
   * Writes the trail to a new file for a verifier that has neither the store nor this program, and returns
   * the note of all entries; both are signed, if there is a key. Rejects with `Io` if the file is there.
   */
  async auditExport(path: string, { key, signal }: { key?: SigningKey } & Signalled = {}): Promise<Note> {
    return new Note(await ask(signal, (abort) => this.native.auditExport(path, key?.native, abort)));
  }
}
