// SPDX-License-Identifier: Apache-2.0
// A training that records itself; torch is a stand-in. Stage times of running jobs.
import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { start_server } from "./helpers/server.mjs";
import { root, run_status, stepscope_bin, temporary } from "./helpers/tools.mjs";

let server;
before(async () => { server = await start_server(); });
after(() => server?.stop());

const LOOP = `import time
from stepscope import record
for i in range(30):
    record.step()
`;

/** Runs a training of some lines; env as a job has it. */
function train(lines, env = {}) {
  const cwd = temporary("train");
  writeFileSync(join(cwd, "train.py"), lines);
  const python = process.env.STEPSCOPE_PYTHON ?? "python3";
  const path = [join(root, "web/client"), join(root, "tests/e2e/helpers/stand_in")].join(":");
  return run_status(python, ["train.py", "--lr", "3e-4"], { cwd, env: { PATH: process.env.PATH,
    PYTHONPATH: path, PYTHONDONTWRITEBYTECODE: "1", ...env } })
    .then((done) => ({ ...done, cwd }));
}

test("one line in the loop gives a run with its ranks, settings and eight steps", async () => {
  const env = { STEPSCOPE_URL: server.base, STEPSCOPE_RUN: "hooked", WORLD_SIZE: "2",
    SLURM_JOB_ID: "4242" };
  const both = await Promise.all(["0", "1"].map((rank) => train(LOOP, { ...env, RANK: rank })));
  for (const one of both) {
    assert.equal(one.status, 0, one.stderr);
    assert.equal(one.stderr, "");
    assert.deepEqual(readdirSync(join(one.cwd, "stepscope", "hooked")), [], "sent, so removed");
  }
  const run = await server.settled("hooked");
  assert.deepEqual([run.received, run.world_size, run.status], [2, 2, "done"]);
  assert.deepEqual(run.traces.map((one) => one.rank).sort(), [0, 1]);
  assert.deepEqual([run.meta.arguments, run.meta.slurm_job, run.meta.framework],
    ["train.py --lr 3e-4", "4242", "torch 0.0+stand.in"]);
  const steps = await server.get("/runs/hooked/steps?limit=all");
  assert.equal(steps.items.length, 2 * 8);
});

test("a training with a profiler hands over what that records, twice as a series", async () => {
  const done = await train(`from stepscope import record
from torch.profiler import profile
with profile(schedule=record.schedule(wait=1, warmup=1, active=3, repeat=2),
             on_trace_ready=record.on_trace_ready) as prof:
    for i in range(12):
        prof.step()
`, { STEPSCOPE_URL: server.base, STEPSCOPE_RUN: "own" });
  assert.equal(done.status, 0, done.stderr);
  assert.equal((await server.settled("own")).received, 1);
  assert.equal((await server.settled("own@2")).received, 1);
});

test("the trust report says what recording costs, by the steps before it", async () => {
  // Steps of the stand-in's traces take 1 ms.
  const lines = (plain_ns) => `import time
from stepscope import record
now_ns = 1
time.perf_counter_ns = lambda: now_ns
record.start(wait=8, warmup=1, active=4)
for i in range(20):
    now_ns += ${plain_ns}
    record.step()
`;
  const found = async (name, plain_ns) => {
    const done = await train(lines(plain_ns), { STEPSCOPE_URL: server.base, STEPSCOPE_RUN: name });
    assert.equal(done.stderr, "");
    await server.settled(name);
    const { items } = await server.get(`/runs/${name}/trust?limit=all`);
    return items.filter(({ item }) => item === "recorded_slower");
  };
  const [slower] = await found("costly", 800_000);
  assert.match(slower.detail, /^steps take 25 % longer in the trace, 1\.00 ms, .*, 0\.800 ms$/);
  assert.deepEqual(await found("like_it", 990_000), []);
});

test("trainings that are forked after the import record, each as its rank", async () => {
  const done = await train(`import multiprocessing, os
from stepscope import record
def work(rank):
    os.environ["RANK"] = str(rank)
    for i in range(30):
        record.step()
fork = multiprocessing.get_context("fork")
both = [fork.Process(target=work, args=(rank,)) for rank in (0, 1)]
for one in both: one.start()
for one in both: one.join()
print([one.exitcode for one in both])
`, { STEPSCOPE_URL: server.base, STEPSCOPE_RUN: "forked", WORLD_SIZE: "2" });
  assert.deepEqual([done.status, done.stdout, done.stderr], [0, "[0, 0]\n", ""]);
  assert.equal((await server.settled("forked")).received, 2);
});

test("ranks that a batch script spawns are those of the group, not the script's", async () => {
  const done = await train(`import multiprocessing
import torch.distributed
from stepscope import record
def work(rank):
    record.start()                       # as in a job that makes its group later
    torch.distributed.init_process_group(rank=rank, world_size=2)
    for i in range(30):
        record.step()
    torch.distributed.destroy_process_group()
fork = multiprocessing.get_context("fork")
both = [fork.Process(target=work, args=(rank,)) for rank in (0, 1)]
for one in both: one.start()
for one in both: one.join()
`, { STEPSCOPE_URL: server.base, STEPSCOPE_RUN: "spawned", SLURM_JOB_ID: "7", SLURM_PROCID: "0",
    SLURM_NTASKS: "1" });
  assert.deepEqual([done.status, done.stderr], [0, ""]);
  const run = await server.settled("spawned");
  assert.deepEqual([run.received, run.world_size], [2, 2]);
  assert.deepEqual(run.traces.map((one) => one.rank).sort(), [0, 1]);
  assert.equal((await server.get("/runs/spawned/live")).ranks, 2);
});

test("mpirun's rank comes before that of the task of Slurm in which it runs", async () => {
  const done = await train("from stepscope import record\nprint(record.rank)\n",
    { SLURM_PROCID: "0", OMPI_COMM_WORLD_RANK: "3" });
  assert.deepEqual([done.stdout, done.stderr], ["3\n", ""]);
});

test("a requeued job is a run beside its first try, and nodes without a common name say so",
  async () => {
    const again = await train(LOOP, { SLURM_JOB_ID: "7", SLURM_JOB_NAME: "llm",
      SLURM_RESTART_COUNT: "2" });
    assert.equal(again.stderr, "");
    assert.deepEqual(readdirSync(join(again.cwd, "stepscope")), ["llm-7-r2"]);
    const node = { RANK: "0", LOCAL_RANK: "0", WORLD_SIZE: "16", LOCAL_WORLD_SIZE: "8" };
    const apart = await train(LOOP, { ...node, TORCHELASTIC_RUN_ID: "none" });
    assert.match(apart.stderr, /^no name is the same on all nodes: .*--rdzv-id\n$/);
    const named = await train(LOOP, { ...node, TORCHELASTIC_RUN_ID: "42" });
    assert.equal(named.stderr, "");
    assert.deepEqual(readdirSync(join(named.cwd, "stepscope")), ["train-42"]);
  });

test("a recording that is turned off stays off, with a profiler and after steps", async () => {
  const done = await train(`from stepscope import record
from torch.profiler import profile
record.step()
record.step()
with profile(schedule=record.schedule(wait=0, warmup=0, active=1),
             on_trace_ready=record.on_trace_ready) as prof:
    for i in range(4):
        prof.step()
        record.step()
print(record.close())
`, { STEPSCOPE_RECORD: "0", STEPSCOPE_RUN: "disabled" });
  assert.deepEqual([done.status, done.stdout, done.stderr], [0, "True\n", ""]);
  assert.deepEqual(readdirSync(done.cwd), ["train.py"]);
});

test("close says that a file was given up, and headers are found in any case", async () => {
  const answers = { POST: [400, "{}"] };
  const small = createServer((asked, answer) => {
    asked.resume();
    asked.on("end", () => {
      const [status, text] = answers[asked.method] ?? [404, ""];
      answer.writeHead(status, { "content-type": "application/json" }).end(text);
    });
  });
  await new Promise((ready) => small.listen(0, "127.0.0.1", ready));
  after(() => small.close());
  const done = await train(`${LOOP}print(record.close())\n`, { STEPSCOPE_RUN: "given_up",
    STEPSCOPE_URL: `http://127.0.0.1:${small.address().port}` });
  assert.equal(done.stdout, "False\n", done.stderr);
  assert.deepEqual(readdirSync(join(done.cwd, "stepscope", "given_up")), ["rank0.json.gz"]);
  answers.POST = [409, ""];
  small.prependListener("request", (_, answer) => answer.setHeader("upload-result", "u_1"));
  const known = await train(`${LOOP}print(record.close())\n`, { STEPSCOPE_RUN: "known",
    STEPSCOPE_URL: `http://127.0.0.1:${small.address().port}` });
  assert.equal(known.stdout, "True\n", known.stderr);
});

test("without a server files stay, and one that is gone holds nobody up", async () => {
  const from = Date.now();
  const kept = await train(LOOP, { STEPSCOPE_RUN: "kept" });
  const kept_ms = Date.now() - from;
  assert.deepEqual([kept.status, kept.stderr], [0, ""]);
  assert.deepEqual(readdirSync(join(kept.cwd, "stepscope", "kept")), ["rank0.json"]);
  const gone = await train(LOOP, { STEPSCOPE_RUN: "gone", STEPSCOPE_URL: "http://127.0.0.1:9" });
  assert.equal(gone.status, 0);
  const gone_ms = Date.now() - from - kept_ms;
  assert.ok(gone_ms < 8000 + kept_ms, `${gone_ms} ms, ${kept_ms} with nowhere to send to`);
  assert.match(gone.stderr, /does not answer.*traces wait in/);
  const folder = join(gone.cwd, "stepscope", "gone");
  assert.deepEqual(readdirSync(folder), ["rank0.json.gz"]);
  const later = await run_status(stepscope_bin(),
    ["push", folder, "--run", "gone", "--url", server.base]);
  assert.equal(later.status, 0, later.stderr);
  assert.equal((await server.settled("gone")).status, "done");
});

test("whatever breaks in the profiler, the training goes on and the log says it once", async () => {
  const lines = `${LOOP}print("trained", record.error)\n`;
  await Promise.all(["init", "start", "step", "stop", "export"].map(async (call) => {
    const done = await train(lines, { STAND_IN_FAIL: call, STEPSCOPE_RUN: "broken" });
    assert.equal(done.status, 0, done.stderr);
    assert.equal(done.stdout, `trained ${call}\n`);
    assert.equal(done.stderr, `recording ends: Broken: ${call}\n`);
  }));
  const full = await train(lines, { STEPSCOPE_RUN: "full", STEPSCOPE_SPOOL: "/proc/nowhere" });
  assert.match(full.stdout, /^trained \[Errno/);
  const none = await train(lines, { STEPSCOPE_RECORD: "0" });
  assert.deepEqual([none.stdout, none.stderr], ["trained None\n", ""]);
});

/** Lines that print the least cost of a step, ns of processor time; other processes only add. */
const least_cost = (body) => `import time
def cost():
    begin = time.thread_time_ns()
    for i in range(1000):
        ${body.replaceAll("\n", "\n        ")}
    return (time.thread_time_ns() - begin) / 1000
print(min(cost() for i in range(10)))
`;
const REQUEST_NS = 150_000; // the client's share of one to this machine is more

test("a step outside of a capture costs next to nothing", async () => {
  const done = await train(`from stepscope import record
record.start("cheap", wait=0, warmup=0, active=1)
record.step()
${least_cost("record.step()")}`);
  assert.equal(done.status, 0, done.stderr);
  assert.ok(Number(done.stdout) < REQUEST_NS / 3, `${done.stdout} ns a step`);
});

// --- stage times ---------------------------------------------------------------------------------

test("stage times of running ranks name who makes a step late, and go with their run", async () => {
  const RANKS = 4;
  const stages = ["data", "forward", "sync"];
  const noise = (i) => ((i * 7919) % 101) * 3000;
  const send = (rank, first_step, rows, more = {}) => server.send("POST", "/steps",
    { run: "live", rank, first_step, stages, rows, ...more });
  for (let rank = 0; rank < RANKS; rank++) {
    const rows = Array.from({ length: 120 }, (_, step) => {
      const late = step >= 60 ? 40_000_000 : 0;
      const own = rank === 2 ? late : 0;
      return [10_000_000 + own + noise(step * 5 + rank), 50_000_000 + noise(step + rank * 3),
        5_000_000 + late - own];
    });
    const reply = await send(rank, 1000, rows);
    assert.equal(reply.status, 202, reply.text);
    assert.equal(reply.json.accepted, 120);
    assert.equal((await send(rank, 1000, rows)).status, 202); // sent twice counts once
  }
  const { id } = await server.get("/runs/live");
  const { items } = await server.get("/audit?limit=all");
  assert.equal(items.filter((one) => one.object === `/api/v1/steps (run ${id})`).length, 1,
    "making a run is audited, steps are not");
  const live = await server.get("/runs/live/live");
  assert.deepEqual([live.ranks, live.steps, live.first_step, live.last_step],
    [4, 120, 1000, 1119]);
  assert.deepEqual(live.stages.map((one) => one.stage), stages);
  const [change, ...others] = live.changes;
  assert.deepEqual(others, []);
  assert.ok(Math.abs(change.step - 1060) <= 2, `${change.step}`);
  assert.deepEqual([change.suspects[0].stage, change.suspects[0].rank], ["data", 2]);
  assert.ok(Math.abs(change.suspects[0].gain_ns - 40_000_000) < 2_000_000);
  const parts = live.stages.reduce((sum, one) => sum + one.mean_ns, 0);
  const mean = live.points.reduce((sum, [, ns]) => sum + ns, 0) / live.points.length;
  assert.ok(Math.abs(parts - mean) < 10, "the parts add up");
  for (const wrong of [{ rank: -1 }, { rank: 16384 }, { stages: [] }, { stages: ["a", "a", "b"] },
    { rows: [] }, { rows: [[1, 2]] }, { rows: [[1, 2, -3]] }, { rows: [[1, 2, "x"]] },
    { stages: ["a\nb", "c", "d"] }, { run: "" }, { first_step: 1.5 }, { more: 1 }]) {
    const reply = await send(0, 0, [[1, 2, 3]], wrong);
    assert.equal(reply.status, 400, `${JSON.stringify(wrong)} ${reply.text}`);
  }
  const many = Array.from({ length: 16 }, (_, i) => `s${i}`);
  assert.equal((await send(0, 0, [many.map(() => 1)], { stages: many })).status, 400);
  const kept = () => readdirSync(join(server.data, "steps"));
  assert.ok(kept().includes(id));
  await server.request(`/api/v1/runs/${id}`, { method: "DELETE", headers: { "If-Match": "*" } });
  await server.request(`/api/v1/bin/${id}`, { method: "DELETE" });
  assert.ok(!kept().includes(id), "what is purged is gone");
});

test("record.step() sends stage times, and a server that is gone costs nothing", async () => {
  const lines = `import time
from stepscope import record
import stepscope
stepscope._STEPS_PAUSE_S = 0.1
record.start("timed", active=0)
for i in range(40):
    record.stage("data")
    time.sleep(0.002)
    record.stage("forward")
    time.sleep(0.004)
    record.step()
${least_cost('record.stage("data")\nrecord.step()')}`;
  const done = await train(lines, { STEPSCOPE_URL: server.base, RANK: "0" });
  assert.deepEqual([done.status, done.stderr], [0, ""]);
  assert.ok(Number(done.stdout) < REQUEST_NS, `${done.stdout} ns a step`);
  const live = await server.get("/runs/timed/live");
  assert.equal(live.ranks, 1);
  assert.ok(live.steps >= 1000, `${live.steps}`);
  assert.deepEqual(live.stages.map((one) => one.stage), ["step", "data", "forward"]);
  const gone = await train(lines, { STEPSCOPE_URL: "http://127.0.0.1:9", RANK: "0" });
  assert.deepEqual([gone.status, gone.stderr], [0, ""]);
  assert.ok(Number(gone.stdout) < REQUEST_NS, `${gone.stdout} ns a step`);
});
