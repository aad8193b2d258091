// Imports with their progress, and the conflicts that they left.

import { get, grains, post, short, summary, upload } from "/ui/api.js";
import { field, h, link, say, show, table, text } from "/ui/dom.js";
import { differences } from "/ui/grain.js";

const FORMATS = ["", "jsonl", "mg", "pam", "aimem", "aimem-ndjson", "omi", "omi-jsonl"];

export async function open({ rights, isCurrent }) {
  const may = (name) => rights.operations.includes(name);
  const chosen = h("input", { type: "file", required: true });
  const format = h("select", {}, FORMATS.map((name) => h("option", { value: name }, name || "detect")));
  const progress = h("div", { "aria-live": "polite" });
  const settle = h("section", { "aria-labelledby": "conflicts-title" });
  const button = h("button", { type: "submit" }, "Import");
  const isWhole = may("admin") && !rights.user && rights.namespaces.length === 0;
  const form = h("form", {
    onsubmit: async (event) => {
      event.preventDefault();
      button.disabled = true;
      const bar = h("progress", { "aria-label": "Import" });
      const count = h("span", {}, " reading…");
      progress.replaceChildren(h("p", {}, bar, count));
      try {
        const query = format.value ? `?format=${encodeURIComponent(format.value)}` : "";
        await upload(`/v1/import${query}`, chosen.files[0], (line) => {
          if (line.records !== undefined) count.textContent = ` ${line.records} records`;
          if (line.summary) progress.replaceChildren(...summed(line.summary));
          if (line.error) throw Object.assign(new Error(line.error.message), { code: line.error.code });
        });
        if (isWhole) await conflicts(settle, isCurrent);
      } catch (error) {
        progress.replaceChildren(h("p", { class: "bad" }, `${error.code ?? ""} ${error.message}`));
      } finally {
        button.disabled = false;
      }
    },
  }, field("File", chosen, true), field("Format", format), button);
  show("Imports", may("import") ? form : h("p", {}, "An import needs a token with the operation import."), progress,
    isWhole && [h("h2", { id: "conflicts-title" }, "Conflicts"), settle]);
  if (isWhole) await conflicts(settle, isCurrent);
}

/** What became of the records, and how it is said. */
const RESULTS = {
  inserted: "new", updated: "newer versions of what was here", unchanged: "here already",
  conflicts: "contradict what is here", denied: "refused by a policy", refused: "refused as malformed",
  erased: "erased earlier, and stay so", dropped_embeddings: "vectors left out",
};

function summed(summary) {
  say("The import is done.");
  const rows = Object.entries(RESULTS)
    .map(([name, label]) => [label, summary[name]?.length ?? summary[name] ?? 0])
    .filter(([label, count]) => count > 0 || label === RESULTS.inserted);
  return [h("p", { class: summary.complete ? "good" : "bad" }, summary.complete ? "All records are stored." : "Not all records are stored as they came."),
    table("Summary of the import", ["Result", "Records"], rows.map(([label, count]) => [label, String(count)]))];
}

async function conflicts(section, isCurrent) {
  const found = (await get("/v1/conflicts")).conflicts;
  const shown = await Promise.all(found.slice(0, 50).map(async (one) => ({ ...one, grains: await grains(one.versions) })));
  if (!isCurrent()) return;
  if (found.length === 0) {
    section.replaceChildren(h("p", { class: "quiet" }, "There are no conflicts."));
    return;
  }
  section.replaceChildren(...shown.map((one) => h("div", { class: "box" },
    one.id === null
      ? h("p", {}, "The first stands here, and a file puts the others in its place.")
      : h("p", {}, "Records with the id ", h("code", {}, text(one.id)), ` (${one.format}) contradict each other.`),
    h("div", { class: "pair" }, one.versions.map((address, at) => h("div", {},
      h("p", {}, link(short(summary(one.grains[at]?.grain)), "grain", address)),
      at > 0 && one.grains[0] && one.grains[at] && differences(one.grains[0].grain, one.grains[at].grain, ["The first", "This one"]),
      h("button", {
        type: "button",
        onclick: async () => {
          await post("/v1/conflicts/settle", { keep: address, justification: "chosen by the operator" });
          say("The conflict is settled.");
          await conflicts(section, isCurrent);
        },
      }, "Keep this")))))));
}
