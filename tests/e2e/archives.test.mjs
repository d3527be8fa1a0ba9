// SPDX-License-Identifier: Apache-2.0
// Archives bring all ranks of a folder to their runs, and each member has its own outcome.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { tar, zip } from "./helpers/archives.mjs";
import { fields, file_part } from "./helpers/multipart.mjs";
import { start_server } from "./helpers/server.mjs";
import { root, run_program, run_shell, temporary, until } from "./helpers/tools.mjs";
import { small_json, small_trace } from "./helpers/traces.mjs";

const LOG = "step 1 loss 2.5\nHF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz012345\n";

let server;

before(async () => {
  server = await start_server();
});
after(() => server?.stop());

const rank_json = (rank) => small_json({ rank, world_size: 2, kernel_us: 20 + rank });

/** Uploads an archive and waits for it. */
function upload(run, data, filename, more = {}) {
  return server.post([...fields({ run, ...more }), file_part(data, filename)], "/upload?wait=60");
}

/** The inputs of a run, in short. */
async function inputs(run) {
  const { items } = await server.get(`/runs/${encodeURIComponent(run)}/inputs?limit=all`);
  return items;
}

const two_ranks = [{ name: "job/rank0.json", data: rank_json(0) },
  { name: "job/rank1.json.gz", data: gzipSync(rank_json(1)) }];

const SPEEDSCOPE = JSON.stringify({
  profiles: [{ type: "sampled", name: "main", samples: [[0], [0], [0, 1]], weights: [1, 1, 1] }],
  shared: { frames: [{ name: "forward" }, { name: "load" }] } });
const GRAPH = JSON.stringify({ schema: "1.0.2",
  nodes: [{ name: "## process_group:init ##" }, { name: "aten::mm" }] });

test("profiles of the host and execution traces are kept, with what they hold", async () => {
  const data = tar([{ name: "job/py.speedscope.json", data: SPEEDSCOPE },
    { name: "job/et.json", data: GRAPH }, { name: "job/rank0.json", data: rank_json(0) }]);
  const reply = await upload("kept", data, "job.tar");
  assert.equal(reply.status, 200, reply.text);
  const alone = await upload("kept", SPEEDSCOPE, "other.json");
  assert.equal(alone.status, 200, alone.text);
  const found = (await inputs("kept")).filter(({ kind }) => kind === "attachment");
  assert.deepEqual(found.map(({ format, reason, status }) => [format, reason, status]).sort(), [
    ["execution-trace", "schema 1.0.2; nodes 2; names 2; process groups 1; communication nodes 0; "
      + "nodes with shapes 0; most frequent ## process_group:init ## 50 %, aten::mm 50 %", "done"],
    ...Array(2).fill(["speedscope",
      "profiles 1; frames 2; samples 3; top frames forward 67 %, load 33 %", "done"])]);
});

test("one curl line brings all ranks of a folder to their run", async () => {
  const folder = temporary("archives");
  for (const rank of [0, 1]) writeFileSync(join(folder, `rank${rank}.json`), rank_json(rank));
  writeFileSync(join(folder, "train.log"), LOG);
  await run_shell("tar c rank0.json rank1.json train.log | zstd -q -o job.tar.zst", {
    cwd: folder });
  const out = await run_program("curl", ["-sS", "--fail-with-body", "-F", "run=exp42", "-F",
    "trace=@job.tar.zst", `${server.base}/upload?wait=60`], { cwd: folder });
  const reply = JSON.parse(out);
  assert.equal(reply.status, "done");
  assert.deepEqual(reply.traces.map(({ rank, status }) => [rank, status]),
    [[0, "done"], [1, "done"]]);
  assert.deepEqual(reply.inputs.map(({ kind, filename }) => [kind, filename]),
    [["archive", "job.tar.zst"], ["attachment", "train.log"]]);
});

test("every kind of archive gives the same ranks", async () => {
  const kinds = [["tar", tar(two_ranks), "x.tar"], ["gz", gzipSync(tar(two_ranks)), "x.tar.gz"],
    ["zip", zip(two_ranks), "x.zip"], ["unnamed", tar(two_ranks), "blob"]];
  for (const [run, data, name] of kinds) {
    const reply = await upload(run, data, name);
    assert.equal(reply.status, 200, reply.text);
    assert.deepEqual(reply.json.traces.map(({ rank, rank_from, filename }) =>
      [rank, rank_from, filename]), [[0, "metadata", "job/rank0.json"],
      [1, "metadata", "job/rank1.json.gz"]], run);
    assert.equal((await server.settled(run)).received, 2);
  }
});

test("each member has its own outcome, and attachments lose their secrets", async () => {
  const inner = tar([{ name: "a", data: "b" }]);
  const data = tar([...two_ranks, { name: "job/train.log", data: LOG },
    { name: "job/old.log.gz", data: gzipSync(LOG) }, { name: "job/config.json", data: '{"a":1}' },
    { name: "job/more.tar", data: inner }, { name: "job/link", type: "2" },
    { name: "../../etc/passwd", data: "x" }, { name: "job/dump.bin", data: "\0\u0001\0\u0002" },
    { name: "job/secret.bin", data: "\0\u0001 API_KEY=abcdefgh \0" }]);
  const reply = await upload("fates", data, "job.tar");
  assert.equal(reply.status, 200, reply.text);
  const found = await inputs("fates");
  const by_name = Object.fromEntries(found.map((input) => [input.filename, input]));
  assert.deepEqual(found.map(({ kind }) => kind), ["archive", "trace", "trace", "attachment",
    "attachment", "attachment", "attachment", "skipped", "skipped", "attachment", "attachment"]);
  assert.match(by_name["job/more.tar"].reason, /archive within an archive/);
  assert.match(by_name["job/link"].reason, /symbolic link/);
  assert.match(by_name["../../etc/passwd"].reason, /leads out/);
  for (const name of ["job/train.log", "job/old.log"]) {
    const file = await server.request(`/api/v1/inputs/${by_name[name].id}/file`);
    assert.equal(file.status, 200);
    assert.equal(file.text, "step 1 loss 2.5\nHF_TOKEN=[redacted:named]\n");
    assert.match(file.headers["content-disposition"], /^attachment; filename="(train|old)\.log"/);
    assert.equal(file.headers["x-content-type-options"], "nosniff");
  }
  const binary = await server.request(`/api/v1/inputs/${by_name["job/dump.bin"].id}/file`);
  assert.equal(binary.text, "\0\u0001\0\u0002");
  assert.equal(by_name["job/secret.bin"].secrets, 1);
  const trace = await server.request(`/api/v1/inputs/${by_name["job/rank0.json"].id}/file`);
  assert.equal(trace.status, 404);
});

test("several windows become runs of a series, one is the run itself", async () => {
  const windows = [10, 20].flatMap((n) => [0, 1].map((rank) => ({
    name: `out/profiling/traces/iteration_${n}/rank${rank}_trace.json`,
    data: small_json({ rank, world_size: 2, kernel_us: n + rank }) })));
  const reply = await upload("titan", tar(windows), "titan.tar");
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.json.traces.length, 4);
  for (const n of [10, 20]) {
    const run = await server.settled(`titan@iteration_${n}`);
    assert.equal(run.status, "done");
    assert.deepEqual(run.traces.map(({ rank }) => rank), [0, 1]);
    assert.equal(run.series, "titan");
  }
  assert.equal((await inputs("titan")).length, 5);
  await upload("single", tar(windows.slice(0, 2)), "titan.tar");
  assert.equal((await server.settled("single")).received, 2);
});

test("several recordings of each process in one folder become runs of a series", async () => {
  const files = [1, 2].flatMap((n) => [0, 1].map((rank) => ({
    name: `logs/host_${100 + rank}.170000000${n}000.pt.trace.json`,
    data: small_json({ rank, world_size: 2, kernel_us: n + rank }) })));
  const reply = await upload("repeated", tar(files.reverse()), "logs.tar");
  assert.equal(reply.status, 200, reply.text);
  for (const n of [1, 2]) {
    const run = await server.settled(`repeated@window_${n}`);
    assert.deepEqual(run.traces.map(({ rank, filename }) => [rank, filename.split(".")[1]]),
      [[0, `170000000${n}000`], [1, `170000000${n}000`]]);
  }
  const runs = await server.get("/series/repeated/points");
  assert.deepEqual(runs.items.map(({ name }) => name),
    ["repeated@window_1", "repeated@window_2"]);
});

test("an archive that is cut keeps the members before, and says so", async () => {
  const whole = tar(two_ranks);
  const at = tar(two_ranks.slice(0, 1)).length - 1024 + 100; // in the second header
  const reply = await upload("cut", whole.subarray(0, at), "job.tar");
  assert.equal(reply.status, 422, reply.text);
  assert.match(reply.json.detail, /damaged or cut/);
  const run = await server.settled("cut");
  assert.deepEqual(run.traces.map(({ rank, status }) => [rank, status]), [[0, "done"]]);
  const [archive] = await inputs("cut");
  assert.equal(archive.status, "failed");
});

test("a bomb is stopped, and leaves no bytes", async () => {
  const zeros = gzipSync(Buffer.alloc(80 << 20));
  const members = [{ name: "rank0.json", data: rank_json(0) }, { name: "log.gz", data: zeros }];
  const reply = await upload("bomb", tar(members), "bomb.tar");
  assert.equal(reply.status, 422, reply.text);
  assert.match(reply.json.detail, /times its size/);
  assert.equal((await server.settled("bomb")).received, 1);
  await server.alive();
});

test("what is no archive despite its name is read as a trace", async () => {
  const reply = await upload("named", gzipSync(rank_json(0)), "job.tar.gz");
  assert.equal(reply.status, 200, reply.text);
  assert.deepEqual(reply.json.traces.map(({ rank, filename }) => [rank, filename]),
    [[0, "job.tar.gz"]]);
});

test("an archive without a trace fails nobody, an empty one does", async () => {
  const logs = await upload("logs", tar([{ name: "a.log", data: "hello\n" }]), "logs.tar");
  assert.equal(logs.status, 200, logs.text);
  const empty = await upload("nothing", tar([{ name: "folder/", type: "5" }]), "nothing.tar");
  assert.equal(empty.status, 422);
  assert.match(empty.json.detail, /without files/);
  assert.equal((await server.settled("nothing")).status, "failed");
});

test("the same archive again stores nothing new", async () => {
  const data = tar([{ name: "rank0.json", data: small_json({ rank: 0, kernel_us: 77 }) }]);
  const first = await upload("again", data, "a.tar");
  const second = await upload("again", data, "b.tar");
  assert.equal(second.status, 200, second.text);
  assert.deepEqual(second.json.traces.map(({ id }) => id), first.json.traces.map(({ id }) => id));
  assert.equal((await inputs("again")).length, 2);
});

test("a rank cannot be given to an archive", async () => {
  const reply = await upload("ranked", tar(two_ranks), "job.tar", { rank: 3 });
  assert.equal(reply.status, 400);
  const raw = await server.request("/api/v1/runs/ranked/ranks/0/trace",
    { method: "PUT", body: tar(two_ranks) });
  assert.equal(raw.status, 422);
  assert.match(raw.json.detail, /tar archive/);
});

test("deleting the run deletes what the archive brought", async () => {
  const own = small_trace({ rank: 0, kernel_us: 91 });
  const data = tar([{ name: "rank0.json", data: JSON.stringify(own) },
    { name: "only-here.log", data: "only here\n" }]);
  const reply = await upload("deleted", data, "d.tar");
  const log = reply.json.inputs.find(({ kind }) => kind === "attachment");
  const blob = (bytes) => {
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    return join(server.data, "blobs", sha256.slice(0, 2), sha256);
  };
  const blobs = [blob(JSON.stringify(own)), blob("only here\n")];
  assert.ok(blobs.every(existsSync));
  await until("the unpacked archive is gone", async () => !existsSync(blob(data)), 60_000);
  const gone = await server.request(`/api/v1/runs/${reply.json.run}`,
    { method: "DELETE", headers: { "If-Match": "*" } });
  assert.ok([200, 202, 204].includes(gone.status), gone.text);
  assert.equal((await server.request(`/api/v1/inputs/${log.id}/file`)).status, 404);
  const purged = await server.request(`/api/v1/bin/${reply.json.run}`,
    { method: "DELETE", headers: { "If-Match": "*" } });
  assert.ok([200, 202, 204].includes(purged.status), purged.text);
  await until("its files are gone", async () => !blobs.some(existsSync), 60_000);
});

test("a service that is killed goes on where it was", async () => {
  const members = Array.from({ length: 90 }, (_, i) =>
    ({ name: `rank${i}.json`, data: small_json({ rank: i, world_size: 90, kernel_us: 10 + i }) }));
  const data = tar([...members, { name: "train.log", data: LOG }]);
  let other = await start_server();
  const { data: folder } = other;
  const reply = await other.post([...fields({ run: "killed" }), file_part(data, "job.tar")]);
  assert.equal(reply.status, 202, reply.text);
  for (const pause_ms of [0, 30, 60, 120, 240]) {
    await new Promise((done) => setTimeout(done, pause_ms));
    await other.kill();
    other = await start_server({ data: folder });
  }
  const found = await until("all members are there", async () => {
    const { items } = await other.get("/runs/killed/inputs?limit=all");
    return items.length === 92 && items;
  }, 240_000);
  assert.deepEqual(found.filter(({ parent }) => parent).map(({ position }) => position),
    Array.from({ length: 91 }, (_, i) => i));
  const run = await other.settled("killed", 240_000);
  assert.equal(run.received, 90);
  assert.equal(run.status, "done", run.error);
  await other.stop();
});

test("what is read at positions may be compressed or in an archive", async () => {
  const profile = readFileSync(join(root, "tests/fuzz/corpus/fuzz_xplane/two_planes"));
  const name = "plugins/profile/1/host.xplane.pb";
  for (const [run, data, filename] of [["gzip", gzipSync(profile), "host.xplane.pb.gz"],
    ["tar", tar([{ name, data: profile }]), "plugins.tar"],
    ["zip", zip([{ name, data: profile }]), "plugins.zip"],
    ["twice", gzipSync(tar([{ name: `${name}.gz`, data: gzipSync(profile) }])), "plugins.tgz"]]) {
    const reply = await upload(`xplane_${run}`, data, filename);
    assert.equal(reply.status, 200, reply.text);
    const { items } = await server.get(`/runs/xplane_${run}/kernels`);
    assert.deepEqual(items.map(({ calls }) => calls), [1], run);
  }
});
