// One `grainstore mcp`, started when it is first asked, and again after it ended.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export class Client {
  constructor(command, args) {
    this.command = command;
    this.args = args;
    this.started = undefined;
    this.number = 0;
    this.waiting = new Map();
  }

  /** Calls a tool. Rejects with the reason of a refusal. */
  async call(name, args) {
    this.started ??= this.#start();
    await this.started;
    const result = await this.#ask("tools/call", { name, arguments: args });
    if (result.isError) throw new Error(result.content[0].text);
    return result;
  }

  /** Ends the process, after what it was asked. */
  close() {
    this.process?.stdin.end();
  }

  async #start() {
    const process = spawn(this.command, this.args, { stdio: ["pipe", "pipe", "ignore"] });
    this.process = process;
    const end = (reason) => {
      if (this.process !== process) return;
      this.process = this.started = undefined;
      for (const { reject } of this.waiting.values()) reject(new Error(reason));
      this.waiting.clear();
    };
    process.on("error", (error) => end(`${this.command} does not start: ${error.message}`));
    process.on("exit", () => end(`${this.command} ended`));
    // A write to a process that has ended is told by its end.
    process.stdin.on("error", () => {});
    createInterface({ input: process.stdout }).on("line", (line) => this.#take(JSON.parse(line)));
    const clientInfo = { name: "openclaw", version: "0" };
    await this.#ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    this.#write({ method: "notifications/initialized" });
  }

  #ask(method, params) {
    const id = ++this.number;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.#write({ id, method, params });
    });
  }

  #take(answer) {
    const waiting = this.waiting.get(answer.id);
    this.waiting.delete(answer.id);
    if (answer.error) waiting?.reject(new Error(answer.error.message));
    else waiting?.resolve(answer.result);
  }

  #write(message) {
    this.process?.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
  }
}
