// SPDX-License-Identifier: Apache-2.0
// Tables as Arrow and Parquet, read by Apache's and DuckDB's own readers: every cell as in JSON.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { DuckDBInstance } from "@duckdb/node-api";
import { tableFromIPC } from "apache-arrow";
import { proto_fields } from "./helpers/perfetto.mjs";
import { start_server } from "./helpers/server.mjs";
import { run_program, stepscope_bin, temporary } from "./helpers/tools.mjs";
import { generate, have_real_traces, real_file, small_job } from "./helpers/traces.mjs";

let server, duck, folder, job;

before(async () => {
  server = await start_server();
  duck = await (await DuckDBInstance.create()).connect();
  folder = temporary("tables");
  job = await generate(small_job());
  await server.analyzed("job", job.files);
});
after(() => server?.stop());

const TABLES = ["kernels", "steps", "op_tree", "collectives", "clocks", "logs", "trust",
  "rank_steps", "memory_timeline"];

const plain = (value) => typeof value === "bigint" ? Number(value) : value ?? null;

async function rows_of(run, table, query = "") {
  const reply = await server.get(`/runs/${run}/${table}?format=columns&limit=all${query}`);
  const names = Object.keys(reply.columns);
  return reply.columns[names[0]].map((_, i) =>
    Object.fromEntries(names.map((name) => [name, reply.columns[name][i]])));
}

async function bytes_of(run, table, format, query = "") {
  const reply = await server.request(
    `/api/v1/runs/${run}/${table}?format=${format}&limit=all${query}`);
  assert.equal(reply.status, 200, reply.text.slice(0, 200));
  return reply.body;
}

const arrow_rows = (table) => table.toArray().map((row) =>
  Object.fromEntries(Object.entries(row.toJSON()).map(([key, value]) => [key, plain(value)])));

async function parquet_rows(query) {
  const reader = await duck.runAndReadAll(query);
  return reader.getRowObjectsJS().map((row) =>
    Object.fromEntries(Object.entries(row).map(([key, value]) => [key, plain(value)])));
}

async function assert_same(run, table, query = "") {
  const wanted = await rows_of(run, table, query);
  const arrow = tableFromIPC(await bytes_of(run, table, "arrow", query));
  assert.deepEqual(arrow_rows(arrow), wanted, `${table} as Arrow`);
  const path = join(folder, `${run}-${table}.parquet`);
  writeFileSync(path, await bytes_of(run, table, "parquet", query));
  assert.deepEqual(await parquet_rows(`SELECT * FROM '${path}'`), wanted, `${table} as Parquet`);
  return { wanted, arrow, path };
}

test("every cell of a table arrives as in JSON, also of an empty one, sorted and of few columns",
  async () => {
    for (const table of TABLES) await assert_same("job", table);
    await assert_same("job", "kernels", "&sort=-total_ns&fields=name,total_ns,calls");
    await assert_same("job", "op_tree", "&q=aten");
  });

test("columns say their unit and what they mean", async () => {
  const { arrow, path } = await assert_same("job", "kernels");
  const total = arrow.schema.fields.find(({ name }) => name === "total_ns");
  assert.equal(total.metadata.get("unit"), "ns");
  assert.match(total.metadata.get("help"), /\w/);
  const [{ value }] = await parquet_rows(`SELECT decode(value) AS value
    FROM parquet_kv_metadata('${path}') WHERE decode(key) = 'unit:total_ns'`);
  assert.equal(value, "ns");
  const [bounds] = await parquet_rows(`SELECT stats_min_value AS low, stats_max_value AS high
    FROM parquet_metadata('${path}') WHERE path_in_schema = 'total_ns'`);
  const column = (await rows_of("job", "kernels")).map(({ total_ns }) => total_ns);
  assert.deepEqual([Number(bounds.low), Number(bounds.high)],
    [Math.min(...column), Math.max(...column)]);
});

test("sizes of tables are those of the files, or near them where only the first rows were written",
  async () => {
    const { files } = await generate(["--ranks", "1", "--steps", "12", "--layers", "6"]);
    await server.analyzed("longer", files);
    const estimated = new Set();
    for (const [run, format] of [["job", "csv"], ["job", "json"], ["job", "arrow"],
      ["job", "xlsx"], ["job", "speedscope"], ["longer", "csv"], ["longer", "parquet"]]) {
      const { tables } = await server.get(`/runs/${run}/tables/sizes?format=${format}`);
      const found = new Map(tables.map((size) => [size.table, size]));
      const asked = format === "speedscope" ? [...found.keys()]
        : ["kernels", "steps", "op_tree", "memory_timeline", "busy_series", "trust"];
      assert.ok(!found.has("range_rows"), "what nobody can fetch");
      assert.ok(asked.length >= 3);
      for (const name of asked) {
        const { rows, bytes, exact } = found.get(name);
        const ratio = bytes / (await bytes_of(run, name, format)).length;
        assert.ok(exact ? ratio === 1 : ratio > 0.5 && ratio < 2, `${format} ${name}: ${ratio}`);
        assert.equal(exact, rows <= 256 && format !== "xlsx", name);
        if (!exact) estimated.add(`${format} ${name}`);
      }
    }
    assert.ok(estimated.size >= 2, [...estimated].join(", "));
    const wrong = await server.request("/api/v1/runs/job/tables/sizes?format=perfetto");
    assert.equal(wrong.status, 400);
    const again = await server.request("/api/v1/runs/job/tables/sizes");
    assert.equal((await server.request("/api/v1/runs/job/tables/sizes",
      { headers: { "If-None-Match": again.headers.etag } })).status, 304);
  });

test("the Accept header asks for them, too", async () => {
  const reply = await server.request("/api/v1/runs/job/kernels",
    { headers: { Accept: "application/vnd.apache.arrow.stream" } });
  assert.match(reply.headers["content-type"], /vnd\.apache\.arrow\.stream/);
  assert.equal(tableFromIPC(reply.body).numRows, (await rows_of("job", "kernels")).length);
});

test("the command line writes a lake that DuckDB reads in one line", async () => {
  const files = job.files.map(({ filename, data }) => {
    writeFileSync(join(folder, filename), data);
    return join(folder, filename);
  });
  const lake = join(folder, "stats");
  await run_program(stepscope_bin(), ["export", "parquet", ...files, "--name", "job", "-o", lake]);
  const rows = await parquet_rows(`SELECT rank, name, total_ns
    FROM '${lake}/kernels/*/*.parquet' WHERE run = 'job' ORDER BY rank, total_ns DESC, name`);
  const wanted = [];
  for (const rank of [0, 1]) {
    wanted.push(...(await rows_of("job", "kernels", `&rank=${rank}&fields=name,total_ns`))
      .map((row) => ({ rank, ...row })));
  }
  const order = (a, b) => a.rank - b.rank || b.total_ns - a.total_ns || (a.name < b.name ? -1 : 1);
  assert.deepEqual(rows, wanted.sort(order));
  assert.ok(readdirSync(join(lake, "clocks", "run=job")).includes("run.parquet"));
  assert.ok(statSync(join(lake, "kernels", "run=job", "rank=1.parquet")).size > 100);
});

// --- events ------------------------------------------------------------------------------------

const ORDER = "rank, lane, begin_ns, dur_ns DESC, name";
const IS_STREAM = "on_device AND lane NOT LIKE '%annotations%'";

/** Asks for events in both formats; the path of the Parquet, whose rows are those of the Arrow. */
async function events_of(run, query = "?ranks=all") {
  const bytes = async (format) => {
    const reply = await server.request(`/api/v1/runs/${run}/events${query}&format=${format}`);
    assert.equal(reply.status, 200, reply.text.slice(0, 200));
    return reply.body;
  };
  const path = join(folder, `${run}-events-${query.replace(/\W/g, "_")}.parquet`);
  writeFileSync(path, await bytes("parquet"));
  const arrow = arrow_rows(tableFromIPC(await bytes("arrow")));
  assert.deepEqual(arrow, await parquet_rows(`SELECT * FROM '${path}'`));
  return path;
}

const streams_of = (path, rank) => parquet_rows(`SELECT name, count(*) AS calls,
  sum(dur_ns)::BIGINT AS total_ns FROM '${path}' WHERE ${IS_STREAM} AND rank = ${rank}
  GROUP BY name ORDER BY name`);

const kernels_of = async (run, rank) =>
  (await rows_of(run, "kernels", `&rank=${rank}&fields=name,calls,total_ns`))
    .sort((a, b) => (a.name < b.name ? -1 : 1));

test("events of all ranks sum to their kernels, and are those of Chrome's JSON", async () => {
  const path = await events_of("job");
  for (const rank of [0, 1])
    assert.deepEqual(await streams_of(path, rank), await kernels_of("job", rank));
  const { json } = await server.request("/api/v1/runs/job/events?ranks=all&format=chrome");
  const wanted = json.traceEvents.filter(({ ph }) => ph === "X")
    .map(({ name, ts, dur }) => [Math.round(ts * 1000), Math.round(dur * 1000), name]);
  const found = (await parquet_rows(`SELECT begin_ns, dur_ns, name FROM '${path}'`))
    .map(({ begin_ns, dur_ns, name }) => [begin_ns, dur_ns, name]);
  assert.deepEqual(found.sort(), wanted.sort());
});

test("events of a window, of one rank and of devices only are a part of all", async () => {
  const whole = await events_of("job");
  const [{ middle }] = await parquet_rows(`SELECT (max(begin_ns) // 2)::BIGINT AS middle
    FROM '${whole}' WHERE rank = 0`);
  const path = await events_of("job", `?rank=0&from_ns=${middle}&to_ns=${middle + 2000000}` +
    "&lanes=device");
  const found = await parquet_rows(`SELECT begin_ns, dur_ns, name FROM '${path}'
    WHERE category <> 'wait' ORDER BY ${ORDER}`);
  const [{ low }] = await parquet_rows(
    `SELECT min(begin_ns) AS low FROM '${whole}' WHERE rank = 0`);
  const wanted = await parquet_rows(`SELECT begin_ns - ${low} AS begin_ns, dur_ns, name
    FROM '${whole}' WHERE rank = 0 AND lane LIKE 'GPU%' AND begin_ns - ${low} < ${middle} + 2000000
    AND begin_ns - ${low} + dur_ns > ${middle} ORDER BY ${ORDER}`);
  assert.ok(wanted.length > 0);
  assert.deepEqual(found, wanted);
});

test("the ranks' parts of a collective have one number, and waits are as long as theirs",
  async () => {
    const path = await events_of("job");
    const groups = await parquet_rows(`SELECT collective, count(*) AS parts,
      count(DISTINCT rank) AS ranks, min(wait_ns) AS least FROM '${path}'
      WHERE collective IS NOT NULL GROUP BY collective`);
    assert.ok(groups.length > 2);
    for (const { parts, ranks, least } of groups)
      assert.deepEqual([parts, ranks, least], [2, 2, 0]);
    const [{ links }] = await parquet_rows(`SELECT count(*) AS links FROM '${path}' AS call
      JOIN '${path}' AS event USING (rank, launch) WHERE NOT call.on_device AND event.on_device`);
    assert.ok(links > 10);
  });

test("events come by the Accept header, and by command line as by the service", async () => {
  const reply = await server.request("/api/v1/runs/job/events?ranks=all",
    { headers: { Accept: "application/vnd.apache.arrow.stream" } });
  assert.match(reply.headers["content-type"], /vnd\.apache\.arrow\.stream/);
  const files = job.files.map(({ filename, data }) => {
    writeFileSync(join(folder, filename), data);
    return join(folder, filename);
  });
  const out = join(folder, "events.arrows");
  await run_program(stepscope_bin(), ["export", "arrow", ...files, "--events", "-o", out]);
  assert.ok(readFileSync(out).equals(reply.body));
});

test("events of 64 ranks come in one file", async () => {
  const { files } = await generate(["mesh", "--dp", "64", "--layers", "2", "--steps", "4"]);
  await server.analyzed("wide", files);
  const path = await events_of("wide");
  const [{ ranks }] = await parquet_rows(`SELECT count(DISTINCT rank) AS ranks FROM '${path}'`);
  assert.equal(ranks, 64);
  for (const rank of [0, 63])
    assert.deepEqual(await streams_of(path, rank), await kernels_of("wide", rank));
});

test("real traces arrive whole", { skip: !have_real_traces() && "no real traces" }, async () => {
  for (const name of ["h100_qwen1.5", "mi300x_vit_detection"]) {
    const data = readFileSync(real_file(name));
    await server.analyzed(name, [{ filename: `${name}.json.gz`, data }]);
    for (const table of ["kernels", "op_tree", "op_shapes", "roofline", "idle_gaps", "findings"])
      await assert_same(name, table);
    const path = await events_of(name);
    const [{ rank }] = await parquet_rows(`SELECT any_value(rank) AS rank FROM '${path}'`);
    assert.deepEqual(await streams_of(path, rank), await kernels_of(name, rank), name);
  }
});

test("the Python client hands the stream to pyarrow where that is installed", async () => {
  const stub = join(folder, "stub", "pyarrow");
  mkdirSync(stub, { recursive: true });
  writeFileSync(join(stub, "__init__.py"), "");
  writeFileSync(join(stub, "ipc.py"), `
class open_stream:
    def __init__(self, body): self.body = body
    def __enter__(self): return self
    def __exit__(self, *_): pass
    def read_all(self): return self.body
`);
  const script = (path) => `import sys; sys.path[:0] = ["web/client", ${JSON.stringify(path)}]
from stepscope import Hub
sys.stdout.buffer.write(Hub("${server.base}").arrow("/runs/job/kernels"))`;
  const python = process.env.STEPSCOPE_PYTHON ?? "python3";
  const { stdout } = spawnSync(python, ["-c", script(join(folder, "stub"))]);
  assert.ok(stdout.equals(await bytes_of("job", "kernels", "arrow")));
});

/** What openpyxl reads: see xlsx_check.py. Skips where Debian's python3-openpyxl is missing. */
function read_book(bytes, t) {
  const path = join(folder, "book.xlsx");
  writeFileSync(path, bytes);
  const script = new URL("helpers/xlsx_check.py", import.meta.url).pathname;
  const { status, stdout, stderr } = spawnSync("/usr/bin/python3", [script, path],
    { maxBuffer: 1 << 28, encoding: "utf8" });
  if (/No module named 'openpyxl'/.test(stderr)) {
    t.skip("python3-openpyxl is not installed");
    return null;
  }
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

const near = (a, b) => a === b || Math.abs(a - b) <= 1e-12 * Math.abs(b);

/** Every cell as in JSON, with the header above. */
function assert_sheet(sheet, wanted, name) {
  const [head, ...rows] = sheet.rows;
  assert.equal(rows.length, wanted.length, name);
  wanted.forEach((row, i) => head.forEach((column, k) => {
    const [got, want] = [rows[i][k], row[column]];
    assert.ok(typeof want === "number" ? near(got, want) : (got ?? "") === (want ?? ""),
      `${name} row ${i} ${column}: ${got} instead of ${want}`);
  }));
}

test("a spreadsheet has the table's cells, in formats of their unit, with bars", async (t) => {
  const book = read_book(await bytes_of("job", "kernels", "xlsx"), t);
  if (!book) return;
  const { kernels, columns } = book;
  assert_sheet(kernels, await rows_of("job", "kernels"), "kernels");
  assert.equal(kernels.frozen, "B2");
  const head = kernels.rows[0];
  const format = (name) => kernels.formats[head.indexOf(name)];
  assert.equal(format("total_ns"), '#,##0" ns"');
  assert.equal(format("calls"), "#,##0");
  assert.ok(kernels.bars.length >= 1);
  assert.ok(columns.rows.some(([table, column, unit, meaning]) => table === "kernels"
    && column === "total_ns" && unit === "ns" && meaning.length > 10));
});

test("a spreadsheet of chosen columns has its bars and its filter on those", async (t) => {
  const path = "/api/v1/runs/job/kernels?format=xlsx&fields=calls,total_ns,name";
  const book = read_book((await server.request(path)).body, t);
  if (!book) return;
  const last = book.kernels.rows.length;
  assert.deepEqual(book.kernels.rows[0], ["calls", "total_ns", "name"]);
  assert.deepEqual(book.kernels.bars, [`B2:B${last}`]);
  assert.equal(book.kernels.filter, `A1:C${last}`);
});

test("a run's workbook has a sheet for each table with rows, by REST and by command line",
  async (t) => {
    const reply = await server.request("/api/v1/runs/job/workbook");
    assert.equal(reply.status, 200);
    const book = read_book(reply.body, t);
    if (!book) return;
    for (const name of ["kernels", "ranks", "steps", "rank_steps", "clocks", "breakdown"])
      assert_sheet(book[name], await rows_of("job", name), name);
    assert_sheet(book.op_tree, await rows_of("job", "op_tree"), "op_tree");
    const files = job.files.map(({ filename }) => join(folder, filename));
    const out = join(folder, "run.xlsx");
    await run_program(stepscope_bin(), ["export", "xlsx", ...files, "--name", "job", "-o", out]);
    const own = read_book(readFileSync(out), t);
    for (const name of ["kernels", "ranks", "op_tree"])
      assert.deepEqual(own[name].rows, book[name].rows, name);
  });

test("a run's workbook has TraceLens's sheets where definitions agree", async (t) => {
  const reply = await server.request("/api/v1/runs/job/workbook");
  const book = read_book(reply.body, t);
  if (!book) return;
  const [{ rank }] = await rows_of("job", "ranks", "&headline=true");
  const [parts] = await rows_of("job", "breakdown", `&scope=rank&rank=${rank}`);
  const timeline = Object.fromEntries(book.gpu_timeline.rows.map(([type, ms]) => [type, ms]));
  assert.deepEqual(book.gpu_timeline.rows[0], ["type", "time ms", "percent"]);
  for (const [type, column] of [["computation_time", "compute_ns"], ["idle_time", "idle_ns"],
    ["exposed_comm_time", "exposed_comm_ns"], ["exposed_memcpy_time", "exposed_memory_ns"],
    ["total_time", "window_ns"], ["total_comm_time", "total_comm_ns"]])
    assert.ok(near(timeline[type], parts[column] / 1e6), type);
  const [head, ...ops] = book.ops_summary.rows;
  assert.deepEqual(head, ["name", "total_direct_kernel_time_sum", "Count",
    "total_direct_kernel_time_ms", "Percentage (%)", "Cumulative Percentage (%)"]);
  const wanted = (await rows_of("job", "operators", `&rank=${rank}`))
    .filter(({ name, launching_calls }) => name && launching_calls > 0);
  assert.equal(ops.length, wanted.length);
  for (const [name, sum_us, count] of ops) {
    const row = wanted.find((one) => one.name === name);
    assert.ok(near(sum_us, row.self_ns / 1000) && count === row.launching_calls, name);
  }
  assert.ok(Math.abs(ops.at(-1)[5] - 100) < 1e-9 && ops[0][1] >= ops[1][1]);
});

test("a comparison's workbook has a sheet for each of its tables with rows", async (t) => {
  await server.analyzed("changed", (await generate(small_job("--seed", "9"))).files);
  const sides = "base=job&cand=changed";
  const reply = await server.request(`/api/v1/compare/workbook?${sides}`);
  assert.equal(reply.status, 200);
  assert.match(reply.headers["content-disposition"], /changed-vs-job\.xlsx/);
  const again = await server.request(`/api/v1/compare/workbook?${sides}`,
    { headers: { "If-None-Match": reply.headers.etag } });
  assert.equal(again.status, 304);
  assert.equal((await server.request(`/api/v1/compare/workbook?${sides}&only=1`)).status, 400);
  const book = read_book(reply.body, t);
  if (!book) return;
  for (const table of ["waterfall", "modules", "collectives", "findings", "settings", "ranks"]) {
    const { columns } = await server.get(`/compare/${table}?${sides}&format=columns&limit=all`);
    const names = Object.keys(columns);
    const wanted = columns[names[0]].map((_, i) =>
      Object.fromEntries(names.map((name) => [name, columns[name][i]])));
    if (wanted.length) assert_sheet(book[`compare_${table}`], wanted, table);
    else assert.equal(book[`compare_${table}`], undefined);
  }
  assert.ok(book.compare_waterfall.rows.length > 5 && book.compare_summary.rows.length === 2);
});

test("a tree is a flame graph: stacks with times of nodes, which sum to the root's", async () => {
  for (const table of ["op_tree", "modules"]) {
    const rows = await rows_of("job", table);
    const root = rows.find(({ id }) => id === 0);
    const scope = JSON.parse(await bytes_of("job", table, "speedscope"));
    const [{ samples, weights, unit, endValue }] = scope.profiles;
    assert.equal(unit, "nanoseconds");
    assert.equal(weights.reduce((sum, one) => sum + one, 0), root.total_owned_ns);
    assert.equal(endValue, root.total_owned_ns);
    assert.equal(samples.length, weights.length);
    const names = new Set(scope.shared.frames.map(({ name }) => name));
    assert.equal(names.size, scope.shared.frames.length);
    for (const stack of samples) {
      assert.equal(scope.shared.frames[stack[0]].name, root.name ?? "all");
      assert.ok(stack.every((frame) => frame < names.size));
    }
    assert.deepEqual(pprof_of(await bytes_of("job", table, "pprof")), {
      types: ["calls/count", "device_time/nanoseconds"],
      total: root.total_owned_ns,
      stacks: samples.map((stack) =>
        stack.map((i) => scope.shared.frames[i].name).join(";")).sort(),
    });
  }
  const refused = await server.request("/api/v1/runs/job/kernels?format=speedscope");
  assert.equal(refused.status, 400);
  assert.match(refused.json.detail, /op_tree, modules or ranges/);
});

/** A profile as its published schema (profile.proto) numbers the fields. */
function pprof_of(bytes) {
  const profile = proto_fields(bytes);
  const texts = profile.get(6).map((text) => text.toString());
  const number = (fields, key) => Number(fields.get(key)?.[0] ?? 0);
  const functions = new Map(profile.get(5).map(proto_fields)
    .map((fields) => [number(fields, 1), texts[number(fields, 2)]]));
  const locations = new Map(profile.get(4).map(proto_fields).map((fields) =>
    [number(fields, 1), functions.get(number(proto_fields(fields.get(4)[0]), 1))]));
  const samples = profile.get(2).map(proto_fields);
  return {
    types: profile.get(1).map(proto_fields)
      .map((type) => `${texts[number(type, 1)]}/${texts[number(type, 2)]}`),
    total: samples.reduce((sum, sample) => sum + Number(sample.get(2)[1]), 0),
    stacks: samples.map((sample) =>
      sample.get(1).map((id) => locations.get(Number(id))).reverse().join(";")).sort(),
  };
}

test("the newest run of each series has figures for Prometheus and OpenMetrics", async () => {
  const plain = await server.request("/metrics/runs");
  assert.match(plain.headers["content-type"], /^text\/plain; version=0\.0\.4/);
  const line = plain.text.split("\n").find((one) =>
    one.startsWith("stepscope_run_step_seconds{") && one.includes('series="job"'));
  assert.doesNotMatch(line, /run="/);
  assert.match(plain.text, /^stepscope_series_newest_run_info\{.*,run="job"\} 1$/m);
  const { items: [figure] } = await server.get("/runs/job/figures?metric=step_ns");
  assert.ok(near(Number(line.split(" ").at(-1)), figure.value / 1e9), line);
  const open = await server.request("/metrics/runs",
    { headers: { Accept: "application/openmetrics-text; version=1.0.0" } });
  assert.match(open.headers["content-type"], /^application\/openmetrics-text; version=1\.0\.0/);
  assert.ok(open.text.endsWith("# EOF\n"));
  const families = [...open.text.matchAll(/^# TYPE (\S+) gauge$/gm)].map(([, name]) => name);
  assert.equal(new Set(families).size, families.length);
});
