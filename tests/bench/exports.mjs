// SPDX-License-Identifier: Apache-2.0
// Exports of a large run from a running service: size, time, and how much memory beyond that of the
// idle service each takes; fails past a limit. The traces are uploaded as one run.
// usage: node tests/bench/exports.mjs STEPSCOPE TRACE... [--mib 64] [--formats perfetto,parquet]
import { spawn } from "node:child_process";
import { createReadStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const FORMATS = "perfetto,chrome,paraver,arrow,parquet,workbook";
const words = process.argv.slice(2);
const option = (name, usual) => {
  const at = words.indexOf(name);
  return at < 0 ? usual : words.splice(at, 2)[1];
};
const most_mib = Number(option("--mib", 64));
const formats = option("--formats", FORMATS).split(",");
const [stepscope, ...traces] = words;
const folder = mkdtempSync(join(tmpdir(), "stepscope-exports-"));
const MIB = 1 << 20;
const LOOK_MS = 500;

const child = spawn(stepscope, ["serve", "--data", folder, "--listen", "127.0.0.1:0"],
  { stdio: ["ignore", "pipe", "pipe"] });
const base = await new Promise((done, fail) => {
  let log = "";
  const read = (text) => {
    log += text;
    const found = /http:\/\/127\.0\.0\.1:\d+/.exec(log);
    if (found) done(found[0]);
  };
  child.stdout.on("data", read);
  child.stderr.on("data", read);
  child.on("exit", () => fail(new Error(log)));
});

/** Sends a request; `take` gets each chunk. */
const send = (method, path, body, take = () => {}) => new Promise((done, fail) => {
  const out = request(base + path, { method }, (reply) => {
    reply.on("data", take);
    reply.on("end", () => done(reply.statusCode));
    reply.on("error", fail);
  });
  out.on("error", fail);
  if (body) body.pipe(out);
  else out.end();
});

async function get(path) {
  const chunks = [];
  await send("GET", `/api/v1${path}`, null, (chunk) => chunks.push(chunk));
  return JSON.parse(Buffer.concat(chunks));
}

const memory = (key) => Number(new RegExp(`^${key}:\\s+(\\d+) kB`, "m")
  .exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))[1]) * 1024;

/** Once the memory of the analysis is given back: it no longer falls. */
async function memory_at_rest() {
  for (let last = Infinity, now = memory("VmRSS"); ; last = now, now = memory("VmRSS")) {
    if (now >= last) return now;
    await sleep(LOOK_MS);
  }
}

let worst = 0;
try {
  for (const [i, path] of traces.entries()) {
    const rank = /rank(\d+)/.exec(basename(path))?.[1] ?? i;
    const status = await send("PUT", `/api/v1/runs/large/ranks/${rank}/trace`,
      createReadStream(path));
    if (status >= 300) throw new Error(`the upload of ${path} answers ${status}`);
  }
  while (["pending", "running"].includes((await get("/runs/large")).status)) await sleep(LOOK_MS);
  const idle = await memory_at_rest();
  process.stdout.write(`idle: ${(idle / MIB).toFixed(0)} MiB\n`);
  for (const format of formats) {
    writeFileSync(`/proc/${child.pid}/clear_refs`, "5"); // the peak counts from here
    const before = memory("VmRSS");
    let bytes = 0;
    const begin = performance.now();
    const path = format === "workbook" ? "workbook" : `events?format=${format}&ranks=all`;
    await send("GET", `/api/v1/runs/large/${path}`, null, (chunk) => (bytes += chunk.length));
    const above = (memory("VmHWM") - Math.min(idle, before)) / MIB;
    worst = Math.max(worst, above);
    process.stdout.write(`${format}: ${(bytes / 1e6).toFixed(1)} MB in ${
      ((performance.now() - begin) / 1000).toFixed(1)} s, ${above.toFixed(1)} MiB above idle\n`);
  }
} finally {
  child.kill();
  await new Promise((done) => child.once("exit", done));
  rmSync(folder, { recursive: true });
}
if (worst > most_mib) {
  process.stderr.write(`found ${worst.toFixed(1)} MiB, expected at most ${most_mib}\n`);
  process.exitCode = 1;
}
