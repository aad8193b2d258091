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
const note = await put({ type: "event", content: "a note on where she lives", derived_from: [city], user_id: "mira" });
const locked = await put({ type: "belief", subject: "mira", relation: "is_allergic_to", object: "peanuts", confidence: 1, invalidation_policy: { mode: "locked" } });
const doomed = await put({ type: "event", content: "a slip of the tongue" });
for (const [n, [role, content]] of [["user", "where is my umbrella?"], ["assistant", "behind the door"], ["user", "thank you"]].entries()) {
  await put({ type: "event", content, role, session_id: "talk / one", created_at: T + 1000 * n });
}
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
const go = async (name) => { await page.getByRole("navigation").getByRole("link", { name, exact: true }).click(); };
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
await task("sign in, and see the newest grains", async () => {
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await heading("Search");
  await sees("green tea");
  await sees("newest first", page.locator("body"));
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
  await status.filter({ hasText: /^(at least )?1 grain,/ }).waitFor();
  await page.getByLabel("Type").selectOption("");
  await page.getByLabel("Namespace").fill("");
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
  // The page of a subject has the same field.
  await heading("Subjects");
  await page.getByLabel("Subject").fill("mira");
  await page.getByRole("button", { name: "Show" }).click();
  await heading("mira");
  await page.locator("svg a").filter({ hasText: "porto" }).waitFor();
  await axe("graph");
  await page.locator("svg a").filter({ hasText: "porto" }).locator("circle").click();
  await heading("porto");
  await sees("porto lies_in portugal");
});
await task("read a conversation in its order", async () => {
  await go("Conversations");
  await main.getByRole("link", { name: "talk / one" }).click();
  await heading("Conversation talk / one");
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
await task("find an entry in the audit log", async () => {
  await go("Audit log");
  await page.getByRole("row", { name: /store/ }).first().waitFor();
  await page.getByLabel("Operation").fill("deny");
  await page.getByRole("button", { name: "Show" }).click();
  await page.getByRole("row", { name: /deny/ }).first().waitFor();
  await axe("audit");
});
await task("see all that is known of a person", async () => {
  await go("Persons");
  await main.getByRole("link", { name: "mira", exact: true }).waitFor();
  await axe("persons");
  await page.getByLabel("Person (user_id)").fill("mira");
  await page.getByRole("button", { name: "Show" }).click();
  await heading("mira");
  await sees(/\d grains are about this person/);
  await main.getByRole("link", { name: /black tea/ }).waitFor();
  await axe("person");
});
await task("export a person", async () => {
  const text = await saved(null, "Export (JSON lines)");
  assert.match(text, /black tea/);
  assert.doesNotMatch(text, /diary of day/);
});
await task("preview an erasure, and change nothing", async () => {
  await page.getByRole("button", { name: "Preview" }).click();
  await sees(/\d grains would be erased/);
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
  for (const hash of ["search", `grain/${place}`, "subject/porto", "person/noor", "threads", "audit", "imports", "growth"]) {
    await visit(`#/${hash}`);
    await page.locator("#main h1").waitFor();
    await status.filter({ hasNotText: "Loading" }).waitFor();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${hash} is ${wide} pixels too wide`);
  }
});
await task("use it in the dark", async () => {
  await page.setViewportSize({ width: 1100, height: 800 });
  const back = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await back();
  await page.emulateMedia({ colorScheme: "dark" });
  assert.notEqual(await back(), light);
  for (const hash of ["search", `grain/${place}`, "growth", "person/noor", "audit"]) {
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
  for (const hash of [`person/${all}`, `subject/${all}`, "subject", "person", "growth", `thread/${all}`]) {
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
  await page.getByLabel("Operation").fill("contradict");
  await page.getByRole("button", { name: "Show" }).click();
  await page.waitForFunction(() => {
    const rows = [...document.querySelectorAll("tbody > tr")];
    return rows.length > 5 && rows.every((row) => row.textContent.includes("contradict"));
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
