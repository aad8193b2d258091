// Search as you type: where a hit matched, with what score, and its excerpt.

import { post, short, summary } from "/ui/api.js";
import { counted, field, h, say, show, text, view } from "/ui/dom.js";
import { conditions, filterOf } from "/ui/filters.js";
import { downloads, facets, item, rowOf, walkable } from "/ui/listing.js";

const NAMES = ["type", "user", "session", "namespace", "since", "until"];
const LIMIT = 30;

export async function open({ parts, query, isCurrent }) {
  const input = h("input", {
    type: "search", id: "q", value: query.q ?? parts[0] ?? "", autocomplete: "off", spellcheck: "false",
    "aria-controls": "results", placeholder: "words, \"phrases\", field:word, -without",
  });
  const old = h("input", { type: "checkbox", checked: Boolean(query.old) });
  const results = walkable(h("ol", { class: "results", id: "results", "aria-label": "Results" }), input);
  const more = h("button", { type: "button", hidden: true }, "More");
  const narrowed = h("div", {});
  let shown = [];
  let sent = null;
  let cursor = null;
  let waiting = 0;
  const soon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => ask(), 120);
  };
  const chosen = conditions(NAMES, query, soon);
  const question = () => ({ q: input.value.trim(), ...chosen.question(), old: old.checked ? "1" : "" });

  async function ask(after) {
    sent?.abort();
    const mine = sent = new AbortController();
    const asked = question();
    // The address names what is shown, also while it is typed.
    history.replaceState(history.state, "", view(["search"], asked));
    const filter = filterOf(asked);
    const words = asked.q;
    try {
      const [found, types] = await Promise.all([
        words
          ? post("/v1/search", { question: words, with_snippets: true, with_explanation: true, limit: LIMIT, filter }, mine.signal)
          : post("/v1/query", { sort: "stored", descending: true, limit: LIMIT, filter, cursor: after ?? undefined }, mine.signal),
        words || after ? null : post("/v1/groups", { by: "type", filter: { ...filter, type: undefined }, limit: 20 }, mine.signal),
      ]);
      if (mine !== sent || !isCurrent()) return;
      if (!after) {
        results.replaceChildren();
        shown = [];
        narrowed.replaceChildren(types ? facets(["search"], asked, "type", types.groups.map((one) => [one.value, one.count]), "all types") : "");
      }
      shown.push(...found.results);
      results.append(...found.results.map((one) => result(one, words !== "")));
      cursor = found.next_cursor;
      more.hidden = words !== "" || !cursor;
      told(asked, found, types, shown.length);
      if (shown.length === 0) results.append(h("li", { class: "quiet" }, nothing(words, asked)));
    } catch (error) {
      if (error.name === "AbortError" || mine !== sent) return;
      results.replaceChildren();
      more.hidden = true;
      say(error.code === "ERR_SEARCH_SYNTAX" ? `Not a query yet: ${error.message}` : `${error.code ?? ""} ${error.message}`, true);
    }
  }
  old.addEventListener("change", () => ask());
  input.addEventListener("input", soon);
  more.addEventListener("click", () => ask(cursor));
  const form = h("form", {
    role: "search",
    onsubmit: (event) => {
      event.preventDefault();
      clearTimeout(waiting);
      ask();
    },
  }, field("Search", input, true), chosen.fields, h("label", { class: "check" }, old, "replaced versions too"));
  show("Search", form, narrowed, results, h("p", {}, more),
    downloads("search", () => shown.map((one) => rowOf(one.content_address, one.grain))));
  if (!history.state?.left) input.focus();
  await ask();
}

function told({ q, type }, found, types, count) {
  if (q) {
    say(`${found.total_is_lower_bound ? "at least " : ""}${found.total.toLocaleString("en")} found, best match first`);
    return;
  }
  if (!types) {
    say(`${counted(count, "memory", "memories")} shown, newest first`);
    return;
  }
  const total = types.groups.filter((one) => !type || one.value === type).reduce((sum, one) => sum + one.count, 0);
  say(`${types.is_cut ? "at least " : ""}${counted(total, "memory", "memories")}, newest first`);
}

function nothing(words, asked) {
  const isNarrowed = NAMES.some((name) => asked[name]);
  if (isNarrowed) return ["Nothing passes. ", h("a", { href: view(["search"], { q: words }) }, "Search without the conditions"), "."];
  if (words) return "No memory has these words. Try others, or fewer.";
  return ["There is nothing here yet. ", h("a", { href: "#/imports" }, "Import a file"), ", or connect an agent: ", h("code", {}, "grainstore mcp install"), "."];
}

function result(found, isRanked) {
  const line = short(summary(found.grain));
  const marked = found.snippet?.map((part) => (part.is_match ? h("mark", {}, part.text) : part.text));
  const hasMarks = found.snippet?.some((part) => part.is_match);
  // An excerpt that is the whole grain stands for its line.
  const isWhole = hasMarks && found.snippet.map((part) => part.text).join("") === line;
  const excerpt = hasMarks && !isWhole && h("p", { class: "quiet" }, h("bdi", { dir: "auto" }, marked));
  const state = [found.signature && `signed, ${found.signature.trust}`, found.superseded_by && h("span", { class: "bad" }, "replaced")].filter(Boolean);
  return item(found.content_address, found.grain, {
    marked: isWhole ? h("bdi", { dir: "auto" }, marked) : text(line),
    after: [excerpt, state.length > 0 && h("p", { class: "quiet" }, state.map((one, at) => [at > 0 && " · ", one])), isRanked && why(found)],
  });
}

/** The parts of a score that are added; the others are factors. */
const ADDED = {
  words: "the words", meaning: "the meaning", within: "said at the time in question",
  neighbours: "the messages beside it",
  answer: "the question that it answers", session: "its whole conversation",
};
const FACTORS = {
  question: "a question", speaker: "said by whom the question names",
  date: "of the date in question", answer_type: "the kind of answer", signals: "new or important",
};

function why(found) {
  const parts = Object.entries(found.explanation ?? {});
  const fields = found.matched_fields.length > 0 ? ` · matched in ${found.matched_fields.join(", ")}` : "";
  return h("details", {}, h("summary", {}, `score ${found.score.toFixed(2)}${fields}`),
    h("ul", {}, parts.map(([rule, value]) => h("li", {}, FACTORS[rule]
      ? `× ${value.toFixed(2)} ${FACTORS[rule]}`
      : `+ ${value.toFixed(2)} ${ADDED[rule] ?? rule}`))));
}
