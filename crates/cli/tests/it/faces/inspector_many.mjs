// Drives the inspector with Chromium over a store of many grains, and prints how long each page takes.
//
// Usage: node inspector_many.mjs URL TOKEN TOOLS LIMIT_MS. The store is that of `many` in inspector.rs. A page
// that takes longer than LIMIT_MS, or a message of the console, fails the run.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import path from "node:path";

const [url, token, tools, limit] = process.argv.slice(2);
const require = createRequire(path.join(tools, "node_modules", "x.js"));
const { chromium } = require("playwright-core");

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
const page = await (await browser.newContext({ viewport: { width: 1100, height: 800 }, locale: "en" })).newPage();
page.setDefaultTimeout(15_000);
const faults = [];
page.on("console", (message) => { if (["error", "warning"].includes(message.type())) faults.push(`console: ${message.text()}`); });
page.on("pageerror", (error) => faults.push(`error: ${error}`));

const main = page.locator("#main");
const status = page.locator("#status");
const took = [];
/** Does a task, and measures until what it waits for is there. */
async function task(name, act, found) {
  const begun = performance.now();
  try {
    await act();
    await found.first().waitFor();
  } catch (error) {
    console.log(JSON.stringify(took));
    throw new Error(`${name}: ${await status.textContent()}: ${error.message}`);
  }
  took.push([name, Math.round(performance.now() - begun)]);
  assert.deepEqual(faults, [], name);
}
const visit = (hash) => () => page.evaluate((to) => { location.hash = to; }, `#/${hash}`);
const press = (name) => () => main.getByRole("link", { name }).first().click();
const says = (text) => status.filter({ hasText: text });

await page.goto(`${url}/`);
await page.getByLabel("Token").waitFor();
const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
took.push(["first paint", Math.round(paint ?? NaN)]);
await page.getByLabel("Token").fill(token);
await task("overview", () => page.getByRole("button", { name: "Sign in" }).click(), main.getByRole("link", { name: /^[\d,]+ memories$/ }));
await page.waitForLoadState("networkidle");
await task("type of the overview", press(/^belief$/), says(/newest first/));
await task("search", visit("search?q=umbrella"), page.locator("mark"));
await task("search of two words", visit("search?q=green%20umbrella"), page.locator("mark"));
await task("search within a person", visit("search?q=umbrella&user=person-7"), page.locator("mark"));
await task("memories of a day", visit("search?since=2026-01-15&until=2026-01-15"), says(/newest first/));
await task("a memory", async () => { await page.locator("#results a.title").first().click(); }, main.getByText("Signature and origin"));
await task("conversations", visit("threads"), says(/conversations, the latest first/));
await task("the next conversations", press(/^Older$/), main.getByText(/31–60 of/));
await task("conversations of a person", visit("threads?user=person-7"), says(/conversations?, the latest first/));
await task("a conversation", async () => { await page.locator("a.title").first().click(); }, page.locator("ol.turns > li"));
await task("persons", visit("person"), main.getByRole("link", { name: /^person-/ }));
await task("a person", visit("person/person-7"), page.getByRole("button", { name: "Erase…" }));
await task("events of a person", press(/^event \d/), says(/memor/));
await task("a person with a tenth of all", visit("person/busy"), page.getByRole("button", { name: "Erase…" }));
await task("subjects", visit("subject"), page.getByLabel("Subject"));
await task("a subject", visit("subject/person-7"), page.locator("svg.graph a"));
await task("two hops", press(/^Two hops$/), page.locator("svg.graph a"));
await task("a subject with a thousand facts", visit("subject/city-1"), page.getByRole("heading", { level: 1, name: "city-1" }));
await task("changes", visit("changes?since=yesterday"), says(/memories stored since/));
await task("growth", visit("growth"), page.getByRole("img", { name: /Grains by type/ }));
await task("log", visit("audit"), says(/entries, newest first/));
await task("log of one kind", visit("audit?operation=put"), says(/entries|No entry|newest/));
await task("imports", visit("imports"), page.getByLabel("File"));
await task("palette", async () => {
  await page.keyboard.press("Control+k");
  await page.keyboard.type("person-77");
}, page.getByRole("dialog", { name: "Go to" }).getByText("person-77"));
await browser.close();
for (const [name, ms] of took) console.log(`${String(ms).padStart(6)} ms  ${name}`);
const slow = took.filter(([, ms]) => !(ms <= Number(limit)));
assert.deepEqual(slow, [], `slower than ${limit} ms`);
