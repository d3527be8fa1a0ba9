// SPDX-License-Identifier: Apache-2.0
// The API description against the running service, in both directions.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { tar } from "./helpers/archives.mjs";
import { flight_dump } from "./helpers/flight_dumps.mjs";
import { gpu_monitor } from "./helpers/gpu_monitor.mjs";
import { ncu_raw } from "./helpers/kernel_files.mjs";
import { inspector_log, nccl_tests, ports, ras_status, topology } from "./helpers/link_files.mjs";
import { memory_snapshot } from "./helpers/memory_snapshots.mjs";
import { fields, file_part } from "./helpers/multipart.mjs";
import { each_schema, openapi, operations, reply_faults, value_faults }
  from "./helpers/openapi.mjs";
import { start_server } from "./helpers/server.mjs";
import { generate, small_job, small_json } from "./helpers/traces.mjs";
import { megatron_log, structured_log } from "./helpers/training_logs.mjs";
import { tus, tus_begin, tus_piece } from "./helpers/tus.mjs";

// So that nearly every table has rows.
const RICH = ["--memory", "--counters", "--stacks", "--checkpoint"];
// Tables of pipelines, of inference and of kernels that generated jobs do not have, and of changes
// that take more runs.
const WITHOUT_ROWS = ["/api/v1/alerts", "/api/v1/runs/{run}/phases",
  "/api/v1/runs/{run}/pipeline", "/api/v1/runs/{run}/role_steps",
  "/api/v1/runs/{run}/roles", "/api/v1/runs/{run}/uncategorized",
  "/api/v1/series/{series}/changes", "/api/v1/tokens"];

let server;
let names;

before(async () => {
  server = await start_server({ crowd: true });
  const job = await generate(small_job(...RICH, "--straggler", "1=110",
    "--plant", "starvation=2000000", "--plant", "pageable_copies"));
  const reply = await server.post([...fields({ run: "a" }),
    ...job.files.map(({ data, filename }) => file_part(data, filename))]);
  const slow = await generate(small_job(...RICH, "--slow", "120"));
  await server.analyzed("b", slow.files);
  await server.settled("a");
  await server.send("PUT", "/baselines/main", { run: "b" });
  const archive = tar([{ name: "train.log", data: megatron_log({ steps: 40 }) },
    { name: "training.global_rank_0.jsonl", data: structured_log({ rank: 0, steps: 4 }) },
    // when tracegen's jobs run
    { name: "gpus.csv", data: gpu_monitor(Date.UTC(2026, 1, 12, 21, 45)) },
    { name: "rank0_memory_snapshot.json", data: memory_snapshot() },
    { name: "benchmark.json", data: JSON.stringify({ performance_metrics: {
      tokens_per_second: 53943.5, step_ms: { mean: 2430, max: 3174 } },
    training: { losses: [10, 9.5, 9] } }) },
    ...[0, 1].map((rank) => ({ name: `nccl_trace_rank_${rank}`,
      data: flight_dump({ ranks: 2, absent: 1 }, rank) })),
    { name: "all_reduce.txt", data: nccl_tests({ ranks: 2, points: [[1 << 26, 300]] }) },
    { name: "topo.txt", data: topology() }, { name: "ibstat.txt", data: ports() },
    { name: "inspector.log", data: inspector_log() }, { name: "ras.json", data: ras_status() },
    { name: "gemm.csv", data: ncu_raw([{ kernel: "gemm", grid: "8,1,1", block: "256,1,1",
      us: 10 }]) }]);
  const unpacked = await server.post([...fields({ run: "a" }), file_part(archive, "logs.tar")],
    "/upload?wait=60");
  const { id: input } = unpacked.json.inputs.find(({ kind }) => kind === "attachment");
  const [, tree] = /\/static\/([^/]+)\//.exec((await server.request("/")).text);
  const begun = await tus_begin(server.base, 100, { run: "pieces" });
  const pieces = begun.headers.location.split("/").at(-1);
  const { json: view } = await server.send("POST", "/views", { address: "/trends", name: "all" });
  const { lanes, slices } = await server.get("/runs/a/timeline?rank=1");
  const { track: lane } = lanes[slices.lane[slices.begin_ns.indexOf(0)]];
  const own = { input, pieces, tree, view: view.id, lane,
    page: `${reply.json.run}/kernels`, upload: reply.json.upload };
  names = { run: "a", baseline: "main", series: "a", rank: "0", path: "app.mjs",
    file: "stepscope.py", ...own };
});
after(() => server?.stop());

/** The address of an operation with real names filled in. */
function address(path) {
  const known = path.startsWith("/api/v1/tus/") ? { ...names, upload: names.pieces } : names;
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => {
    assert.ok(name in known, `${path} has a part {${name}} that the test does not know`);
    return known[name];
  });
  if (filled === "/api/v1/report") return `${filled}?run=a&run=b&format=json`;
  if (/\/runs\/[^/]+\/calls$/.test(filled)) return `${filled}?of=operator&name=aten::mm`;
  if (/\/runs\/[^/]+\/find$/.test(filled)) return `${filled}?q=gemm`;
  if (/\/runs\/[^/]+\/event$/.test(filled)) return `${filled}?lane=${names.lane}&begin_ns=0`;
  if (filled === "/api/v1/plan") return `${filled}?parameters=7e9`;
  if (filled === "/api/v1/plan/setups") return `${filled}?parameters=7e9&gpu=MI300X`;
  return filled.includes("/compare") ? `${filled}?base=a&cand=b` : filled;
}

test("the served description is the one in schema/", async () => {
  const reply = await server.request("/api/v1/openapi.json");
  assert.match(reply.headers["content-type"], /^application\/json/);
  assert.deepEqual(reply.json, openapi);
  assert.match(openapi.openapi, /^3\.1/);
});

test("every described GET is answered as described", async () => {
  const gets = operations().filter(({ method }) => method === "GET");
  assert.ok(gets.length > 20, `only ${gets.length} GETs are described`);
  const faults = [];
  const empty = [];
  for (const { path } of gets) {
    const reply = await server.request(address(path));
    const absent = /^\/(login\/oidc|standalone(\/|$))/.test(path); // no provider, no folder
    const status = absent ? 404 : 200;
    if (reply.status !== status) faults.push(`GET ${path}: ${reply.status} ${reply.text}`);
    faults.push(...reply_faults("GET", path, reply));
    if (status === 200 && /json/.test(reply.headers["content-type"]) && reply.json.columns &&
      reply.json.items.length === 0) empty.push(path);
  }
  assert.deepEqual(faults, []);
  assert.deepEqual(empty.sort(), WITHOUT_ROWS);
});

test("every table of one rank is answered as described", async () => {
  const faults = [];
  const of_rank = operations().filter(({ operation }) => operation.parameters?.some((one) =>
    one.name === "rank" && one.in === "query"));
  assert.ok(of_rank.length > 30, `only ${of_rank.length} tables are of a rank`);
  for (const { path } of of_rank) {
    const filled = address(path);
    const reply = await server.request(`${filled}${filled.includes("?") ? "&" : "?"}rank=1`);
    if (reply.status !== 200) faults.push(`GET ${path}: ${reply.status} ${reply.text}`);
    faults.push(...reply_faults("GET", path, reply));
  }
  assert.deepEqual(faults, []);
});

/** Formats listed in the operation's own parameter, or those of every table. */
function formats_of({ parameters = [] }) {
  const own = parameters.find((one) => one.name === "format");
  const shared = parameters.some((one) => /format/i.test(one.$ref ?? ""));
  return own?.schema.enum ?? (shared ? ["json", "columns", "csv", "ndjson", "arrow", "parquet",
    "xlsx"] : []);
}

test("every format of every table is answered as described", async () => {
  const faults = [];
  for (const { path, operation } of operations()) {
    for (const format of formats_of(operation)) {
      const to = address(path);
      const reply = await server.request(`${to}${to.includes("?") ? "&" : "?"}format=${format}`);
      if (reply.status !== 200) faults.push(`${path} ${format}: ${reply.status} ${reply.text}`);
      faults.push(...reply_faults("GET", path, reply));
    }
  }
  assert.deepEqual(faults, []);
});

test("writes are answered as described, also when they are refused", async () => {
  const { run, upload } = { run: "/api/v1/runs/{run}", upload: "/upload" };
  const faults = [];
  const check = (method, path, status, reply) => {
    if (reply.status !== status) faults.push(`${method} ${path}: ${reply.status} ${reply.text}`);
    faults.push(...reply_faults(method, path, reply));
  };
  const send = (...args) => server.send(...args);
  check("POST", "/api/v1/runs", 201, await send("POST", "/runs", { name: "w" }));
  check("POST", "/api/v1/runs", 409, await send("POST", "/runs", { name: "w" }));
  check("PATCH", run, 428, await send("PATCH", "/runs/w", { note: "n" }));
  check("PATCH", run, 412, await send("PATCH", "/runs/w", { note: "n" }, { "If-Match": '"x"' }));
  check("PATCH", run, 200, await send("PATCH", "/runs/w", { note: "n" }, { "If-Match": "*" }));
  const remove = () => server.request("/api/v1/runs/w",
    { method: "DELETE", headers: { "If-Match": "*" } });
  const gone = await remove();
  check("DELETE", run, 200, gone);
  check("GET", run, 404, await server.request("/api/v1/runs/w"));
  const bin = "/api/v1/bin";
  const binned = `${bin}/${gone.json.id}`;
  check("GET", bin, 200, await server.request(bin));
  check("POST", `${bin}/{run}/restore`, 200,
    await server.request(`${binned}/restore`, { method: "POST" }));
  check("POST", `${bin}/{run}/restore`, 404,
    await server.request(`${binned}/restore`, { method: "POST" }));
  await remove();
  check("DELETE", `${bin}/{run}`, 204, await server.request(binned, { method: "DELETE" }));
  check("DELETE", `${bin}/{run}`, 404, await server.request(binned, { method: "DELETE" }));
  check("DELETE", bin, 200, await server.request(bin, { method: "DELETE" }));
  check("GET", "/api/v1/retention", 200, await server.request("/api/v1/retention?days=1"));
  const trace = file_part(small_json());
  check("POST", upload, 202, await server.post([...fields({ run: "u", rank: 0 }), trace]));
  check("POST", upload, 200, await server.post([...fields({ run: "u", rank: 0 }), trace]));
  const other = file_part(small_json({ names: ["z"] }));
  check("POST", "/api/v1/uploads", 409, await server.post(
    [...fields({ run: "u", rank: 0 }), other], "/api/v1/uploads"));
  const body = small_json({ names: ["tus"] });
  const begun = await tus_begin(server.base, body.length, { run: "u", rank: 9 });
  check("POST", "/api/v1/tus", 201, begun);
  check("POST", "/api/v1/tus", 400, await tus_begin(server.base, "x"));
  const one = "/api/v1/tus/{upload}";
  const { headers: { location } } = begun;
  check("PATCH", one, 409, await tus_piece(server.base, location, 5, body));
  check("PATCH", one, 204, await tus_piece(server.base, location, 0, body));
  check("DELETE", one, 204, await tus(server.base, "DELETE", location));
  check("POST", one, 404, await tus(server.base, "POST", location,
    { "X-HTTP-Method-Override": "DELETE" }));
  check("POST", upload, 422, await server.post([...fields({ run: "u" }), file_part("")]));
  check("PUT", "/api/v1/runs/{run}/ranks/{rank}/trace", 202, await server.request(
    "/api/v1/runs/u/ranks/1/trace", { method: "PUT", body: small_json({ names: ["q"] }) }));
  await server.settled("u");
  check("POST", "/api/v1/runs/{run}/finalize", 200,
    await server.request("/api/v1/runs/u/finalize", { method: "POST" }));
  const whatif = "/api/v1/runs/{run}/whatif";
  check("POST", whatif, 200, await send("POST", "/runs/u/whatif", { changes: ["host_free"] }));
  check("POST", whatif, 200, await send("POST", "/runs/a/whatif", { changes: ["host_free"] }));
  check("GET", `${whatif}/graph`, 200,
    await server.request("/api/v1/runs/a/whatif/graph?control=host"));
  check("POST", whatif, 400, await send("POST", "/runs/a/whatif", { changes: ["faster"] }));
  check("GET", "/api/v1/runs/{run}/dismissals", 200,
    await server.request("/api/v1/runs/u/dismissals"));
  check("PUT", "/api/v1/runs/{run}/dismissals/{finding}", 404, await server.request(
    "/api/v1/runs/u/dismissals/none", { method: "PUT", body: JSON.stringify({ reason: "x" }),
      headers: { "Content-Type": "application/json" } }));
  check("DELETE", "/api/v1/runs/{run}/dismissals/{finding}", 404, await server.request(
    "/api/v1/runs/u/dismissals/none", { method: "DELETE" }));
  check("POST", "/api/v1/runs/{run}/reanalyze", 202,
    await server.request("/api/v1/runs/u/reanalyze", { method: "POST" }));
  check("POST", "/api/v1/runs/{run}/cancel", 200,
    await server.request("/api/v1/runs/u/cancel", { method: "POST" }));
  assert.deepEqual(faults, []);
});

/** Calls every operation with names that do not exist. @returns {Promise<string[]>} faults */
async function faults_of_all(to, more = "") {
  const all = operations().map(async ({ method, path }) => {
    const nowhere = path.replace("{page}", "tokens").replace(/\{(\w+)\}/g, "nosuch");
    return reply_faults(method, path, await to.request(nowhere + more, { method }));
  });
  return (await Promise.all(all)).flat();
}

test("what is not there is refused as described", async () => {
  assert.deepEqual(await faults_of_all(server), []);
});

test("a parameter that nobody knows is refused as described", async () => {
  assert.deepEqual(await faults_of_all(server, "?color=red"), []);
});

test("strangers are refused as described", async () => {
  const guarded = await start_server({ crowd: true, options: ["--auth", "required",
    "--trusted-proxy", "192.0.2.1"] });
  assert.deepEqual(await faults_of_all(guarded).finally(() => guarded.stop()), []);
});

test("bodies, ranges and conditions are refused as described", async () => {
  const faults = [];
  const check = (method, path, status, reply) => {
    if (reply.status !== status) faults.push(`${method} ${path}: ${reply.status} ${reply.text}`);
    faults.push(...reply_faults(method, path, reply));
  };
  const get = (path, headers) => server.request(path, { headers });
  const trace = "/api/v1/runs/{run}/ranks/{rank}/trace";
  check("GET", trace, 206, await get(address(trace), { Range: "bytes=0-9" }));
  check("GET", trace, 416, await get(address(trace), { Range: "bytes=999999999-" }));
  for (const path of ["/", "/api/v1/openapi.json", "/api/v1/runs", "/api/v1/runs/{run}/kernels"]) {
    const { headers: { etag } } = await get(address(path));
    check("GET", path, 304, await get(address(path), { "If-None-Match": etag }));
  }
  check("POST", "/api/v1/runs", 413, await server.send("POST", "/runs", "x".repeat(1 << 20)));
  check("POST", "/api/v1/runs", 415, await server.request("/api/v1/runs",
    { method: "POST", body: "name=a", headers: { "Content-Type": "text/plain" } }));
  check("PUT", trace, 415, await server.request(address(trace),
    { method: "PUT", body: "x", headers: { "Content-Encoding": "br" } }));
  check("GET", "/api/v1/compare", 404, await get("/api/v1/compare?base=a&cand=nosuch"));
  assert.deepEqual(faults, []);
});

test("every object says which of its members are always there", () => {
  const silent = [];
  each_schema(openapi, (schema, place) => {
    if (schema.properties && !schema.required) silent.push(place);
    for (const name of schema.required ?? [])
      if (!schema.properties?.[name]) silent.push(`${place}: ${name} is required, but unknown`);
  });
  assert.deepEqual(silent, []);
});

test("every schema has an example, and every example is as its schema says", () => {
  const silent = Object.entries(openapi.components.schemas)
    .filter(([, schema]) => !schema.examples?.length).map(([name]) => name);
  const faults = [];
  each_schema(openapi, (schema, place, combined) => {
    // Schemas of a whole body or response, or of its alternatives.
    const is_whole = /\/content\/[^/]+\/schema(\/anyOf\/\d+)?$/.test(place) && !combined;
    if (is_whole && !schema.examples?.length) silent.push(place);
    for (const example of schema.examples ?? [])
      faults.push(...value_faults(place, example).map((fault) => `${place}: ${fault}`));
  });
  for (const [name, { content = {} }] of Object.entries(openapi.components.responses)) {
    for (const { example, schema } of Object.values(content)) {
      if (example) faults.push(...value_faults(schema.$ref.slice(1), example)
        .map((fault) => `${name}: ${fault}`));
      else silent.push(name);
    }
  }
  assert.deepEqual(silent, []);
  assert.deepEqual(faults, []);
});

test("everything described says what it is for", () => {
  const silent = operations()
    .filter(({ operation }) => !(operation.summary ?? operation.description))
    .map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(silent, []);
});
