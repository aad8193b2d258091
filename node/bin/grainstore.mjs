#!/usr/bin/env node
// The command `grainstore`: it takes the process, and its exit code is that of the process.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const { command } = createRequire(import.meta.url)("../dist/native/index.cjs");
// The program that `mcp install` and others write into files of others.
const program = fileURLToPath(import.meta.url);
// Node.js ends at these by a handler that raises the signal again. The command has handlers of its own, which would
// pass it on to that one without end: a listener that comes and goes leaves none.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => undefined).removeAllListeners(signal);
process.exit(command(program, ["grainstore", ...process.argv.slice(2)]));
