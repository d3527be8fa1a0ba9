// SPDX-License-Identifier: Apache-2.0
// A service at work with every call recorded, and what it had promised at any moment.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fields, file_part } from "../../e2e/helpers/multipart.mjs";
import { start_server } from "../../e2e/helpers/server.mjs";
import { until } from "../../e2e/helpers/tools.mjs";
import { Ledger, content } from "../helpers/ledger.mjs";
import { lean } from "../helpers/torture.mjs";
import { parse_calls, strace_line } from "./calls.mjs";

/**
 * @typedef {import("../helpers/ledger.mjs").Content} Content
 * @typedef {{kind: "upload" | "replace" | "delete" | "note" | "create" | "piece", run: string,
 *            contents?: Content[], ranked?: boolean, note?: string, url?: string, end?: number,
 *            begin_at?: number, end_at?: number}} Asked
 * `begin_at` and `end_at`: the events at which the request was read and its answer was sent.
 */

const NUMBER = "x-request-number";

/** Sends requests to a recorded service, and keeps them by number. */
class Worker {
  /** @type {Asked[]} */
  asked = [];
  count = 0;

  /** @param {number} steps */
  content(steps = 2) {
    return content(`kernel_${this.count++}`, steps);
  }

  /** @param {Asked} asked @param {number[]} expected statuses */
  async ask(asked, path, what, expected) {
    const number = this.asked.push(asked) - 1;
    const headers = { ...what.headers, [NUMBER]: number };
    const reply = await this.server.request(path, { ...what, headers });
    assert.ok(expected.includes(reply.status), `${asked.kind}: ${reply.status} ${reply.text}`);
    return reply;
  }

  multipart(run, contents) {
    const parts = contents.map(({ data }, rank) => file_part(data, `rank${rank}.json`));
    const number = this.asked.push({ kind: "upload", run, contents, ranked: false }) - 1;
    return this.server.post([...fields({ run }), ...parts], "/upload", { [NUMBER]: number })
      .then((reply) => assert.ok([200, 202].includes(reply.status), reply.text));
  }

  put(kind, run, one) {
    const path = `/api/v1/runs/${run}/ranks/0/trace?replace=${kind === "replace"}`;
    return this.ask({ kind, run, contents: [one], ranked: true }, path,
      { method: "PUT", body: one.data }, [200, 202]);
  }

  remove(run) {
    return this.ask({ kind: "delete", run }, `/api/v1/runs/${run}`,
      { method: "DELETE", headers: { "If-Match": "*" } }, [204]);
  }

  note(run, note) {
    const headers = { "If-Match": "*", "Content-Type": "application/merge-patch+json" };
    return this.ask({ kind: "note", run, note }, `/api/v1/runs/${run}`,
      { method: "PATCH", headers, body: JSON.stringify({ note }) }, [200]);
  }

  async in_pieces(run, one, pieces) {
    const base64 = (text) => Buffer.from(text).toString("base64");
    const tus = { "Tus-Resumable": "1.0.0" };
    const asked = { kind: "create", run };
    const created = await this.ask(asked, "/api/v1/tus", { method: "POST",
      headers: { ...tus, "Content-Length": 0, "Upload-Length": one.data.length,
        "Upload-Metadata": `run ${base64(run)},rank ${base64("0")}` } }, [201]);
    const url = new URL(created.headers.location, this.server.base).pathname;
    asked.url = url;
    for (let piece = 0, begin = 0; piece < pieces; piece++) {
      const end = Math.ceil((one.data.length * (piece + 1)) / pieces);
      const headers = { ...tus, "Upload-Offset": begin,
        "Content-Type": "application/offset+octet-stream" };
      const is_last = piece === pieces - 1;
      await this.ask({ kind: is_last ? "upload" : "piece", run, contents: [one], ranked: true,
        url, end }, url, { method: "PATCH", headers, body: one.data.subarray(begin, end) }, [204]);
      begin = end;
    }
  }

  settled() {
    return until("every run has settled", async () => {
      const { items } = await this.server.get("/runs?limit=all&fields=status");
      return items.every(({ status }) => !["pending", "running"].includes(status));
    });
  }
}

/** Three clients at once, then changes and deletions. @param {Worker} worker */
async function work(worker, prefix, has_tus) {
  const shared = worker.content(40);
  await Promise.all([
    (async () => {
      for (let i = 0; i < 3; i++)
        await worker.multipart(`${prefix}-form${i}`, [worker.content(), worker.content(40)]);
      await worker.multipart(`${prefix}-shared1`, [shared]);
    })(),
    (async () => {
      for (let i = 0; i < 4; i++) await worker.put("upload", `${prefix}-put${i}`, worker.content());
      await worker.put("upload", `${prefix}-shared2`, shared);
    })(),
    (async () => {
      await worker.put("upload", `${prefix}-large`, worker.content(600));
      if (has_tus) await worker.in_pieces(`${prefix}-pieces`, worker.content(300), 3);
    })(),
  ]);
  await worker.put("replace", `${prefix}-put0`, worker.content());
  await Promise.all([worker.note(`${prefix}-put1`, "seen"), worker.remove(`${prefix}-form0`),
    worker.remove(`${prefix}-shared1`)]);
  await worker.settled();
  await worker.remove(`${prefix}-put2`);
  await worker.put("upload", `${prefix}-put2`, worker.content());
  await worker.note(`${prefix}-put1`, "seen twice");
  if (has_tus) await worker.in_pieces(`${prefix}-again`, shared, 2);
  await worker.settled();
}

/** The log is complete once the recorder, which also has the service's stderr, has closed it. */
async function read_log({ child }, path) {
  await until("the recorder has ended", () => child.stderr.closed);
  return readFileSync(path, "latin1");
}

/** When each request was read and answered. @param {Asked[]} asked */
function date_requests(asked, events) {
  const open = new Map();
  for (const [at, { call, begins, ends }] of events.entries()) {
    const socket = call.places?.[0]?.path;
    if (call.name === "recvfrom" && ends && call.result > 0) {
      const head = call.strings[0].toString("latin1");
      const number = new RegExp(`^${NUMBER}: (\\d+)\r$`, "im").exec(head)?.[1];
      if (number === undefined) continue;
      asked[number].begin_at = at;
      open.set(socket, asked[number]);
    } else if (call.name === "sendto" && begins && open.has(socket)) {
      const is_answer = call.strings[0].subarray(0, 9).toString() === "HTTP/1.1 " &&
        call.strings[0].subarray(9, 12).toString() !== "100";
      if (!is_answer) continue;
      open.get(socket).end_at = at;
      open.delete(socket);
    }
  }
  const undated = asked.filter(({ begin_at, end_at }) => !(begin_at < end_at));
  assert.deepEqual(undated, [], "requests that the record does not show");
}

/**
 * Two lifetimes of a service on one folder: the first is stopped, the second killed.
 * @param {string} folder @returns {Promise<{events: any[], asked: Asked[], root: string}>}
 */
export async function record(folder) {
  const root = join(folder, "root");
  const data = join(root, "data");
  mkdirSync(root);
  const worker = new Worker();
  const logs = [];
  for (const prefix of ["a", "b"]) {
    const log = join(folder, `${prefix}.log`);
    worker.server = await start_server({ data, options: lean, under: strace_line(log) });
    const options = await worker.server.request("/api/v1/tus", { method: "OPTIONS" });
    await work(worker, prefix, options.headers["tus-version"] !== undefined);
    await (prefix === "a" ? worker.server.stop() : worker.server.kill());
    logs.push(await read_log(worker.server, log));
  }
  const events = logs.flatMap(parse_calls);
  date_requests(worker.asked, events);
  return { events, asked: worker.asked, root };
}

/** What an interrupted request may change in a run that the service knew. */
const EFFECTS = {
  upload: (run, { contents }, done) => {
    run.state = done ? "kept" : "maybe";
    run.ranks = contents.map((one) => [one]);
    run.piece = null;
  },
  replace: (run, { contents }, done) => {
    run.ranks[0] = done ? contents : [...run.ranks[0], ...contents];
  },
  delete: (run, _, done) => (run.state = done ? "gone" : "leaving"),
  note: (run, { note }, done) => (run.notes = done ? [note] : [...run.notes, note]),
  create: (run, { url }, done) => (run.piece = done ? { url, offset: 0 } : null),
  piece: (run, { url, end }, done) => {
    if (done) run.piece = { url, offset: end };
  },
};

/** What was promised when the power went at an event. @param {Asked[]} asked */
export function ledger_at(asked, at) {
  const ledger = new Ledger();
  const begun = asked.filter(({ begin_at }) => begin_at < at)
    .sort((a, b) => a.begin_at - b.begin_at);
  for (const one of begun) {
    const known = ledger.runs.get(one.run);
    const run = known && known.state !== "gone" ? known : ledger.begin(one.run, [], one.ranked);
    run.notes ??= [""];
    EFFECTS[one.kind](run, one, one.end_at < at);
  }
  return ledger;
}
