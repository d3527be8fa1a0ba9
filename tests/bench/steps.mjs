// SPDX-License-Identifier: Apache-2.0
// Stage times of a large job, sent as the hook sends them: a message per rank every five seconds.
// Prints what part of a core the service takes at one step a second, reading of the page included;
// fails past a limit.
// usage: node tests/bench/steps.mjs STEPSCOPE [--ranks 1024] [--messages 12] [--most 0.1]
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

const words = process.argv.slice(2);
const option = (name, usual) => {
  const at = words.indexOf(name);
  return Number(at < 0 ? usual : words.splice(at, 2)[1]);
};
const ranks = option("--ranks", 1024);
const messages = option("--messages", 12);
const most = option("--most", 0.1);
const SECONDS = 5; // between two messages of a rank, with a step a second
const PAGE_SECONDS = 10; // between two looks of an open page
const TICKS = 100;
const STAGES = ["data", "forward", "backward", "sync", "optimizer"];

const folder = mkdtempSync(join(tmpdir(), "stepscope-steps-"));
const child = spawn(words[0], ["serve", "--data", folder, "--listen", "127.0.0.1:0"]);
const base = await new Promise((done, fail) => {
  child.stdout.on("data", (text) => done(/http:\S+\d/.exec(text)[0]));
  child.on("exit", () => fail(new Error("the service ended")));
});
const agent = new Agent({ keepAlive: true, maxSockets: 16 });

const send = (method, path, body) => new Promise((done, fail) => {
  const headers = { Host: "127.0.0.1", "Content-Type": "application/json" };
  const sent = request(base + path, { method, agent, headers }, (reply) => {
    reply.on("data", () => {}).on("end", () => (reply.statusCode < 300 ? done()
      : fail(new Error(`${method} ${path}: ${reply.statusCode}`))));
  });
  sent.on("error", fail).end(body);
});

/** Processor seconds of the service so far. */
function used_s() {
  const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

const row = (rank, step) => STAGES.map((_, i) => 40_000_000 + ((rank * 31 + step * 17 + i) % 97)
  * 10_000);

async function send_all(number) {
  const first_step = number * SECONDS;
  const bodies = Array.from({ length: ranks }, (_, rank) => JSON.stringify({ run: "large", rank,
    first_step, stages: STAGES, job: 7,
    rows: Array.from({ length: SECONDS }, (__, i) => row(rank, first_step + i)) }));
  await Promise.all(bodies.map((body) => send("POST", "/api/v1/steps", body)));
}

try {
  await send_all(0); // makes the run
  const before_s = used_s();
  for (let number = 1; number <= messages; number++) {
    await send_all(number);
    if (number % (PAGE_SECONDS / SECONDS) === 0) await send("GET", "/api/v1/runs/large/live");
  }
  const core = (used_s() - before_s) / (messages * SECONDS);
  console.log(`${ranks} ranks x 1 step a second: ${core.toFixed(3)} of a core`);
  process.exitCode = core <= most ? 0 : 1;
} finally {
  agent.destroy();
  child.kill();
  rmSync(folder, { recursive: true });
}
