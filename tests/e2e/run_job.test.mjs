// SPDX-License-Identifier: Apache-2.0
// What the ranks of a run show together: on the service as they arrive, and on the command line.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { join } from "node:path";
import { start_server } from "./helpers/server.mjs";
import { run_program, stepscope_bin } from "./helpers/tools.mjs";
import { generate } from "./helpers/traces.mjs";

const RANKS = 4;
const LATE = 2;

let server, job, partial, whole;
const rows = async (table, query = "") =>
  (await server.get(`/runs/many/${table}?limit=all${query}`)).items;

before(async () => {
  server = await start_server();
  job = await generate(["--ranks", String(RANKS), "--steps", "5", "--layers", "4",
    "--straggler", `${LATE}=130`]);
  await server.analyzed("many", job.files.filter((_, rank) => rank !== LATE));
  partial = { run: await server.get("/runs/many"), ranks: await rows("ranks"),
    trust: await rows("trust", "&item=missing_ranks") };
  await server.analyzed("many", [job.files[LATE]]);
  whole = await server.get("/runs/many");
});
after(() => server?.stop());

test("a rank that is missing is named, and the others are joined without it", () => {
  assert.deepEqual(partial.ranks.map(({ rank }) => rank), [0, 1, 3]);
  assert.equal(partial.trust.length, 1);
  assert.match(partial.trust[0].detail, /: 2$/);
});

test("a rank that comes later is joined, and no other is analyzed again", async () => {
  assert.equal((await rows("ranks")).length, RANKS);
  assert.deepEqual(await rows("trust", "&item=missing_ranks"), []);
  const { length } = partial.run.traces;
  assert.equal(length, RANKS - 1);
  const known = new Map(whole.traces.map((trace) => [trace.rank, trace]));
  for (const trace of partial.run.traces) assert.deepEqual(known.get(trace.rank), trace);
});

test("each step of each rank parts its exposed communication into wait and transfer", async () => {
  const steps = await rows("rank_steps");
  assert.equal(steps.length, (await rows("steps")).length);
  assert.equal(new Set(steps.map(({ rank }) => rank)).size, RANKS);
  for (const row of steps) {
    assert.equal(row.exposed_wait_ns + row.exposed_transfer_ns, row.exposed_comm_ns,
      `rank ${row.rank}, step ${row.step}`);
    assert.ok(row.wait_ns >= row.exposed_wait_ns);
  }
  assert.deepEqual(await rows("rank_steps", "&rank=1"), steps.filter(({ rank }) => rank === 1));
});

test("figures of a rank are the means of its steady steps", async () => {
  const steps = (await rows("rank_steps")).filter(({ steady }) => steady);
  for (const rank of await rows("ranks")) {
    const own = steps.filter((row) => row.rank === rank.rank);
    for (const column of ["exposed_wait_ns", "exposed_transfer_ns", "wait_ns", "lateness_ns"]) {
      const sum = own.reduce((total, row) => total + row[column], 0);
      assert.equal(rank[column], Math.trunc(sum / own.length), `${rank.rank} ${column}`);
    }
  }
});

test("the rank that the others wait for stands first, with its reason", async () => {
  const [late, ...others] = await rows("lateness");
  assert.equal(late.rank, LATE);
  assert.equal(late.reason, "compute_slower");
  assert.ok(late.caused_wait_ns > 10 * Math.max(...others.map((row) => row.caused_wait_ns)));
  const waits = await rows("ranks");
  const least = waits.reduce((a, b) => (a.wait_ns < b.wait_ns ? a : b));
  assert.equal(least.rank, LATE);
});

test("efficiency is the product of its parts", async () => {
  const table = await rows("efficiency");
  const value = Object.fromEntries(table.map((row) => [row.metric, row.value]));
  const near = (found, expected) => assert.ok(Math.abs(found - expected) < 1e-9,
    `${found} instead of ${expected}`);
  near(value.communication_efficiency, value.transfer_efficiency * value.serialization_efficiency);
  near(value.parallel_efficiency, value.load_balance * value.communication_efficiency);
  const compute = (await rows("ranks")).map((row) => row.compute_ns);
  const mean = compute.reduce((a, b) => a + b) / compute.length;
  assert.ok(Math.abs(value.load_balance - mean / Math.max(...compute)) < 1e-6);
  assert.ok(Object.values(value).every((share) => share > 0 && share <= 1));
});

test("tables that only a run has refuse a rank where no row is of one", async () => {
  const reply = await server.request("/api/v1/runs/many/efficiency?rank=1");
  assert.equal(reply.status, 400);
});

test("analyze tells the same in text, and all of it in JSON", async () => {
  const paths = job.files.map(({ filename }) => join(job.folder, filename));
  const text = await run_program(stepscope_bin(), ["analyze", ...paths]);
  assert.match(text, /ms waiting for other ranks, [\d.]+ ms in transfer/);
  assert.match(text, new RegExp(`rank ${LATE} causes [\\d.]+ % of all waiting`));
  assert.match(text, /the same kernels take longer on it/);
  assert.match(text, /strategy +DDP4/);
  assert.match(text, /load balance [\d.]+ %/);
  assert.doesNotMatch(text, /\bnan\b/);
  const { run } = JSON.parse(await run_program(stepscope_bin(),
    ["analyze", "--format", "json", ...paths]));
  for (const table of ["lateness", "comm_waits", "clocks", "rank_steps", "efficiency", "strategy"])
    assert.deepEqual(run.tables[table], await rows(table), table);
});

test("where ranks hardly wait, none is named for it", async () => {
  const { files, folder } = await generate(["--ranks", "2", "--steps", "4", "--layers", "2"]);
  const text = await run_program(stepscope_bin(),
    ["analyze", ...files.map(({ filename }) => join(folder, filename))]);
  assert.match(text, /ms waiting for other ranks/);
  assert.doesNotMatch(text, /of all waiting/);
});
