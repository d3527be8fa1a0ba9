#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Compares what two builds of stepscope say about the same traces: by `analyze`, by the API of a
// service, and by the API of the second build on the data that the first one left.
//
//   tests/bench/same_figures.mjs [--list FILE] BEFORE AFTER TRACE...
//
// BEFORE and AFTER are programs. Traces named *rank0*, *rank1*, ... with the same rest are one run.
// FILE is JSON, such as first_floor.json: `renamed` has old and new names of tables, columns and
// values that name one, `gone` the tables that are left out, `texts` the members that hold
// sentences, and `meant` the intended differences: a pattern of the path, and the reason.
// Prints each column in which other values differ, with the first of them, and how many were
// compared; fails if one does. What only AFTER says is counted, and is no difference.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs, promisify } from "node:util";

// Members that say when, where and by whom instead of what was found.
const NOT_FIGURES = new Set(["id", "run", "created", "revision", "uploaded_at", "upload_id",
  "request_id", "url", "uploaded", "created_at", "input_id", "upload"]);

const { values, positionals } = parseArgs({ allowPositionals: true,
  options: { list: { type: "string" } } });
const [before, after, ...files] = positionals;
if (files.length === 0) {
  console.error("usage: tests/bench/same_figures.mjs [--list FILE] BEFORE AFTER TRACE...");
  process.exit(2);
}
const list = { renamed: {}, gone: [], texts: [], meant: {},
  ...(values.list ? JSON.parse(readFileSync(values.list, "utf8")) : {}) };
const renames = new Map(Object.entries(list.renamed));
const gone = new Set(list.gone);
const texts = new Set(list.texts);
const meant = Object.entries(list.meant).map(([pattern, reason]) =>
  ({ pattern: new RegExp(pattern), reason, count: 0 }));
const renamed = (/** @type {any} */ word) => renames.get(word) ?? word;

/** Files by run. @type {Map<string, string[]>} */
const runs = new Map();
for (const file of files) {
  const name = basename(file).replace(/\..*$/, "").replace(/_?rank\d+$/, "");
  runs.set(name, [...(runs.get(name) ?? []), file]);
}

/**
 * All values of a document by their path.
 * @param {any} value @param {string} path @param {Map<string, any>} out
 */
function flatten(value, path, out) {
  if (typeof value === "string" && path.endsWith("/evidence") && value[0] === "[") {
    flatten(JSON.parse(value), path, out);
  } else if (value !== null && typeof value === "object") {
    for (const [key, member] of Object.entries(value)) {
      const name = Array.isArray(value) ? row_name(member) ?? key : key;
      if (Array.isArray(value) || !(NOT_FIGURES.has(key) || texts.has(key)))
        flatten(member, `${path}/${renamed(name)}`, out);
    }
  } else if (!gone.has(/\/tables\/(\w+)\//.exec(path)?.[1] ?? "")) {
    out.set(path, renamed(value));
  }
  return out;
}

/** What a row is known by where order says nothing; else null. @param {any} row */
function row_name(row) {
  if (row?.key !== undefined) return row.key; // a setting
  if (row?.rule && row.severity) return `${row.rule} ${row.rank ?? ""}`.trim(); // a finding
  return row?.metric && row.unit !== undefined ? `${row.metric} ${row.device ?? ""}`.trim() : null;
}

/** @param {string} program @param {string[]} traces */
async function analyzed(program, traces) {
  const { stdout } = await promisify(execFile)(program, ["analyze", "--format", "json", ...traces],
    { maxBuffer: 2 ** 30 });
  return JSON.parse(stdout);
}

/** A service on a folder; close() ends it. @param {string} program @param {string} data */
async function serve(program, data) {
  const child = spawn(program, ["serve", "--data", data, "--listen", "127.0.0.1:0"],
    { stdio: ["ignore", "pipe", "ignore"] });
  let text = "";
  for await (const bytes of child.stdout) {
    text += bytes;
    if (/http:\/\/[^\s]+/.test(text)) break;
  }
  const [url] = /http:\/\/[^\s/]+/.exec(text) ?? [""];
  return {
    get: async (/** @type {string} */ path) => {
      const response = await fetch(url + path);
      return response.ok ? response.json() : { status: response.status };
    },
    upload: async (/** @type {string} */ run, /** @type {string[]} */ traces) => {
      const form = new FormData();
      form.append("run", run);
      for (const trace of traces)
        form.append("trace", new Blob([readFileSync(trace)]), basename(trace));
      const response = await fetch(`${url}/upload`, { method: "POST", body: form });
      if (!response.ok) throw new Error(`${run}: ${await response.text()}`);
    },
    close: async () => {
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

/** @param {{get: (path: string) => Promise<any>}} service @param {string} run */
async function settled(service, run) {
  for (;;) {
    const { status } = await service.get(`/api/v1/runs/${run}`);
    if (!["empty", "pending", "running"].includes(status)) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Every answer about every run. @param {{get: (path: string) => Promise<any>}} service */
async function read_all(service) {
  const { paths } = await service.get("/api/v1/openapi.json");
  const tables = Object.keys(paths).filter((path) => paths[path].get)
    .map((path) => /^\/api\/v1\/runs\/\{run\}(\/[a-z_]+)?$/.exec(path))
    .flatMap((match) => match ? [match[1] ?? ""] : []);
  /** @type {Record<string, any>} */
  const answers = {};
  for (const run of runs.keys()) {
    await settled(service, run);
    for (const table of tables) {
      const all_rows = ["", "/summary", "/timeline"].includes(table) ? "" : "?limit=all";
      answers[`${run}${table}`] = await service.get(`/api/v1/runs/${run}${table}${all_rows}`);
    }
  }
  return answers;
}

let compared = 0, wrong = 0;
/** How many values differ, by their path without row numbers. @type {Map<string, any>} */
const columns = new Map();
/** What only AFTER has, in the same way. @type {Set<string>} */
const added = new Set();
/** @param {string} what @param {Record<string, any>} old @param {Record<string, any>} now */
function compare_answers(what, old, now) {
  for (const [name, answer] of Object.entries(old)) {
    const [run, table] = name.split("/");
    if (table === undefined || !gone.has(table))
      compare(`${what} ${name}`, answer, now[[run, renamed(table)].filter((one) => one).join("/")]);
  }
}

/** @param {string} what @param {any} old @param {any} now */
function compare(what, old, now) {
  const a = flatten(old, "", new Map()), b = flatten(now, "", new Map());
  compared += a.size;
  for (const path of b.keys())
    if (!a.has(path)) added.add(path.replace(/\/\d+/g, ""));
  for (const [path, was] of a) {
    if (Object.is(was, b.get(path))) continue;
    const known = meant.find(({ pattern }) => pattern.test(what + path));
    if (known && ++known.count) continue;
    const column = `${what.split(" ")[0]} ${path.replace(/\/\d+/g, "")}`;
    const change = [was, b.get(path)].map((value) => JSON.stringify(value)).join(" -> ");
    const seen = columns.get(column) ?? { count: 0, first: `${what}${path}: ${change}` };
    seen.count++;
    columns.set(column, seen);
    wrong++;
  }
}

for (const [run, traces] of runs)
  compare(`analyze ${run}`, await analyzed(before, traces), await analyzed(after, traces));
console.log(`analyze: ${compared} values, ${wrong} differ`);

const folder = mkdtempSync(join(tmpdir(), "same_figures."));
try {
  /** @param {string} program @param {string} data */
  const ask = async (program, data, fill = true) => {
    const service = await serve(program, join(folder, data));
    if (fill) for (const [run, traces] of runs) await service.upload(run, traces);
    const all = await read_all(service);
    await service.close();
    return all;
  };
  const old = await ask(before, "before");
  cpSync(join(folder, "before"), join(folder, "upgraded"), { recursive: true });
  compare_answers("api", old, await ask(after, "after"));
  console.log(`and by the API: ${compared} values, ${wrong} differ`);
  compare_answers("upgraded", old, await ask(after, "upgraded", false));
  console.log(`and of upgraded data: ${compared} values, ${wrong} differ`);
} finally {
  rmSync(folder, { recursive: true });
}
for (const { count, first } of columns.values()) console.log(`${count} x  ${first}`);
for (const { pattern, reason, count } of meant)
  console.log(`${count} x  ${pattern.source}: ${reason}`);
console.log(`${added.size} columns or members are new`);
process.exit(wrong ? 1 : 0);
