// SPDX-License-Identifier: Apache-2.0
// Recording on request; the client of Kineto is a stand-in.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { axe_faults, launch, on_clean_page, visit } from "./helpers/browser.mjs";
import { start_server } from "./helpers/server.mjs";
import { root, run_program, run_status, stepscope_bin, temporary, until }
  from "./helpers/tools.mjs";

let server;
before(async () => { server = await start_server(); });
after(() => server?.stop());

let browser;
after(() => browser?.close());
const shared_browser = async () => (browser ??= await launch());

/** Presses the button of the only job that is known. */
async function record_on_the_page(run, steps) {
  await on_clean_page(await shared_browser(), server.base, {}, async (page) => {
    await visit(page, "/upload");
    const card = page.locator(".card", { hasText: "Record a running job" });
    await card.getByText("3 processes on node7").waitFor();
    await card.getByLabel("Run", { exact: true }).fill(run);
    await card.getByLabel("Steps").fill(String(steps));
    await card.getByRole("button", { name: "Record job 4242" }).click();
    await card.getByText(`Asked 1 node to record; ${run} appears`).waitFor();
    assert.deepEqual(await axe_faults(page), []);
  });
}

test("an agent has all processes of a job record the same steps, and sends it", async () => {
  const sockets = temporary("agent");
  const traces = join(sockets, "traces");
  const start = (more = []) => {
    const child = spawn(stepscope_bin(), ["agent", "--url", server.base, "--node", "node7",
      "--socket-dir", sockets, "--traces", traces, "--poll", "1", ...more]);
    const seen = { child, text: "" };
    child.stderr.on("data", (text) => { seen.text += text; });
    seen.ended = new Promise((done) => child.on("close", done)); // all that it said is here
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
  const python = process.env.STEPSCOPE_PYTHON ?? "python3";
  const train_one = (rank, job, more, signal) => run_status(python, [client, ...more], { signal,
    env: { PATH: process.env.PATH, KINETO_IPC_SOCKET_DIR: sockets, SLURM_JOB_ID: job,
      RANK: String(rank), PYTHONDONTWRITEBYTECODE: "1" } });
  const ranks = [0, 1, 2].map((rank) => train_one(rank, "4242", ["120", String(rank)]));
  const agents = await until("the service knows them", async () => {
    const known = await server.get("/agents");
    return known.nodes[0]?.processes.length === 3 && known;
  });
  assert.equal(agents.nodes[0].node, "node7");
  assert.deepEqual(agents.nodes[0].processes.map((one) => one.rank).sort(), [0, 1, 2]);
  assert.ok(agents.nodes[0].processes.every((one) => one.job === "4242" && !one.busy));
  const none = await server.send("POST", "/captures", { run: "other", job: "1" });
  assert.deepEqual([none.status, none.json.nodes], [202, 0]);
  await record_on_the_page("captured", 3);
  for (const wrong of [{}, { run: "x", steps: 0 }, { run: "x", job: "a" }])
    assert.equal((await server.send("POST", "/captures", wrong)).status, 400);
  for (const [rank, one] of (await Promise.all(ranks)).entries()) {
    assert.equal(one.status, 0, one.stderr);
    const answers = one.stdout.trim().split("\n").map((line) => JSON.parse(line));
    assert.match(answers.at(-1).text, /^ACTIVITIES_LOG_FILE=.*\nACTIVITIES_DURATION_MSECS=0\n/);
    assert.match(answers.at(-1).text, /\nACTIVITIES_ITERATIONS=3\n/);
    assert.equal(answers.filter(({ text }) => text).length, rank + 1, "asked until it starts");
  }
  await until("all traces are sent", () => agent.text.match(/^sent /gm)?.length === 3);
  const run = await server.settled("captured");
  assert.equal(run.status, "done");
  assert.deepEqual(run.traces.map((one) => one.rank).sort(), [0, 1, 2]);
  assert.ok((await server.get("/runs/captured/steps?limit=all")).items.length >= 3);
  await turns_slow(agent, train_one);
  agent.child.kill("SIGTERM");
  assert.equal(await agent.ended, 0, agent.text);
});

/** Stage times of a job whose rank 2 is slower from step 60 on. */
const slow_steps = (run, job, rank, from, count) => ({ run, rank, job, first_step: from,
  stages: ["data", "sync"], rows: Array.from({ length: count }, (_, i) => {
    const late = from + i >= 60 ? 40_000_000 : 0;
    const own = rank === 2 ? late : 0;
    return [10_000_000 + own + 1000 * ((i * 7919) % 101), 50_000_000 + late - own];
  }) });

/** Steps of a job become slower by its rank 2: that rank and another are recorded. */
async function turns_slow(agent, train_one) {
  const send = (rank, from, count) =>
    server.send("POST", "/steps", slow_steps("slow", 77, rank, from, count));
  for (const rank of [0, 1, 2, 3]) await send(rank, 0, 120);
  assert.equal((await server.get("/runs/slow/live")).changes[0].recorded, null, "no agent");
  const end = new AbortController(); // ranks 1 and 3 are asked for nothing and would go on
  const ranks = [0, 1, 2, 3].map((rank) => train_one(rank, "77", ["120", "0"], end.signal));
  await until("the service knows them", async () => (await server.get("/agents"))
    .nodes[0].processes.filter(({ job }) => job === "77").length === 4);
  assert.equal((await send(0, 120, 1)).status, 202);
  const { captures } = await server.get("/agents");
  const capture = captures.find(({ job }) => job === "77");
  assert.deepEqual([capture?.run, capture?.ranks], ["slow@60", [2, 0]]);
  await send(1, 120, 1);
  assert.equal((await server.get("/agents")).captures.length, captures.length, "once");
  await until("both are sent", () => agent.text.match(/^sent /gm)?.length === 5);
  assert.equal((await server.get("/runs/slow/live")).changes[0].recorded, "slow@60");
  const run = await server.settled("slow@60");
  assert.deepEqual(run.traces.map(({ rank }) => rank).sort(), [0, 2]);
  end.abort();
  await Promise.allSettled(ranks);
  assert.equal(agent.text.match(/^process .* run slow@60$/gm).length, 2, agent.text);
  await on_clean_page(await shared_browser(), server.base, {}, async (page) => {
    await visit(page, "/runs/slow/training");
    await page.getByText(/rank 2 takes .* longer in data/).first().waitFor();
    assert.equal(await page.getByRole("link", { name: "slow@60" }).count(), 1);
    assert.deepEqual(await axe_faults(page), []);
  });
}

test("who may only upload has no agents of others record a job that turned slow", async () => {
  const data = join(temporary("guarded"), "data");
  const out = await run_program(stepscope_bin(), ["token", "create", "--data", data, "--name",
    "root", "--scopes", "admin"]);
  const guarded = await start_server({ data, token: /ss_\S+/.exec(out)[0],
    options: ["--auth", "required"] });
  after(() => guarded.stop());
  const bearer = async (name, scopes) => {
    const { json } = await guarded.send("POST", "/tokens", { name, scopes });
    return { Authorization: `Bearer ${json.token}` };
  };
  const node = await bearer("node", ["upload"]);
  const processes = [0, 1, 2].map((rank) => ({ pid: 10 + rank, job: 5, rank, busy: false }));
  const polled = await guarded.send("POST", "/agents/poll", { node: "n", processes }, node);
  assert.equal(polled.status, 200);
  const wanted = async (run, sender) => {
    const sent = await guarded.send("POST", "/steps", slow_steps(run, 5, 2, 0, 120), sender);
    assert.equal(sent.status, 202);
    return (await guarded.get("/agents")).captures.filter((one) => one.run.startsWith(`${run}@`));
  };
  assert.deepEqual(await wanted("foreign", await bearer("other", ["upload"])), []);
  assert.equal((await wanted("own", node)).length, 1);
  assert.equal((await wanted("any", await bearer("all", ["upload", "write"]))).length, 1);
});
