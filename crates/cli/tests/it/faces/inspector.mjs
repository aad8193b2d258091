// Drives the inspector with Chromium through the tasks of a person.
//
// Usage: node inspector.mjs URL TOKEN TOOLS FOLDER BLNS. TOOLS has node_modules with playwright-core
// and axe-core, and gets the screenshots; FOLDER takes the files that are saved; BLNS is a JSON list
// of strings, or a file that is not there. A message of the console that no task expects, a dialog
// of the page, a request to another host and a serious finding of axe each fail the run.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const [url, token, tools, folder, blns] = process.argv.slice(2);
const require = createRequire(path.join(tools, "node_modules", "x.js"));
const { chromium } = require("playwright-core");
const axeSource = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const shots = path.join(tools, "screenshots");
rmSync(shots, { recursive: true, force: true });
mkdirSync(shots, { recursive: true });

const WAIT = 60_000;
const T = 1_768_471_200_000;

async function api(method, where, body, allowed = []) {
  const answer = await fetch(url + where, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const told = await answer.json();
  assert.ok(answer.ok || allowed.includes(answer.status), `${where}: ${answer.status} ${JSON.stringify(told)}`);
  return answer.ok ? told : null;
}
const put = async (grain) => (await api("POST", "/v1/grains", { created_at: T, ...grain })).address;

// Two files with one record of one time that contradict each other.
const omi = (content) => JSON.stringify({
  format: "open-memory-interchange", version: "0.1", generator: "test/1", id_namespace: "https://example.org/",
  generated_at: "2026-06-06T09:00:00Z", subject: { id: "u", type: "person" },
  memories: [{ id: "1", content, created: "2026-01-15T10:30:00Z" }],
});

// Memories of a person, a conversation, a lineage, a locked grain, and records that contradict.
const tea = await put({ type: "belief", subject: "mira", relation: "prefers", object: "green tea", confidence: 0.9, user_id: "mira", namespace: "home:kitchen" });
const city = await put({ type: "belief", subject: "mira", relation: "lives_in", object: "porto", confidence: 0.8, user_id: "mira" });
const place = await put({ type: "belief", subject: "porto", relation: "lies_in", object: "portugal", confidence: 1 });
await put({ type: "belief", subject: "mira", relation: "works_in", object: "porto", confidence: 0.7, user_id: "mira" });
const note = await put({ type: "event", content: "a note on where she lives", derived_from: [city], user_id: "mira" });
const locked = await put({ type: "belief", subject: "mira", relation: "is_allergic_to", object: "peanuts", confidence: 1, invalidation_policy: { mode: "locked" } });
const doomed = await put({ type: "event", content: "a slip of the tongue" });
for (const [n, [role, content]] of [["user", "where is my umbrella?"], ["assistant", "behind the door"], ["user", "thank you"]].entries()) {
  await put({ type: "event", content, role, session_id: "talk / one", created_at: T + 1000 * n });
}
await put({ type: "state", context: { title: "The umbrella" }, session_id: "talk / one" });
for (let n = 0; n < 3; n += 1) await put({ type: "event", content: `later talk ${n}`, role: "user", user_id: "noor", session_id: "talk two", created_at: T + 86_400_000 + n });
for (let day = 1; day < 9; day += 1) {
  await put({ type: "event", content: `diary of day ${day}`, created_at: T - day * 86_400_000, namespace: `diary:${day % 3}`, user_id: "noor" });
}
writeFileSync(path.join(folder, "first.json"), omi("prefers oolong"));
writeFileSync(path.join(folder, "second.json"), omi("prefers sencha"));

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
const context = await browser.newContext({ acceptDownloads: true, viewport: { width: 1100, height: 800 }, locale: "en" });
const page = await context.newPage();
page.setDefaultTimeout(WAIT);

const faults = [];
let expected = null;
page.on("console", (message) => {
  if (!["error", "warning"].includes(message.type())) return;
  // The browser says of its own accord that an answer was not 200.
  if (expected && message.text().startsWith("Failed to load resource")) return;
  faults.push(`console: ${message.text()}`);
});
page.on("pageerror", (error) => faults.push(`error: ${error}`));
page.on("dialog", (dialog) => {
  faults.push(`dialog: ${dialog.message()}`);
  dialog.dismiss();
});
page.on("request", (request) => {
  if (!request.url().startsWith(`${url}/`) && !request.url().startsWith("blob:")) faults.push(`request to ${request.url()}`);
});

let done = 0;
async function task(name, run) {
  const before = faults.length;
  try {
    await run();
  } catch (error) {
    await page.screenshot({ path: path.join(shots, "failed.png"), fullPage: true });
    throw new Error(`${name}: ${error.stack}`);
  }
  assert.deepEqual(faults.slice(before), [], name);
  done += 1;
  const title = `${String(done).padStart(2, "0")} ${name.replaceAll(",", "")}`.replaceAll(" ", "-");
  await page.screenshot({ path: path.join(shots, `${title}.png`), fullPage: true });
}
const main = page.locator("#main");
const status = page.locator("#status");
const sees = (text, where = main) => where.getByText(text).first().waitFor();
const heading = (text) => page.getByRole("heading", { level: 1, name: text }).waitFor();
const go = async (name) => {
  await page.getByRole("navigation").getByRole("link", { name, exact: true }).click();
  // The page before it may have a link of the same name.
  await heading(name);
};
const visit = async (hash) => { await page.evaluate((to) => { location.hash = to; }, hash); };
const saved = async (button, name) => {
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).click()]);
  return readFileSync(await download.path(), "utf8");
};
async function axe(name) {
  // As a user script, which the policy of the page does not hold.
  await page.evaluate(axeSource);
  const found = await page.evaluate(async () => (await globalThis.axe.run(document, { resultTypes: ["violations"] })).violations);
  const serious = found.filter((one) => ["serious", "critical"].includes(one.impact));
  assert.deepEqual(serious.map((one) => `${one.id}: ${one.nodes[0].html}`), [], `${name}: axe`);
}

await page.goto(`${url}/`);
await task("a wrong token is refused in words", async () => {
  expected = 401;
  await page.getByLabel("Token").fill("gst_000000000000_wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await sees("does not accept this token", page.locator("body"));
  expected = null;
  await axe("sign in");
});
await task("there is no navigation before the sign-in", async () => {
  assert.equal(await page.locator("#nav").isVisible(), false);
  assert.equal(await page.locator("#leave").isVisible(), false);
  const icon = await page.request.get(`${url}/ui/icon.svg`);
  assert.equal(icon.headers()["content-type"], "image/svg+xml");
});
await task("sign in, and see what is in the store", async () => {
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await heading("Overview");
  const { groups } = await api("POST", "/v1/groups", { by: "type" });
  const total = groups.reduce((sum, one) => sum + one.count, 0);
  await main.getByRole("link", { name: `${total} memories` }).waitFor();
  await main.getByRole("link", { name: "2 conversations" }).waitFor();
  await main.getByRole("link", { name: "2 persons" }).waitFor();
  await sees("Nothing waits for a decision.");
  await page.getByRole("row", { name: /^Search by words available/ }).waitFor();
  await axe("overview");
});
await task("go from a type of the overview to its memories", async () => {
  await main.getByRole("link", { name: "belief", exact: true }).click();
  await heading("Search");
  assert.match(page.url(), /#\/search\?type=belief$/);
  await sees("green tea");
});
await task("leave a type by its facet", async () => {
  await main.getByRole("link", { name: "all types" }).click();
  await main.getByRole("link", { name: /^event \d/ }).waitFor();
  await status.filter({ hasText: "newest first" }).waitFor();
});
const search = page.locator("#q");
await task("search as you type, with the words marked", async () => {
  await search.pressSequentially("green te");
  await search.pressSequentially("a");
  await page.locator("mark").filter({ hasText: "green" }).first().waitFor();
});
await task("see why a result ranks", async () => {
  await page.locator("summary").filter({ hasText: /score \d.*matched in .*object/ }).first().click();
  await sees(/\+ \d.* the words/);
  await axe("search");
});
await task("narrow a search by type and namespace", async () => {
  await search.fill("");
  await page.getByLabel("Type").selectOption("belief");
  await page.getByLabel("Namespace").fill("home:kitchen");
  await status.filter({ hasText: /^1 memory,/ }).waitFor();
  await page.getByLabel("Type").selectOption("");
  await page.getByLabel("Namespace").fill("");
});
await task("open the address of a search, and find it as it was", async () => {
  await search.fill("porto");
  await page.waitForURL(/#\/search\?q=porto$/);
  await page.reload();
  await page.locator("mark").filter({ hasText: "porto" }).first().waitFor();
  assert.equal(await search.inputValue(), "porto");
});
await task("see when, by whom and of whom a memory is in the list", async () => {
  await search.fill("umbrella");
  const row = page.locator("#results > li").filter({ hasText: "where is my umbrella?" }).first();
  await row.getByText(/2026-01-15 10:00 · event · by user · in talk \/ one/).waitFor();
});
await task("save what is shown as CSV and JSON", async () => {
  const csv = await saved(null, "Save as CSV");
  assert.match(csv.split("\r\n")[0], /^time,type,speaker,conversation,person,namespace,content,address$/);
  assert.match(csv, /"where is my umbrella\?"/);
  const rows = JSON.parse(await saved(null, "Save as JSON"));
  assert.equal(rows.length, await page.locator("#results > li").count());
});
await task("narrow by time, and be told where nothing passes", async () => {
  await search.fill("");
  await page.getByLabel("From", { exact: true }).fill("2026-01-16");
  await status.filter({ hasText: "3 memories, newest first" }).waitFor();
  await page.getByLabel("Type").selectOption("goal");
  await main.getByRole("link", { name: "Search without the conditions" }).click();
  await main.getByText("green tea").first().waitFor();
});
await task("a query that is not complete yet is no failure", async () => {
  expected = 400;
  await search.fill("\"green");
  await status.filter({ hasText: /Not a query yet|found/ }).waitFor();
  await search.fill("nothing_like_this");
  await status.filter({ hasText: "0 found" }).waitFor();
  expected = null;
});
await task("find and open a grain with keys alone", async () => {
  await page.locator("h1").focus();
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.id), "q");
  await search.fill("porto");
  await page.locator("mark").filter({ hasText: "porto" }).first().waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  assert.match(await page.evaluate(() => document.activeElement.textContent), /porto/);
  await page.keyboard.press("Enter");
  await page.waitForURL(/#\/grain\//);
  await sees("Signature and origin");
});
await task("come back to the list, and find the focus where it was", async () => {
  const title = await page.locator("h1").textContent();
  await page.keyboard.press("u");
  await heading("Search");
  await page.waitForFunction(() => document.activeElement.matches("a.title"));
  assert.equal(await page.evaluate(() => document.activeElement.textContent), title);
});
await task("go to a person by the palette, with keys alone", async () => {
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Go to" }).waitFor();
  await axe("palette");
  await page.keyboard.type("noor");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await heading("noor");
  assert.match(page.url(), /#\/person\/noor$/);
});
await task("see the keys, and use them", async () => {
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await axe("keys");
  await page.keyboard.press("Escape");
  await page.keyboard.press("g");
  await page.keyboard.press("c");
  await heading("Conversations");
});
await task("see the fields of a grain", async () => {
  await visit(`#/grain/${city}`);
  await heading("mira lives_in porto");
  await page.getByRole("row", { name: /confidence 0.8/ }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.tagName), "H1", "the focus follows the page");
  await axe("grain");
});
await task("see who wrote it and who signed it", async () => {
  await sees("Signature: none");
  await sees("did:web:bot.acme.example");
});
await task("see what rests on a grain, and where it comes from", async () => {
  await main.getByRole("link", { name: "a note on where she lives" }).click();
  await heading("a note on where she lives");
  await main.getByRole("link", { name: "mira lives_in porto" }).waitFor();
});
await task("see which rule protects a grain", async () => {
  await visit(`#/grain/${locked}`);
  await heading(/peanuts/);
  await page.getByRole("row", { name: /supersede refused/ }).waitFor();
});
await task("a change that a rule forbids is refused in words", async () => {
  expected = 403;
  await page.getByRole("button", { name: "Contradict…" }).click();
  await page.getByLabel(/^Reason/).fill("a guess");
  await page.getByRole("button", { name: "Contradict", exact: true }).click();
  await status.filter({ hasText: "ERR_INVALIDATION_DENIED" }).waitFor();
  expected = null;
});
await task("correct a fact", async () => {
  await visit(`#/grain/${tea}`);
  await heading(/green tea/);
  await page.getByRole("button", { name: "Correct…" }).click();
  await axe("dialog");
  await page.getByLabel("New object").fill("black tea");
  await page.getByLabel(/^Reason/).fill("she said so");
  await page.getByRole("button", { name: "Correct", exact: true }).click();
  await heading(/black tea/);
});
await task("see the history of a fact with its differences", async () => {
  await page.locator("ol.versions > li").nth(1).waitFor();
  await page.locator("del").filter({ hasText: "green tea" }).waitFor();
  await page.locator("ins").filter({ hasText: "black tea" }).waitFor();
});
await task("find the replaced version from the old address", async () => {
  await visit(`#/grain/${tea}`);
  await sees("Not current");
  await main.getByRole("link", { name: "a newer version" }).click();
  await heading(/black tea/);
});
await task("contradict a note", async () => {
  await visit(`#/grain/${note}`);
  await heading(/a note on/);
  await page.getByRole("button", { name: "Contradict…" }).click();
  await page.getByLabel(/^Reason/).fill("she moved");
  await page.getByRole("button", { name: "Contradict", exact: true }).click();
  await sees("contradicted");
});
await task("delete a grain, after a second thought", async () => {
  await visit(`#/grain/${doomed}`);
  await heading(/slip/);
  await page.getByRole("button", { name: "Delete…" }).click();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await heading(/slip/);
  await page.getByRole("button", { name: "Delete…" }).click();
  await page.getByLabel(/^Reason/).fill("asked for");
  await page.getByLabel("Authority", { exact: true }).fill("the owner");
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await heading("Search");
  assert.equal((await api("GET", `/v1/grains/${doomed}/exists`)).exists, false);
});
await task("walk the graph around a subject", async () => {
  await go("Subjects");
  await main.getByRole("link", { name: "mira", exact: true }).click();
  await heading("mira");
  await go("Subjects");
  await page.getByLabel("Subject").fill("mira");
  await page.getByRole("button", { name: "Show" }).click();
  await heading("mira");
  await page.locator("svg a").filter({ hasText: "porto" }).waitFor();
  await axe("graph");
  await page.locator("svg a").filter({ hasText: "porto" }).locator("circle").click();
  await heading("porto");
  await main.getByRole("link", { name: "porto lies_in portugal" }).waitFor();
});
const boxes = () => page.evaluate(() => [...document.querySelectorAll("svg.graph text")].map((one) => {
  const { left, right, top, bottom } = one.getBoundingClientRect();
  return [one.textContent, left, right, top, bottom];
}));
await task("labels of a graph do not cover each other", async () => {
  await visit("#/subject/mira");
  await heading("mira");
  const found = await boxes();
  assert.ok(found.length > 4, JSON.stringify(found));
  for (const [at, [a, left, right, top, bottom]] of found.entries()) {
    for (const [b, l, r, t, low] of found.slice(at + 1)) {
      assert.ok(right <= l || left >= r || bottom <= t + 3 || top + 3 >= low, `${a} covers ${b}`);
    }
  }
});
await task("several facts between two are one line", async () => {
  const lines = page.locator("svg.graph line");
  assert.equal(await lines.filter({ hasText: /lives_in/ }).count(), 1);
  assert.equal(await lines.filter({ hasText: /works_in/ }).textContent(), "mira lives_in porto\nmira works_in porto");
});
await task("see two hops of a graph", async () => {
  assert.equal(await page.locator("svg a").filter({ hasText: "portugal" }).count(), 0);
  await main.getByRole("link", { name: "Two hops" }).click();
  await page.locator("svg a").filter({ hasText: "portugal" }).waitFor();
  assert.match(page.url(), /\?hops=2$/);
});
await task("enlarge and move a graph with keys, and drag a node", async () => {
  const graph = page.locator("svg.graph");
  const box = () => graph.getAttribute("viewBox");
  const whole = await box();
  await graph.focus();
  await page.keyboard.press("+");
  const larger = await box();
  assert.notEqual(larger, whole);
  await page.keyboard.press("ArrowRight");
  assert.notEqual(await box(), larger);
  await page.keyboard.press("0");
  assert.equal(await box(), whole);
  const node = graph.locator("a").filter({ hasText: "portugal" }).locator("circle");
  // The mouse reaches only what is in the window.
  await node.scrollIntoViewIfNeeded();
  const before = await node.boundingBox();
  await page.mouse.move(before.x + 5, before.y + 5);
  await page.mouse.down();
  await page.mouse.move(before.x + 45, before.y + 35, { steps: 4 });
  await page.mouse.up();
  const after = await graph.locator("a").filter({ hasText: "portugal" }).locator("circle").boundingBox();
  assert.ok(after.x > before.x + 20, `${before.x} to ${after.x}`);
  await heading("mira");
});
await task("see how a fact changed over time", async () => {
  await page.getByRole("heading", { name: "Over time" }).waitFor();
  const told = await main.locator("details").filter({ hasText: "prefers" }).locator("ol.versions > li > p:first-child").allTextContents();
  assert.deepEqual(told, ["green tea", "black tea"]);
});
await task("see conversations with their titles, the latest first", async () => {
  await go("Conversations");
  await status.filter({ hasText: "2 conversations, the latest first" }).waitFor();
  assert.deepEqual(await main.locator("a.title").allTextContents(), ["later talk 0", "The umbrella"]);
  await sees(/3 messages · user, assistant/);
  await axe("conversations");
});
await task("see the conversations of one person alone", async () => {
  await page.getByLabel("Person").fill("noor");
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await status.filter({ hasText: "1 conversation," }).waitFor();
  assert.match(page.url(), /#\/threads\?user=noor$/);
});
await task("read a conversation in its order", async () => {
  await go("Conversations");
  await main.getByRole("link", { name: "The umbrella" }).click();
  await heading("The umbrella");
  await sees("thank you");
  const said = await page.locator("ol.turns > li > p:last-child").allTextContents();
  assert.deepEqual(said, ["where is my umbrella?", "behind the door", "thank you"]);
  await axe("conversation");
});
await task("import a file, and see how far it is", async () => {
  await go("Imports");
  for (const name of ["first.json", "second.json"]) {
    await page.getByLabel("File").setInputFiles(path.join(folder, name));
    await page.getByRole("button", { name: "Import" }).click();
    await status.filter({ hasText: "The import is done." }).waitFor();
    await page.getByRole("row", { name: /^new/ }).waitFor();
    await page.evaluate(() => { document.getElementById("status").textContent = ""; });
  }
});
await task("settle a conflict", async () => {
  await sees("contradict each other");
  await axe("imports");
  await page.getByRole("button", { name: "Keep this" }).last().click();
  await sees("There are no conflicts.");
});
await task("see growth by type and namespace", async () => {
  await go("Growth");
  await page.getByRole("img", { name: /Grains by type/ }).waitFor();
  await page.getByRole("row", { name: /diary:1/ }).waitFor();
  await axe("growth");
});
await task("read the audit log, newest first", async () => {
  await go("Audit log");
  await status.filter({ hasText: /entries, newest first/ }).waitFor();
  const times = await page.locator("ol.log time").evaluateAll((all) => all.map((one) => one.dateTime));
  assert.deepEqual(times, [...times].sort().reverse());
});
await task("find an entry in the audit log, by its kind and its author", async () => {
  await page.getByLabel("Kind").fill("deny");
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await page.waitForURL(/#\/audit\?operation=deny$/);
  await page.locator("ol.log > li").filter({ hasText: "deny" }).first().waitFor();
  await page.locator("ol.log").getByRole("link", { name: "did:web:bot.acme.example" }).first().click();
  await page.waitForURL(/operation=deny&by=did/);
  await page.locator("ol.log > li").filter({ hasText: "deny" }).first().waitFor();
  await axe("audit");
});
await task("see what was stored since a time, by author", async () => {
  await visit("#/changes?since=start");
  await status.filter({ hasText: /memories stored since start/ }).waitFor();
  await main.getByRole("link", { name: /^did:web:bot.acme.example \d/ }).click();
  await page.waitForURL(/by=did/);
  await sees("black tea");
  await axe("changes");
});
await task("see what is stored while the page is open", async () => {
  await put({ type: "event", content: "stored just now", created_at: Date.now() });
  await sees("stored just now");
  assert.equal(await main.locator("a.title").first().textContent(), "stored just now");
});
await task("empty pages say what to do", async () => {
  await visit("#/person/stranger");
  await main.getByRole("link", { name: "Show all persons" }).waitFor();
  await visit("#/threads?user=stranger");
  await main.getByRole("link", { name: "Show all of them" }).waitFor();
  await visit("#/audit?operation=nothing");
  await sees("No entry passes.");
});
await task("see all that is known of a person", async () => {
  await go("Persons");
  await main.getByRole("link", { name: "mira", exact: true }).waitFor();
  await axe("persons");
  await page.getByLabel("Person (user_id)").fill("mira");
  await page.getByRole("button", { name: "Show" }).click();
  await heading("mira");
  await sees(/\d memories of this person/);
  await main.getByRole("link", { name: /black tea/ }).waitFor();
  const top = await page.getByRole("button", { name: "Erase…" }).boundingBox();
  assert.ok(top.y < 450, `the erasure is at ${top.y}`);
  await axe("person");
});
await task("see one type of a person's memories", async () => {
  await main.getByRole("link", { name: /^event \d/ }).click();
  await page.waitForURL(/#\/person\/mira\?type=event$/);
  await main.getByRole("link", { name: "a note on where she lives" }).waitFor();
  assert.equal(await main.locator("a.title").filter({ hasText: "black tea" }).count(), 0);
});
await task("export a person", async () => {
  const text = await saved(null, "Export (JSON lines)");
  assert.match(text, /black tea/);
  assert.doesNotMatch(text, /diary of day/);
});
await task("preview an erasure, and change nothing", async () => {
  await page.getByRole("button", { name: "Erase…" }).click();
  await page.getByRole("button", { name: "Preview" }).click();
  await sees(/\d grains would be erased/);
  await axe("erasure");
  assert.equal((await api("GET", `/v1/grains/${city}/exists`)).exists, true);
});
await task("erase a person, and keep the signed receipt", async () => {
  if (await page.getByText("nothing is erased").count()) {
    await page.getByLabel("erase the others if a rule keeps some").check();
    await page.getByRole("button", { name: "Preview" }).click();
  }
  await page.getByLabel("Reason (it must not name the person)").fill("request 17");
  await page.getByLabel("Authority", { exact: true }).fill("the office");
  await page.getByLabel("I know that this cannot be undone").check();
  await page.getByRole("button", { name: "Erase for good" }).click();
  await sees(/grains are erased/);
  const receipt = await saved(null, "Save the signed receipt");
  writeFileSync(path.join(folder, "receipt.json"), receipt);
  assert.equal((await api("GET", `/v1/grains/${city}/exists`)).exists, false);
});
await task("use it on a phone", async () => {
  await page.setViewportSize({ width: 360, height: 740 });
  for (const hash of ["overview", "search", `grain/${place}`, "subject/porto", "person/noor", "person", "threads", "changes?since=start", "audit", "imports", "growth"]) {
    await visit(`#/${hash}`);
    await page.locator("#main h1").waitFor();
    await status.filter({ hasNotText: "Loading" }).waitFor();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${hash} is ${wide} pixels too wide`);
    const narrow = await page.evaluate(() => [...document.querySelectorAll("#main .results > li, #main .log > li")].filter((one) => one.clientWidth < 250).length);
    assert.equal(narrow, 0, `${hash} has narrow columns`);
  }
});
await task("use it in the dark", async () => {
  await page.setViewportSize({ width: 1100, height: 800 });
  const back = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await back();
  await page.emulateMedia({ colorScheme: "dark" });
  assert.notEqual(await back(), light);
  for (const hash of ["overview", "search", `grain/${place}`, "subject/porto", "growth", "person/noor", "threads", "thread/talk%20two", "changes?since=start", "audit"]) {
    await visit(`#/${hash}`);
    await page.locator("#main h1").waitFor();
    await status.filter({ hasNotText: "Loading" }).waitFor();
    await axe(`dark ${hash}`);
  }
});

const HOSTILE = [
  "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg onload=alert(1)>", "\"><script>alert(1)</script>",
  "javascript:alert(1)", "</title><script>alert(1)</script>", "' onmouseover='alert(1)", "{{constructor.constructor('alert(1)')()}}",
  "<iframe srcdoc='<script>parent.alert(1)</script>'>", "\u202Egnp.exe", "<style>*{display:none}</style>", "<a href=javascript:alert(1)>x</a>",
  "data:text/html,<script>alert(1)</script>", "%3Cscript%3Ealert(1)%3C/script%3E", "../../etc/passwd", "#/grain/x",
];
if (existsSync(blns)) HOSTILE.push(...JSON.parse(readFileSync(blns, "utf8")));
let opened = 0;
await task("hostile content in every field stays text", async () => {
  await page.emulateMedia({ colorScheme: "light" });
  const addresses = [];
  for (const [n, text] of HOSTILE.entries()) {
    const made = await api("POST", "/v1/grains", {
      type: "belief", subject: `${text} `.trim() || "x", relation: text, object: text, confidence: 0.5, created_at: T + n,
      user_id: text, session_id: text, namespace: "hostile", structural_tags: [text], [`x:${n}`]: text, context: { note: text },
    }, [400, 403, 409, 422]);
    const event = await api("POST", "/v1/grains", { type: "event", content: text, role: text, session_id: text, user_id: text, created_at: T + n, namespace: "hostile" }, [400, 403, 409, 422]);
    const has = /<|script|\(|:/i.test(text);
    for (const one of [made, event]) if (one) addresses.push([one.address, text, has]);
    // All of them on one page of each kind, and as the name of a namespace.
    for (const grain of [
      { type: "belief", subject: "all the strings", relation: text, object: text, confidence: 0.5, user_id: "all the strings" },
      { type: "event", content: text, role: text, observer_id: text, session_id: "all the strings", user_id: "all the strings" },
      { type: "goal", description: text, namespace: text },
    ]) await api("POST", "/v1/grains", { created_at: T + n, ...grain }, [400, 403, 409, 422]);
  }
  // Reasons, which the audit log shows.
  for (const [n, [address]] of addresses.slice(0, 2 * HOSTILE.length).entries()) {
    if (n % 8 === 0) await api("POST", `/v1/grains/${address}/contradict`, { justification: HOSTILE[n / 2] || "x" }, [400, 403, 409, 422]);
  }
  assert.ok(addresses.length > HOSTILE.length, `${addresses.length} of ${2 * HOSTILE.length} are stored`);
  let total = 0;
  for (let cursor; cursor !== null;) {
    const part = await api("POST", "/v1/query", { filter: { namespace: "hostile" }, limit: 500, cursor });
    total += part.results.length;
    cursor = part.next_cursor;
  }
  assert.ok(total > HOSTILE.length, `${total} of ${addresses.length} are current`);
  await visit("#/search");
  await heading("Search");
  await search.fill("");
  await page.getByLabel("Namespace").fill("hostile");
  await page.waitForFunction(() => {
    const shown = [...document.querySelectorAll("#results > li")];
    return shown.length > 0 && shown.every((one) => one.textContent.includes("hostile"));
  });
  while (await page.getByRole("button", { name: "More" }).isVisible()) {
    const shown = await page.locator("#results > li").count();
    await page.getByRole("button", { name: "More" }).click();
    await page.locator("#results > li").nth(shown).waitFor();
  }
  assert.equal(await page.locator("#results > li").count(), total);
  await page.getByLabel("Namespace").fill("");
  expected = "names that the store refuses";
  let threads = 0;
  for (const [address, text, has] of addresses) {
    if (!has) continue;
    await visit(`#/grain/${address}`);
    await page.locator("code").filter({ hasText: address }).first().waitFor();
    opened += 1;
    if (threads < 120) {
      threads += 1;
      for (const name of ["thread", "subject"]) {
        await visit(`#/${name}/${encodeURIComponent(text)}`);
        await page.locator("#main h1").waitFor();
        await status.filter({ hasNotText: "Loading" }).waitFor();
        opened += 1;
      }
    }
  }
  for (const text of HOSTILE.slice(0, 16)) {
    await visit(`#/person/${encodeURIComponent(text)}`);
    await page.locator("#main h1").waitFor();
    await status.filter({ hasNotText: "Loading" }).waitFor();
  }
  const all = encodeURIComponent("all the strings");
  for (const hash of [`person/${all}`, `subject/${all}`, `subject/${all}?hops=2`, "subject", "person", "overview", "changes?since=start", "growth", "threads", `thread/${all}`]) {
    await visit(`#/${hash}`);
    await page.locator("#main h1").waitFor();
    await status.filter({ hasNotText: "Loading" }).waitFor();
    opened += 1;
  }
  while (await page.getByRole("button", { name: "More" }).isVisible()) {
    const shown = await page.locator("ol.turns > li").count();
    await page.getByRole("button", { name: "More" }).click();
    await page.locator("ol.turns > li").nth(shown).waitFor();
  }
  await visit("#/threads");
  await heading("Conversations");
  await visit("#/audit");
  await page.getByLabel("Kind").fill("contradict");
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await page.waitForFunction(() => {
    const rows = [...document.querySelectorAll("ol.log > li")];
    return rows.length > 3 && rows.every((row) => row.textContent.includes("contradict"));
  });
  expected = null;
  assert.equal(await page.locator("#main script, #main iframe, #main img, #main style").count(), 0);
});
await task("sign out", async () => {
  await page.getByRole("button", { name: "Sign out" }).click();
  await heading("Sign in");
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
});
await browser.close();
console.log(JSON.stringify({ tasks: done, hostile_strings: HOSTILE.length, hostile_pages: opened }));
