import { ask } from "./failure.js";
import { Handle } from "./handle.js";
import { ErasureReceipt, type SigningKey } from "./keys.js";
import type * as native from "./native/index.cjs";
import type { Signalled } from "./options.js";

/** How far the erasure of a person goes, and why. */
export interface Erasure extends Signalled {
  reason: string;
  authority: string;
  /** Erases grains that only mention the person too. */
  mentions?: boolean | undefined;
  /** Erases the others if a rule keeps some. */
  exceptKept?: boolean | undefined;
  /**
   * Puts those that are kept of a sealed person under a hold key, which answers to no id of theirs, and
   * everything else goes with the key of the person.
   */
  resealHeld?: boolean | undefined;
  /** Signs a receipt, which is for the person and the operator: the store keeps no copy. */
  key?: SigningKey | undefined;
}

/** The outcome of the erasure of a person. */
export interface Erased extends Omit<native.ErasedPerson, "message"> {
  /** What a key signed. */
  readonly receipt: ErasureReceipt | undefined;
}

/** The part of `Store` about persons: their keys, what is known of them, their erasure. */
export abstract class Persons extends Handle {
  /**
   * Gives persons a key each, under the master key with which the store was opened. What is stored about
   * them from then on is sealed; `seal` seals what is there.
   *
   * Rejects with `UserExists`, `Key` without a master key, `MasterKey` with another one.
   */
  addKeys(users: string | string[], { signal }: Signalled = {}): Promise<void> {
    return ask(signal, (abort) => this.native.addKeys([users].flat(), abort));
  }

  /** Returns the ids of the persons who have a key. */
  users({ signal }: Signalled = {}): Promise<string[]> {
    return ask(signal, (abort) => this.native.users(abort));
  }

  /** Seals what is stored about a person who has a key, and returns how many grains that were. */
  seal(user: string, { signal }: Signalled = {}): Promise<number> {
    return ask(signal, (abort) => this.native.seal(user, abort));
  }

  /** Takes the key of a person into memory. Rejects with `UserUnknown`, and as `addKeys`. */
  unlock(user: string, { signal }: Signalled = {}): Promise<void> {
    return ask(signal, (abort) => this.native.unlock(user, abort));
  }

  /**
   * Wipes the key of a person from memory: what is sealed is not found, and nothing is stored about them
   * (`Locked`), until they are unlocked.
   */
  lock(user: string, { signal }: Signalled = {}): Promise<void> {
    return ask(signal, (abort) => this.native.lock(user, abort));
  }

  /** Returns whether the key of a person is in memory. */
  isUnlocked(user: string, { signal }: Signalled = {}): Promise<boolean> {
    return ask(signal, (abort) => this.native.isUnlocked(user, abort));
  }

  /**
   * Returns everything that the store has about a person, by all ids of theirs.
   *
   * Rejects with `ScopeIncomplete` for a sealed person who is locked, `AccessDenied` for a handle that is
   * not the owner's.
   */
  personReport(ids: string | string[], { signal }: Signalled = {}): Promise<native.PersonReport> {
    return ask(signal, (abort) => this.native.personReport([ids].flat(), abort));
  }

  /**
   * Erases everything about a person from every file of the store.
   *
   * Rejects with `InvalidationDenied` if a rule keeps a grain, and nothing is erased; as `personReport`.
   */
  async erasePerson(ids: string | string[], erasure: Erasure): Promise<Erased> {
    const { reason, authority, mentions, exceptKept, resealHeld, key, signal } = erasure;
    const extent = {
      reason,
      authority,
      mentions: mentions ?? false,
      exceptKept: exceptKept ?? false,
      resealHeld: resealHeld ?? false,
    };
    const erased = await ask(signal, (abort) =>
      this.native.erasePerson([ids].flat(), extent, key?.native, abort),
    );
    const { message, ...done } = erased;
    return { ...done, receipt: message && ErasureReceipt.open(message) };
  }

  /**
   * Returns whether a receipt is of this store, is proven, and the ledger begins with the entries that it
   * states. All of the ledger is read and verified.
   */
  agreesWith(receipt: ErasureReceipt | Uint8Array, { signal }: Signalled = {}): Promise<boolean> {
    const message = receipt instanceof Uint8Array ? receipt : receipt.message;
    return ask(signal, (abort) => this.native.agreesWith(message, abort));
  }
}
