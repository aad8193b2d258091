#!/usr/bin/env node
// The command `grainstore`: it takes the process, and its exit code is that of the process.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const { command } = createRequire(import.meta.url)("../dist/native/index.cjs");
// The program that `mcp install` and others write into files of others.
const program = fileURLToPath(import.meta.url);
process.exit(command(program, ["grainstore", ...process.argv.slice(2)]));
