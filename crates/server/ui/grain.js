// One grain: its fields, signature, protection, provenance, versions, and what can be done with it.

import { get, grains, post, short, summary } from "/ui/api.js";
import { ask, h, link, say, show, table, text, time } from "/ui/dom.js";

export async function open({ parts, rights, isCurrent }) {
  const address = parts[0] ?? "";
  const path = `/v1/grains/${encodeURIComponent(address)}`;
  const [found, history, protection, derived] = await Promise.all([
    get(path), get(`${path}/history`), get(`${path}/protection`),
    post("/v1/query", { filter: { derived_from: address, superseded: true }, limit: 50 }),
  ]);
  if (!isCurrent()) return;
  const { grain, status } = found;
  const versions = history.versions;
  // The versions of a memory rest on each other; the history shows them.
  const isVersion = (one) => versions.some((version) => version.address === one.address);
  const stored = versions.find((version) => version.address === address);
  const sources = (await named([grain.derived_from, grain.provenance_chain?.map((one) => one.source_hash ?? one.hash)].flat(), address)).filter((one) => !isVersion(one));
  const related = [
    ...derived.results.map((one) => ({ address: one.content_address, grain: one.grain })),
    ...await named(protection.resting_on, address),
  ].filter((one, at, all) => !isVersion(one) && all.findIndex((other) => other.address === one.address) === at);
  if (!isCurrent()) return;
  show(short(summary(grain)),
    h("p", { class: "quiet" }, h("code", {}, address)),
    statusLine(status),
    actions(address, grain, rights),
    h("h2", {}, "Fields"), fields(grain),
    h("h2", {}, "Signature and origin"), signature(stored, grain),
    h("h2", {}, "Protection"), protected_(protection.changes),
    h("h2", {}, "Derived from"), listed(sources, "It names no other memory."),
    h("h2", {}, "What rests on it"), listed(related, "No grain that you see rests on it."),
    h("h2", {}, "History"), timeline(versions, address));
}

async function named(values, self) {
  const addresses = [...new Set(values.flat(Infinity).map((one) => String(one ?? "").replace(/^.*:/, "")))]
    .filter((one) => /^[0-9a-f]{64}$/.test(one) && one !== self);
  const found = await grains(addresses);
  return addresses.map((address, at) => ({ address, grain: found[at]?.grain }));
}

function statusLine(status) {
  return h("p", {},
    status.current ? h("strong", { class: "good" }, "Current") : h("strong", { class: "bad" }, "Not current"),
    ` · ${status.verification_status} · ${status.lifecycle}`,
    status.contradicted && h("strong", { class: "bad" }, " · contradicted"),
    status.superseded_by && [" · replaced by ", link("a newer version", "grain", status.superseded_by)]);
}

function fields(grain) {
  const names = Object.keys(grain);
  const ordered = [...FIRST.filter((name) => names.includes(name)), ...names.filter((name) => !FIRST.includes(name))];
  const rows = ordered.map((name) => [h("code", {}, name), shownValue(name, grain[name])]);
  return table("Fields of the grain", ["Field", "Value"], rows);
}

/** What a memory says comes before what is known about it. */
const FIRST = ["type", "subject", "relation", "object", "content", "description", "conclusion", "user_id", "session_id", "namespace", "confidence", "created_at"];

function shownValue(name, value) {
  if (name === "derived_from" && Array.isArray(value)) {
    return h("ul", { class: "plain" }, value.map((one) => h("li", {}, link(String(one), "grain", String(one).replace(/^.*:/, "")))));
  }
  if (name === "subject") return link(String(value), "subject", String(value));
  if (name === "user_id") return link(String(value), "person", String(value));
  if (name === "session_id") return link(String(value), "thread", String(value));
  if (/_at$|^valid_(from|to)$/.test(name) && typeof value === "number") return time(value);
  return typeof value === "string" ? text(value) : h("pre", {}, text(JSON.stringify(value, null, 1)));
}

function signature(stored, grain) {
  const signed = stored?.signature;
  return h("ul", { class: "plain" },
    h("li", {}, "Signature: ", signed ? [text(signed.signer), ` (${signed.trust}${signed.doubt ? `: ${signed.doubt}` : ""})`] : "none"),
    h("li", {}, "Author: ", text(grain.author_did ?? "not stated")),
    stored && h("li", {}, "Stored: ", time(stored.stored_at), " by ", text(stored.stored_by ?? "the owner of the store")));
}

function protected_(changes) {
  const rows = Object.entries(changes).map(([name, one]) => [
    name, one.is_allowed ? h("span", { class: "good" }, "allowed") : h("span", { class: "bad" }, "refused"),
    [one.rule, one.wants].filter(Boolean).join(": "),
    one.protected_by ? link(short(one.protected_by, 12), "grain", one.protected_by) : "",
  ]);
  return table("For a caller who states a reason and an authority", ["Change", "Decision", "Rule", "Protected by"], rows, true);
}

function listed(found, none) {
  if (found.length === 0) return h("p", { class: "quiet" }, none);
  return h("ul", {}, found.map((one) =>
    h("li", {}, one.grain ? link(short(summary(one.grain)), "grain", one.address) : [h("code", {}, one.address), " (not here)"])));
}

/** The versions, oldest first, each with its differences from the one before. */
function timeline(versions, self) {
  return h("ol", { class: "versions" }, versions.map((version, at) => {
    const before = versions[at - 1]?.grain;
    return h("li", { class: version.status.current ? "current" : undefined },
      h("p", {}, link(short(summary(version.grain), 80), "grain", version.address),
        version.address === self && " (this version)"),
      h("p", { class: "quiet" }, at === 0 ? "first stored " : "changed ", time(version.stored_at),
        " by ", text(version.stored_by ?? "the owner of the store")),
      before && differences(before, version.grain));
  }));
}

const OF_ONE_VERSION = ["created_at", "derived_from", "prior_consent", "system_valid_from"];

export function differences(before, after, heads = ["Before", "After"]) {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => !OF_ONE_VERSION.includes(name));
  const line = (value) => (typeof value === "string" ? value : JSON.stringify(value));
  const rows = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name])).map((name) => [
    h("code", {}, name),
    before[name] === undefined ? "" : h("del", {}, text(line(before[name]))),
    after[name] === undefined ? "" : h("ins", {}, text(line(after[name]))),
  ]);
  if (rows.length === 0) return h("p", { class: "quiet" }, "no field differs");
  return table("Differences", ["Field", ...heads], rows);
}

function actions(address, grain, rights) {
  const may = (name) => rights.operations.includes(name);
  const act = (label, verb, warning, inputs, run) => h("button", {
    type: "button", class: verb === "Correct" ? undefined : "bad",
    onclick: async () => {
      const given = await ask(label, warning, inputs, verb);
      if (given) await run(given);
    },
  }, label);
  const path = `/v1/grains/${address}`;
  const main = { belief: "object", event: "content", goal: "description", reasoning: "conclusion" }[grain.type];
  return h("div", { class: "actions" },
    may("write") && main && typeof grain[main] === "string" && act("Correct…", "Correct", "The new version replaces this one; this one stays in the history.",
      [["value", `New ${main}`, grain[main]], ["why", "Reason", ""]], async ({ value, why }) => {
        const copy = { ...grain, [main]: value };
        for (const name of ["created_at", "derived_from", "prior_consent", "author_did", "superseded_by", "system_valid_from", "system_valid_to", "verification_status"]) delete copy[name];
        const done = await post(`${path}/supersede`, { grain: copy, justification: why });
        say("Corrected.");
        location.hash = `#/grain/${done.address}`;
      }),
    may("write") && act("Contradict…", "Contradict", "The grain is marked as contradicted.", [["why", "Reason", ""]], async ({ why }) => {
      await post(`${path}/contradict`, { justification: why });
      dispatchEvent(new HashChangeEvent("hashchange"));
    }),
    may("erase") && act("Delete…", "Delete", "It is gone from the files of the store and cannot be restored. Reason and authority stay on record.",
      [["reason", "Reason (without the content)", ""], ["authority", "Authority", ""]], async (given) => {
        await post(`${path}/delete`, given);
        location.hash = "#/search";
      }));
}
