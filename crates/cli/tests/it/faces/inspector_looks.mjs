// Compares how pages of the inspector look with pictures that are kept.
//
// Usage: node inspector_looks.mjs URL TOKEN TOOLS PICTURES. TOOLS has node_modules with playwright-core,
// pixelmatch and pngjs, and gets the pictures that differ; PICTURES has those that are kept, for Chromium
// on Linux with the DejaVu fonts. With GRAINSTORE_WRITE_LOOKS=1 it writes them anew instead. Content, clock
// and fonts are fixed; ids, sizes and times that each run makes are hidden.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [url, token, tools, pictures] = process.argv.slice(2);
const require = createRequire(path.join(tools, "node_modules", "x.js"));
const { chromium } = require("playwright-core");
const { PNG } = require("pngjs");
const { default: pixelmatch } = await import(pathToFileURL(require.resolve("pixelmatch")));
const isWriting = process.env.GRAINSTORE_WRITE_LOOKS === "1";
const differing = path.join(tools, "looks");
rmSync(differing, { recursive: true, force: true });
mkdirSync(differing, { recursive: true });
mkdirSync(pictures, { recursive: true });

const T = 1_768_471_200_000;
const DAY = 86_400_000;
async function put(grain) {
  const answer = await fetch(`${url}/v1/grains`, {
    method: "POST", headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ created_at: T, ...grain }),
  });
  assert.ok(answer.ok, await answer.text());
}
for (const [relation, object] of [["lives_in", "porto"], ["prefers", "green tea"], ["works_at", "the clinic"], ["knows", "noor"]]) {
  await put({ type: "belief", subject: "mira", relation, object, confidence: 0.9, user_id: "mira" });
}
await put({ type: "belief", subject: "noor", relation: "lives_in", object: "lisbon", confidence: 0.9, user_id: "noor" });
for (let talk = 0; talk < 5; talk += 1) {
  for (const [n, [role, content]] of [["user", `question ${talk}: where is my umbrella?`], ["assistant", "behind the door"]].entries()) {
    await put({ type: "event", content, role, session_id: `talk ${talk}`, user_id: "mira", created_at: T - talk * DAY + n });
  }
}

/** Hides what differs from run to run. */
function settle() {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("* { font-family: 'DejaVu Sans' !important } code, pre { font-family: 'DejaVu Sans Mono' !important }");
  document.adoptedStyleSheets = [sheet];
  for (const row of document.querySelectorAll("tr")) {
    if (/^(Ledger|Index|Free on the disk)/.test(row.textContent)) row.lastElementChild.textContent = "…";
  }
  for (const list of document.querySelectorAll("ol.log")) {
    const walker = document.createTreeWalker(list, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) walker.currentNode.data = walker.currentNode.data.replace(/[0-9a-f]{8,}/g, "0").replace(/\d/g, "0");
  }
  return document.fonts.ready.then(() => undefined);
}

const DESKTOP = { width: 900, height: 520 };
const PHONE = { width: 360, height: 760 };
const LOOKS = [
  ["overview", "overview", DESKTOP], ["conversations", "threads", DESKTOP], ["person", "person/mira", DESKTOP],
  ["graph", "subject/mira", DESKTOP], ["log", "audit", DESKTOP],
  ["overview-phone", "overview", PHONE], ["person-phone", "person/mira", PHONE], ["graph-phone", "subject/mira", PHONE],
  ["overview-dark", "overview", DESKTOP, "dark"], ["graph-dark", "subject/mira", DESKTOP, "dark"],
];
/** The share of the pixels that may differ, as the edges of letters do from one version of a browser to the next. */
const TOLERANCE = 0.01;

const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--font-render-hinting=none", "--disable-lcd-text", "--force-color-profile=srgb"],
});
const faults = [];
for (const [name, hash, viewport, colorScheme = "light"] of LOOKS) {
  const context = await browser.newContext({ viewport, colorScheme, locale: "en", timezoneId: "UTC", reducedMotion: "reduce" });
  const page = await context.newPage();
  await page.clock.setFixedTime(new Date(T + DAY));
  await page.goto(`${url}/`);
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  await page.evaluate((to) => { location.hash = to; }, `#/${hash}`);
  await page.locator("#main h1").waitFor();
  await page.locator("#status").filter({ hasNotText: "Loading" }).waitFor();
  await page.waitForLoadState("networkidle");
  await page.evaluate(settle);
  const shot = await page.screenshot({ animations: "disabled", caret: "hide" });
  await context.close();
  const kept = path.join(pictures, `${name}.png`);
  if (isWriting) {
    writeFileSync(kept, PNG.sync.write(PNG.sync.read(shot), { deflateLevel: 9 }));
    continue;
  }
  if (!existsSync(kept)) {
    faults.push(`${name}: there is no picture of it`);
    continue;
  }
  const [is, was] = [PNG.sync.read(shot), PNG.sync.read(readFileSync(kept))];
  const shown = new PNG({ width: is.width, height: is.height });
  const isOfSize = is.width === was.width && is.height === was.height;
  const count = isOfSize ? pixelmatch(is.data, was.data, shown.data, is.width, is.height, { threshold: 0.2 }) : Infinity;
  const share = count / (is.width * is.height);
  console.log(`${name}: ${(100 * share).toFixed(2)} % differ`);
  if (share > TOLERANCE) {
    writeFileSync(path.join(differing, `${name}.png`), shot);
    writeFileSync(path.join(differing, `${name}-differs.png`), PNG.sync.write(shown));
    faults.push(`${name}: ${(100 * share).toFixed(2)} % differ`);
  }
}
await browser.close();
assert.deepEqual(faults, [], `pictures in ${differing}; GRAINSTORE_WRITE_LOOKS=1 writes those that are kept anew`);
