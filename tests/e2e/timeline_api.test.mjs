// SPDX-License-Identifier: Apache-2.0
// Windows of the timeline of an uploaded trace, compared with the events in its file.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { reply_faults } from "./helpers/openapi.mjs";
import { start_server } from "./helpers/server.mjs";
import { generate, have_real_traces, real_file, small_job } from "./helpers/traces.mjs";

const ROUTE = "/api/v1/runs/{run}/timeline";
let server;

before(async () => {
  server = await start_server();
  const { files } = await generate(small_job());
  await server.analyzed("t", files);
});
after(() => server?.stop());

const ask = (query) => server.request(`/api/v1/runs/t/timeline${query}`);
const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);

const WINDOWS = ["", "?lanes=device&rank=0", "?px=16", "?from_ns=1000&to_ns=2000000&rows=64"];

test("a window comes as described, its columns of one length, its indices in bounds", async () => {
  for (const query of WINDOWS) {
    const reply = await ask(query);
    assert.equal(reply.status, 200, reply.text);
    assert.deepEqual(reply_faults("GET", ROUTE, reply), []);
    const { slices, lanes, names, classes } = reply.json;
    const lengths = new Set(Object.values(slices).map((column) => column.length));
    assert.equal(lengths.size, 1);
    assert.ok(slices.lane.length > 0, query);
    assert.ok(slices.lane.every((lane) => lane < lanes.length));
    assert.ok(slices.name.every((name) => name < names.length));
    assert.ok(slices.class.every((one) => one < classes.length));
  }
});

test("the whole trace counts every event of its lanes, at any width", async () => {
  for (const px of [16, 200, 8192]) {
    const { json } = await ask(`?px=${px}&rows=64`);
    assert.equal(sum(json.slices.count), sum(json.lanes.map(({ events }) => events)));
  }
});

test("lanes=device leaves threads out", async () => {
  const { json } = await ask("?lanes=device");
  assert.ok(json.lanes.some(({ kind }) => kind === "stream"));
  assert.ok(json.lanes.every(({ kind }) => kind !== "thread"));
});

/** A trace with `count` streams: every third has three kernels, the others one. */
function many_streams(count) {
  const traceEvents = [];
  for (let stream = 0; stream < count; stream++) {
    for (let i = 0; i < (stream % 3 ? 1 : 3); i++) {
      traceEvents.push({ ph: "X", cat: "kernel", name: "k", pid: 0, tid: stream, ts: 10 * i, dur: 5,
        args: { device: 0, stream, correlation: traceEvents.length + 1 } });
    }
  }
  return { filename: "rank0.json", data: Buffer.from(JSON.stringify({ traceEvents })) };
}

test("of too many lanes those with the most events come, and the others are counted", async () => {
  await server.analyzed("many", [many_streams(700)]);
  const reply = await server.request("/api/v1/runs/many/timeline?lanes=device");
  assert.deepEqual(reply_faults("GET", ROUTE, reply), []);
  const { lanes, lanes_left_out, slices } = reply.json;
  assert.deepEqual([lanes.length, lanes_left_out], [512, 188]);
  assert.equal(lanes.filter(({ events }) => events === 3).length, 234);
  const streams = lanes.map(({ thread }) => Number(thread));
  assert.deepEqual(streams, [...streams].sort((a, b) => a - b));
  assert.equal(sum(slices.count), sum(lanes.map(({ events }) => events)));
});

test("what cannot be asked is refused with the reason", async () => {
  const wrong = ["?from_ns=5&to_ns=5", "?from_ns=-1", "?to_ns=0", "?px=1", "?px=99999", "?rows=0",
    "?rows=65", "?lanes=host", "?rank=x", "?width=4", "?from_ns=9e9"];
  for (const query of wrong) {
    const reply = await ask(query);
    assert.equal(reply.status, 400, `${query}: ${reply.text}`);
    assert.match(reply.json.detail, /found/);
  }
  assert.equal((await ask("?rank=99")).status, 404);
  assert.equal((await server.request("/api/v1/runs/none/timeline")).status, 404);
});

test("all ranks come as groups, then as ranks; a late one is named", async () => {
  const { files } = await generate(small_job("--ranks", "10", "--steps", "4", "--layers", "2",
    "--straggler", "9=150"));
  await server.analyzed("late", files);
  const ask_ranks = (query) => server.request(`/api/v1/runs/late/timeline/ranks${query}`);
  const whole = await ask_ranks("?px=64&lanes=4");
  assert.deepEqual(reply_faults("GET", `${ROUTE}/ranks`, whole), []);
  const { lanes, pieces, begin_ns, end_ns, first_ns, piece_ns } = whole.json;
  assert.deepEqual(lanes.map(({ first_rank, last_rank, ranks }) => [first_rank, last_rank, ranks]),
    [[0, 7, 8], [8, 9, 2]]);
  assert.ok(pieces <= 64 && lanes[0].compute.length === pieces);
  assert.ok(first_ns <= begin_ns && first_ns + pieces * piece_ns >= end_ns);
  const named = lanes[1].slowest.filter((rank) => rank !== null);
  assert.ok(named.filter((rank) => rank === 9).length > named.length / 2, String(named));
  const few = await ask_ranks("?ranks=8-9");
  assert.deepEqual(reply_faults("GET", `${ROUTE}/ranks`, few), []);
  assert.deepEqual(few.json.lanes.map(({ first_rank }) => first_rank), [8, 9]);
  const [on_time, late] = few.json.lanes.map(({ communication }) => sum(communication));
  assert.ok(late < on_time / 2, `${late} ${on_time}`);
  for (const query of ["?px=1", "?lanes=0", "?ranks=5-2", "?ranks=x", "?rows=4", "?to_ns=0"]) {
    assert.equal((await ask_ranks(query)).status, 400, query);
  }
  assert.equal((await ask_ranks("?ranks=70-80")).status, 404);
  assert.equal((await ask_ranks("?rank=70")).status, 404);
  assert.equal((await server.request("/api/v1/runs/many/timeline/ranks")).status, 404);
});

test("an unchanged window is not sent again", async () => {
  const { headers } = await ask("?px=100");
  const again = await server.request("/api/v1/runs/t/timeline?px=100",
    { headers: { "If-None-Match": headers.etag } });
  assert.equal(again.status, 304);
});

const events_of = (traceEvents) =>
  [{ filename: "t.json", data: Buffer.from(JSON.stringify({ schemaVersion: 1, traceEvents })) }];
const kernel = (name, ts, dur) => ({ ph: "X", cat: "kernel", name, pid: 0, tid: 7, ts, dur });
const operator = (name, ts, dur) => ({ ph: "X", cat: "cpu_op", name, pid: 1, tid: 1, ts, dur });

test("steps lie where their kernels are, also behind an event of another time", async () => {
  const kernels = [kernel("k", 2000, 10), kernel("k", 2100, 10)];
  for (const [run, odd] of [["back", kernel("odd", 5, -3)], ["far", kernel("odd", -8e9, 3)]]) {
    await server.analyzed(run, events_of([odd, ...kernels, operator("o", 1, 5)]));
    const { slices, names, steps } = await server.get(`/runs/${run}/timeline?px=8192`);
    const begins = slices.begin_ns.filter((_, i) => names[slices.name[i]] === "k");
    assert.equal(steps.length, 1);
    assert.equal(steps[0].begin_ns, Math.min(...begins), run);
  }
});

test("an event of no duration in the last instant belongs to the whole trace", async () => {
  await server.analyzed("last", events_of([operator("o", 1, 5), operator("last", 9, 0)]));
  for (const query of ["", "?to_ns=8000"]) {
    const { slices, names, end_ns } = await server.get(`/runs/last/timeline${query}`);
    assert.equal(end_ns, 8000);
    assert.ok(slices.name.some((name) => names[name] === "last"), query);
  }
});

test("threads that the file does not name are called so, hostile names stay text", async () => {
  const name = "</script>\"\\\u0000\u2028,]";
  const nowhere = { ...operator(name, 1, 5), tid: undefined };
  await server.analyzed("odd", events_of([nowhere]));
  const { lanes, names } = await server.get("/runs/odd/timeline");
  assert.equal(lanes[0].name, "thread ?");
  assert.equal(lanes[0].thread, "?");
  assert.ok(names.includes(name));
});

const CALLS = "/api/v1/runs/{run}/calls";
const calls_path = (run, of, name) =>
  `/runs/${run}/calls?of=${of}&name=${encodeURIComponent(name)}`;

/** Every row of the tables of a run's headline rank has the same calls, one by one. */
async function assert_calls_agree(run) {
  const { summary } = await server.get(`/runs/${run}/summary`);
  const table = async (name) => (await server.get(
    `/runs/${run}/${name}?limit=all&rank=${summary.headline_rank}`)).items;
  for (const row of await table("kernels")) {
    const { times, launched, longest } = await server.get(calls_path(run, "kernel", row.name));
    for (const key of ["total_ns", "min_ns", "median_ns", "p99_ns", "max_ns"]) {
      assert.equal(times[key], row[key], `${row.name} ${key}`);
    }
    assert.equal(times.calls, row.calls);
    assert.equal(sum(times.histogram.map(({ calls }) => calls)), row.calls);
    assert.equal(longest[0].dur_ns, row.max_ns);
    assert.equal(launched, null);
  }
  for (const row of (await table("operators")).filter(({ name }) => name)) {
    const { times, launched } = await server.get(calls_path(run, "operator", row.name));
    assert.deepEqual([times.calls, times.total_ns], [row.calls, row.host_ns], row.name);
    assert.ok(launched.total_ns >= row.total_ns, row.name); // which counts overlaps once
  }
}

test("calls come as described, and of all steps and ranks", async () => {
  const { items: [kernel_row] } = await server.get("/runs/t/kernels?sort=-calls&limit=1");
  const reply = await server.request(`/api/v1${calls_path("t", "kernel", kernel_row.name)}`);
  assert.equal(reply.status, 200, reply.text);
  assert.deepEqual(reply_faults("GET", CALLS, reply), []);
  const { steps, ranks, times } = reply.json;
  assert.equal(sum(ranks.map(({ calls }) => calls)), kernel_row.calls);
  assert.equal(sum(ranks.map(({ total_ns }) => total_ns)), kernel_row.total_ns);
  assert.ok(steps.length > 1);
  assert.ok(sum(steps.map(({ calls }) => calls)) <= times.calls);
  const again = await server.request(`/api/v1${calls_path("t", "kernel", kernel_row.name)}`,
    { headers: { "If-None-Match": reply.headers.etag } });
  assert.equal(again.status, 304);
});

test("calls add up to the rows of kernels and operators", async () => {
  await assert_calls_agree("t");
});

test("so they do in a real trace", { skip: !have_real_traces() && "no real traces" }, async () => {
  const data = readFileSync(real_file("h100_owlv2"));
  await server.analyzed("real", [{ filename: "rank0.json.gz", data }]);
  await assert_calls_agree("real");
});

const FIND = "/api/v1/runs/{run}/find";
const find = (params) => server.request(`/api/v1/runs/t/find?${new URLSearchParams(params)}`);

test("a search goes through all events with the text, forward and back, and around", async () => {
  const { items: [row] } = await server.get("/runs/t/kernels?rank=0&sort=-calls&limit=1");
  const first = await find({ q: row.name.toUpperCase(), rank: 0 });
  assert.deepEqual(reply_faults("GET", FIND, first), []);
  const all = [first.json.found];
  while (all.length < first.json.count) {
    const { begin_ns, lane } = all.at(-1);
    const { json } = await find({ q: row.name, rank: 0, at_ns: begin_ns, at_lane: lane });
    assert.equal(json.found.index, all.length + 1);
    all.push(json.found);
  }
  const kernels = all.filter(({ kind }) => kind === "kernel");
  assert.equal(kernels.length, row.calls);
  assert.equal(sum(kernels.map(({ dur_ns }) => dur_ns)), row.total_ns);
  assert.ok(all.every(({ begin_ns }, i) => i === 0 || begin_ns >= all[i - 1].begin_ns));
  const last = all.at(-1);
  const around = await find({ q: row.name, rank: 0, at_ns: last.begin_ns, at_lane: last.lane });
  assert.deepEqual(around.json.found, all[0]);
  const back = await find({ q: row.name, rank: 0, at_ns: last.begin_ns, at_lane: last.lane,
    dir: "previous" });
  assert.deepEqual(back.json.found, all.at(-2));
  assert.deepEqual((await find({ q: row.name, rank: 0, dir: "previous" })).json.found, last);
});

test("a search for nothing finds nothing, and one without a text is refused", async () => {
  const { json } = await find({ q: "no such name" });
  assert.deepEqual([json.count, json.found], [0, null]);
  for (const query of [{}, { q: "" }, { q: "x".repeat(201) }, { q: "a", dir: "up" },
    { q: "a", at_ns: -2 }, { q: "a", lanes: "host" }]) {
    assert.equal((await find(query)).status, 400, JSON.stringify(query));
  }
});

test("calls of nothing are refused with the reason", async () => {
  for (const query of ["", "?name=", "?name=x&of=module", "?name=x&rank=-1", "?name=x&px=4"]) {
    const reply = await server.request(`/api/v1/runs/t/calls${query}`);
    assert.equal(reply.status, 400, `${query}: ${reply.text}`);
    assert.match(reply.json.detail, /found/);
  }
  const reply = await server.request("/api/v1/runs/t/calls?name=nothing&of=operator");
  assert.equal(reply.status, 404);
  assert.match(reply.json.fix, /operators/);
});

/** Flips a byte in every place of a trace file in turn, as far as the test has patience. */
function* damaged(bytes) {
  for (let at = 0; at < bytes.length; at += Math.ceil(bytes.length / 40)) {
    const copy = Buffer.from(bytes);
    copy[at] ^= 0x41;
    yield copy;
  }
}

test("a damaged trace file is not a wrong request, and is made again on demand", async () => {
  const run = "damaged";
  await server.analyzed(run, events_of([kernel("k", 1, 5), operator("o", 1, 5)]));
  const [{ id }] = (await server.get(`/runs/${run}`)).traces;
  const path = join(server.data, "traces", id.slice(2, 4), `${id}.sst`);
  const whole = readFileSync(path);
  const { json: before_it } = await server.request(`/api/v1/runs/${run}/timeline`);
  let refused = 0;
  for (const bytes of damaged(whole)) {
    writeFileSync(path, bytes);
    const { status, json } = await server.request(`/api/v1/runs/${run}/timeline`);
    if (status === 200) continue;
    refused++;
    assert.equal(status, 404);
    assert.match(json.fix, /reanalyze/);
  }
  assert.ok(refused > 20);
  await server.send("POST", `/runs/${run}/reanalyze`, {});
  await server.settled(run);
  assert.deepEqual((await server.request(`/api/v1/runs/${run}/timeline`)).json, before_it);
  assert.deepEqual(readFileSync(path), whole);
});
