// SPDX-License-Identifier: Apache-2.0
// A separate service for each test file: started on a free port, watched, stopped, killed.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { http_json, http_request } from "./http.mjs";
import { fields, multipart } from "./multipart.mjs";
import { stepscope_bin, temporary, until } from "./tools.mjs";

const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 40_000;
// Each connection has a thread, and 1,100 threads are most of what a start costs.
const FEW = ["--connections", "64"];

/** @typedef {import("./http.mjs").Reply} Reply */

/** @typedef {import("node:child_process").ChildProcess} ChildProcess */

/** Services left behind by a failed test. @type {Set<ChildProcess>} */
const live = new Set();
// Before the folders they write to are removed.
process.prependListener("exit", () => live.forEach((child) => child.kill("SIGKILL")));

class Server {
  /** @param {string} data @param {string[]} options @param {string[]} under */
  constructor(data, options, under) {
    const args = ["serve", "--listen", "127.0.0.1:0", "--data", data, ...options];
    const [program, ...rest] = [...under, stepscope_bin(), ...args];
    this.data = data;
    this.options = options;
    /** Sent with every request. */
    this.credentials = {};
    this.log = "";
    this.exit = null;
    this.child = spawn(program, rest, { stdio: ["ignore", "pipe", "pipe"] });
    /** Called when the service printed something or ended. @type {Set<() => void>} */
    this.listeners = new Set();
    const tell = () => this.listeners.forEach((listener) => listener());
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream.on("data", (text) => {
        this.log += text;
        tell();
      });
    }
    this.child.on("exit", (status, signal) => {
      live.delete(this.child);
      this.exit = { status, signal };
      tell();
    });
    live.add(this.child);
    // A failed test must not wait for its service.
    for (const handle of [this.child, this.child.stdout, this.child.stderr]) handle.unref();
  }

  /**
   * Like until, but checks when the service prints something or ends: kills come by the thousand.
   */
  heard(what, condition, limit_ms) {
    return new Promise((done, fail) => {
      const end = (settle, value) => {
        clearTimeout(timer);
        this.listeners.delete(look);
        settle(value);
      };
      const look = () => {
        const value = condition();
        if (value) end(done, value);
        else if (this.exit) end(fail, this.ended_early());
      };
      const late = () => end(fail, new Error(`waited ${limit_ms} ms in vain until ${what}`));
      const timer = setTimeout(late, limit_ms);
      this.listeners.add(look);
      look();
    });
  }

  ended_early() {
    return new Error(`the service ended: ${JSON.stringify(this.exit)} ${this.log}`);
  }

  /** Waits until the service prints its address and answers there. */
  async ready() {
    const address = /http:\/\/127\.0\.0\.1:([1-9]\d*)/;
    const found = await this.heard("the service says its address", () => address.exec(this.log),
      START_LIMIT_MS);
    this.port = Number(found[1]);
    this.base = `http://127.0.0.1:${this.port}`;
    let last = "";
    await until("the service is ready", async () => {
      const reply = await this.request("/readyz").catch(String);
      last = reply.text ?? reply;
      return reply.status === 200;
    }, START_LIMIT_MS).catch((error) => {
      throw new Error(`${error.message}: ${last}\n${this.log}`);
    });
    return this;
  }

  /** @returns {Promise<Reply>} */
  request(path, what) {
    const headers = { ...this.credentials, ...what?.headers };
    return http_request(this.base + path, { ...what, headers });
  }

  /** A GET under /api/v1 that must succeed. @returns {Promise<any>} */
  async get(path) {
    const reply = await this.request(`/api/v1${path}`);
    assert.equal(reply.status, 200, `GET ${path}: ${reply.status} ${reply.text.slice(0, 400)}`);
    return reply.json;
  }

  /** A request with a JSON body under /api/v1. @returns {Promise<Reply>} */
  send(method, path, value, headers) {
    const all = { ...this.credentials, ...headers };
    return http_json(`${this.base}/api/v1${path}`, method, value, all);
  }

  /** Multipart upload. @param {import("./multipart.mjs").Part[]} parts @returns {Promise<Reply>} */
  post(parts, path = "/upload", headers = {}) {
    const form = multipart(parts);
    const all = { ...form.headers, ...headers };
    return this.request(path, { method: "POST", body: form.body, headers: all });
  }

  /** Uploads files to a run and waits for the analysis. @returns {Promise<any>} run */
  async analyzed(run, files, more = {}) {
    const parts = files.map(({ data, filename }) => ({ name: "trace", data, filename }));
    const reply = await this.post([...fields({ run, ...more }), ...parts]);
    assert.ok([200, 202].includes(reply.status), `upload: ${reply.status} ${reply.text}`);
    return this.settled(reply.json.run);
  }

  /** The run, once none of its jobs is waiting or running. @returns {Promise<any>} */
  settled(run, limit_ms = 60_000) {
    return until(`run ${run} has settled`, async () => {
      const found = await this.get(`/runs/${encodeURIComponent(run)}`);
      return !["pending", "running"].includes(found.status) && found;
    }, limit_ms);
  }

  /** Asserts that the service still works. */
  async alive() {
    assert.equal(this.exit, null, `the service ended: ${JSON.stringify(this.exit)}\n${this.log}`);
    assert.equal((await this.request("/healthz")).status, 200);
  }

  ended() {
    return this.heard("the service has ended", () => this.exit, STOP_LIMIT_MS);
  }

  /** SIGKILL: no chance to clean up. */
  async kill() {
    this.child.kill("SIGKILL");
    await this.ended();
  }

  /** SIGTERM; the service must exit on its own with status 0. */
  async stop() {
    this.child.kill("SIGTERM");
    const exit = await this.ended().finally(() => this.child.kill("SIGKILL"));
    assert.deepEqual(exit, { status: 0, signal: null }, `how the service ended\n${this.log}`);
  }
}

/**
 * Starts a service and waits until it answers; `under` is a command line prefix,
 * and `token` is sent with every request. `crowd`: with as many connections as by default.
 * @param {{data?: string, options?: string[], under?: string[], token?: string,
 *   crowd?: boolean}} [what]
 */
export function start_server(what = {}) {
  const { data = join(temporary("data"), "data"), options = [], under = [] } = what;
  const server = new Server(data, [...(what.crowd ? [] : FEW), ...options], under);
  if (what.token) server.credentials = { Authorization: `Bearer ${what.token}` };
  return server.ready();
}
