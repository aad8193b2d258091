// A person: all that is known, an export, and the erasure with a preview and a receipt.

import { file, newest, post, short, summary } from "/ui/api.js";
import { counted, field, h, link, page, save, say, show, table } from "/ui/dom.js";

export async function open({ parts, rights, isCurrent }) {
  const user = parts[0] ?? rights.user ?? "";
  const input = h("input", { value: user, autocomplete: "off", required: true });
  const form = h("form", {
    onsubmit: (event) => {
      event.preventDefault();
      const to = page("person", input.value.trim());
      if (location.hash === to) dispatchEvent(new HashChangeEvent("hashchange"));
      else location.hash = to;
    },
  }, field("Person (user_id)", input, true), h("button", { type: "submit" }, "Show"));
  if (!user) {
    const known = await newest("user_id");
    if (!isCurrent()) return;
    show("Persons", form, known.length > 0 && [h("h2", {}, "Persons of the newest memories"),
      h("ul", { class: "plain many" }, known.map(([value, count]) => h("li", {}, link(short(value, 60), "person", value), ` (${count})`)))]);
    input.focus();
    return;
  }
  if (!rights.operations.includes("export")) {
    show(user, form, h("p", {}, "A report needs a token with the operation export."));
    return;
  }
  const report = await post("/v1/persons/report", { user });
  if (!isCurrent()) return;
  const erasure = h("section", { "aria-labelledby": "erase-title" });
  show(user, form,
    h("p", {}, `${counted(report.about.length, "grain is", "grains are")} about this person`,
      report.mentions && `, ${counted(report.mentions.length, "other names", "others name")} them`,
      report.entries_written !== undefined && `, ${counted(report.entries_written, "entry was", "entries were")} written in their name`, "."),
    h("div", { class: "actions" },
      h("button", { type: "button", onclick: () => exported(user, rights) }, "Export (JSON lines)"),
      h("button", { type: "button", onclick: () => save("report.json", JSON.stringify(report, null, 1), "application/json") }, "Save this report")),
    h("h2", {}, "About this person"), list(report.about, "Grains about the person"),
    report.mentions?.length > 0 && [h("h2", {}, "Named by others"), list(report.mentions, "Grains that name the person")],
    rights.operations.includes("erase") && [h("h2", { id: "erase-title" }, "Erase"), erasure]);
  if (rights.operations.includes("erase")) begin(user, erasure);
}

function list(found, caption) {
  if (found.length === 0) return h("p", { class: "quiet" }, "None.");
  return table(caption, ["Grain", "Found by", "Status", "Kept by"], found.slice(0, 500).map((one) => [
    one.grain ? link(short(summary(one.grain)), "grain", one.address) : h("code", {}, one.address),
    one.found_by.join(", "), one.status.current ? "current" : "replaced", one.kept ?? "",
  ]));
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
