// SPDX-License-Identifier: Apache-2.0
// From a node to the service: push, watch and what they do while the service is gone.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
  appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync,
} from "node:fs";
import { createServer, request } from "node:http";
import { gzipSync } from "node:zlib";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { flight_dumps } from "./helpers/flight_jobs.mjs";
import { start_server } from "./helpers/server.mjs";
import { run_status, stepscope_bin, temporary, until } from "./helpers/tools.mjs";
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
  seen.ended = new Promise((done) => child.on("close", (status) => done(seen.status = status)));
  after(() => child.kill("SIGKILL")); // a failed test must not wait for it
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
  assert.match(first.stderr, /2 sent, 0 already known, 0 refused/);
  assert.match(first.stderr, new RegExp("left out: 3 \\(1 of a kind that is not read, such as " +
    "model\\.safetensors; 1 unfinished, such as rank2\\.json\\.tmp; " +
    "1 no regular file, such as link\\.json"));
  const run = await server.settled("pushed");
  assert.equal(first.stdout.trim(), `${server.base}/runs/${run.id}`);
  assert.equal(run.received, 2);
  assert.deepEqual([run.meta.commit, run.meta.a], ["1f2e", "b"]);
  assert.deepEqual(run.traces.map((item) => item.filename).sort(),
    ["rank0/rank0.json", "rank1/rank1.json"]);
  const again = await push(server.base, [folder, "--run", "pushed", "--finalize"]);
  assert.match(again.stderr, /0 sent, 2 already known/);
  const without = await push(server.base, [folder, "--run", "pushed", "--state", "/dev/null",
    "--meta", "commit=1f2e,a=b"]);
  assert.equal(without.status, 0, without.stderr); // the service knows, too
  assert.match(without.stderr, /0 sent, 2 already known/);
});

test("push sends Flight Recorder dumps, whose names have no ending", async () => {
  const folder = temporary("hang");
  for (const dump of flight_dumps({ ranks: 2, tensor: 1, fault: "host", culprit: 1 }))
    writeFileSync(join(folder, dump.name), dump.data);
  writeFileSync(join(folder, "checkpoint_7"), Buffer.from([0x80, 2, 0x7d, 0x2e]));
  const done = await push(server.base, [folder, "--run", "hang"]);
  assert.equal(done.status, 0, done.stderr);
  assert.match(done.stderr, /2 sent/);
  assert.match(done.stderr, /left out: 1 \(1 of a kind that is not read, such as checkpoint_7\)/);
});

test("push goes on where a connection broke off, and waits as long as it is asked to", async () => {
  const folder = temporary("cut");
  const file = small_json({ names: Array.from({ length: 600 }, (_, i) => `kernel_${i}`) });
  writeFileSync(join(folder, "rank0.json"), file);
  const turns = [{ status: 503, headers: { "Retry-After": "1" } }, null, null,
    { bytes: 100_000 }, null, { bytes: 200_000 }];
  const times = [];
  const between = await proxy((_, turn) => {
    times.push(performance.now());
    return turns[turn];
  });
  const done = await push(between.url, [join(folder, "rank0.json"), "--run", "cut"]);
  assert.equal(done.status, 0, `${done.stderr}\n${between.seen.join("\n")}`);
  // Without the header it would try again within a second.
  assert.ok(times[1] - times[0] >= 1400, "Retry-After was kept");
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
  writeFileSync(join(folder, ".late"), trace("late"));
  const slowly = "exec 3>rank1.json; head -c 1 .late >&3; read x; tail -c +2 .late >&3";
  const writer = spawn("sh", ["-c", slowly], { cwd: folder });
  const late = join(folder, "rank1.json");
  await until("rank 1 is being written", () =>
    existsSync(late) && readFileSync(late).length === 1);
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
  assert.match(again.stderr, /0 sent, 4 already known/);
});

test("watch --remove keeps nothing that the service has, but logs", async () => {
  const folder = temporary("emptied");
  for (const name of ["rank0.json", "train.log", "model.safetensors"])
    writeFileSync(join(folder, name), name.startsWith("rank") ? trace("gone", 0)
      : "iteration 1/ 9 | elapsed time per iteration (ms): 100.5 | lm loss: 2.5\n");
  const seen = watch(folder, "emptied", server.base, ["--remove"]);
  await until("both are sent", () => seen.text.match(/^sent /gm)?.length === 2);
  await until("the trace is removed", () => !existsSync(join(folder, "rank0.json")));
  seen.child.kill("SIGTERM");
  assert.equal(await seen.ended, 0, seen.text);
  assert.ok(existsSync(join(folder, "train.log")) && existsSync(join(folder, "model.safetensors")));
  const run = await server.settled("emptied");
  assert.equal(run.received, 1);
  // One that was sent before is removed by the next process.
  writeFileSync(join(folder, "rank1.json"), trace("later", 1));
  assert.equal((await push(server.base, [folder, "--run", "emptied"])).status, 0);
  const next = watch(folder, "emptied", server.base, ["--remove"]);
  await until("it is removed, too", () => !existsSync(join(folder, "rank1.json")));
  next.child.kill("SIGTERM");
  assert.equal(await next.ended, 0, next.text);
  assert.match(next.text, /^0 sent/m);
});

test("push sends the files of a set as one, once all of them are there", async () => {
  const folder = temporary("set");
  const header = "\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\","
    + "\"Start_Timestamp\",\"End_Timestamp\"\n";
  mkdirSync(join(folder, "node"));
  writeFileSync(join(folder, "node", "7_kernel_trace.csv"), "\"Kind\",\"Agent_Id\",\"Queue_Id\","
    + "\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n"
    + "\"KERNEL_DISPATCH\",4,1,1,\"gemm\",1,2000,3000\n");
  writeFileSync(join(folder, "node", "7_hip_api_trace.csv"),
    `${header}"HIP_RUNTIME_API_EXT","hipLaunchKernel",7,7,1,1000,1500\n`);
  const first = await push(server.base, [folder, "--run", "set"]);
  assert.equal(first.status, 0, first.stderr);
  assert.match(first.stderr, /2 sent, 0 already known, 0 refused/);
  const run = await server.settled("set");
  assert.deepEqual(run.traces.map((item) => item.filename), ["node/7.csv"]);
  const [linked] = (await server.get("/runs/set/launches?metric=linked_device_events")).items;
  assert.equal(linked.value, 1); // of the kernel in one file to the call in the other
  const again = await push(server.base, [folder, "--run", "set"]);
  assert.match(again.stderr, /0 sent, 2 already known/);
  writeFileSync(join(folder, "node", "7_marker_api_trace.csv"), header);
  const late = await push(server.base, [folder, "--run", "set"]);
  assert.equal(late.status, 4, late.stderr);
  assert.match(late.stderr, /others of its set were sent before it/);
  const seen = watch(folder, "set");
  await until("it watches", () => /watching/.test(seen.text));
  writeFileSync(join(folder, "rank1.json"), trace("other", 1));
  await until("another file is sent", () => /sent {2}rank1.json/.test(seen.text));
  seen.child.kill("SIGTERM");
  assert.equal(await seen.ended, 0, seen.text);
  assert.doesNotMatch(seen.text, /refused node/, "what was refused is not asked for again");
});

test("push --role says what the traces of a folder do; a log among them has no role", async () => {
  for (const [rank, role] of ["policy", "judge"].entries()) {
    const folder = temporary(role);
    writeFileSync(join(folder, `rank${rank}.json`), trace(role, rank));
    writeFileSync(join(folder, "train.log"), "iteration 1/ 9 | elapsed time per iteration (ms): "
      + `10${rank}.5 | lm loss: 2.5\n`);
    const done = await push(server.base, [folder, "--run", "roles", "--role", role]);
    assert.equal(done.status, 0, done.stderr);
    assert.match(done.stderr, /2 sent, 0 already known, 0 refused/);
  }
  await server.settled("roles");
  assert.deepEqual((await server.get("/runs/roles/roles")).items.map(({ role }) => role),
    ["policy", "judge"]);
  assert.deepEqual((await server.get("/runs/roles")).traces.map(({ role }) => role),
    ["policy", "judge"]);
});

test("a compressed copy of a file is not sent beside it", async () => {
  const folder = temporary("copies");
  const kernels = "Kind,Agent_Id,Queue_Id,Kernel_Name,Correlation_Id,Start_Timestamp,"
    + "End_Timestamp\nKERNEL_DISPATCH,4,1,gemm,1,100,200\n";
  writeFileSync(join(folder, "7_kernel_trace.csv"), kernels);
  writeFileSync(join(folder, "7_kernel_trace.csv.gz"), gzipSync(kernels));
  const { status, stderr } = await push(server.base, [folder, "--run", "copies"]);
  assert.equal(status, 4, stderr);
  assert.match(stderr, /refused 7_kernel_trace.csv.gz: a compressed copy of 7_kernel_trace.csv /);
  assert.match(stderr, /1 sent, 0 already known, 1 refused/);
});

test("a set that cannot be joined is refused, and other files are sent", async () => {
  const folder = temporary("codings");
  writeFileSync(join(folder, "7_kernel_trace.csv.gz"), Buffer.from("1f8b0800", "hex"));
  writeFileSync(join(folder, "7_hip_api_trace.csv.zst"), Buffer.from("28b52ffd", "hex"));
  writeFileSync(join(folder, "8_kernel_trace.csv.gz"), Buffer.from("1f8b0800", "hex"));
  writeFileSync(join(folder, "8_hip_api_trace.csv.zst"), Buffer.from("28b52ffd", "hex"));
  writeFileSync(join(folder, "rank0.json"), trace("codings", 0));
  const { status, stderr } = await push(server.base, [folder, "--run", "codings"]);
  assert.equal(status, 4, stderr);
  assert.match(stderr, /refused 8_kernel_trace.csv.gz: found files of one trace as .gz and as /);
  assert.match(stderr, /1 sent, 0 already known, 4 refused/);
});
