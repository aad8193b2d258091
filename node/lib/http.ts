/**
 * The HTTP interface of one store (docs/http.md) behind a handler of a web framework.
 *
 * The routes are those of `grainstore serve`, answered in this process on a port of the loopback, to which the
 * handler passes its requests on as they come. Callers need a token, as `newToken` or `grainstore token new`
 * makes it.
 */
import { type IncomingMessage, type OutgoingHttpHeaders, request, type ServerResponse } from "node:http";
import { Readable } from "node:stream";

import { ask } from "./failure.js";
import type * as native from "./native/index.cjs";
import type { Store } from "./store.js";

/** Where the tokens are. */
export interface Tokens {
  /** The file of tokens; by default that of the store. A store in memory has none. */
  tokens?: string | undefined;
}

/** Makes a token and returns its text, which is shown once and is in no file. */
export function newToken(store: Store, rights: native.Rights, { tokens }: Tokens = {}): Promise<string> {
  return ask(undefined, async () => store.native.newToken(rights, tokens));
}

/** The routes of one store. It is closed before its store, or with it. */
export class StoreHandler implements AsyncDisposable {
  readonly #routes: native.Routes;

  private constructor(routes: native.Routes) {
    this.#routes = routes;
  }

  /** Begins to answer. Rejects with `Usage` for a store in memory without a file of tokens. */
  static async of(store: Store, { tokens }: Tokens = {}): Promise<StoreHandler> {
    return new StoreHandler(await ask(undefined, () => store.native.routes(tokens)));
  }

  /**
   * Answers a request of Node's own server, of Connect or of Express: `app.use("/memory", handler.node)`. It
   * is to come before what reads bodies.
   */
  readonly node = (from: IncomingMessage, to: ServerResponse): void => {
    const passed = request(this.#asked(from.method, from.url ?? "/", from.headers), (answer) => {
      to.writeHead(answer.statusCode ?? 502, withoutHops(answer.headers));
      answer.pipe(to);
      answer.on("error", () => to.destroy());
    });
    passed.on("error", () => {
      if (to.headersSent) to.destroy();
      else to.writeHead(502).end();
    });
    to.on("close", () => passed.destroy());
    from.pipe(passed);
  };

  /**
   * Answers a request of the Fetch API: `app.all("/v1/*", (c) => handler.fetch(c.req.raw))` in Hono. `path` is
   * the one that is asked for, where the routes lie below another than the root.
   */
  readonly fetch = async (from: Request, path?: string): Promise<Response> => {
    const url = new URL(from.url);
    const headers = Object.fromEntries(from.headers);
    return new Promise((resolve, reject) => {
      const asked = this.#asked(from.method, path ?? url.pathname + url.search, headers);
      const passed = request({ ...asked, signal: from.signal }, (answer) => {
        const status = answer.statusCode ?? 502;
        const hasBody = status !== 204 && status !== 304;
        const body = hasBody ? (Readable.toWeb(answer) as unknown as ReadableStream<Uint8Array>) : null;
        const told = Object.entries(withoutHops(answer.headers)).map(
          ([name, value]): [string, string] => [name, [value].flat().join(", ")],
        );
        resolve(new Response(body, { status, headers: told }));
      });
      passed.on("error", reject);
      if (from.body === null) passed.end();
      else Readable.fromWeb(from.body as Parameters<typeof Readable.fromWeb>[0]).pipe(passed);
    });
  };

  /** Takes no more requests, and lets open ones end. */
  close(): Promise<void> {
    return ask(undefined, () => this.#routes.close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #asked(method: string | undefined, path: string, headers: OutgoingHttpHeaders) {
    const host = `127.0.0.1:${this.#routes.port}`;
    const { port } = this.#routes;
    return { host: "127.0.0.1", port, method, path, headers: { ...withoutHops(headers), host }, agent: false as const };
  }
}

/** Headers that are about one connection (RFC 9110, 7.6.1). */
const HOPS = new Set(["connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"]);

function withoutHops(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOPS.has(name.toLowerCase())));
}
