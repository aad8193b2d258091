// Writes the classes of the errors from the codes of the extension: `node errors.mjs`, which the build runs.
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const { codes } = createRequire(import.meta.url)("./lib/native/index.cjs");

/** Returns the name of the class of a code; none for those of file formats. */
function className(code) {
  if (code === "ERR_CONSENT") return "ConsentRequired";
  const words = code.match(/^ERR_(.+)$/)?.[1].split("_");
  return words?.map((word) => word[0] + word.slice(1).toLowerCase()).join("");
}

const classes = codes().filter(className).sort();
const lines = classes.map((code) => {
  const name = className(code);
  return `/** \`${code}\` */\nexport class ${name} extends GrainstoreError {}\nknow("${code}", ${name});\n`;
});
const head = 'import { GrainstoreError, know } from "../failure.js";\n\n';
writeFileSync(new URL("lib/native/errors.ts", import.meta.url), head + lines.join("\n"));
