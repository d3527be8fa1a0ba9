// SPDX-License-Identifier: Apache-2.0
// From a node to the service: push, watch and what they do while the service is gone.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import {
  appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync,
} from "node:fs";
import { createServer, request } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { start_server } from "./helpers/server.mjs";
import { root, run_status, stepscope_bin, temporary, until } from "./helpers/tools.mjs";
import { small_json } from "./helpers/traces.mjs";

let server;
before(async () => { server = await start_server(); });
after(() => server?.stop());

const trace = (name, rank = null) => small_json({ names: [name], rank, world_size: 2 });
const push = (url, args, env = {}) => run_status(stepscope_bin(), ["push", "--url", url, ...args],
  { env: { ...process.env, STEPSCOPE_TOKEN: "", ...env } });

/** A folder with two traces in subfolders, and things that must not be sent. */
function node_folder(what) {
  const folder = temporary(what);
  for (const rank of [0, 1]) {
    mkdirSync(join(folder, `rank${rank}`));
    writeFileSync(join(folder, `rank${rank}`, `rank${rank}.json`), trace(`${what}${rank}`, rank));
  }
  writeFileSync(join(folder, "rank2.json.tmp"), trace("unfinished"));
  writeFileSync(join(folder, "model.safetensors"), "weights");
  symlinkSync("/etc/passwd", join(folder, "link.json"));
  return folder;
}

/** `stepscope watch`, with what it said so far. */
function watch(folder, run, url = server.base, more = []) {
  const child = spawn(stepscope_bin(),
    ["watch", folder, "--run", run, "--url", url, "--settle", "1", ...more]);
  const seen = { child, text: "", status: undefined };
  child.stderr.on("data", (text) => { seen.text += text; });
  seen.ended = new Promise((done) => child.on("exit", (status) => done(seen.status = status)));
  return seen;
}

/** Between a client and the service; `cut` says for each request after how many bytes to stop. */
async function proxy(cut) {
  const seen = [];
  const between = createServer((asked, answer) => {
    const verdict = cut(asked, seen.length);
    seen.push(`${asked.method} ${asked.url}`);
    if (verdict?.status) {
      answer.writeHead(verdict.status, verdict.headers).end("{}");
      return;
    }
    const on = request(`${server.base}${asked.url}`, { method: asked.method,
      headers: { ...asked.headers, host: new URL(server.base).host } }, (reply) => {
      answer.writeHead(reply.statusCode, reply.headers);
      reply.pipe(answer);
    });
    on.on("error", () => asked.destroy());
    let sent = 0;
    asked.on("data", (bytes) => {
      sent += bytes.length;
      on.write(bytes);
      if (verdict?.bytes && sent >= verdict.bytes) { on.destroy(); asked.destroy(); }
    });
    asked.on("end", () => on.end());
  });
  await new Promise((done) => between.listen(0, "127.0.0.1", done));
  after(() => { between.closeAllConnections?.(); between.close(); });
  return { url: `http://127.0.0.1:${between.address().port}`, seen };
}

test("push sends a folder once, with the names of its subfolders", async () => {
  const folder = node_folder("pushed");
  const first = await push(server.base, [folder, "--run", "pushed", "--meta", "commit=1f2e,a=b"]);
  assert.equal(first.status, 0, first.stderr);
  assert.match(first.stderr, /2 sent, 0 known already, 0 refused/);
  const run = await server.settled("pushed");
  assert.equal(first.stdout.trim(), `${server.base}/runs/${run.id}`);
  assert.equal(run.received, 2);
  assert.deepEqual([run.meta.commit, run.meta.a], ["1f2e", "b"]);
  assert.deepEqual(run.traces.map((item) => item.filename).sort(),
    ["rank0/rank0.json", "rank1/rank1.json"]);
  const again = await push(server.base, [folder, "--run", "pushed", "--finalize"]);
  assert.match(again.stderr, /0 sent, 2 known already/);
  const without = await push(server.base, [folder, "--run", "pushed", "--state", "/dev/null",
    "--meta", "commit=1f2e,a=b"]);
  assert.equal(without.status, 0, without.stderr); // the service knows, too
  assert.match(without.stderr, /0 sent, 2 known already/);
});

test("push goes on where a connection broke off, and waits as long as it is asked to", async () => {
  const folder = temporary("cut");
  const file = small_json({ names: Array.from({ length: 600 }, (_, i) => `kernel_${i}`) });
  writeFileSync(join(folder, "rank0.json"), file);
  const turns = [{ status: 503, headers: { "Retry-After": "1" } }, null, null,
    { bytes: 100_000 }, null, { bytes: 200_000 }];
  const between = await proxy((_, turn) => turns[turn]);
  const begin = Date.now();
  const done = await push(between.url, [join(folder, "rank0.json"), "--run", "cut"]);
  assert.equal(done.status, 0, `${done.stderr}\n${between.seen.join("\n")}`);
  assert.ok(Date.now() - begin >= 1000, "Retry-After was kept");
  assert.equal(between.seen.filter((line) => line.startsWith("PATCH")).length, 3);
  assert.equal((await server.settled("cut")).status, "done");
});

test("what cannot work ends with its exit code and a reason", async () => {
  const folder = node_folder("codes");
  const gone = await push("http://127.0.0.1:9", [folder, "--run", "x", "--patience", "1"]);
  assert.equal(gone.status, 6, gone.stderr);
  assert.match(gone.stderr, /cannot be reached/);
  const denied = await proxy(() => ({ status: 401 }));
  const refused = await push(denied.url, [folder, "--run", "x"]);
  assert.equal(refused.status, 7);
  assert.match(refused.stderr, /401; set STEPSCOPE_TOKEN/);
  assert.equal((await push(server.base, ["/nope.json", "--run", "x"])).status, 3);
  assert.equal((await push(server.base, [folder])).status, 2);
  assert.equal((await push("ftp://x", [folder, "--run", "x"])).status, 2);
  const other = await push(server.base, [folder, "--run", "taken"]);
  assert.equal(other.status, 0, other.stderr);
  writeFileSync(join(folder, "rank0", "rank0.json"), trace("other", 0));
  const taken = await push(server.base, [folder, "--run", "taken"]);
  assert.equal(taken.status, 4, taken.stderr);
  assert.match(taken.stderr, /refused rank0\/rank0.json: it was sent before and has changed/);
  const replaced = await push(server.base, [folder, "--run", "taken", "--replace"]);
  assert.equal(replaced.status, 0, replaced.stderr);
  const run = await server.settled("taken");
  assert.equal(run.received, 2, "the changed file took the place of the first");
  const wrong = await push(server.base, [folder, "--run", "wrong", "--meta", "no equals sign"]);
  assert.equal(wrong.status, 4);
  assert.match(wrong.stderr, /refused rank1\/rank1.json: the service answers 400: /);
  const elsewhere = await proxy(() => ({ status: 201,
    headers: { Location: "http://evil.example/api/v1/tus/1" } }));
  const lured = await push(elsewhere.url, [folder, "--run", "lured"], { STEPSCOPE_TOKEN: "ss_x" });
  assert.equal(lured.status, 4);
  assert.match(lured.stderr, /not below its own/);
});

test("watch sends what settles, waits for a service that is gone, and drains", async () => {
  const folder = temporary("watched");
  const data = server.data;
  const seen = watch(folder, "watched");
  await until("it watches", () => /watching/.test(seen.text));
  const other = watch(folder, "watched");
  assert.equal(await other.ended, 6, "one process for a node");
  assert.match(other.text, /another process/);
  const slowly = "exec 3>rank1.json; read x; cat .late >&3";
  const writer = spawn("sh", ["-c", slowly], { cwd: folder });
  writeFileSync(join(folder, ".late"), trace("late"));
  writeFileSync(join(folder, "rank0.json.tmp"), trace("first"));
  renameSync(join(folder, "rank0.json.tmp"), join(folder, "rank0.json"));
  await until("rank 0 is sent", () => /sent {2}rank0.json/.test(seen.text));
  assert.doesNotMatch(seen.text, /rank1/, "a file that is open is not sent");
  await server.stop();
  writer.stdin.end("\n");
  mkdirSync(join(folder, "sub"));
  writeFileSync(join(folder, "sub", "rank2.json"), trace("sub"));
  const port = server.port;
  server = await start_server({ data, options: ["--listen", `127.0.0.1:${port}`] });
  await until("all is sent", () =>
    /sent {2}rank1.json/.test(seen.text) && /sent {2}sub\/rank2.json/.test(seen.text));
  writeFileSync(join(folder, "rank3.json"), trace("last"));
  seen.child.kill("SIGTERM");
  assert.equal(await seen.ended, 0, seen.text);
  assert.match(seen.text, /sent {2}rank3.json/);
  assert.equal((await server.settled("watched")).received, 4);
  const state = readFileSync(join(folder, ".stepscope-sent"), "utf8");
  assert.equal(state.trim().split("\n").length, 4);
  appendFileSync(join(folder, ".stepscope-sent"), '{"to":"torn');
  const again = await push(server.base, [folder, "--run", "watched"]);
  assert.match(again.stderr, /0 sent, 4 known already/);
});

// --- a training that records itself; torch is a stand-in -----------------------------------------

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

test("without a server files stay, and one that is gone holds nobody up", async () => {
  const kept = await train(LOOP, { STEPSCOPE_RUN: "kept" });
  assert.deepEqual([kept.status, kept.stderr], [0, ""]);
  assert.deepEqual(readdirSync(join(kept.cwd, "stepscope", "kept")), ["rank0.json"]);
  const begin = Date.now();
  const gone = await train(LOOP, { STEPSCOPE_RUN: "gone", STEPSCOPE_URL: "http://127.0.0.1:9" });
  assert.equal(gone.status, 0);
  assert.ok(Date.now() - begin < 8000);
  assert.match(gone.stderr, /does not answer.*traces wait in/);
  const folder = join(gone.cwd, "stepscope", "gone");
  assert.deepEqual(readdirSync(folder), ["rank0.json.gz"]);
  const later = await push(server.base, [folder, "--run", "gone"]);
  assert.equal(later.status, 0, later.stderr);
  assert.equal((await server.settled("gone")).status, "done");
});

test("whatever breaks in the profiler, the training goes on and the log says it once", async () => {
  const lines = `${LOOP}print("trained", record.error)\n`;
  for (const call of ["init", "start", "step", "stop", "export"]) {
    const done = await train(lines, { STAND_IN_FAIL: call, STEPSCOPE_RUN: "broken" });
    assert.equal(done.status, 0, done.stderr);
    assert.equal(done.stdout, `trained ${call}\n`);
    assert.equal(done.stderr, `recording ends: Broken: ${call}\n`);
  }
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

// --- word that goes out --------------------------------------------------------------------------

/** A receiver of webhooks, which is busy at first. */
async function receiver() {
  const got = [];
  let refusals = 1;
  const listening = createServer(async (asked, answer) => {
    let body = "";
    for await (const part of asked) body += part;
    if (refusals-- > 0) {
      answer.writeHead(503, { "Retry-After": "1" }).end();
      return;
    }
    got.push({ path: asked.url, headers: asked.headers, body, json: JSON.parse(body) });
    answer.writeHead(204).end();
  });
  await new Promise((done) => listening.listen(0, "127.0.0.1", done));
  after(() => { listening.closeAllConnections?.(); listening.close(); });
  return { got, url: `http://127.0.0.1:${listening.address().port}` };
}

test("webhooks bring finished runs, alerts and gates, signed, once, and after a restart",
  async () => {
    const folder = temporary("hooks");
    const { got, url } = await receiver();
    const secret = `whsec_${Buffer.from("a secret of some length").toString("base64")}`;
    const targets = join(folder, "hooks.json");
    writeFileSync(targets, JSON.stringify([
      { url: `${url}/json`, secret_env: "HOOK_SECRET" },
      { url: `${url}/slack`, format: "slack", events: ["alert", "gate.failed"] },
      { url: `${url}/other`, project: "other" }]));
    process.env.HOOK_SECRET = secret;
    const data = join(folder, "data");
    const options = ["--webhooks", targets, "--public-url", "https://traces.example",
      "--auth", "off"];
    const hub = await start_server({ data, options: [...options, "--allow-host", "127.0.0.1"] });
    const night = (day, kernel_us) => hub.analyzed(`nightly@${day}`,
      [{ data: small_json({ kernel_us, rank: 0 }), filename: "rank0.json" }], { world_size: 1 });
    for (let day = 1; day < 10; day++) await night(day, 2000);
    await night(10, 3000);
    const of = (path, type) => got.filter((one) =>
      one.path === path && (!type || one.json.type === type));
    await until("all runs have come", () => of("/json", "run.finished").length === 10);
    const [alert] = await until("the alert has come", () => {
      const found = of("/json", "alert.raised");
      return found.length && found;
    });
    assert.match(alert.json.text, /^nightly@10: step .* % slower than before, .* became /);
    assert.equal(alert.json.data.name, "nightly@10");
    const ask = (more) => hub.request("/api/v1/compare/gate?base=nightly@9&cand=nightly@10" +
      `&undecided=fail&max_regression=0.03${more}`);
    await ask("");
    await ask("&notify=true");
    await ask("&notify=true");
    const [gate] = await until("the gate has come", () => {
      const found = of("/json").filter((one) => one.json.type.startsWith("gate."));
      return found.length && found;
    });
    assert.match(gate.json.url, /^https:\/\/traces.example\/compare\?base=r_/);
    for (const { headers, body } of of("/json")) {
      const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
      const key = Buffer.from(secret.slice(6), "base64");
      const expected = createHmac("sha256", key).update(signed).digest("base64");
      assert.equal(headers["webhook-signature"], `v1,${expected}`);
    }
    const [slack] = of("/slack");
    assert.match(slack.json.text, /nightly@10: step .*\n<https:\/\/traces.example\/alerts\|open>$/);
    assert.equal(of("/other").length, 0);
    await hub.stop();
    const before = got.length;
    const again = await start_server({ data, options: [...options, "--allow-host", "127.0.0.1"] });
    await again.analyzed("last", [{ data: small_json(), filename: "a.json" }], { world_size: 1 });
    await until("the last run has come", () => got.length > before);
    assert.deepEqual(got.slice(before).map((one) => one.json.data.name), ["last"]);
    const ids = of("/json").map((one) => one.headers["webhook-id"]);
    assert.equal(new Set(ids).size, ids.length, "each once");
    const text = await again.request("/api/v1/compare/gate?base=nightly@9&cand=nightly@10" +
      "&format=markdown");
    assert.match(text.headers["content-type"], /^text\/markdown/);
    assert.match(text.text, /^### Step time: (undecided|\*\*fail\*\*)\n\n/);
    assert.match(text.text, /\[Open the comparison\]\(https:/);
    await again.stop();
    writeFileSync(targets, '[{"url": "file:///etc/passwd"}]');
    const wrong = await run_status(stepscope_bin(), ["serve", "--data", data, ...options]);
    assert.equal(wrong.status, 2);
    assert.match(wrong.stderr, /webhook 1: found the address 'file:/);
  });

test("the gate of a pipeline goes on until it is sure, and writes a comment", async () => {
  const cwd = temporary("gate");
  for (let i = 1; i <= 8; i++) {
    writeFileSync(join(cwd, `base${i}.json`), small_json({ kernel_us: 2000 + i * 3 }));
    writeFileSync(join(cwd, `same${i}.json`), small_json({ kernel_us: 2000 + (i * 5) % 17 }));
    writeFileSync(join(cwd, `slow${i}.json`), small_json({ kernel_us: 3000 + (i * 5) % 17 }));
  }
  const next = (side) => `n=$(cat n 2>/dev/null || echo 0); n=$((n + 1)); echo $n > n
    cp ${side}$(((n + 1) / 2)).json "$TRACES/rank0.json"`;
  const gate = (name, side) => run_status("bash",
    [join(root, "deploy/ci/gate.sh"), next("base"), next(side)],
    { cwd, env: { ...process.env, STEPSCOPE_URL: server.base, STEPSCOPE_TOKEN: "", NAME: name } });
  const slow = await gate("slow", "slow");
  assert.equal(slow.status, 1, slow.stdout + slow.stderr);
  assert.match(readFileSync(join(cwd, "gate.md"), "utf8"), /^### Step time: \*\*fail\*\*/);
  const pairs = slow.stdout.match(/^pair \d+: (fail|undecided|pass)/gm);
  assert.ok(pairs.length < 8, slow.stdout);
  writeFileSync(join(cwd, "n"), "0\n");
  const same = await gate("same", "same");
  assert.equal(same.status, 0, same.stdout + same.stderr);
  const broken = await gate("broken", "nothing");
  assert.equal(broken.status, 2);
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
  const { id } = await server.get("/runs/live");
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
});

// --- recording on request; the client of Kineto is a stand-in ------------------------------------

test("an agent has all processes of a job record the same steps, and sends it", async () => {
  const sockets = temporary("agent");
  const traces = join(sockets, "traces");
  const start = (more = []) => {
    const child = spawn(stepscope_bin(), ["agent", "--url", server.base, "--node", "node7",
      "--socket-dir", sockets, "--traces", traces, "--poll", "1", ...more]);
    const seen = { child, text: "" };
    child.stderr.on("data", (text) => { seen.text += text; });
    seen.ended = new Promise((done) => child.on("exit", done));
    after(() => child.kill("SIGKILL"));
    return seen;
  };
  const killed = start();
  await until("the agent waits", () => /waiting for training/.test(killed.text));
  killed.child.kill("SIGKILL"); // leaves its socket file behind
  await killed.ended;
  const agent = start();
  await until("the agent waits again", () => /waiting for training/.test(agent.text));
  assert.equal(await start().ended, 6, "one daemon for a node");
  const client = join(root, "tests/e2e/helpers/stand_in/kineto_client.py");
  const train_one = (rank, job) => run_status(process.env.STEPSCOPE_PYTHON ?? "python3",
    [client, "40"], { env: { PATH: process.env.PATH, KINETO_IPC_SOCKET_DIR: sockets,
      SLURM_JOB_ID: job, RANK: String(rank), PYTHONDONTWRITEBYTECODE: "1" } });
  const ranks = [0, 1, 2].map((rank) => train_one(rank, "4242"));
  const agents = await until("the service knows them", async () => {
    const known = await server.get("/agents");
    return known.nodes[0]?.processes.length === 3 && known;
  });
  assert.equal(agents.nodes[0].node, "node7");
  assert.deepEqual(agents.nodes[0].processes.map((one) => one.rank).sort(), [0, 1, 2]);
  assert.ok(agents.nodes[0].processes.every((one) => one.job === "4242" && !one.busy));
  const none = await server.send("POST", "/captures", { run: "other", job: "1" });
  assert.deepEqual([none.status, none.json.nodes], [202, 0]);
  const wanted = await server.send("POST", "/captures", { run: "captured", job: "4242", steps: 3 });
  assert.deepEqual([wanted.status, wanted.json.nodes], [202, 1]);
  for (const wrong of [{}, { run: "x", steps: 0 }, { run: "x", job: "a" }])
    assert.equal((await server.send("POST", "/captures", wrong)).status, 400);
  for (const one of await Promise.all(ranks)) {
    assert.equal(one.status, 0, one.stderr);
    const answers = one.stdout.trim().split("\n").map((line) => JSON.parse(line));
    assert.match(answers.at(-1).text, /^ACTIVITIES_LOG_FILE=.*\nACTIVITIES_DURATION_MSECS=0\n/);
    assert.match(answers.at(-1).text, /\nACTIVITIES_ITERATIONS=3\n/);
    assert.ok(answers.every(({ text }, i) => !text || i === answers.length - 1), "asked once");
  }
  await until("all traces are sent", () => agent.text.match(/^sent /gm)?.length === 3);
  const run = await server.settled("captured");
  assert.equal(run.status, "done");
  assert.deepEqual(run.traces.map((one) => one.rank).sort(), [0, 1, 2]);
  assert.ok((await server.get("/runs/captured/steps?limit=all")).items.length >= 3);
  agent.child.kill("SIGTERM");
  assert.equal(await agent.ended, 0, agent.text);
});
