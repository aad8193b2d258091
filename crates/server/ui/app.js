// The frame of the inspector: the token, the pages and the keys.

import { Refused, forget, get, keep, token } from "/ui/api.js";
import { field, h, say, show } from "/ui/dom.js";
import * as audit from "/ui/audit.js";
import * as grain from "/ui/grain.js";
import * as graph from "/ui/graph.js";
import * as growth from "/ui/growth.js";
import * as imports from "/ui/imports.js";
import * as person from "/ui/person.js";
import * as search from "/ui/search.js";
import * as threads from "/ui/threads.js";

const PAGES = {
  search: search.open, grain: grain.open, subject: graph.open, person: person.open,
  threads: threads.list, thread: threads.open, audit: audit.open, imports: imports.open,
  growth: growth.open,
};

let turn = 0;

function enter(message) {
  const input = h("input", { type: "password", name: "token", required: true, autocomplete: "off", spellcheck: "false" });
  document.getElementById("nav").hidden = true;
  document.getElementById("leave").hidden = true;
  show("Sign in", h("p", {}, "Enter a token of `grainstore token add`. It is kept in this tab alone."),
    h("form", {
      onsubmit: async (event) => {
        event.preventDefault();
        keep(input.value.trim());
        await route();
      },
    }, field("Token", input, true), h("button", { type: "submit" }, "Sign in")));
  if (message) say(message, true);
  input.focus();
}

/** Opens the page that the address names. */
async function route() {
  const mine = ++turn;
  if (!token()) return enter();
  const [name = "search", ...rest] = location.hash.replace(/^#\/?/, "").split("/");
  let parts;
  try { parts = rest.map(decodeURIComponent); } catch { parts = []; }
  const open = Object.hasOwn(PAGES, name || "search") ? PAGES[name || "search"] : PAGES.search;
  say("Loading…");
  try {
    const rights = await get("/v1/token");
    if (mine !== turn) return undefined;
    document.getElementById("nav").hidden = false;
    document.getElementById("leave").hidden = false;
    for (const anchor of document.querySelectorAll("#nav a")) {
      const isHere = anchor.hash.replace("#/", "") === (name === "thread" ? "threads" : name || "search");
      if (isHere) anchor.setAttribute("aria-current", "page");
      else anchor.removeAttribute("aria-current");
    }
    await open({ parts, rights, isCurrent: () => mine === turn });
    if (mine !== turn) return undefined;
    if (document.getElementById("status").textContent === "Loading…") say("");
    if (!document.activeElement || document.activeElement === document.body) {
      document.querySelector("#main h1")?.focus();
    }
  } catch (error) {
    if (mine === turn) failed(error);
  }
  return undefined;
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
addEventListener("keydown", (event) => {
  const isTyping = event.target.closest?.("input, textarea, select");
  if (event.key === "/" && !isTyping && token()) {
    event.preventDefault();
    const input = document.getElementById("q");
    if (input) input.focus();
    else location.hash = "#/search";
  }
});
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  document.getElementById("main").focus();
});
document.getElementById("leave").addEventListener("click", () => {
  forget();
  say("Signed out.");
  enter();
});
route();
