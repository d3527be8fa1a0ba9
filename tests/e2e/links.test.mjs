// SPDX-License-Identifier: Apache-2.0
// Tests and records of links: uploaded with a job whose collectives they are compared with, and
// alone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { tar } from "./helpers/archives.mjs";
import { inspector_log, nccl_tests, ports, ras_status, topology } from "./helpers/link_files.mjs";
import { fields, file_part } from "./helpers/multipart.mjs";
import { start_server } from "./helpers/server.mjs";
import { generate, small_job } from "./helpers/traces.mjs";

let server;
let job;

before(async () => {
  server = await start_server();
  job = await generate(small_job());
});
after(() => server?.stop());

/** Uploads files of [content, name] and waits for them. */
async function send(run, ...files) {
  const reply = await server.post([...fields({ run }),
    ...files.map(([data, name]) => file_part(data, name))], "/upload?wait=60");
  return { ...reply.json, code: reply.status };
}

const rows = async (run, table) =>
  (await server.get(`/runs/${encodeURIComponent(run)}/${table}?limit=all`)).items;

const near = (found, expected) =>
  assert.ok(Math.abs(found / expected - 1) < 1e-9, `${found}, expected ${expected}`);

test("collectives of a job are compared with the test of its links", async () => {
  const traces = job.files.map(({ data, filename }) => [data, filename]);
  await send("job", ...traces);
  const before_that = await rows("job", "comm_waits");
  assert.ok(before_that.length > 2);
  for (const row of before_that) assert.equal(row.reference_basis, null);
  const sizes = before_that.map(({ bytes }) => bytes).sort((a, b) => a - b);
  // The smallest size is measured, the next lies between two, the largest beyond all.
  const [least, next] = sizes;
  const points = [[least, 200], [next / 2, 256], [next * 2, 400]].sort((a, b) => a[0] - b[0]);
  await send("job", [nccl_tests({ ranks: 2, points }), "all_reduce.txt"]);
  const waits = await rows("job", "comm_waits");
  const at = (bytes) => waits.find((row) => row.bytes === bytes);
  assert.equal(at(least).reference_basis, "all_reduce.txt");
  near(at(least).reference_gbps, 200);
  near(at(least).reference_share, at(least).bus_gbps / 200);
  near(at(next).reference_gbps, Math.sqrt(256 * 400));
  near(at(next).reference_share, at(next).bus_gbps / 320);
  assert.equal(at(sizes.at(-1)).reference_basis, "larger than tested");
  assert.equal(at(sizes.at(-1)).reference_share, null);
  const [curve] = await rows("job", "link_curves");
  assert.deepEqual([curve.kind, curve.ranks, curve.nodes, curve.sizes, curve.peak_gbps],
    ["all_reduce", 2, 1, 3, 400]);
  const recorded = (await rows("job", "collectives")).find(({ bytes }) => bytes === least);
  near(recorded.reference_share, recorded.bus_gbps / 200);
});

test("a test on other ranks is no reference", async () => {
  await send("other", ...job.files.map(({ data, filename }) => [data, filename]),
    [nccl_tests({ ranks: 8, points: [[1 << 20, 100], [1 << 28, 400]] }), "eight.txt"]);
  for (const row of await rows("other", "comm_waits")) {
    assert.equal(row.reference_basis, "not tested with this many ranks and nodes");
    assert.equal(row.reference_gbps, null);
  }
});

test("files of links alone make a run with their tables", async () => {
  const reply = await send("alone", [nccl_tests({ ranks: 4, points: [[1 << 20, 50]],
    collective: "all_gather" }), "gather.txt"], [topology(), "topo.txt"], [ports(), "ibstat.txt"],
  [inspector_log(), "node-a-pid7000.log"], [ras_status(), "ras.json"]);
  assert.equal(reply.status, "done");
  assert.equal(reply.received, 0);
  const tests = await rows("alone", "link_tests");
  assert.deepEqual(tests.map(({ file, kind, ranks, nodes, bytes, in_place, bus_gbps, wrong }) =>
    [file, kind, ranks, nodes, bytes, in_place, bus_gbps, wrong]),
  [["gather.txt", "all_gather", 4, 1, 1 << 20, false, 50, 0],
    ["gather.txt", "all_gather", 4, 1, 1 << 20, true, 50, 0]]);
  const paths = await rows("alone", "link_topology");
  assert.equal(paths.length, 30);
  assert.deepEqual(paths.filter(({ from_name, kind }) => from_name === "GPU0" && kind === "PIX")
    .map(({ to_name, to_device, meaning }) => [to_name, to_device, meaning]),
  [["NIC0", "mlx5_0", "at most one PCIe bridge"]]);
  assert.deepEqual((await rows("alone", "link_ports")).map(({ device, state, rate_gbps }) =>
    [device, state, rate_gbps]), [["mlx5_0", "Active", 50], ["mlx5_1", "Down", 1.25]]);
  assert.deepEqual((await rows("alone", "link_records")).map((row) => [row.name, row.kind,
    row.bytes, row.calls, row.median_ns, row.best_bus_gbps]),
  [["data", "all_reduce", 1 << 20, 2, 40_000, 26]]);
  assert.deepEqual((await rows("alone", "link_communicators")).map((row) => [row.communicator,
    row.ranks, row.missing, row.least_collectives, row.behind_rank]), [["0x1f", 3, "2", 11, 1]]);
});

test("an archive of such files, text first, is unpacked", async () => {
  const { inputs } = await send("archive", [tar([
    { name: "job/all_reduce.txt", data: nccl_tests({ ranks: 2, points: [[1 << 20, 50]] }) },
    { name: "job/ras.json", data: ras_status() },
  ]), "links.tar"]);
  assert.deepEqual(inputs.map(({ format, status }) => [format, status]),
    [["tar", "done"], ["nccl-tests", "done"], ["nccl-ras-json", "done"]]);
  assert.equal((await rows("archive", "link_tests")).length, 2);
  assert.equal((await rows("archive", "link_communicators")).length, 1);
});

test("a test without a result fails and says so", async () => {
  const reply = await send("empty", [nccl_tests({ ranks: 2, points: [] }), "none.txt"]);
  assert.equal(reply.code, 422);
  assert.match(reply.detail, /found a test of links without a single result/);
});
