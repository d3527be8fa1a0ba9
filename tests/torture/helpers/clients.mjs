// SPDX-License-Identifier: Apache-2.0
// Clients that upload in every form, replace and delete, and record the answers in a ledger.
import assert from "node:assert/strict";
import { request as begin } from "node:http";
import { fields, file_part } from "../../e2e/helpers/multipart.mjs";
import { content } from "./ledger.mjs";

/** Steps of traces: some fit one read, some need many. */
const STEPS = [2, 2, 2, 40, 300];
const REUSED = 0.2;
const FEW_RUNS = 30;
const PAUSE_MS = 4;

/**
 * @typedef {import("./ledger.mjs").Run} Run
 * @typedef {import("./ledger.mjs").Content} Content
 * @typedef {{url: string, name: string, one: Content, run: Run, offset: number}} Unfinished
 */

/** A body in two halves with a pause in between, so that the service waits in the middle. */
function put_in_halves(url, data) {
  return new Promise((done, fail) => {
    const headers = { "Content-Length": data.length };
    const request = begin(url, { method: "PUT", agent: false, headers }, (message) => {
      message.resume();
      message.on("end", () => done({ status: message.statusCode, text: "" }));
      message.on("error", fail);
    });
    request.on("error", fail);
    request.write(data.subarray(0, data.length >> 1));
    setTimeout(() => request.end(data.subarray(data.length >> 1)), PAUSE_MS);
  });
}

const base64 = (text) => Buffer.from(text).toString("base64");

export class Clients {
  /** @param {import("./ledger.mjs").Ledger} ledger @param {() => number} random */
  constructor(ledger, random, prefix = "r") {
    Object.assign(this, { ledger, random, prefix });
    this.count = 0;
    /** @type {Content[]} */
    this.recent = [];
    /** Resumable uploads that were cut off by a kill. @type {Unfinished[]} */
    this.unfinished = [];
    this.has_tus = false;
    /** Runs with a requested change. @type {Set<Run>} */
    this.touched = new Set();
    /** Answers by form. @type {Record<string, number>} */
    this.acknowledged = {};
    /** Called on each acknowledgement. */
    this.on_answer = () => {};
  }

  number(limit) {
    return Math.floor(this.random() * limit);
  }

  /** @returns {Content} */
  content() {
    if (this.recent.length > 0 && this.random() < REUSED)
      return this.recent[this.number(this.recent.length)];
    const one = content(`k_${this.prefix}_${this.count++}`, STEPS[this.number(STEPS.length)]);
    this.recent = [one, ...this.recent.slice(0, 7)];
    return one;
  }

  /** @param {number} ranks @param {boolean} ranked whether each file comes with its rank */
  begin(ranks, ranked) {
    const contents = new Set();
    while (contents.size < ranks) contents.add(this.content());
    const run = this.ledger.begin(`${this.prefix}${this.count++}`, [...contents], ranked);
    this.touched.add(run);
    return run;
  }

  /** An acknowledged run that no other client is changing. */
  take(suits) {
    const run = this.ledger.take(this.random, suits);
    if (run) this.touched.add(run);
    return run;
  }

  /** Records an answer; an unexpected refusal fails the test. */
  answered(form, reply, expected = [200, 202]) {
    assert.ok(expected.includes(reply.status), `${form}: ${reply.status} ${reply.text}`);
    this.acknowledged[form] = (this.acknowledged[form] ?? 0) + 1;
    this.on_answer();
  }

  async multipart(server) {
    const run = this.begin(1 + this.number(2), false);
    const parts = run.ranks.map(([{ data }], rank) => file_part(data, `rank${rank}.json`));
    this.answered("multipart", await server.post([...fields({ run: run.name }), ...parts]));
    run.state = "kept";
    return run;
  }

  async put(server) {
    const run = this.begin(1, true);
    const url = `${server.base}/api/v1/runs/${run.name}/ranks/0/trace`;
    this.answered("put", await put_in_halves(url, run.ranks[0][0].data));
    run.state = "kept";
    return run;
  }

  async replace(server) {
    // For other runs the service may not know yet which file is rank 0.
    const run = this.take((other) => other.ranked);
    if (!run) return null;
    const one = this.content();
    run.ranks[0].push(one);
    const path = `/api/v1/runs/${run.name}/ranks/0/trace?replace=true`;
    this.answered("replace", await server.request(path, { method: "PUT", body: one.data }));
    run.ranks[0] = [one];
    return run;
  }

  async remove(server) {
    const run = this.take();
    if (!run) return null;
    run.state = "leaving";
    const reply = await server.request(`/api/v1/runs/${run.name}`,
      { method: "DELETE", headers: { "If-Match": "*" } });
    this.answered("delete", reply, [204]);
    run.state = "gone";
    return run;
  }

  /** One request of the protocol for resumable uploads. */
  tus(server, method, path, headers = {}, body = undefined) {
    const length = body ? {} : { "Content-Length": 0 };
    const all = { "Tus-Resumable": "1.0.0", ...length, ...headers };
    return server.request(path, { method, body, headers: all });
  }

  async in_pieces(server) {
    const run = this.begin(1, true);
    const [[one]] = run.ranks;
    const reply = await this.tus(server, "POST", "/api/v1/tus", {
      "Upload-Length": one.data.length,
      "Upload-Metadata": `run ${base64(run.name)},rank ${base64("0")},filename ${base64("a.json")}`,
    });
    this.answered("pieces", reply, [201]);
    const upload = { url: new URL(reply.headers.location, server.base).pathname, run, one,
      offset: 0 };
    this.unfinished.push(upload);
    return this.send_pieces(server, upload);
  }

  /** Resumes a resumable upload at the offset the service reports. */
  async send_pieces(server, upload) {
    const { one, run } = upload;
    while (upload.offset < one.data.length) {
      const end = Math.min(one.data.length, upload.offset + (one.data.length >> 1) + 1);
      const reply = await this.tus(server, "PATCH", upload.url, {
        "Upload-Offset": upload.offset, "Content-Type": "application/offset+octet-stream",
      }, one.data.subarray(upload.offset, end));
      this.answered("pieces", reply, [204]);
      upload.offset = Number(reply.headers["upload-offset"]);
      assert.equal(upload.offset, end, "where the upload stands after a piece");
    }
    this.unfinished = this.unfinished.filter((other) => other !== upload);
    run.state = "kept";
    return run;
  }

  /** After a restart: nothing reported as received is missing; then it resumes. */
  async resume(server, upload) {
    const reply = await this.tus(server, "HEAD", upload.url);
    const finished = upload.run.state === "kept";
    if (reply.status === 404 || reply.status === 410) {
      assert.ok(finished, `the upload in pieces ${upload.url} is lost`);
      this.unfinished = this.unfinished.filter((other) => other !== upload);
      return upload.run;
    }
    const offset = Number(reply.headers["upload-offset"]);
    assert.ok(offset >= upload.offset, `${upload.url}: ${upload.offset} bytes were acknowledged, ` +
      `${reply.headers["upload-offset"]} are there`);
    upload.offset = offset;
    return this.send_pieces(server, upload);
  }

  /** One request of a random kind; returns the run it touched. */
  step(server) {
    const kept = this.ledger.in_state("kept").length;
    const chance = this.random();
    if (kept > FEW_RUNS && chance < 0.4) return this.remove(server);
    if (chance < 0.55) return this.multipart(server);
    if (chance < 0.7) return this.put(server);
    if (chance < 0.8) return this.replace(server);
    if (chance < 0.88) return this.remove(server);
    return this.has_tus ? this.in_pieces(server) : this.put(server);
  }
}
