// Search as you type: where a hit matched, with what score, and its excerpt.

import { post, short, summary } from "/ui/api.js";
import { counted, field, h, page, say, show, text, time } from "/ui/dom.js";

const TYPES = ["", "belief", "event", "state", "workflow", "tool", "observation", "goal", "reasoning", "consensus", "consent"];

let last = { text: "", type: "", namespace: "", user: "" };

export async function open({ parts, isCurrent }) {
  if (parts[0] !== undefined) last = { ...last, text: parts[0] };
  const input = h("input", {
    type: "search", id: "q", value: last.text, autocomplete: "off", spellcheck: "false",
    "aria-controls": "results", placeholder: "words, \"phrases\", field:word, -without",
  });
  const type = h("select", {}, TYPES.map((name) =>
    h("option", { value: name, selected: name === last.type }, name || "any")));
  const namespace = h("input", { value: last.namespace, autocomplete: "off" });
  const user = h("input", { value: last.user, autocomplete: "off" });
  const old = h("input", { type: "checkbox" });
  const results = h("ol", { class: "results", id: "results", "aria-label": "Results" });
  const more = h("button", { type: "button", hidden: true }, "More");
  let sent = null;
  let cursor = null;

  const filter = () => {
    const chosen = { type: type.value, namespace: namespace.value.trim(), user: user.value.trim() };
    const given = Object.entries(chosen).filter(([, value]) => value);
    return { ...Object.fromEntries(given), superseded: old.checked };
  };
  async function ask(after) {
    sent?.abort();
    const mine = sent = new AbortController();
    last = { text: input.value, type: type.value, namespace: namespace.value, user: user.value };
    const words = input.value.trim();
    try {
      const found = words
        ? await post("/v1/search", { question: words, with_snippets: true, with_explanation: true, limit: 30, filter: filter() }, mine.signal)
        : await post("/v1/query", { sort: "stored", descending: true, limit: 30, filter: filter(), cursor: after ?? undefined }, mine.signal);
      if (mine !== sent || !isCurrent()) return;
      if (!after) results.replaceChildren();
      results.append(...found.results.map((one) => result(one, words !== "")));
      cursor = found.next_cursor;
      more.hidden = words !== "" || !cursor;
      const least = found.total_is_lower_bound ? "at least " : "";
      say(words ? `${least}${found.total} found, best match first` : `${least}${counted(found.total, "grain")}, newest first`);
    } catch (error) {
      if (error.name === "AbortError" || mine !== sent) return;
      results.replaceChildren();
      more.hidden = true;
      say(error.code === "ERR_SEARCH_SYNTAX" ? `Not a query yet: ${error.message}` : `${error.code ?? ""} ${error.message}`, true);
    }
  }
  let waiting = 0;
  const soon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => ask(), 120);
  };
  for (const one of [input, namespace, user]) one.addEventListener("input", soon);
  for (const one of [type, old]) one.addEventListener("change", () => ask());
  more.addEventListener("click", () => ask(cursor));
  const form = h("form", {
    role: "search",
    onsubmit: (event) => {
      event.preventDefault();
      clearTimeout(waiting);
      ask();
    },
    onkeydown: (event) => {
      if (event.key === "ArrowDown") step(event, results, 0);
    },
  }, field("Search", input, true), field("Type", type), field("Namespace", namespace), field("User", user),
  h("label", { class: "check" }, old, "replaced versions too"));
  results.addEventListener("keydown", (event) => {
    const links = [...results.querySelectorAll("a.title")];
    const at = links.indexOf(document.activeElement);
    if (event.key === "ArrowDown") step(event, results, at + 1);
    if (event.key === "ArrowUp" && at > 0) step(event, results, at - 1);
    if (event.key === "ArrowUp" && at === 0) input.focus();
  });
  show("Search", form, results, h("p", {}, more));
  input.focus();
  await ask();
}

function step(event, results, at) {
  const links = results.querySelectorAll("a.title");
  if (links[at]) {
    event.preventDefault();
    links[at].focus();
  }
}

function result(found, isRanked) {
  const { grain } = found;
  const line = short(summary(grain));
  const marked = found.snippet?.map((part) => (part.is_match ? h("mark", {}, part.text) : part.text));
  const hasMarks = found.snippet?.some((part) => part.is_match);
  // An excerpt that is the whole grain stands for its line.
  const isWhole = hasMarks && found.snippet.map((part) => part.text).join("") === line;
  const title = h("a", { href: page("grain", found.content_address), class: "title" },
    h("bdi", { dir: "auto" }, isWhole ? marked : line));
  const about = [
    grain.type ?? "grain", time(grain.created_at),
    grain.user_id !== undefined && text(grain.user_id),
    grain.namespace !== undefined && text(grain.namespace),
    found.signature && `signed, ${found.signature.trust}`,
    found.superseded_by && h("span", { class: "bad" }, "replaced"),
  ].filter(Boolean);
  return h("li", {}, title,
    hasMarks && !isWhole && h("p", { class: "quiet" }, h("bdi", { dir: "auto" }, marked)),
    h("p", { class: "quiet" }, about.map((one, at) => [at > 0 && " · ", one])),
    isRanked && why(found));
}

/** The parts of a score that are added; the others are factors. */
const ADDED = {
  words: "the words", meaning: "the meaning", within: "said at the time in question",
  neighbours: "the messages beside it",
  answer: "the question that it answers", session: "its whole conversation",
};
const FACTORS = {
  assistant: "said by an assistant", question: "a question", speaker: "said by whom the question names",
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
