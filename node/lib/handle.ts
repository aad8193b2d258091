import type * as native from "./native/index.cjs";

/** What the parts of a store share: the handle of the extension. */
export abstract class Handle {
  /** @internal */
  readonly native: native.Store;

  /** @internal */
  constructor(handle: native.Store) {
    this.native = handle;
  }
}
