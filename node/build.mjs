// Builds the package from a clone: `node build.mjs [arguments of cargo]`, with `--release` if there are none.
//
// npm runs it where the folder is installed. The extension needs Rust; the rest needs the packages of
// package-lock.json, which are installed if they are not.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = dirname(fileURLToPath(import.meta.url));
const [made, dist] = [join(folder, "lib/native"), join(folder, "dist")];
const words = process.argv.slice(2);
// A package from a registry has no sources, but what they were built to.
if (words[0] === "--if-missing") {
  words.shift();
  if (existsSync(join(dist, "index.js"))) process.exit();
}
const isWindows = process.platform === "win32";
const run = (program, args, env = {}) =>
  execFileSync(program, args, {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
    shell: isWindows && program === "npm",
    maxBuffer: 1 << 28,
    encoding: "utf8",
  });
if (!existsSync(join(folder, "node_modules/typescript"))) {
  run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
}
for (const old of [made, dist]) rmSync(old, { recursive: true, force: true });
mkdirSync(made, { recursive: true });

// The macros write the types beside the code: all of them, as nothing else makes them run again.
const types = join(folder, "target/types");
rmSync(types, { recursive: true, force: true });
mkdirSync(types, { recursive: true });
utimesSync(join(folder, "src/lib.rs"), new Date(), new Date());
const options = words.length > 0 ? words : ["--release", "--locked"];
const told = run("cargo", ["build", "--message-format", "json-render-diagnostics", ...options], {
  NAPI_TYPE_DEF_TMP_FOLDER: types,
});
const artifacts = told.trim().split("\n").map((line) => JSON.parse(line));
const [library] = artifacts.find(({ target }) => target?.name === "grainstore_node").filenames;

const { generateTypeDef, parseTriple, writeJsBinding } = await import("@napi-rs/cli");
const host = run("rustc", ["-vV"]).match(/host: (.+)/)[1];
cpSync(library, join(made, `grainstore.${parseTriple(host).platformArchABI}.node`));
const { dts, exports } = await generateTypeDef({ typeDefDir: types, cwd: folder });
writeFileSync(join(made, "index.d.cts"), dts);
await writeJsBinding({
  platform: true,
  idents: exports,
  jsBinding: "index.cjs",
  binaryName: "grainstore",
  packageName: "grainstore",
  version: "0.1.0",
  outputDir: made,
});
run(process.execPath, ["errors.mjs"]);
run(process.execPath, ["node_modules/typescript/bin/tsc", "--project", "tsconfig.json"]);
mkdirSync(join(dist, "native"), { recursive: true });
for (const file of readdirSync(made).filter((name) => /\.d\.cts$|\.cjs$|\.node$/.test(name))) {
  cpSync(join(made, file), join(dist, "native", file));
}
