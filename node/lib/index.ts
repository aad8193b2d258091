/**
 * Embedded, content-addressed memory for AI agents: the Open Memory Specification, enforced.
 *
 * A *grain* is one memory: a small map of fields that never changes, under an address that is the hash of
 * its bytes. A newer grain supersedes it, and the history keeps both. `Store` has the operations, `errors`
 * the errors.
 */
import * as errors from "./errors.js";
import * as grains from "./grains.js";

export { errors, grains };
export { GrainstoreError } from "./failure.js";
export { Changes } from "./changes.js";
export { Grain } from "./grain.js";
export { ErasureReceipt, Note, Proof, Receipt, SigningKey } from "./keys.js";
export { Answer, Recollection, Results } from "./results.js";
export { Store } from "./store.js";
export type { First, Grounds } from "./auditing.js";
export type { Agreement } from "./keys.js";
export type {
  AddressOf,
  Conditions,
  Embedder,
  Fields,
  MemoryOptions,
  Moment,
  OpenOptions,
  Signalled,
  Vector,
} from "./options.js";
export type { Erased, Erasure } from "./persons.js";
export type {
  Change,
  Checkpoint,
  Exported,
  Found,
  Hold,
  Imported,
  Line,
  Named,
  PersonReport,
  Put,
  Refused,
  Signature,
  Status,
  TrustRule,
  Version,
} from "./results.js";
export type { Trusting } from "./signing.js";
export type { Memory, Reasons } from "./store.js";
