// SPDX-License-Identifier: Apache-2.0
// What a change would bring, against the same job generated with that change: the true answer.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { read_graph, replay_steps } from "../../web/views/whatif/graph.mjs";
import { start_server } from "./helpers/server.mjs";
import { real_traces, run_program, skipped, stepscope_bin, temporary, tracegen_bin }
  from "./helpers/tools.mjs";

const SEEDS = Number(process.env.STEPSCOPE_TRIALS ?? 1);
// What was done to a job, and the change that undoes it.
const FAULTS = [
  [["--slow", "gemm=150"], `scale=${100 / 150}:category=GEMM`],
  [["--slow", "attention=200"], "scale=0.5:category=attention"],
  [["--slow", "elementwise=300"], `scale=${1 / 3}:category=elementwise`],
  [["--slow", "norm=400"], "scale=0.25:category=normalization"],
  [["--slow", "comm=200"], "scale=0.5:class=communication"],
  [["--slow", "comm=400"], "scale=0.25:class=communication"],
  [["--slow-op", "aten::mm=250"], "scale=0.4:op=aten::mm"],
  [["--plant", "starvation=5000000"], "data_ready"],
  [["--plant", "low_overlap=5000000"], "perfect_overlap"],
];

async function generate(args) {
  const folder = temporary("whatif");
  await run_program(tracegen_bin(), [...args, "--out", folder]);
  return join(folder, "rank0.json");
}

async function whatif(file, change) {
  const args = ["whatif", "--format", "json", "--change", change, file];
  const [trace] = JSON.parse(await run_program(stepscope_bin(), args)).traces;
  return { ...trace, answer: trace.answers[0] };
}

const sum_of = (values) => values.reduce((sum, value) => sum + value, 0);
const mean = (values) => sum_of(values) / values.length;

/** The mean of the same steps of another recording. */
const same_steps = (clean, steps) =>
  mean(steps.map(({ step }) => clean.find((other) => other.step === step).measured_ns));

describe("what if", () => {
  for (const flavour of ["cuda", "rocm"])
    for (const strategy of ["ddp", "fsdp"])
      test(`the undone fault takes as long as the job without it: ${flavour}, ${strategy}`,
        async () => {
          let inside = 0;
          for (let seed = 1; seed <= SEEDS; seed++) {
            const job = ["--seed", `${seed}`, "--steps", "10", "--layers", "4",
              "--flavour", flavour, "--strategy", strategy];
            const clean = (await whatif(await generate(job), "host_free")).answer.steps;
            for (const [fault, change] of FAULTS) {
              const { answer, ...trace } = await whatif(await generate([...job, ...fault]), change);
              const what = `${fault.join(" ")}, seed ${seed}`;
              const truth_ns = same_steps(clean, answer.steps);
              assert.ok(trace.error_share <= 0.001, `${what}: unchanged ${trace.error_share}`);
              assert.ok(Math.abs(answer.candidate_ns - truth_ns) <= 0.01 * truth_ns,
                `${what}: found ${answer.candidate_ns}, the truth is ${truth_ns}`);
              inside += answer.low_ns <= truth_ns && truth_ns <= answer.high_ns;
            }
          }
          assert.ok(inside >= 0.85 * SEEDS * FAULTS.length, `${inside} intervals hold the truth`);
        });

  test("with the kernels of the same job on other hardware a step takes as long as there",
    async () => {
      const job = ["--steps", "8", "--layers", "3", "--seed", "4"];
      const own = await generate(job);
      const other = await generate([...job, "--flavour", "rocm", "--slow", "gemm=160", "--slow",
        "norm=50"]);
      const truth = (await whatif(other, "host_free")).answer.steps;
      const args = ["whatif", "--format", "json", "--counterpart", other];
      const swapped = async (change) => JSON.parse(await run_program(stepscope_bin(),
        [...args, "--change", change, own])).traces[0].answers[0];
      const { candidate_ns, steps, touched_ns } = await swapped("other_kernels");
      const truth_ns = same_steps(truth, steps);
      assert.ok(truth_ns > 1.2 * same_steps(steps, steps));
      assert.ok(Math.abs(candidate_ns - truth_ns) <= 0.01 * truth_ns,
        `found ${candidate_ns}, the truth is ${truth_ns}`);
      const [gemm_ns] = (await swapped("counterpart:category=GEMM")).touched_ns;
      assert.ok(gemm_ns > 0 && gemm_ns < touched_ns[0]);
      const alone = spawnSync(stepscope_bin(), ["whatif", "--change", "other_kernels", own]);
      assert.equal(alone.status, 2);
      assert.match(`${alone.stderr}`, /expected --counterpart FILE/);
    });

  test("without the other ranks, what communication gains is said to be an upper bound",
    async () => {
      const folder = temporary("whatif");
      await run_program(tracegen_bin(), ["mesh", "--dp", "2", "--out", folder]);
      const files = [0, 1].map((rank) => join(folder, readdirSync(folder)
        .find((name) => name.startsWith(`rank${rank}`))));
      for (const present of [1, 2]) {
        const args = ["--change", "infinite_network", ...files.slice(0, present)];
        const text = await run_program(stepscope_bin(), ["whatif", ...args]);
        const run = JSON.parse(
          await run_program(stepscope_bin(), ["whatif", "--format", "json", ...args]));
        const { measured_ns, answers: [answer] } = run.traces[0];
        assert.equal(run.missing_ranks, 2 - present);
        assert.equal(/1 of the job's 2 ranks is not replayed/.test(text), present === 1);
        assert.equal(answer.gain_low_ns <= 0 && answer.high_ns >= measured_ns, present === 1);
      }
      const { traces: [trace] } = JSON.parse(await run_program(stepscope_bin(),
        ["analyze", "--format", "json", await generate(["--plant", "exposed_comm=5000000"])]));
      const exposed = trace.tables.findings.find(({ rule }) => rule === "exposed_communication");
      assert.equal(exposed.gain_ns, null);
    });

  test("ranks with skewed clocks are replayed together: what a straggler costs", async () => {
    const mesh = async (...args) => {
      const folder = temporary("whatif");
      await run_program(tracegen_bin(), ["mesh", "--tp", "2", "--pp", "2", "--dp", "2", "--skew",
        "20000000", ...args, "--out", folder]);
      return readdirSync(folder).filter((name) => name.startsWith("rank"))
        .map((name) => join(folder, name));
    };
    const together = async (files, change) => {
      const args = ["whatif", "--format", "json", "--change", change, ...files];
      const run = JSON.parse(await run_program(stepscope_bin(), args));
      for (const { error_share, file } of run.traces)
        assert.ok(error_share <= 0.001, `${file}: unchanged ${error_share}`);
      assert.ok(run.joint_calls > 0);
      return run.traces.map(({ measured_ns, answers: [{ candidate_ns }] }) =>
        ({ measured_ns, candidate_ns }));
    };
    const clean = await together(await mesh(), "balanced");
    for (const [cause, late] of [["compute_slower", "5=3000000"], ["host", "2=6000000"],
      ["data_loading", "3=6000000"]]) {
      const slow = await together(
        await mesh("--straggler", late, "--cause", cause), "balanced");
      slow.forEach(({ measured_ns, candidate_ns }, rank) => {
        const truth_ns = clean[rank].measured_ns;
        assert.ok(measured_ns > 1.03 * truth_ns, `${cause}: rank ${rank} is not slower`);
        assert.ok(Math.abs(candidate_ns - truth_ns) <= 0.01 * truth_ns,
          `${cause}, rank ${rank}: found ${candidate_ns}, the truth is ${truth_ns}`);
      });
    }
    // Here a send and a receive of one rank start and end together once.
    const stages = ["--pp", "4", "--seed", "2103", "--node-gpus", "8", "--flavour", "rocm"];
    const [fast] = await together(await mesh(...stages), "balanced");
    const [slow] = await together(await mesh(...stages, "--slow-ranks", "4-7=140"), "balanced");
    const off_ns = Math.abs(slow.candidate_ns - fast.measured_ns);
    assert.ok(off_ns <= 0.001 * fast.measured_ns, `a slow stage: ${off_ns} ns off`);
    const wrong = spawnSync(stepscope_bin(), ["whatif", ...[1, 2].map(() =>
      join(temporary("whatif"), "absent.json"))]);
    assert.equal(wrong.status, 3);
  });

  test("links within a node and between nodes are all of the communication", async () => {
    const folder = temporary("whatif");
    await run_program(tracegen_bin(), ["mesh", "--tp", "2", "--pp", "1", "--dp", "2",
      "--node-gpus", "2", "--steps", "5", "--out", folder]);
    const file = join(folder, "rank0.json");
    const trace = JSON.parse(readFileSync(file, "utf8"));
    const [gpu] = trace.deviceProperties; // a node of two
    trace.deviceProperties = [0, 1].map((id) => ({ ...gpu, id }));
    writeFileSync(file, JSON.stringify(trace));
    const [within, between, all] = await Promise.all(["link=intra-node", "link=inter-node",
      "class=communication"].map((what) => whatif(file, `scale=0.5:${what}`)));
    const touched = ({ answer }) => answer.touched_ns[0];
    assert.ok(touched(within) > 0 && touched(between) > 0);
    assert.equal(touched(within) + touched(between), touched(all));
    assert.ok(all.answer.gain_ns > within.answer.gain_ns);
  });

  test("the parts of the critical path sum to the steps to the nanosecond", async () => {
    const { critical_path_ns, answer } = await whatif(
      await generate(["--steps", "6", "--layers", "2", "--plant", "launch_bound"]), "host_free");
    assert.equal(sum_of(Object.values(critical_path_ns)),
      sum_of(answer.steps.map(({ measured_ns }) => measured_ns)));
    assert.ok(critical_path_ns.compute > 0 && critical_path_ns.host > 0);
  });

  test("without a change each ready-made one is answered", async () => {
    const file = await generate(["--steps", "6", "--layers", "2"]);
    const text = await run_program(stepscope_bin(), ["whatif", file]);
    for (const name of ["host_free", "data_ready", "infinite_network", "network_x2", "no_copies"])
      assert.match(text, new RegExp(`^ {2}${name} +\\d`, "m"));
    assert.match(text, /rank0\.json: 5 steady steps of .*; the unchanged replay is off by 0\.00 %/);
  });

  test("a wrong change says what one looks like, a trace without a device why not", async () => {
    const file = await generate(["--steps", "3", "--layers", "2"]);
    const wrong = spawnSync(stepscope_bin(), ["whatif", "--change", "faster", file]);
    assert.equal(wrong.status, 2);
    assert.match(`${wrong.stderr}`, /found change 'faster', expected such as scale=0\.5:category=/);
    const both = await whatif(file, "network_x2;scale=0.5:kernel=*");
    assert.equal(both.answer.touched_ns.length, 2);
  });
});

const PARTS = ["compute_ns", "communication_ns", "memory_ns", "host_ns", "delay_ns",
  "unrecorded_ns", "replay_error_ns"];
const assert_path = (path, what) =>
  assert.equal(sum_of(PARTS.map((part) => path[part])), path.steps_ns, what);

describe("what if, asked of the service", () => {
  let server;
  let files;
  const ask = (run, body) => server.send("POST", `/runs/${run}/whatif`, body);

  before(async () => {
    server = await start_server();
    const folder = temporary("whatif");
    await run_program(tracegen_bin(), ["mesh", "--tp", "2", "--pp", "1", "--dp", "2",
      "--straggler", "3=3000000", "--cause", "compute_slower", "--out", folder]);
    files = readdirSync(folder).filter((name) => name.startsWith("rank"))
      .map((name) => join(folder, name));
    await server.analyzed("mesh", files.map((file) =>
      ({ data: readFileSync(file), filename: file.split("/").at(-1) })));
  });
  after(() => server?.stop());

  test("it says what the command says about the same files, and each path sums to its steps",
    async () => {
      const { json } = await ask("mesh", { changes: ["balanced", "network_x2"] });
      const said = JSON.parse(await run_program(stepscope_bin(),
        ["whatif", "--format", "json", "--change", "balanced;network_x2", ...files]));
      const own = said.traces.find(({ rank }) => rank === said.headline_rank);
      assert.equal(json.rank, said.headline_rank);
      assert.equal(json.joint_calls, said.joint_calls);
      assert.equal(json.base.step_ns, own.measured_ns);
      assert.equal(json.base.error_share, own.error_share);
      assert.equal(json.together.step_ns, own.answers[0].candidate_ns);
      assert.equal(json.changes[1].staircase_ns, json.together.step_ns);
      assert.equal(json.base.critical_path.steps_ns,
        sum_of(own.answers[0].steps.map(({ measured_ns }) => measured_ns)));
      for (const { critical_path } of [json.base, json.together, ...json.changes])
        assert_path(critical_path);
      for (const side of [json.base, json.together]) assert.equal(side.path_joint_ns
        + sum_of(side.path_ranks.map(({ own_ns, delay_ns }) => own_ns + delay_ns))
        + side.critical_path.replay_error_ns, side.critical_path.steps_ns);
      assert.equal(json.together.critical_path.steps_ns,
        json.base.critical_path.steps_ns - sum_of(own.answers[0].steps.map(
          ({ replayed_ns, changed_ns }) => replayed_ns - changed_ns)));
    });

  test("a page that replays the packed graph gets the answers of the service", async () => {
    const fixed = ["balanced", "perfect_overlap"];
    for (const [rank, changes] of [[null, []], [null, fixed], [2, ["no_copies"]]]) {
      const query = new URLSearchParams([...changes.map((change) => ["change", change]),
        ["control", "class=communication"], ["control", "host"],
        ...(rank === null ? [] : [["rank", rank]])]);
      const reply = await fetch(`${server.base}/api/v1/runs/mesh/whatif/graph?${query}`);
      assert.equal(reply.status, 200);
      assert.equal(reply.headers.get("Content-Type"), "application/octet-stream");
      const graph = read_graph(await reply.arrayBuffer());
      for (const [network, host] of [[1, 1], [0.5, 1], [0, 0.25], [0.8, 0]]) {
        const { json } = await ask("mesh", { rank, changes: [...changes,
          `scale=${network}:class=communication`, `scale=${host}:host`] });
        const found = replay_steps(graph, [network, host]);
        const { together } = json;
        for (const key of ["step_ns", "low_ns", "high_ns", "gain_low_ns", "gain_high_ns"])
          assert.ok(Math.abs(found[key] - together[key]) <= 2 + 1e-5 * together.step_ns,
            `${changes} ${network} ${host}, ${key}: found ${found[key]}, said ${together[key]}`);
      }
    }
  });

  test("the straggler's own work is on the path until it has no more to do than others",
    async () => {
      const { json } = await ask("mesh", { changes: ["balanced=3"] });
      const [most] = [...json.base.path_ranks].sort((a, b) => b.own_ns - a.own_ns);
      assert.equal(most.rank, 3);
      const [all] = (await ask("mesh", { changes: ["balanced"] })).json.changes;
      assert.equal(json.changes[0].step_ns, all.step_ns);
      assert.ok(all.gain_share > 0.02);
      const [other] = (await ask("mesh", { changes: ["balanced=1"] })).json.changes;
      assert.ok(other.gain_share < 0.001);
    });

  test("without a change the ready-made ones come, the most useful first, as a staircase",
    async () => {
      const found = await server.get("/runs/mesh/whatif");
      const steps = found.changes.map(({ step_ns }) => step_ns);
      assert.deepEqual(steps, [...steps].sort((a, b) => a - b));
      assert.equal(found.changes[0].change, "gemm_roofline");
      assert.ok(found.changes.every(({ title, help }) => title && help.endsWith(".")));
      assert.equal(found.changes.at(-1).staircase_ns, found.together.step_ns);
      const alone = await server.get("/runs/mesh/whatif?rank=3");
      assert.deepEqual(alone.ranks, [3]);
      assert.ok(!alone.changes.some(({ change }) => change === "balanced"));
      const reply = await server.request("/api/v1/runs/mesh/whatif");
      const again = await server.request("/api/v1/runs/mesh/whatif",
        { headers: { "If-None-Match": reply.headers.etag } });
      assert.equal(again.status, 304);
    });

  test("without any change the path with all changes is that of the recording", async () => {
    const { json } = await ask("mesh", { changes: [] });
    assert.ok(json.base.path_ranks.length > 0);
    assert.deepEqual(json.together.path_ranks, json.base.path_ranks);
    assert.deepEqual(json.together.critical_path, json.base.critical_path);
  });

  test("what a change selects is counted on all ranks, and ranks are balanced together",
    async () => {
      const [all] = (await ask("mesh", { changes: ["scale=0.5:category=GEMM"] })).json.changes;
      const alone = await Promise.all([0, 1, 2, 3].map((rank) =>
        ask("mesh", { changes: ["scale=0.5:category=GEMM"], rank })));
      assert.equal(all.touched_ns, sum_of(alone.map(({ json }) => json.changes[0].touched_ns)));
      const { json: groups } = await ask("mesh", { changes: ["scale=0.5:group=DATA*",
        "scale=0.5:group=*", "network_x2", "overlap:class=communication", "add=5us:group=*"] });
      const [data, every, network, overlapped, later] = groups.changes;
      assert.equal(every.touched_ns, network.touched_ns);
      assert.ok(data.touched_ns > 0 && data.touched_ns < network.touched_ns);
      assert.ok(overlapped.gain_ns > 0 && later.gain_ns < 0);
      for (const { critical_path } of groups.changes) assert_path(critical_path);
      const { json: two } = await ask("mesh", { changes: ["balanced=0", "balanced=1"] });
      assert.ok(Math.abs(two.together.gain_share) < 0.001, "rank 3 is the straggler");
    });

  test("another run's kernels are asked for by its name", async () => {
    await server.analyzed("other", [{ filename: "rank0.json",
      data: readFileSync(files[0]) }]);
    const { json } = await ask("mesh", { changes: ["other_kernels"], counterpart: "other" });
    assert.ok(json.changes[0].touched_ns > 0);
    assert.ok(json.changes[0].gain_share > 0.01, "rank 3 gets the times of rank 0");
    const offered = await server.get("/runs/mesh/whatif?rank=0&counterpart=other");
    const [own] = offered.changes.filter(({ change }) => change === "other_kernels");
    assert.ok(Math.abs(own.gain_share) < 0.001, "rank 0 has them already");
    const lacking = await ask("mesh", { changes: ["counterpart:op=*"] });
    assert.equal(lacking.status, 400);
    assert.match(lacking.json.detail, /^change 1: takes the times of another run, found none/);
    assert.equal((await ask("mesh", { changes: [], counterpart: "nobody" })).status, 404);
    const kept = await server.send("POST", "/runs/mesh/promises",
      { changes: ["other_kernels", "host_free"], counterpart: "other" });
    const [{ changes, counterpart }] = kept.json.items;
    assert.deepEqual(changes.map(({ change }) => change), ["other_kernels", "host_free"]);
    assert.equal(counterpart.name, "other");
  });

  test("a promise is kept with its run, and the next of the series says what came", async () => {
    const send = (method, path, body) => server.send(method, `/runs/${path}`, body);
    const traces = files.map((file) => ({ data: readFileSync(file), filename: file.split("/")
      .at(-1) }));
    await server.analyzed("job@1", traces);
    const { json: kept } = await send("POST", "job@1/promises", { changes: ["balanced",
      "host_free"], author: "Ada" });
    const [{ changes, step_ns, low_ns, high_ns, author, receipt, id }] = kept.items;
    const { json: asked } = await ask("job@1", { changes: ["balanced", "host_free"] });
    assert.deepEqual(changes, [{ change: "balanced", title: "No straggler" },
      { change: "host_free", title: "Free host" }]);
    assert.deepEqual([step_ns, low_ns, high_ns], [asked.together.step_ns, asked.together.low_ns,
      asked.together.high_ns]);
    assert.deepEqual([author, receipt, kept.due], ["Ada", null, null]);
    assert.equal(kept.items[0].counterpart, null);
    const folder = temporary("whatif");
    await run_program(tracegen_bin(), ["mesh", "--tp", "2", "--pp", "1", "--dp", "2", "--out",
      folder]);
    const clean = readdirSync(folder).filter((name) => name.startsWith("rank"));
    await server.analyzed("job@2", clean.map((filename) =>
      ({ filename, data: readFileSync(join(folder, filename)) })));
    const [{ receipt: came }] = (await server.get("/runs/job@1/promises")).items;
    assert.equal(came.name, "job@2");
    assert.ok(Math.abs(came.off_share) < 0.01, `${came.off_share}`);
    assert.equal(came.held, came.step_ns >= low_ns && came.step_ns <= high_ns);
    const { due, items } = await server.get("/runs/job@2/promises");
    assert.deepEqual(items, []);
    assert.deepEqual([due.name, due.items[0].id, due.items[0].receipt.step_ns],
      ["job@1", id, came.step_ns]);
    for (const [body, status] of [[{ changes: [] }, 400], [{ changes: ["balanced"], rank: 0 }, 400],
      [{ changes: ["scale=0.5:op=a\nb"] }, 400]]) {
      assert.equal((await send("POST", "job@1/promises", body)).status, status, `${body.changes}`);
    }
    await send("POST", "job@1/promises", { changes: ["host_free"] });
    const { items: [last] } = await server.get("/audit?limit=1");
    assert.match(last.object, new RegExp(`^/api/v1/runs/job@1/promises \\(run ${
      (await server.get("/runs/job@1")).id}\\)$`));
    assert.equal((await send("DELETE", `job@1/promises/${id}`)).status, 200);
    assert.equal((await send("DELETE", `job@1/promises/${id}`)).status, 404);
  });

  test("a promise that nothing is left of the step is refused", async () => {
    const event = (cat, name, ts, dur, args, tid = 1) =>
      ({ ph: "X", cat, name, pid: 1, tid, ts, dur, args });
    const traceEvents = [0, 1000, 2000].flatMap((ts, i) => [
      event("user_annotation", `ProfilerStep#${i}`, ts, 1000),
      event("cuda_runtime", "cudaLaunchKernel", ts + 2, 2, { correlation: i + 1 }),
      event("kernel", "k", ts + 10, 50, { correlation: i + 1, device: 0, stream: 7 }, 7)]);
    await server.analyzed("empty@1",
      [{ data: JSON.stringify({ traceEvents }), filename: "empty.json" }]);
    const changes = ["host_free", "remove:kernel=*"];
    assert.equal((await ask("empty@1", { changes })).json.together.step_ns, 0);
    const { status, json } = await server.send("POST", "/runs/empty@1/promises", { changes });
    assert.equal(status, 409);
    assert.match(json.detail, /nothing is left of the step/);
  });

  test("what is wrong with a question is said with its place", async () => {
    const refused = async (body, detail, status = 400) => {
      const reply = await ask("mesh", body);
      assert.equal(reply.status, status, reply.text);
      assert.match(reply.json.detail, detail);
    };
    await refused({ changes: ["host_free", "scale=2:planet=x"] },
      /^change 2: found change 'scale=2:planet=x', expected such as scale=0\.5/);
    await refused({ changes: [1] }, /^change 1: found no string/);
    await refused({}, /no list of changes/);
    await refused({ changes: [], rank: "x" }, /found an invalid rank/);
    await refused({ changes: [], color: 1 }, /color/);
    await refused({ changes: [], counterpart: 1 }, /^counterpart: found no string/);
    await refused({ changes: Array(17).fill("host_free") }, /more than 16 changes/);
    await refused({ changes: ["x".repeat(401)] }, /change 1: found 401 bytes/);
    await refused({ changes: Array(8).fill("scale=1000:kernel=*") }, /./, 413);
    await refused({ changes: ["host_free", "balanced=99"] },
      /^change 2: found balanced=99, but no trace of rank 99/);
    await refused({ changes: ["balanced"], rank: 3 }, /^change 1: balanced compares ranks/);
    await refused({ changes: [], rank: 9 }, /no analyzed trace of rank 9/, 404);
    assert.equal((await ask("nobody", { changes: [] })).status, 404);
  });

  test("what cannot be replayed is refused with the reason", async (t) => {
    const file = join(real_traces, "mi300x_resnet_ddp8_rank0.json.gz");
    if (!existsSync(file)) return t.skip(skipped(`${file} is absent`));
    await server.analyzed("resnet", [{ data: readFileSync(file), filename: "rank0.json.gz" }]);
    const found = await server.get("/runs/resnet/whatif");
    assert.match(found.refused, /only 82 % of its device time follows a recorded launch/);
    assert.equal(found.base, null);
    assert.deepEqual(found.changes, []);
  });
});
