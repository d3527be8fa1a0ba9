// SPDX-License-Identifier: Apache-2.0
// Events in the formats of other tools: every event is there, with its times, and they agree with
// the tables; clocks are those of the run; windows; refusals; the same by command line.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { read_perfetto, SLICE_FIELDS } from "./helpers/perfetto.mjs";
import { perfetto_schema } from "./helpers/perfetto_schema.mjs";
import { start_server } from "./helpers/server.mjs";
import { chromium_bin, real_traces, run_program, skipped, stepscope_bin, temporary, tracegen_bin }
  from "./helpers/tools.mjs";
import { have_trace_processor, imported } from "./helpers/trace_processor.mjs";
import { generate, have_real_traces, real_file, small_job } from "./helpers/traces.mjs";

let server, job;

before(async () => {
  server = await start_server();
  job = await generate(small_job());
  await server.analyzed("job", job.files);
});
after(() => server?.stop());

const ask = (run, query) => server.request(`/api/v1/runs/${run}/events${query}`);

async function perfetto_of(run, query = "?ranks=all") {
  const reply = await ask(run, query);
  assert.equal(reply.status, 200, reply.text.slice(0, 400));
  return read_perfetto(reply.body);
}

const is_stream = ({ name }) => /^GPU .* stream/.test(name) && !name.includes("annotations");

/** Calls and total time by name. */
function totals(slices) {
  const by_name = {};
  for (const { name, dur } of slices) {
    by_name[name] ??= { calls: 0, total_ns: 0 };
    by_name[name].calls++;
    by_name[name].total_ns += dur;
  }
  return by_name;
}

const chrome_slices = (trace) => trace.traceEvents.filter(({ ph }) => ph === "X")
  .map((event) => ({ ...event, dur: Math.round(event.dur * 1000) }));

async function kernel_totals(run, rank) {
  const query = `rank=${rank}&format=columns&limit=all`;
  const { columns } = await server.get(`/runs/${run}/kernels?${query}`);
  return Object.fromEntries(columns.name.map((name, i) =>
    [name, { calls: columns.calls[i], total_ns: columns.total_ns[i] }]));
}

test("slices are messages of Perfetto's own schema", () => {
  const messages = Object.assign({}, ...["track_event", "debug_annotation"].map((name) =>
    perfetto_schema(chromium_bin(), `protos/perfetto/trace/track_event/${name}.proto`)));
  assert.ok(messages.TrackEvent, "this Chromium does not carry Perfetto's schema");
  for (const [message, fields] of Object.entries(SLICE_FIELDS))
    for (const [name, number] of Object.entries(fields))
      assert.equal(messages[message][name], number, `${message}.${name}`);
});

test("the slices of each rank's streams are the kernels of its table", async () => {
  const tracks = await perfetto_of("job");
  for (const rank of [0, 1]) {
    const own = tracks.filter((track) => is_stream(track) && track.rank === `rank ${rank}`);
    assert.ok(own.length > 0);
    assert.deepEqual(totals(own.flatMap(({ slices }) => slices)), await kernel_totals("job", rank));
  }
});

const no_processor = !have_trace_processor() &&
  skipped("no trace processor of Perfetto in build/trace_processor (tests/trace_processor.sh)");

/** Rows by a key of their first columns, in its order. */
const keyed = (rows, ...columns) => Object.fromEntries(rows
  .map((row) => [columns.map((column) => row[column]).join(" | "), row])
  .sort(([a], [b]) => (a < b ? -1 : 1)));

/** What is read here of each track, in the form of what Perfetto says. */
function slices_by_name({ rank, name: track, slices }) {
  const by_name = new Map();
  for (const { name, ts, dur, depth } of slices) {
    const row = by_name.get(name) ??
      { rank, track, name, calls: 0, total_ns: 0, first_ns: ts, depth: 0 };
    by_name.set(name, { ...row, calls: row.calls + 1, total_ns: row.total_ns + dur,
      first_ns: Math.min(row.first_ns, ts), depth: Math.max(row.depth, depth) });
  }
  return [...by_name.values()];
}

function samples_of({ rank, name: track, samples }) {
  const values = samples.map(({ value }) => value);
  return { rank, track, samples: values.length, least: Math.min(...values),
    most: Math.max(...values) };
}

/** Perfetto itself imports the bytes without a complaint and finds what is read here. */
async function expect_imported(bytes) {
  const tracks = read_perfetto(bytes);
  const found = await imported(bytes);
  assert.deepEqual(found.faults, []);
  assert.deepEqual(keyed(found.slices, "rank", "track", "name"),
    keyed(tracks.flatMap(slices_by_name), "rank", "track", "name"));
  assert.deepEqual(keyed(found.samples, "rank", "track"),
    keyed(tracks.filter((one) => one.is_counter).map(samples_of), "rank", "track"));
  const notes = tracks.flatMap(({ slices }) => slices).map((slice) => slice.notes.wait_ns ?? 0);
  assert.equal(found.wait_ns, notes.reduce((sum, wait_ns) => sum + wait_ns, 0));
  return found;
}

test("Perfetto's own trace processor imports it: slices, counters, arrows, notes",
  { skip: no_processor }, async () => {
    const { files } = await generate(small_job("--memory", "--counters"));
    await server.analyzed("imported", files);
    const { samples, flows } = await expect_imported((await ask("imported", "?ranks=all")).body);
    assert.ok(samples.length >= 4 && flows > 0);
  });

test("Perfetto has an arrow to each kernel of a graph launch", async () => {
  const args = { correlation: 7, device: 0, stream: 7 };
  const kernel = (name, ts) => ({ ph: "X", cat: "kernel", name, pid: 0, tid: 7, ts, dur: 5, args });
  const traceEvents = [{ ph: "X", cat: "cuda_runtime", name: "cudaGraphLaunch", pid: 1, tid: 1,
    ts: 5_000_000_000, dur: 5, args: { correlation: 7 } }, kernel("node_a", 5_000_000_010),
    kernel("node_b", 5_000_000_020), kernel("node_c", 5_000_000_030)];
  const data = Buffer.from(JSON.stringify({ schemaVersion: 1, traceEvents }));
  await server.analyzed("graph", [{ filename: "graph.json", data }]);
  const slices = (await perfetto_of("graph")).flatMap((track) => track.slices);
  const [{ flows }] = slices.filter(({ name }) => name === "cudaGraphLaunch");
  assert.equal(flows.length, 1);
  assert.deepEqual(slices.filter(({ name }) => /^node_/.test(name)).map((one) => one.flows),
    [flows, flows, flows]);
});

test("every complete event of the file is there, by name and duration", async () => {
  const [track_names, slices] = [new Set(), []];
  for (const track of await perfetto_of("job", "?rank=0")) {
    track_names.add(track.name);
    if (!track.name.includes("waits")) slices.push(...track.slices);
  }
  const file = JSON.parse(job.files[0].data);
  const wanted = file.traceEvents.filter(({ ph, dur }) => ph === "X" && dur !== undefined)
    .map(({ name, dur }) => ({ name, dur: Math.round(dur * 1000) }));
  const found = totals(slices);
  for (const [name, one] of Object.entries(totals(wanted)))
    assert.deepEqual(found[name], one, name);
});

test("Chrome's JSON has the same slices, on rows where they nest", async () => {
  const reply = await ask("job", "?format=chrome&rank=0");
  const found = chrome_slices(reply.json);
  const slices = (await perfetto_of("job", "?rank=0")).flatMap((track) => track.slices);
  assert.deepEqual(totals(found), totals(slices));
  const rows = new Map();
  for (const { tid, ts, dur } of found)
    rows.set(tid, [...(rows.get(tid) ?? []), { from: Math.round(ts * 1000), dur }]);
  for (const row of rows.values()) {
    const open = [];
    for (const { from, dur } of row) {
      while (open.length && open.at(-1) <= from) open.pop();
      assert.ok(!open.length || open.at(-1) >= from + dur, "a slice crosses another");
      open.push(from + dur);
    }
  }
});

test("counters have their names and values in both formats", async () => {
  const { files } = await generate(small_job("--memory", "--counters"));
  await server.analyzed("counted", files);
  const { json } = await ask("counted", "?format=chrome&rank=0");
  const found = {};
  for (const { name, args: { value } } of json.traceEvents.filter(({ ph }) => ph === "C"))
    found[name] = (found[name] ?? 0) + value;
  const counters = (await perfetto_of("counted", "?rank=0")).filter((track) => track.is_counter);
  assert.ok(counters.length >= 2);
  assert.deepEqual(found, Object.fromEntries(counters.map(({ name, samples }) =>
    [name, samples.reduce((sum, { value }) => sum + value, 0)])));
});

test("a window has exactly what overlaps it", async () => {
  const whole = await perfetto_of("job", "?rank=0");
  const end = Math.max(...whole.flatMap(({ slices }) => slices.map(({ ts, dur }) => ts + dur)));
  const [from, to] = [Math.round(end / 3), Math.round(end / 2)];
  const cut = await perfetto_of("job", `?rank=0&from_ns=${from}&to_ns=${to}`);
  const inside = whole.filter(({ name }) => !name.includes("waits"))
    .flatMap(({ slices }) => slices)
    .filter(({ ts, dur }) => ts < to && (ts + dur > from || ts >= from));
  assert.deepEqual(totals(cut.filter(({ name }) => !name.includes("waits"))
    .flatMap(({ slices }) => slices)), totals(inside));
  assert.ok(inside.length > 0);
  const streams = await perfetto_of("job", "?lanes=device&rank=0");
  assert.ok(streams.every(({ name }) => name.startsWith("GPU") || name.includes("waits")));
});

const between_ranks = (flow) => flow >> 63n === 1n;

/** Slices of streams that are linked across ranks, by flow. */
function linked(tracks) {
  const flows = new Map();
  for (const { rank, slices } of tracks.filter(is_stream))
    for (const slice of slices)
      for (const flow of slice.flows.filter(between_ranks))
        flows.set(flow, [...(flows.get(flow) ?? []), { rank, ...slice }]);
  return [...flows.values()];
}

describe("a job whose clocks differ", () => {
  let files;
  before(async () => {
    const folder = temporary("mesh");
    await run_program(tracegen_bin(), ["mesh", "--dp", "4", "--skew", "5000000", "--jitter", "0",
      "--straggler", "2=3000000", "--out", folder]);
    const truth = JSON.parse(readFileSync(join(folder, "truth.json"), "utf8"));
    files = truth.ranks.map(({ file }) =>
      ({ filename: file, data: readFileSync(join(folder, file)) }));
    await server.analyzed("mesh", files);
  });

  test("collectives of the ranks are linked and end together", async () => {
    const groups = linked(await perfetto_of("mesh"));
    assert.ok(groups.length > 10);
    for (const members of groups) {
      assert.equal(new Set(members.map(({ rank }) => rank)).size, members.length);
      const ends = members.map(({ ts, dur }) => ts + dur);
      assert.ok(Math.max(...ends) - Math.min(...ends) < 50_000, `${ends}`);
    }
  });

  test("Perfetto draws the waits and the links of ranks", { skip: no_processor }, async () => {
    const { body } = await ask("mesh", "?ranks=all");
    const { slices, flows, wait_ns } = await expect_imported(body);
    const groups = linked(await perfetto_of("mesh"));
    assert.ok(flows >= groups.reduce((sum, members) => sum + members.length - 1, 0));
    assert.ok(wait_ns > 0 && slices.some(({ name }) => name === "wait for rank 2"));
  });

  test("arrows of collectives start at the first rank that is exported", async () => {
    const { body } = await ask("mesh", "?format=chrome&ranks=1-3");
    const starts = new Map();
    for (const { ph, id } of JSON.parse(body).traceEvents.filter(({ id }) => id >= 2 ** 52))
      starts.set(id, (starts.get(id) ?? 0) + (ph === "s"));
    assert.ok(starts.size > 10);
    assert.ok([...starts.values()].every((count) => count === 1));
  });

  test("waits are a track, as long as the table says", async () => {
    const tracks = await perfetto_of("mesh");
    const waits = tracks.filter(({ name }) => name.includes("waits in collectives"));
    assert.ok(waits.length >= 3);
    const names = waits.flatMap(({ slices }) => slices.map(({ name }) => name));
    assert.ok(names.every((name) => /^wait for rank \d$/.test(name)));
    const noted = tracks.filter(is_stream).flatMap(({ slices }) => slices)
      .reduce((sum, { notes }) => sum + (notes.wait_ns ?? 0), 0);
    const shown = waits.flatMap(({ slices }) => slices).reduce((sum, { dur }) => sum + dur, 0);
    assert.ok(Math.abs(shown - noted) < waits.length * 1e5, `${shown} ${noted}`);
    const late = waits.flatMap(({ slices }) => slices)
      .filter(({ name }) => name.endsWith("rank 2"));
    assert.ok(late.reduce((sum, { dur }) => sum + dur, 0) > 0.5 * shown);
  });

  test("the command line writes the same bytes as the service", async () => {
    const folder = temporary("files");
    const paths = files.map(({ filename, data }) => {
      writeFileSync(join(folder, filename), data);
      return join(folder, filename);
    });
    for (const format of ["perfetto", "chrome"]) {
      const out = join(folder, `out.${format}`);
      await run_program(stepscope_bin(), ["export", format, ...paths, "--name", "mesh", "-o", out]);
      const reply = await ask("mesh", `?format=${format}&ranks=all`);
      assert.ok(readFileSync(out).equals(reply.body), format);
    }
  });
});

test("the command line refuses options that a format ignores", () => {
  for (const [args, why] of [
    [["paraver", "x", "--from-ns", "5", "-o", "y"], /which paraver does not take/],
    [["csv", "x", "--lanes", "device", "-o", "y"], /which csv does not take/],
    [["xlsx", "x", "--to-ns", "5", "-o", "y"], /which xlsx does not take/],
    [["csv", "x", "-o", "-"], /found -o -, expected a folder for csv/]]) {
    const { status, stderr } = spawnSync(stepscope_bin(), ["export", ...args]);
    assert.equal(status, 2, `${stderr}`);
    assert.match(`${stderr}`, why);
  }
});

test("an export is read by ranges, whose parts make up the stream", async () => {
  for (const format of ["perfetto", "chrome", "paraver", "parquet"]) {
    const path = `/api/v1/runs/job/events?format=${format}&ranks=all`;
    const part = (range, more = {}) =>
      server.request(path, { headers: { Range: `bytes=${range}`, ...more } });
    const whole = await server.request(path);
    assert.equal(whole.headers["accept-ranges"], "bytes");
    const size = whole.body.length, middle = size >> 1;
    const parts = await Promise.all([part(`0-${middle - 1}`), part(`${middle}-`), part("-8")]);
    assert.deepEqual(parts.map(({ status }) => status), [206, 206, 206], format);
    assert.equal(parts[1].headers["content-range"], `bytes ${middle}-${size - 1}/${size}`);
    assert.ok(Buffer.concat([parts[0].body, parts[1].body]).equals(whole.body), format);
    assert.ok(parts[2].body.equals(whole.body.subarray(-8)));
    assert.equal(parts[0].headers.etag, whole.headers.etag);
    assert.equal((await part(`${size}-`)).status, 416);
    assert.equal((await part("0-3", { "If-Range": whole.headers.etag })).status, 206);
    assert.equal((await part("0-3", { "If-Range": '"another"' })).status, 200);
    const head = await server.request(path, { method: "HEAD" });
    assert.equal(Number(head.headers["content-length"]), size);
  }
});

test("a packed export is not continued by ranges of the plain one", async () => {
  const path = "/api/v1/runs/job/events?format=chrome&rank=1";
  const packed = await server.request(path, { headers: { "Accept-Encoding": "gzip" } });
  assert.equal(packed.headers["content-encoding"], "gzip");
  const { etag } = packed.headers;
  assert.match(etag, /^W\//);
  const again = (headers) => server.request(path, { headers });
  assert.equal((await again({ Range: "bytes=0-3", "If-Range": etag })).status, 200);
  assert.equal((await again({ "If-None-Match": etag })).status, 304);
});

test("sizes are those of the exports, or near them where only a part was written", async () => {
  const { files } = await generate(["--ranks", "2", "--steps", "8", "--strategy", "fsdp"]);
  await server.analyzed("larger", files);
  const window = "&from_ns=1000000&to_ns=3000000";
  for (const [run, query, exact] of [["job", "?ranks=all", true], ["larger", "?ranks=all", false],
    ["larger", "?rank=0&lanes=device", false], ["larger", `?rank=1${window}`, false]]) {
    const { events, formats } = await server.get(`/runs/${run}/events/sizes${query}`);
    assert.ok(events > 0);
    assert.equal(formats.length, query.includes("_ns") || query.includes("lanes") ? 4 : 5);
    for (const one of formats) {
      const { body } = await ask(run, `${query}&format=${one.format}`);
      assert.equal(one.exact, exact, `${run} ${one.format}`);
      const ratio = one.bytes / body.length;
      assert.ok(exact ? ratio === 1 : ratio > 0.6 && ratio < 1.6,
        `${run}${query} ${one.format}: ${one.bytes} for ${body.length}`);
    }
  }
  assert.deepEqual(await server.get("/runs/job/events/sizes?rank=77"), { events: 0, formats: [] });
  assert.equal((await server.request("/api/v1/runs/job/events/sizes?format=chrome")).status, 400);
  const known = await server.request("/api/v1/runs/larger/events/sizes");
  assert.equal((await server.request("/api/v1/runs/larger/events/sizes",
    { headers: { "If-None-Match": known.headers.etag } })).status, 304);
});

const REFERENCE = join(real_traces, "..", "samples", "reference_inputs.py");

/** Writes a run's Paraver files and reads the trace by the reference. */
async function paraver_of(name, paths) {
  const out = temporary("paraver");
  await run_program(stepscope_bin(), ["export", "paraver", ...paths, "--name", name, "-o", out]);
  const { stdout } = spawnSync("python3", [REFERENCE, join(out, `${name}.prv`)],
    { encoding: "utf8", maxBuffer: 1 << 28 });
  return { out, found: JSON.parse(stdout) };
}

/** Times by state over all devices of all ranks are those of the breakdown. */
async function expect_breakdown(run, { 0: idle, ...busy }) {
  const { items } = await server.get(`/runs/${run}/breakdown?scope=device&limit=10000`);
  for (const [state, name] of [[1, "compute_ns"], [13, "exposed_comm_ns"],
    [17, "exposed_memory_ns"]])
    assert.equal(busy[state] ?? 0, items.reduce((sum, row) => sum + row[name], 0), name);
  assert.ok(idle >= 0);
}

/** Kernels launched and not ended, of each task: as a view subtracts what its rows have counted. */
function in_flight(lines) {
  const tasks = new Map();
  for (const line of lines) {
    const [record, , , task, , , ...pairs] = line.split(":").map(Number);
    if (record !== 2) continue;
    const one = tasks.get(task) ?? { left: 0, most: 0, least: 0, launched: 0, kernels: 0,
      rows: new Map() };
    tasks.set(task, one);
    const thread = line.split(":")[4];
    for (let i = 0; i < pairs.length; i += 2) {
      const [type, value] = [pairs[i], pairs[i + 1]];
      if ((type === 63000006 || type === 63000007) && value > 0) one.kernels++;
      if (type !== 9300 && type !== 9301) continue;
      const more = value - (one.rows.get(`${thread}:${type}`) ?? 0);
      one.rows.set(`${thread}:${type}`, value);
      one.left += type === 9300 ? more : -more;
      one.launched += type === 9300 ? more : 0;
    }
    one.most = Math.max(one.most, one.left);
    one.least = Math.min(one.least, one.left);
  }
  return tasks;
}

describe("Paraver", { skip: !have_real_traces() && "no reference reader" }, () => {
  const runs = [["h100", ["h100_bert_small"]], ["mi300x", ["mi300x_vit_detection"]],
    ["pair", ["pair_rank0", "pair_rank1"]]];
  for (const [name, files] of runs) {
    test(`states of ${name} last as long as the parts of its breakdown`, async () => {
      const paths = files.map(real_file);
      await server.analyzed(name, paths.map((path, i) =>
        ({ filename: `${files[i]}.json.gz`, data: readFileSync(path) })));
      const { found } = await paraver_of(name, paths);
      assert.equal(found.other, 0);
      assert.equal(found.unit, "ns");
      await expect_breakdown(name, found.state_time);
    });
  }

  test("of 64 ranks, too; rows, types and names are nsys2prv's, lines in order", async () => {
    const folder = temporary("mesh64");
    await run_program(tracegen_bin(), ["mesh", "--dp", "64", "--layers", "2", "--steps", "4",
      "--skew", "1000000", "--format", "zst", "--out", folder]);
    const { ranks } = JSON.parse(readFileSync(join(folder, "truth.json"), "utf8"));
    const { out, found } = await paraver_of("wide", ranks.map(({ file }) => join(folder, file)));
    assert.equal(found.other, 0);
    await server.analyzed("wide", ranks.map(({ file }) =>
      ({ filename: file, data: readFileSync(join(folder, file)) })));
    await expect_breakdown("wide", found.state_time);
    if (!no_processor) await expect_imported((await ask("wide", "?ranks=all")).body);
    assert.ok(found.events_by_type[63000006] > 64 && found.events_by_type[63000007] > 64);
    const lines = readFileSync(join(out, "wide.prv"), "utf8").trimEnd().split("\n");
    const times = lines.slice(1).map((line) => Number(line.split(":")[5]));
    assert.ok(times.every((time, i) => i === 0 || times[i - 1] <= time));
    const tasks = /:0:1:64\(([^)]*)\)/.exec(lines[0])[1].split(",");
    const threads = tasks.reduce((sum, task) => sum + Number(task.split(":")[0]), 0);
    const rows = readFileSync(join(out, "wide.row"), "utf8");
    assert.match(rows, new RegExp(`LEVEL THREAD SIZE ${threads}\n`));
    const labels = rows.split(/LEVEL THREAD SIZE \d+\n/)[1].trimEnd().split("\n");
    assert.equal(labels.length, threads);
    assert.ok(labels.includes("CUDA-D0.S7") && labels.some((one) => /^THREAD 1\.64\./.test(one)));
    const names = readFileSync(join(out, "wide.pcf"), "utf8");
    for (const type of [63000000, 63000001, 63000006, 63000007, 9600])
      assert.match(names, new RegExp(`^0 +${type} `, "m"));
    const view = (name) => readFileSync(join(out, `${name}.cfg`), "utf8");
    const flights = in_flight(lines.slice(1));
    assert.equal(flights.size, 64);
    for (const { most, least, left, launched, kernels } of flights.values())
      assert.ok(most > 1 && least === 0 && left === 0 && launched === kernels && kernels > 0,
        JSON.stringify({ most, least, left, launched, kernels }));
    assert.match(view("kernels_in_flight"), /operation substract\n[^]*level task/);
    assert.match(view("gpu_useful"), /^#ParaverCFG/);
    assert.match(view("gaps"), /\nwindow_semantic_module thread In State \{ 1, \{ 1 0/);
    assert.match(view("overlap"), /NumWindows: 3\n[^]*window_type composed\nwindow_id 3\n/);
    assert.match(view("overlap"), /operation product\nwindow_identifiers 1 2\n/);
  });
});

test("what cannot be asked is refused with the reason", async () => {
  const wrong = ["?format=csv", "?from_ns=5&to_ns=5", "?ranks=3-1", "?ranks=", "?ranks=a",
    "?rank=-1", "?lanes=x", "?px=3"];
  for (const query of wrong) {
    const reply = await ask("job", query);
    assert.equal(reply.status, 400, query);
    assert.match(reply.json.detail, /found|expected/);
  }
  assert.equal((await ask("job", "?ranks=7")).status, 404);
  assert.equal((await ask("nosuch", "")).status, 404);
});

test("real traces come whole", { skip: !have_real_traces() && "no real traces" }, async () => {
  const real = ["h100_bert_small", "mi300x_vit_detection", "v100_test"];
  for (const name of real) {
    const data = readFileSync(real_file(name));
    await server.analyzed(name, [{ filename: `${name}.json.gz`, data }]);
    const file = JSON.parse(gunzipSync(data));
    const kernels = file.traceEvents.filter(({ ph, cat }) =>
      ph === "X" && ["kernel", "gpu_memcpy", "gpu_memset"].includes(cat?.toLowerCase()));
    const tracks = await perfetto_of(name, "");
    const slices = tracks.filter(is_stream).flatMap((track) => track.slices);
    assert.equal(slices.length, kernels.length, name);
    if (!no_processor && name === real[0]) await expect_imported((await ask(name, "")).body);
    const rank = Number(tracks[0].rank.split(" ")[1]);
    assert.deepEqual(totals(slices), await kernel_totals(name, rank), name);
  }
});
