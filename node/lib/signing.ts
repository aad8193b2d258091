import { ask } from "./failure.js";
import { Receipt, type SigningKey } from "./keys.js";
import type * as native from "./native/index.cjs";
import { type AddressOf, addressOf, type Signalled } from "./options.js";
import { Persons } from "./persons.js";
import { type Checkpoint, dated, type TrustRule } from "./results.js";

/** The grains that a signer is trusted with, and why. */
export interface Trusting extends Partial<Omit<TrustRule, "signer">>, Signalled {
  /** Goes into the ledger. */
  reason: string;
}

/** The part of `Store` about signatures: whose they are, who is trusted, and signed statements. */
export abstract class Signing extends Persons {
  /**
   * Returns the signer of a grain and how far the signer is trusted now; `null` for a grain that is not
   * signed. The signature was verified when the grain was stored. Rejects with `NotFound`.
   */
  signature(address: AddressOf, { signal }: Signalled = {}): Promise<native.Signature | null> {
    return ask(signal, async (abort) => this.native.signature(addressOf(address), abort));
  }

  /**
   * Returns a grain as it is sent: its bytes, or for a signed grain the COSE_Sign1 message with these
   * inside (OMS 9.2). `null` for one that is not here.
   */
  delivery(address: AddressOf, { signal }: Signalled = {}): Promise<Uint8Array | null> {
    return ask(signal, async (abort) => this.native.delivery(addressOf(address), abort));
  }

  /**
   * Stores a grain that was sent, with its signature, and returns its address.
   *
   * Rejects with `Signature` for a signature that does not verify, `Unresolved` for a `did:web` whose
   * document the store was not opened with, `Untrusted` where only trusted signers may write.
   */
  receive(delivery: Uint8Array, { signal }: Signalled = {}): Promise<string> {
    return ask(signal, (abort) => this.native.receive(delivery, abort));
  }

  /**
   * Trusts a signer, by DID, with the grains of namespaces and types, all by default, also with those
   * stored before. With `isExclusive` only trusted signers may write in the namespaces.
   */
  trust(signer: string, trusting: Trusting): Promise<void> {
    const { reason, signal, ...given } = trusting;
    const rule = { namespaces: [], types: [], authors: [], isExclusive: false, ...given, signer };
    return ask(signal, async (abort) => this.native.trust(rule, reason, abort));
  }

  /** Removes all rules of a signer, and returns whether there were any. */
  distrust(signer: string, { reason, signal }: { reason: string } & Signalled): Promise<boolean> {
    return ask(signal, async (abort) => this.native.distrust(signer, reason, abort));
  }

  /** Returns the rules of `trust`, oldest first. */
  trusted({ signal }: Signalled = {}): Promise<TrustRule[]> {
    return ask(signal, (abort) => this.native.trusted(abort));
  }

  /** Signs that a grain is in the store, at which entry of the ledger and since when. */
  async receipt(address: AddressOf, key: SigningKey, { signal }: Signalled = {}): Promise<Receipt> {
    const message = ask(signal, async (abort) =>
      this.native.receipt(addressOf(address), key.native, abort),
    );
    return Receipt.open(await message);
  }

  /**
   * Signs the head of the ledger, notes that in the ledger, and returns the message, to be kept elsewhere:
   * it tells whether the store was rolled back or rewritten. All of the ledger is read and verified.
   */
  checkpoint(key: SigningKey, { signal }: Signalled = {}): Promise<Uint8Array> {
    return ask(signal, (abort) => this.native.checkpoint(key.native, abort));
  }

  /** Verifies the signature of a checkpoint, and whether the ledger begins with its entries. */
  async verifyCheckpoint(message: Uint8Array, { signal }: Signalled = {}): Promise<Checkpoint> {
    return dated(await ask(signal, (abort) => this.native.verifyCheckpoint(message, abort)), "time");
  }
}
