// SPDX-License-Identifier: Apache-2.0
// Requests a second of a service with 48 runs, by wrk over 16 connections, what each costs the
// service, and what a hundred open dashboards cost. Fails past the limits.
// node tests/bench/requests.mjs STEPSCOPE TRACEGEN [--seconds 5] [--slack 2]
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const [binary, tracegen, ...options] = process.argv.slice(2);

/** @param {string} name @param {number} fallback */
function option(name, fallback) {
  const at = options.indexOf(`--${name}`);
  return at < 0 ? fallback : Number(options[at + 1]);
}

const SECONDS = option("seconds", 5);
const SLACK = option("slack", 1);
const RUNS = 48;
const CONNECTIONS = 16;
const DASHBOARDS = 100;
const MOST_ANALYSIS_MS = 300_000;
const POLL_MS = 15_000; // as web/views/home does
const MOST_CORE_SHARE = 0.02;
const TICKS_PER_S = 100; // of /proc/PID/stat on Linux

const folder = mkdtempSync(join(tmpdir(), "requests."));

// --- the service --------------------------------------------------------------------------------

async function start() {
  const server = spawn(binary, ["serve", "--data", join(folder, "data"), "--listen",
    "127.0.0.1:0", "--min-free", "1M"], { stdio: ["ignore", "pipe", "ignore"] });
  for await (const line of createInterface({ input: server.stdout })) {
    const found = /http:\/\/[^\s/]+:\d+/.exec(line);
    if (found) return { server, base: found[0] };
  }
  throw new Error("the server said no address");
}

/** Seconds of processor time so far. */
function cpu_s(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_S;
}

/** @param {string} url @param {http.RequestOptions} [how] */
function ask(url, how = {}) {
  return new Promise((resolve, reject) => {
    http.get(url, how, (reply) => {
      const pieces = [];
      reply.on("data", (piece) => pieces.push(piece));
      reply.on("error", reject);
      reply.on("end", () => resolve({ status: reply.statusCode, etag: reply.headers.etag,
        text: Buffer.concat(pieces).toString() }));
    }).on("error", reject);
  });
}

async function fill(base) {
  execFileSync(tracegen, ["--world", "2", "--steps", "20", "--format", "zst", "--out", folder]);
  for (let i = 0; i < RUNS; i++) {
    execFileSync("curl", ["-sSf", "-o", "/dev/null", "-F", `run=train-${i >> 2}@${i & 3}`,
      "-F", "project=llama", "-F", "tag=branch=main", "-F", `trace=@${folder}/rank0.json.zst`,
      `${base}/upload`]);
  }
  const end = Date.now() + MOST_ANALYSIS_MS;
  while (Date.now() < end) {
    const { text } = await ask(`${base}/api/v1/runs?status=done&limit=all&fields=id`);
    const { items } = JSON.parse(text);
    if (items.length === RUNS) return items.map(({ id }) => id);
    await sleep(500);
  }
  throw new Error(`not all ${RUNS} runs were analyzed within ${MOST_ANALYSIS_MS / 1000} s`);
}

// --- requests a second --------------------------------------------------------------------------

/** What is asked for: address, goal in requests a second, and whether the client has the answer. */
const requests_of = ([a, b]) => ({
  "a page": { path: "/", goal: 20_000 },
  "summary of a run, 304": { path: `/api/v1/runs/${a}/summary`, goal: 20_000, known: true },
  "list of runs, 304": { path: "/api/v1/runs?limit=50", goal: 20_000, known: true },
  "summary of a run": { path: `/api/v1/runs/${a}/summary`, goal: 5000 },
  "list of runs": { path: "/api/v1/runs?limit=50", goal: 5000 },
  "list of runs, packed": { path: "/api/v1/runs?limit=50", goal: 5000, packed: true },
  "runs of 14 days": { path: "/api/v1/runs?limit=50&since=14d", goal: 5000 },
  "comparison of two runs": { path: `/api/v1/compare?base=${a}&cand=${b}`, goal: 500 },
});

async function measure(base, pid, { path, known, packed }) {
  const { etag } = await ask(base + path);
  const headers = [...(known ? ["-H", `If-None-Match: ${etag}`] : []),
    ...(packed ? ["-H", "Accept-Encoding: gzip"] : [])];
  const before = cpu_s(pid);
  const said = execFileSync("wrk", ["-t2", `-c${CONNECTIONS}`, `-d${SECONDS}s`, "--latency",
    ...headers, base + path], { encoding: "utf8" });
  const spent = cpu_s(pid) - before;
  if (/Non-2xx/.test(said)) throw new Error(`${path}: ${said}`);
  const count = Number(/(\d+) requests in/.exec(said)[1]);
  return { rate: Number(/Requests\/sec:\s*([\d.]+)/.exec(said)[1]),
    p99: /99%\s+(\S+)/.exec(said)[1], cost_us: spent / count * 1e6 };
}

/** The same, while the store is written to: after each write answers are made again. */
async function measure_with_writes(base, pid, request, run) {
  const url = `${base}/api/v1/runs/${run}`;
  let writes = 0;
  const writer = spawn("sh", ["-c", `while sleep 0.2; do curl -s -o /dev/null -X PATCH -H \
"Content-Type: application/json" -H "If-Match: *" -d '{"note":"again"}' ${url}; echo; done`],
  { stdio: ["ignore", "pipe", "ignore"] });
  writer.stdout.on("data", () => writes++);
  const result = await measure(base, pid, request);
  writer.kill();
  return result;
}

// --- open dashboards ----------------------------------------------------------------------------

const HOME = ["/runs?since=14d&limit=50", "/series?limit=all&format=columns",
  "/alerts?format=columns&limit=all&status=new", "/runs?sort=-created&limit=1",
  "/alerts?status=new&limit=1"];

/** One page that asks for what it shows again and again, as a browser does. */
async function dashboard(base, until) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const etags = {};
  await sleep(Math.random() * POLL_MS);
  while (Date.now() < until) {
    for (const path of HOME) {
      const headers = { "Accept-Encoding": "gzip",
        ...(etags[path] ? { "If-None-Match": etags[path] } : {}) };
      const reply = await ask(`${base}/api/v1${path}`, { agent, headers });
      etags[path] = reply.etag;
    }
    await sleep(POLL_MS);
  }
  agent.destroy();
}

async function measure_dashboards(base, pid) {
  const idle_from = cpu_s(pid);
  await sleep(POLL_MS);
  const idle = (cpu_s(pid) - idle_from) / (POLL_MS / 1000);
  const begin = Date.now(), from = cpu_s(pid);
  await Promise.all(Array.from({ length: DASHBOARDS }, () => dashboard(base, begin + 2 * POLL_MS)));
  return { share: (cpu_s(pid) - from) / ((Date.now() - begin) / 1000), idle };
}

// --- all of it ----------------------------------------------------------------------------------

const { server, base } = await start();
let late = 0;
try {
  const ids = await fill(base);
  console.log("| request | 1/s | goal | p99 | us of the service each | |");
  console.log("|---|---|---|---|---|---|");
  const print = (name, goal, { rate, p99, cost_us }) => {
    const is_late = goal && rate * SLACK < goal;
    late += is_late ? 1 : 0;
    console.log(`| ${name} | ${rate.toFixed(0)} | ${goal ?? ""} | ${p99} | ${
      cost_us.toFixed(0)} | ${is_late ? "TOO SLOW" : ""} |`);
  };
  const requests = requests_of(ids);
  for (const [name, request] of Object.entries(requests))
    print(name, request.goal, await measure(base, server.pid, request));
  print("list of runs, five writes a second", undefined,
    await measure_with_writes(base, server.pid, requests["list of runs"], ids[0]));
  const { share, idle } = await measure_dashboards(base, server.pid);
  const is_heavy = share > MOST_CORE_SHARE * SLACK;
  late += is_heavy ? 1 : 0;
  const percent = (part) => `${(part * 100).toFixed(2)} %`;
  console.log(`${DASHBOARDS} open dashboards: ${percent(share)} of a core, of which idle ${
    percent(idle)}${is_heavy ? ": TOO MUCH" : ""}`);
} finally {
  server.kill("SIGTERM");
  await once(server, "exit");
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = late ? 1 : 0;
