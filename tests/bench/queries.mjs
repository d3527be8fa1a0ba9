// SPDX-License-Identifier: Apache-2.0
// Times every request the dashboard makes that the store answers, and calls of agents' tools,
// against a server on a filled data directory, as seen by a client on one keep-alive connection.
// Fails above the limits. Run by tests/bench/queries.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import http from "node:http";
import { createInterface } from "node:readline";

const [binary, folder, ...options] = process.argv.slice(2);
const only = options.includes("--only") ? options[options.indexOf("--only") + 1] : "";

/** @param {string} name @param {number} fallback */
function option(name, fallback) {
  const at = options.indexOf(`--${name}`);
  return at < 0 ? fallback : Number(options[at + 1]);
}

const ROUNDS = option("rounds", 30);
const SLACK = option("slack", 1); // for a machine that is busy with other work
const LIMITS = { median_ms: 10, p99_ms: 30 };
const TOOL_LIMITS = { median_ms: 50, p99_ms: 50 };
const COMPARE_LIMITS = { median_ms: 50, p99_ms: 50 };
const EIGHT_LIMITS = { median_ms: 200, p99_ms: 200 };

const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

/** @param {string} base @param {string} path @param {string} [message] to send */
function get(base, path, message) {
  return new Promise((resolve, reject) => {
    const begin = process.hrtime.bigint();
    const how = message === undefined ? { agent }
      : { agent, method: "POST", headers: { "Content-Type": "application/json",
        Accept: "application/json" } };
    const request = http.request(base + path, how, (response) => {
      const pieces = [];
      response.on("data", (piece) => pieces.push(piece));
      response.on("error", reject);
      response.on("end", () => resolve({
        ms: Number(process.hrtime.bigint() - begin) / 1e6,
        status: response.statusCode,
        body: Buffer.concat(pieces),
      }));
    });
    request.on("error", reject);
    request.end(message);
  });
}

/** A call of an agent's tool, as a request. */
const tool = (name, args) => ({ path: "/mcp", message: JSON.stringify({ jsonrpc: "2.0", id: 1,
  method: "tools/call", params: { name, arguments: args } }) });

async function get_json(base, path) {
  const { status, body } = await get(base, path);
  if (status !== 200) throw new Error(`${path}: ${status} ${body}`);
  return JSON.parse(body);
}

// --- the dashboard's requests --------------------------------------------------------------------

const RUN_TABLES = ["ranks", "breakdown", "steps", "step_stats", "classes", "kernels",
  "parts", "collectives", "short_kernels", "launches", "trust", "findings", "environment"];

const LISTS = {
  "runs": "limit=50",
  "runs, sorted by step": "limit=50&sort=-step_median_ns",
  "runs, sorted by name": "limit=50&sort=name",
  "runs, sorted by gpu, status": "limit=50&sort=gpu,-status",
  "runs, sorted by world size": "limit=50&sort=-world_size",
  "runs, done": "limit=50&status=done",
  "runs, failed": "limit=50&status=failed",
  "runs of a project": "limit=50&project=llama",
  "runs of a project, partial, by findings":
    "limit=50&project=vit&status=partial&sort=-findings",
  "runs of a series": "limit=50&series=train-7",
  "runs with a tag": "limit=50&tag=branch%3Dmain",
  "runs with any value of a tag": "limit=50&tag=branch",
  "runs of a gpu": "limit=50&gpu=h100",
  "runs since": "limit=50&since=14d",
  "runs, searched": "limit=50&q=train-1",
  "runs, searched, two letters": "limit=50&q=zq",
  "runs, searched, one letter": "limit=50&q=z",
  "runs, searched, none": "limit=50&q=nothing-is-called-so",
  "runs to pick from": "limit=200&sort=-created",
};

const COMPARE_TABLES = ["runs", "settings", "waterfall", "modules", "collectives", "ranks",
  "memory", "findings"];

/** Pages of trends, alerts and baselines; the long series has every second run. */
const TRACKING = {
  "series": "/series",
  "series, all": "/series?limit=all",
  "series of a project": "/series?project=vit",
  "series with a tag": "/series?tag=branch%3Dmain",
  "series with a tag of few": "/series?tag=tables",
  "series with a tag of none": "/series?tag=branch%3Dnone",
  "series, searched": "/series?q=train-1",
  "points of a long series": "/series/nightly/points?limit=all&format=columns",
  "points of a short series": "/series/train-7/points?project=gpt",
  "changes of a long series": "/series/nightly/changes?limit=all",
  "alerts": "/alerts?limit=all",
  "alerts, new": "/alerts?status=new",
  "alerts of a series": "/alerts?project=llama&series=nightly",
  "baselines": "/baselines",
  "run of a baseline": "/runs/@baseline:main",
};

/** Two runs, and eight: one against seven, and four repeats against four. */
function comparisons(run) {
  const several = (turn, from, to) =>
    Array.from({ length: to - from }, (_, i) => run(turn + from + i, 3));
  const sides = {
    "": (turn) => `base=${run(turn)}&cand=${run(turn + 1, 3)}`,
    ", eight runs": (turn) =>
      `base=${run(turn)}&${several(turn, 1, 8).map((id) => `cand=${id}`).join("&")}`,
    ", eight runs in two sides": (turn) =>
      `base=${several(turn, 0, 4)}&cand=${several(turn, 4, 8)}`,
  };
  const all = {};
  for (const [name, query] of Object.entries(sides)) {
    all[`compare${name}`] = (turn) => `/compare?${query(turn)}`;
    all[`compare, waterfall${name}`] = (turn) => `/compare/waterfall?${query(turn)}&limit=all`;
  }
  for (const table of COMPARE_TABLES)
    all[`compare, ${table}, page`] = (turn) => `/compare/${table}?${sides[""](turn)}`;
  all["compare, gate"] = (turn) =>
    `/compare/gate?${sides[", eight runs in two sides"](turn)}&max_regression=0.5`;
  return all;
}

/** Calls of every tool; runs without what a tool needs say so, which is an answer. */
const tool_calls = (run, rank) => ({
  "tool find_runs": (turn) => tool("find_runs", { q: `train-${turn % 10}` }),
  "tool find_runs of a series": () => tool("find_runs", { series: "nightly" }),
  "tool overview": (turn) => tool("overview", { run: run(turn) }),
  "tool findings": (turn) => tool("findings", { run: run(turn), limit: 8 }),
  "tool table": (turn) => tool("table", { run: run(turn), table: "kernels", limit: 40 }),
  "tool explain": (turn) => tool("explain", { run: run(turn), topic: "communication" }),
  "tool compare": (turn) => tool("compare", { base: run(turn), cand: run(turn + 1, 3) }),
  "tool gate": (turn) => tool("gate", { base: run(turn), cand: run(turn + 1, 3) }),
  "tool what_if": (turn) => tool("what_if", { run: run(turn), rank: rank(turn) }),
  "tool timeline_cut": (turn) => tool("timeline_cut", { run: run(turn), rank: rank(turn) }),
});

/** A page's requests by name; each is a function of the turn, so that runs differ. */
function requests_of({ ids, ranks, rank_tables, last_page, uploads }) {
  const run = (turn, step = 1) => ids[(turn * 37 * step) % ids.length];
  const rank = (turn) => turn % ranks;
  const all = { "openapi.json": () => "/openapi.json", "version": () => "/version" };
  for (const [name, query] of Object.entries(LISTS)) all[name] = () => `/runs?${query}`;
  for (const [name, path] of Object.entries(TRACKING)) all[name] = () => path;
  all["runs, last page"] = () => last_page;
  all["run"] = (turn) => `/runs/${run(turn)}`;
  all["summary"] = (turn) => `/runs/${run(turn)}/summary`;
  for (const table of RUN_TABLES) {
    all[`${table}, columns`] = (turn) => `/runs/${run(turn)}/${table}?format=columns`;
    all[`${table}, first page`] = (turn) => `/runs/${run(turn)}/${table}`;
  }
  all["kernels, sorted"] = (turn) => `/runs/${run(turn)}/kernels?sort=-total_ns,name&limit=100`;
  all["kernels, searched"] = (turn) => `/runs/${run(turn)}/kernels?q=gemm&sort=-calls`;
  all["kernels of a class"] = (turn) => `/runs/${run(turn)}/kernels?category=gemm&limit=100`;
  all["ranks, numbers only"] = (turn) => `/runs/${run(turn)}/ranks?fields=rank&format=columns`;
  all["steps of a rank"] = (turn) =>
    `/runs/${run(turn)}/steps?rank=${rank(turn)}&format=columns`;
  all["parts of a rank"] = (turn) => `/runs/${run(turn)}/parts?rank=${rank(turn)}&format=columns`;
  for (const table of rank_tables)
    all[`${table} of a rank`] = (turn) =>
      `/runs/${run(turn)}/${table}?rank=${rank(turn)}&format=columns`;
  all["tree of a rank, folded"] = (turn) =>
    `/runs/${run(turn)}/op_tree?rank=${rank(turn)}&depth=0&depth=1` +
      "&sort=-total_owned_ns&limit=all&format=columns";
  all["upload"] = (turn) => uploads[turn % uploads.length];
  return { ...all, ...comparisons(run), ...tool_calls(run, rank) };
}

/** Tables in the description that only ranks have and that give an answer. */
async function find_rank_tables(base, id) {
  const description = await get_json(base, "/openapi.json");
  const names = Object.keys(description.paths)
    .map((path) => /^\/runs\/\{run\}\/([a-z_]+)$/.exec(path.replace("/api/v1", ""))?.[1])
    .filter((name) => name && name !== "summary");
  const found = [];
  for (const name of names) {
    const { status } = await get(base, `/runs/${id}/${name}?rank=0&format=columns`);
    if (status === 200 && !["ranks", "breakdown", "findings", "trust", "steps"].includes(name))
      found.push(name);
  }
  return found;
}

async function follow_pages(base, path) {
  let last = path;
  for (let turn = 0; turn < 1000; turn++) {
    const { next_cursor } = await get_json(base, last);
    if (!next_cursor) break;
    last = `${path}&cursor=${next_cursor}`;
  }
  return last;
}

const read_uploads = () =>
  readFileSync(`${folder}/uploads`, "utf8").trim().split("\n").map((id) => `/uploads/${id}`);

async function look_around(base) {
  const list = await get_json(base, "/runs?tag=tables&status=done&limit=all&fields=id");
  const ids = list.items.map(({ id }) => id);
  if (ids.length < 2) throw new Error(`found ${ids.length} runs that are done, expected 2 or more`);
  const { received: ranks } = await get_json(base, `/runs/${ids[0]}`);
  return { ids, ranks, total: list.total, rank_tables: await find_rank_tables(base, ids[0]),
    last_page: await follow_pages(base, "/runs?limit=50"),
    uploads: read_uploads() };
}

// --- measuring ----------------------------------------------------------------------------------

/** @param {number[]} sorted @param {number} share */
const quantile = (sorted, share) =>
  sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];

/** All requests in turn, round after round, so that noise affects them alike. */
async function measure(base, requests) {
  const rows = Object.keys(requests).map((name) => ({ name, times: [], bytes: 0 }));
  for (let turn = -1; turn < ROUNDS; turn++)
    for (const row of rows) {
      const wanted = requests[row.name](turn + 1);
      const { path, message } = typeof wanted === "string" ? { path: wanted } : wanted;
      const { ms, status, body } = message
        ? await get(base.replace("/api/v1", ""), path, message) : await get(base, path);
      if (status !== 200 && status !== 409) throw new Error(`${path}: ${status} ${body}`);
      row.bytes = Math.max(row.bytes, body.length);
      if (turn >= 0) row.times.push(ms); // the first round warms up
    }
  return rows;
}

function judge({ name, times, bytes }) {
  const sorted = [...times].sort((a, b) => a - b);
  const limits = name.startsWith("tool ") ? TOOL_LIMITS :
    !name.startsWith("compare") ? LIMITS :
    /eight|gate/.test(name) ? EIGHT_LIMITS : COMPARE_LIMITS;
  const figures = { median_ms: quantile(sorted, 0.5), p99_ms: quantile(sorted, 0.99) };
  const late = Object.keys(limits).some((key) => figures[key] > limits[key] * SLACK);
  return { name, ...figures, max_ms: sorted.at(-1), kilobytes: bytes / 1000, late };
}

function print(rows) {
  console.log("| request | median ms | p99 ms | max ms | kB | |\n|---|---|---|---|---|---|");
  for (const row of rows)
    console.log(`| ${row.name} | ${row.median_ms.toFixed(2)} | ${row.p99_ms.toFixed(2)} | ${
      row.max_ms.toFixed(2)} | ${row.kilobytes.toFixed(0)} | ${row.late ? "TOO SLOW" : ""} |`);
}

// --- the server ---------------------------------------------------------------------------------

async function start() {
  const server = spawn(binary, [
    "serve", "--data", folder, "--listen", "127.0.0.1:0", "--min-free", "1M"],
    { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: server.stdout })) {
    const found = /http:\/\/[^\s/]+:\d+/.exec(line);
    if (found) return { server, base: `${found[0]}/api/v1` };
  }
  throw new Error("the server said no address");
}

const { server, base } = await start();
try {
  const around = await look_around(base);
  const requests = Object.fromEntries(Object.entries(requests_of(around))
    .filter(([name]) => name.startsWith(only)));
  const rows = (await measure(base, requests)).map(judge);
  print(rows);
  const late = rows.filter((row) => row.late);
  console.log(`${around.total} runs that are done, ${ROUNDS} rounds; ${rows.length} requests, ${
    late.length} too slow${SLACK === 1 ? "" : ` for limits times ${SLACK}`}`);
  process.exitCode = late.length ? 1 : 0;
} finally {
  agent.destroy();
  server.kill("SIGTERM");
}
