// A person: the erasure with a preview and a receipt, an export, and their memories in pages.

import { file, post, short } from "/ui/api.js";
import { counted, field, h, page, save, say, show, view } from "/ui/dom.js";
import { downloads, facets, item, rowOf, walkable } from "/ui/listing.js";
import * as persons from "/ui/persons.js";

const LIMIT = 50;

export async function open({ parts, query, rights, isCurrent }) {
  const user = parts[0] ?? rights.user;
  if (!user) {
    await persons.open({ query, rights, isCurrent });
    return;
  }
  const may = (name) => rights.operations.includes(name);
  const filter = { user, superseded: true, expired: true };
  const [types, talks, found] = await Promise.all([
    post("/v1/groups", { by: "type", filter, limit: 20 }),
    post("/v1/groups", { by: "session_id", filter: { user, type: "event" }, limit: 1 }),
    post("/v1/query", { sort: "time", descending: true, limit: LIMIT, cursor: query.after || undefined, filter: { ...filter, ...(query.type && { type: query.type }) } }),
  ]);
  if (!isCurrent()) return;
  const total = types.groups.reduce((sum, one) => sum + one.count, 0);
  const erasure = h("section", { "aria-labelledby": "erase-title", hidden: true });
  const begins = h("button", {
    type: "button", class: "bad", "aria-expanded": "false",
    onclick: () => {
      begins.setAttribute("aria-expanded", String(erasure.hidden));
      erasure.hidden = !erasure.hidden;
      if (!erasure.hidden && erasure.childElementCount === 0) begin(user, erasure);
      erasure.querySelector("input")?.focus();
    },
  }, "Erase…");
  show(user, persons.chooser(user),
    h("p", {}, `${counted(total, "memory", "memories")} of this person`, talks.total > 0 && [", ",
      h("a", { href: view(["threads"], { user }) }, counted(talks.total, "conversation"))], "."),
    h("div", { class: "actions" }, total > 0 && may("erase") && begins,
      may("export") && h("button", { type: "button", onclick: () => exported(user, rights) }, "Export (JSON lines)"),
      may("export") && h("button", { type: "button", onclick: () => reported(user) }, "Save the report (Art. 15)"),
      h("a", { href: view(["search"], { q: `"${user}"` }) }, "What else names them")),
    erasure,
    total === 0 ? h("p", {}, "Nothing is stored under this name. ", h("a", { href: page("persons") }, "Show all persons"), ".") : [
      h("h2", {}, "Memories"), facets(["person", user], { type: query.type }, "type", types.groups.map((one) => [one.value, one.count]), "all"),
      walkable(h("ol", { class: "results" }, found.results.map((one) => item(one.content_address, one.grain,
        { after: one.superseded_by && h("p", { class: "quiet bad" }, "replaced") })))),
      h("p", { class: "pager" }, query.after && h("a", { href: view(["person", user], { type: query.type }), class: "step" }, "Newest"),
        found.next_cursor && h("a", { href: view(["person", user], { type: query.type, after: found.next_cursor }), class: "step" }, "Older")),
      downloads("person", () => found.results.map((one) => rowOf(one.content_address, one.grain)))]);
  say(`${counted(total, "memory", "memories")}, newest first`);
}

async function reported(user) {
  say("Reading all that is about this person…");
  const report = await post("/v1/persons/report", { user });
  save("report.json", JSON.stringify(report, null, 1), "application/json");
  const more = report.mentions ? `, ${counted(report.mentions.length, "other names", "others name")} them` : "";
  say(`Saved: ${counted(report.about.length, "memory is", "memories are")} about them${more}.`);
}

async function exported(user, rights) {
  const filter = { superseded: true, expired: true };
  if (!rights.user) filter.user = user;
  save("person.jsonl", await file("/v1/export", { format: "jsonl", filter }), "application/x-ndjson");
  say("Exported.");
}

/** First the preview; the button that erases comes with it. */
function begin(user, section) {
  const rest = h("input", { type: "checkbox" });
  const mentions = h("input", { type: "checkbox" });
  const options = () => ({ user, except_kept: rest.checked, mentions: mentions.checked });
  const preview = h("div", { "aria-live": "polite" });
  section.replaceChildren(
    h("h2", { id: "erase-title" }, "Erase this person"),
    h("form", {
      onsubmit: async (event) => {
        event.preventDefault();
        const found = await post("/v1/persons/erase", { ...options(), preview: true });
        preview.replaceChildren(...previewed(found, options(), section));
      },
    }, h("label", { class: "check" }, rest, "erase the others if a rule keeps some"),
    h("label", { class: "check" }, mentions, "grains that only name the person too"),
    h("button", { type: "submit" }, "Preview")), preview);
  for (const box of [rest, mentions]) box.addEventListener("change", () => preview.replaceChildren());
}

function previewed(found, options, section) {
  const lines = [
    h("p", {}, `${counted(found.would_erase.length, "grain")} would be erased, ${counted(found.kept.length, "is", "are")} kept by a rule.`),
    found.kept.length > 0 && h("ul", {}, found.kept.map((one) => h("li", {}, h("code", {}, short(one.address, 16)), ` ${one.rule}`))),
  ];
  if (found.would_erase.length === 0) return lines.filter(Boolean);
  if (found.kept.length > 0 && !options.except_kept) {
    lines.push(h("p", { class: "bad" }, "As long as a rule keeps one, nothing is erased."));
    return lines.filter(Boolean);
  }
  const reason = h("input", { required: true, autocomplete: "off" });
  const authority = h("input", { required: true, autocomplete: "off" });
  const sure = h("input", { type: "checkbox", required: true });
  lines.push(h("form", {
    onsubmit: async (event) => {
      event.preventDefault();
      const done = await post("/v1/persons/erase", { ...options, reason: reason.value, authority: authority.value });
      section.replaceChildren(...receipt(done));
      say(`${counted(done.erased.length, "grain is", "grains are")} erased.`);
    },
  }, field("Reason (it must not name the person)", reason, true), field("Authority", authority, true),
  h("label", { class: "check" }, sure, "I know that this cannot be undone"),
  h("button", { type: "submit", class: "bad" }, "Erase for good")));
  return lines.filter(Boolean);
}

function receipt(done) {
  return [
    h("p", { class: "good" }, `${counted(done.erased.length, "grain is", "grains are")} erased, ${counted(done.kept.length, "is", "are")} kept.`),
    done.receipt
      ? h("button", { type: "button", onclick: () => save("receipt.json", JSON.stringify(done.receipt, null, 1), "application/json") }, "Save the signed receipt")
      : h("p", { class: "quiet" }, "The server has no key, so that there is no signed receipt (serve --sign-key)."),
    h("p", { class: "quiet" }, "Backups and exports that were made before keep their copies."),
  ];
}
