/**
 * The errors of grainstore: one class for each code, all under `GrainstoreError`. The name of a class is
 * that of its code: `ERR_INVALIDATION_DENIED` is `InvalidationDenied`. Codes of file formats, which do not
 * begin with `ERR_`, have no class of their own.
 */
export { GrainstoreError } from "./failure.js";
export * from "./native/errors.js";
