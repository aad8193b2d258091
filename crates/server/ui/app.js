// The frame of the inspector: the token, the pages and their addresses.

import { Refused, forget, get, keep, token } from "/ui/api.js";
import { field, h, say, show } from "/ui/dom.js";
import * as audit from "/ui/audit.js";
import * as changes from "/ui/changes.js";
import * as grain from "/ui/grain.js";
import * as graph from "/ui/graph.js";
import * as growth from "/ui/growth.js";
import * as imports from "/ui/imports.js";
import * as keys from "/ui/keys.js";
import * as overview from "/ui/overview.js";
import * as person from "/ui/person.js";
import * as persons from "/ui/persons.js";
import * as search from "/ui/search.js";
import * as threads from "/ui/threads.js";

const PAGES = {
  overview: overview.open, search: search.open, grain: grain.open, subject: graph.open,
  person: person.open, persons: persons.open, threads: threads.list, thread: threads.open,
  changes: changes.open, audit: audit.open, imports: imports.open, growth: growth.open,
};

/** The entry of the navigation under which a page without one of its own stands. */
const UNDER = { thread: "threads", persons: "person", grain: "search" };

let turn = 0;
let leaving = new AbortController();

function enter(message) {
  const input = h("input", { type: "password", name: "token", required: true, autocomplete: "off", spellcheck: "false" });
  setSignedIn(false);
  show("Sign in", h("p", {}, "Enter a token of ", h("code", {}, "grainstore token add --as did:web:me.example --allow read"), ". It is kept in this tab alone."),
    h("form", {
      onsubmit: async (event) => {
        event.preventDefault();
        keep(input.value.trim());
        await route();
      },
    }, field("Token", input, true), h("button", { type: "submit" }, "Sign in")));
  say(message ?? "", Boolean(message));
  input.focus();
}

function setSignedIn(isIn) {
  document.getElementById("nav").hidden = !isIn;
  document.getElementById("session").hidden = !isIn;
}

/** Reads an address: the name of the page, what it is about, and its question. */
function asked() {
  const [path, question = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/");
  let parts;
  try { parts = rest.map(decodeURIComponent); } catch { parts = []; }
  return { name: Object.hasOwn(PAGES, name) ? name : "overview", parts, query: Object.fromEntries(new URLSearchParams(question)) };
}

/** Opens the page that the address names. */
async function route() {
  const mine = ++turn;
  leaving.abort();
  leaving = new AbortController();
  if (!token()) return enter();
  const { name, parts, query } = asked();
  say("Loading…");
  try {
    const rights = await get("/v1/token");
    if (mine !== turn) return undefined;
    setSignedIn(true);
    for (const anchor of document.querySelectorAll("#nav a")) {
      const isHere = anchor.hash.replace("#/", "") === (UNDER[name] ?? name);
      if (isHere) anchor.setAttribute("aria-current", "page");
      else anchor.removeAttribute("aria-current");
    }
    await PAGES[name]({ parts, query, rights, isCurrent: () => mine === turn, signal: leaving.signal });
    if (mine !== turn) return undefined;
    if (document.getElementById("status").textContent === "Loading…") say("");
    focus();
  } catch (error) {
    if (mine === turn) failed(error);
  }
  return undefined;
}

/** The focus goes to the link by which the page was left before, or else to its heading. */
function focus() {
  const left = history.state?.left;
  const anchors = left ? [...document.querySelectorAll("#main a")] : [];
  const back = anchors.find((anchor) => anchor.getAttribute("href") === left);
  if (back) back.focus();
  else if (!document.activeElement || document.activeElement === document.body) {
    document.querySelector("#main h1")?.focus();
  }
}

function failed(error) {
  if (error.name === "AbortError") return;
  if (error instanceof Refused && error.status === 401) {
    forget();
    enter("The server does not accept this token.");
    return;
  }
  if (!document.querySelector("#main h1")) show("Not available");
  say(error.code ? `${error.code}: ${error.message}` : `The server cannot be reached: ${error.message}`, true);
}

addEventListener("hashchange", () => {
  document.activeElement?.blur();
  document.getElementById("main").replaceChildren();
  route();
});
addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  failed(event.reason);
});
document.getElementById("main").addEventListener("click", (event) => {
  const left = event.target.closest?.("a")?.getAttribute("href");
  if (left) history.replaceState({ left }, "");
});
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  document.getElementById("main").focus();
});
document.getElementById("leave").addEventListener("click", () => {
  forget();
  enter();
});
keys.listen();
route();
