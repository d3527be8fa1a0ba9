// SPDX-License-Identifier: Apache-2.0
// Many nodes record at once: the service is killed in the middle and comes back, one node's disk is
// full, and the clocks of two others are wrong by a day. What a process has recorded arrives, each
// once, and nothing hangs. Nodes that had not asked yet record as well: what is wanted is kept.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { start_server } from "../e2e/helpers/server.mjs";
import { free_port, root, run_status, stepscope_bin, temporary, until }
  from "../e2e/helpers/tools.mjs";
import { figure, is_long, lean, torture_preload } from "./helpers/torture.mjs";

const NODES = is_long ? 64 : 8;
// A process that records ends at once; only the one whose node's disk is full goes on so long.
const TRAINING_S = is_long ? 40 : 20;
const PATIENT_S = 180;
const WRONG_CLOCKS_S = { 1: "-86400", 2: "86400" }; // of nodes
const CLIENT = join(root, "tests/e2e/helpers/stand_in/kineto_client.py");

class Node {
  constructor(number, url, place) {
    this.number = number;
    this.sockets = join(place, `s${number}`);
    this.traces = join(place, `t${number}`);
    this.url = url;
    this.text = "";
    this.clock = number in WRONG_CLOCKS_S ? { LD_PRELOAD: torture_preload("clock"),
      STEPSCOPE_CLOCK_S: WRONG_CLOCKS_S[number], ASAN_OPTIONS: "verify_asan_link_order=0" } : {};
    mkdirSync(this.sockets, { recursive: true });
  }

  start() {
    this.agent = spawn(stepscope_bin(), ["agent", "--url", this.url, "--node", `n${this.number}`,
      "--socket-dir", this.sockets, "--traces", this.traces, "--poll", "1"],
    { env: { ...process.env, ...this.clock } });
    this.agent.stderr.on("data", (text) => { this.text += text; });
    after(() => this.agent.kill("SIGKILL"));
  }

  train(seconds) {
    const child = spawn(process.env.STEPSCOPE_PYTHON ?? "python3", [CLIENT, `${seconds}`, "0"],
      { stdio: "ignore", env: { PATH: process.env.PATH, KINETO_IPC_SOCKET_DIR: this.sockets,
        SLURM_JOB_ID: "7", RANK: `${this.number}`, PYTHONDONTWRITEBYTECODE: "1",
        ...this.clock } });
    this.ended = once(child, "exit");
    after(() => child.kill("SIGKILL"));
  }

  get recorded() { return /^process \d+ records /m.test(this.text); }

  get sent() { return this.text.match(/^sent /gm)?.length ?? 0; }
}

/** A disk of a few pages for one node; false where none can be mounted. */
async function fill_disk(node) {
  mkdirSync(node.traces, { recursive: true });
  const mount = ["-t", "tmpfs", "-o", "size=4k,mode=700", "tmpfs", node.traces];
  if ((await run_status("mount", mount)).status !== 0) return false;
  after(() => run_status("umount", ["-l", node.traces]));
  await run_status("sh", ["-c", `yes >${node.traces}/ballast 2>/dev/null`]);
  return true;
}

test(`${NODES} agents, a service that is killed, a full disk and wrong clocks`, async () => {
  const place = temporary("agents");
  const options = [...lean, "--listen", `127.0.0.1:${await free_port()}`];
  let server = await start_server({ options });
  const nodes = Array.from({ length: NODES }, (_, i) => new Node(i, server.base, place));
  const is_full = await fill_disk(nodes[0]);
  for (const node of nodes) node.start();
  await until("all agents wait", () => nodes.every(({ text }) => /waiting for training/.test(text)),
    60_000);
  for (const node of nodes) node.train(is_full && node === nodes[0] ? TRAINING_S : PATIENT_S);
  await until("all processes are known", async () => (await server.get("/agents"))
    .nodes.filter(({ processes }) => processes.length).length === NODES, 60_000);
  assert.equal((await server.send("POST", "/captures", { run: "many", job: "7", steps: 2 })).status,
    202);
  await until("half of them record", () =>
    nodes.filter(({ recorded }) => recorded).length >= NODES / 2);
  server.child.kill("SIGKILL");
  await once(server.child, "exit");
  server = await start_server({ data: server.data, options });
  await Promise.all(nodes.map(({ ended }) => ended)); // none hangs, whatever the service does
  const writing = nodes.filter(({ number }) => !(is_full && number === 0));
  assert.deepEqual(writing.filter(({ recorded }) => !recorded).map(({ number }) => number), []);
  await until("what was recorded is sent", () => writing.every(({ sent }) => sent === 1), 120_000);
  const run = await server.settled("many");
  assert.deepEqual(run.traces.map(({ rank }) => rank).sort((a, b) => a - b),
    writing.map(({ number }) => number));
  assert.ok(run.traces.every(({ status }) => status === "done"));
  // A time of the file would be that of a node's clock; the run has the service's.
  assert.ok(Math.abs(Date.now() - Date.parse(run.created)) < 600_000, run.created);
  if (is_full) {
    assert.equal(nodes[0].sent, 0);
    assert.equal(nodes[0].agent.exitCode, null, "it goes on");
  }
  assert.ok(nodes.every(({ agent }) => agent.exitCode === null));
  const full = is_full ? "; one with a full disk recorded nothing and went on" : "";
  figure("agents", `${NODES} nodes, ${writing.length} recorded before the service was killed or `
    + `after, all sent once, two by clocks wrong by a day${full}`);
});
