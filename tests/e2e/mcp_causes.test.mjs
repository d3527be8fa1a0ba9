// SPDX-License-Identifier: Apache-2.0
// A scripted agent, without a language model, names the planted cause of generated jobs from the
// answers of tools alone, within few calls and tokens. That shows that answers suffice, not that a
// model finds them. Labels are those of the generator, decided before the script was written.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ask_tool, rows_of } from "./helpers/mcp.mjs";
import { start_server } from "./helpers/server.mjs";
import { chance } from "./helpers/tools.mjs";
import { generate } from "./helpers/traces.mjs";

const JOBS = Number(process.env.STEPSCOPE_MCP_JOBS ?? 20); // 100 in its long form
const MOST_CALLS = 6;
const MOST_TOKENS = 15_000;
const CHARACTERS_A_TOKEN = 2; // number tables, the densest answers
const RELEVANT_SHARE = 0.02;
const NEARLY_ALL = 0.9;

/** What is planted in a job by itself, and the narrowest rules that are about it. */
const PLANTS = {
  starvation: "starved_data_loading", tiny_kernels: "tiny_kernels",
  exposed_comm: ["exposed_transfer", "low_overlap"], // the same to two ranks
  low_overlap: ["exposed_transfer", "low_overlap"],
  pageable_copies: "blocking_copies", fp32_gemm: "gemm_precision",
  bad_gemm: ["misaligned_products", "gemm_below_roofline"], // the latter has to say so
  bad_attention: "attention_below_roofline", unfused_attention: "unfused_attention",
  unfused_optimizer: "unfused_optimizer", launch_bound: "no_cuda_graphs", slow_calls: "slow_calls",
  small_collectives: "small_messages",
};
/** What the evidence of a rule must say where the rule is wider than the plant. */
const SAID = { gemm_below_roofline: /N = 1001 is not a multiple of 8/ };
const LATE = ["compute_slower", "data_loading", "host"];
const OPERATORS = ["aten::mm", "aten::native_layer_norm", "aten::gelu"];
const REPEATS = 4;

// --- jobs and their truth -----------------------------------------------------------------------

const pick = (random, list) => list[Math.floor(random() * list.length)];

/** A job with one fault by itself: the question is why it is slow. */
function planted_job(random, seed) {
  const name = pick(random, Object.keys(PLANTS));
  const ns = 3_000_000 + Math.floor(random() * 3e6);
  return { truth: PLANTS[name], runs: { run: ["--ranks", "2", "--steps", "7", "--layers", "3",
    "--seed", `${seed}`, "--flavour", pick(random, ["cuda", "rocm"]),
    "--plant", `${name}=${ns}`] } };
}

/** A job in which all wait for one rank. */
function late_job(random, seed) {
  const rank = Math.floor(random() * 8);
  const cause = pick(random, LATE);
  return { truth: `rank ${rank}: ${cause}`, runs: { run: ["mesh", "--tp", "2", "--pp", "1",
    "--dp", "4", "--skew", "20000000", "--straggler", `${rank}=6000000`, "--cause", cause,
    "--seed", `${seed}`] } };
}

/** Repeats of which the later ones have a slower operator, or do not. */
function change_job(random, seed) {
  const op = pick(random, OPERATORS);
  const runs = {};
  for (const [side, percent] of [["base", 100], ["cand", 250]])
    for (let i = 0; i < REPEATS; i++)
      runs[`${side}@${i}`] = ["--ranks", "1", "--steps", "7", "--layers", "3", "--run-noise", "0.2",
        "--seed", `${seed * 100 + i + percent}`, "--slow-op", `${op}=${percent}`];
  return { truth: op, runs };
}

/** A job without a fault: the right answer is that there is none. */
const clean_job = (random, seed) => ({ truth: "nothing", runs: { run: ["--ranks", "2", "--steps",
  "7", "--layers", "3", "--seed", `${seed}`, "--flavour", pick(random, ["cuda", "rocm"])] } });

const KINDS = [planted_job, planted_job, late_job, planted_job, clean_job, planted_job, late_job,
  planted_job, change_job, planted_job];

// --- the agent ----------------------------------------------------------------------------------

/** Asks as an agent does, and counts. */
function asker(server) {
  const spent = { calls: 0, tokens: 0 };
  const ask = async (name, args) => {
    const answer = await ask_tool(server, name, args);
    spent.calls++;
    spent.tokens += JSON.stringify(answer).length / CHARACTERS_A_TOKEN;
    return answer;
  };
  return { ask, spent };
}

/**
 * The narrowest finding about the time of the costliest one: rules overlap, and one that explains
 * nearly all of it names the cause more closely.
 */
function narrowest(findings) {
  const [first] = findings.sort((a, b) => b.own_cost_ms - a.own_cost_ms);
  const rule = first.id.split(":")[0];
  const within = findings.filter(({ overlaps, cost_ms }) =>
    overlaps === rule && cost_ms >= NEARLY_ALL * first.cost_ms);
  return within.sort((a, b) => a.cost_ms - b.cost_ms)[0] ?? first;
}

/** Why is this run slow? What costs most; one look deeper where a rank is late. */
async function why_slow(ask, run) {
  const overview = await ask("overview", { run });
  const found = overview.findings ? rows_of(overview.findings) : [];
  const least_ms = RELEVANT_SHARE * overview.step.step_median_ms;
  const [first] = found.filter(({ own_cost_ms }) => own_cost_ms >= least_ms);
  if (!first) return "nothing";
  if (first.id.startsWith("straggler")) {
    const { lateness } = await ask("explain", { run, topic: "late_rank" });
    const [{ rank, reason }] = rows_of(lateness);
    return `rank ${rank}: ${reason}`;
  }
  const { findings } = await ask("findings", { run, limit: 8 });
  const { id } = narrowest(findings);
  const [in_full] = (await ask("findings", { run, id })).findings;
  assert.ok(in_full.advice && in_full.evidence.length);
  const rule = id.split(":")[0];
  assert.match(JSON.stringify(in_full.evidence), SAID[rule] ?? /./);
  return rule;
}

/** What made these runs slower? The largest part, if the difference is real. */
async function what_changed(ask, base, cand) {
  const { verdict, largest_parts } = await ask("compare", { base, cand });
  if (verdict !== "significant") return "nothing";
  const gate = await ask("gate", { base, cand, max_regression: 0 });
  assert.equal(gate.result, "fail");
  return rows_of(largest_parts)[0].op;
}

// --- the tests ----------------------------------------------------------------------------------

let server;
before(async () => (server = await start_server()));
after(() => server?.stop());

async function upload(number, runs) {
  for (const [name, args] of Object.entries(runs))
    await server.analyzed(`job${number}-${name}`, (await generate(args)).files);
}

test(`the planted cause of each of ${JOBS} jobs is named`, async () => {
  const outcomes = [];
  for (let number = 0; number < JOBS; number++) {
    const { truth, runs } = KINDS[number % KINDS.length](chance(number + 1), number + 1);
    await upload(number, runs);
    const { ask, spent } = asker(server);
    const said = runs.run ? await why_slow(ask, `job${number}-run`)
      : await what_changed(ask, `job${number}-base@*`, `job${number}-cand@*`);
    outcomes.push({ number, truth, said, ...spent });
  }
  assert.deepEqual(outcomes.filter(({ truth, said }) => ![truth].flat().includes(said)), []);
  const most = (key) => Math.max(...outcomes.map((outcome) => outcome[key]));
  assert.ok(most("calls") <= MOST_CALLS, `${most("calls")} calls`);
  assert.ok(most("tokens") <= MOST_TOKENS, `${most("tokens")} tokens`);
  process.stderr.write(`NOTE: ${JOBS} causes named; at most ${most("calls")} calls and ` +
    `${Math.round(most("tokens"))} tokens each\n`);
});

test("a script that always says the same is wrong most of the time", () => {
  const truths = Array.from({ length: 100 }, (_, number) =>
    KINDS[number % KINDS.length](chance(number + 1), number + 1).truth);
  const counts = new Map();
  for (const truth of truths.map(String)) counts.set(truth, (counts.get(truth) ?? 0) + 1);
  assert.ok(Math.max(...counts.values()) <= 15, JSON.stringify([...counts]));
});
