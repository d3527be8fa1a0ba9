// SPDX-License-Identifier: Apache-2.0
// What the command line prints for people: figures that agree with the JSON, caveats, advice.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { run_program, stepscope_bin, temporary, tracegen_bin } from "./helpers/tools.mjs";

const run = promisify(execFile);
const analyze = (...args) => run(stepscope_bin(), ["analyze", ...args]);

/** A kernel of one microsecond. */
const kernel = (name, ts) => ({
  ph: "X", cat: "kernel", name, ts, dur: 1, pid: 0, tid: 7, args: { device: 0, stream: 7 },
});

/** The files of a small job of some ranks. */
async function generate(ranks, ...args) {
  const folder = temporary("text");
  const job = ["--steps", "7", "--layers", "2", "--ranks", String(ranks), ...args];
  await run_program(tracegen_bin(), [...job, "--out", folder]);
  return Array.from({ length: ranks }, (_, rank) => join(folder, `rank${rank}.json`));
}

test("the text tells of steps, kernels, collectives and what to do", async () => {
  const [file] = await generate(1, "--plant", "pageable_copies");
  const tokens = ["--tokens-per-step", "4096"];
  const { stdout } = await analyze(...tokens, file);
  const trace = JSON.parse((await analyze("--format", "json", ...tokens, file)).stdout).traces[0];
  const steps = trace.tables.step_stats[0];
  const collective = trace.tables.collectives[0];
  assert.match(stdout,
    /where the time goes: [\d.]+ ms per steady step \(mean\), device busy [\d.]+ %/);
  const median = (steps.median_ns / 1e6).toFixed(3);
  assert.ok(stdout.includes(`median ${median} ms (95 % interval`), stdout);
  assert.ok(stdout.includes(collective.bus_gbps.toFixed(3)), stdout);
  const figure = Object.fromEntries(trace.tables.utilization.map((row) => [row.metric, row.value]));
  assert.ok(stdout.includes(`\n  MFU ${(100 * figure.mfu).toFixed(1)} %, HFU ${
    (100 * figure.hfu).toFixed(1)} %\n`), stdout);
  assert.ok(stdout.includes(`\n  ${Math.round(figure.tokens_per_second).toLocaleString("en")
  } tokens per second over all ranks\n`), stdout);
  for (const { title, evidence } of trace.tables.findings) {
    assert.ok(stdout.includes(`] ${title}\n`), title);
    const fact = JSON.parse(evidence)[0].fact;
    assert.ok(stdout.replace(/\s+/g, " ").includes(fact), fact);
  }
  for (const { count, detail, effect } of trace.tables.trust) {
    const often = count > 1 ? ` (${count.toLocaleString("en")} in all)` : "";
    assert.ok(stdout.replace(/\s+/g, " ").includes(`] ${detail}${often} ${effect}`), detail);
  }
  assert.match(stdout, /what to do:\n {8}\S/);
  assert.doesNotMatch(stdout, /[ \t]\n|\de\+\d|\bnan\b/);
});

test("control characters of names never reach the terminal", async () => {
  const file = join(temporary("text"), "trace.json");
  writeFileSync(file, JSON.stringify({ traceEvents: [kernel("a\u001b[2J\u009b\u202eb", 1)] }));
  const { stdout } = await analyze(file);
  assert.ok(stdout.includes("a[U+001B][2J[U+009B][U+202E]b"), stdout);
  assert.match(stdout,
    /1 device event \(0 linked to a launch\), no step is marked\n/);
  assert.match(stdout, /where the time goes: 0\.001 ms from the first to the last device event,/);
  assert.match(stdout, /\n {2}kernels \(1\) +total ms/);
  assert.doesNotMatch(stdout, /window|unrecorded work|median/);
});

test("a comparison of recordings without steps does not speak of steps", async () => {
  const folder = temporary("text");
  const files = [1, 2].map((n) => join(folder, `trace${n}.json`));
  files.forEach((file, i) => writeFileSync(file, JSON.stringify({ traceEvents: [
    kernel("a", 1), { ...kernel("b", 10), dur: 1000 * (i + 1) }] })));
  const { stdout } = await run(stepscope_bin(), ["compare", ...files]).catch((error) => error);
  assert.match(stdout, /the recording of .*trace2.* takes [\d.]+ % longer than that of .*trace1/);
  assert.match(stdout, /recording of [\d.]+ ms, no step is marked\n/);
  assert.match(stdout, /\nms\n +base +candidate +change\n/);
  assert.doesNotMatch(stdout, /per step|mean step|median step|a step of/);
  assert.match(stdout, /\+1\.000 {2}recording\n/);
});

test("of repeats without steps, the parts lead from the mean recording to the median", async () => {
  const folder = temporary("text");
  const side = (name, durations) => durations.map((dur, i) => {
    const file = join(folder, `${name}${i}.json`);
    writeFileSync(file, JSON.stringify({ traceEvents: [kernel("a", 1),
      { ...kernel("unrecorded", 10), dur }] }));
    return file;
  }).join();
  const { stdout } = await run(stepscope_bin(), ["compare", side("base", [1000, 1100, 2000]),
    side("cand", [2000, 2100, 5000])]).catch((error) => error);
  assert.match(stdout, /\(medians\s2\.11\sms\sand\s1\.11\sms\)/);
  assert.match(stdout, / 1\.376 +3\.042 +\+1\.667 {2}mean recording\n/);
  assert.match(stdout, / 1\.109 +2\.109 +\+1\.000 {2}median recording\n/);
  assert.match(stdout, / unrecorded, 100 % of all losses\n/, "the name of a kernel, no cause");
});

test("nothing is said of the steps of a trace without work on a device", async () => {
  const file = join(temporary("text"), "trace.json");
  const host = { ph: "X", pid: 1, tid: 1, ts: 1000, dur: 900 };
  writeFileSync(file, JSON.stringify({ traceEvents: [
    { ...host, cat: "user_annotation", name: "ProfilerStep#1" },
    { ...host, cat: "cpu_op", name: "aten::mm", dur: 5 }] }));
  const { stdout } = await analyze(file);
  assert.match(stdout, /, no device events\n/);
});

test("what several devices of a trace are busy together and each by itself", async () => {
  const file = join(temporary("text"), "turns.json"), second = kernel("b", 2);
  second.args.device = 1;
  writeFileSync(file, JSON.stringify({ traceEvents: [kernel("a", 1), second] }));
  const { stdout } = await analyze(file);
  assert.match(stdout, /busy 100\.0 %\n.*at least one of 2 devices is; each by itself:/);
  assert.match(stdout, /\n +0: 50\.0 %, 1: 50\.0 %\n/);
  assert.match(stdout, /\[info\] devices of one process, which count together \(2 in all\)/);
});

test("missing ranks and a rank that two files claim are reported", async () => {
  const files = await generate(2, "--world", "4");
  const { stdout, stderr } = await analyze(...files, files[0]);
  assert.match(stderr, /rank0\.json: has rank 0, as another file does; counted as rank 2\n$/);
  assert.match(stdout,
    / {2}trust report of the run\n {4}\[warning\] ranks of the job without a trace/);
});

test("a report past the budget is refused, the other files are printed", async () => {
  const files = await generate(1);
  const folder = temporary("text");
  const many = join(folder, "many.json");
  const events = Array.from({ length: 20000 }, (_, i) => kernel(`kernel ${i}`, i));
  writeFileSync(many, JSON.stringify({ traceEvents: events }));
  const failed = await analyze("--job-memory", "16M", many, ...files).catch((error) => error);
  assert.notEqual(failed.code, 0);
  assert.match(failed.stderr, /many\.json: analysis .*needs more memory than its budget/);
  assert.ok(failed.stdout.includes("rank0.json"), failed.stdout);
});

test("every command that the help lists explains itself", async () => {
  const { stdout } = await run(stepscope_bin(), ["--help"]);
  const commands = [...stdout.matchAll(/^ {2}(\w+) +\S/gm)].map(([, command]) => command);
  assert.ok(commands.includes("version") && commands.includes("serve"), stdout);
  for (const command of commands) {
    const help = await run(stepscope_bin(), [command, "--help"]);
    assert.ok(help.stdout.startsWith(`usage: stepscope ${command}`), help.stdout);
  }
});

test("analyze --help lists the codes that it ends with", async () => {
  const folder = temporary("codes");
  const bad = join(folder, "bad.json");
  writeFileSync(bad, "no json");
  const { stdout } = await analyze("--help");
  for (const [args, code] of [[[], 2], [[join(folder, "none.json")], 3], [[bad], 4]]) {
    await assert.rejects(analyze(...args), { code });
    assert.match(stdout, new RegExp(`, ${code} (for|when) `));
  }
});
