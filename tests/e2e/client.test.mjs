// SPDX-License-Identifier: Apache-2.0
// The Python client and its example notebook, fetched from the service and run against it: their
// results equal those of curl.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { read_document } from "./helpers/documents.mjs";
import { sum } from "./helpers/figures.mjs";
import { start_server } from "./helpers/server.mjs";
import { root, run_shell, run_status, skipped, temporary } from "./helpers/tools.mjs";
import { generate, small_job, small_json } from "./helpers/traces.mjs";

const PYTHON = process.env.STEPSCOPE_PYTHON ?? "python3";
const RUNNER = join(root, "tests/e2e/helpers/run_notebook.py");

/** Whether Python has a module. */
function has_module(name) {
  try {
    execFileSync(PYTHON, ["-c", `import ${name}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const have_pandas = has_module("pandas");
if (!have_pandas) skipped("what needs pandas: DataFrames of the Python client");

let server;
let folder;
let jobs;

before(async () => {
  server = await start_server();
  folder = temporary("client");
  await run_shell(`curl -sSfO ${server.base}/client/stepscope.py
    curl -sSfO ${server.base}/client/example.ipynb`, { cwd: folder });
  jobs = await Promise.all([generate(small_job("--seed", "1")),
    generate(small_job("--seed", "2", "--slow", "130"))]);
  for (const job of jobs) rmSync(join(job.folder, "truth.json")); // only traces remain
});
after(() => server?.stop());

/** The JSON that curl gets. */
const curl = async (path) =>
  JSON.parse(await run_shell(`curl -sS '${server.base}/api/v1${path}'`));

const env = (more = {}) => ({ ...process.env, STEPSCOPE_URL: server.base,
  PYTHONDONTWRITEBYTECODE: "1", ...more });

/** Runs lines of Python next to the client; returns what they print. */
async function python(code, ...args) {
  const done = await run_status(PYTHON, ["-c", code, ...args], { cwd: folder, env: env() });
  assert.equal(done.status, 0, `${code}\n${done.stderr}`);
  return done.stdout;
}

/** The value of a Python expression after some lines, passed as JSON. */
const value_of = async (lines, expression, ...args) => JSON.parse(await python(
  `import json, sys\nfrom stepscope import *\nhub = Hub()\n${lines}\nprint(json.dumps(${
    expression}))`, ...args));

test("the client is one file that the service gives with its type and an ETag", async () => {
  const reply = await server.request("/client/stepscope.py");
  assert.match(reply.headers["content-type"], /^text\/x-python/);
  assert.equal(reply.text, readFileSync(join(root, "web/client/stepscope.py"), "utf8"));
  const again = await server.request("/client/stepscope.py",
    { headers: { "If-None-Match": reply.headers.etag } });
  assert.equal(again.status, 304);
  assert.equal((await server.request("/client/nothing.py")).status, 404);
  assert.equal((await server.request("/client/..%2Findex.html")).status, 404);
  const notebook = await server.request("/client/example.ipynb");
  assert.match(notebook.headers["content-type"], /^application\/x-ipynb\+json/);
  assert.equal(notebook.json.nbformat, 4);
});

test("the client needs nothing but Python's own library", async () => {
  const lines = "import sys; sys.path[:0] = ['']; import stepscope; print(stepscope.Hub())";
  const done = await run_status(PYTHON, ["-I", "-S", "-c", lines], { cwd: folder });
  assert.equal(done.status, 0, done.stderr);
  assert.match(done.stdout, /^<Hub http:/);
});

test("the tools of agents are functions, and say how to call them", async () => {
  const verbs = await value_of("", "sorted(tool['name'] for tool in hub.agent.tools())");
  const known = await value_of("",
    "sorted(set(dir(Agent)) - {'tools', 'call'} - set(dir(object)))");
  assert.deepEqual(verbs, known.filter((name) => !name.startsWith("_")));
  await server.analyzed("for-agents", jobs[0].files);
  const answers = await value_of("a, run = hub.agent, hub.run('for-agents')",
    "[a.overview(run)['run']['name'], a.table(run, 'kernels', limit=2)['rows']['total'], " +
    "a.explain('for-agents', 'compute')['kernels']['total'], " +
    "a.compare(run, ['for-agents'])['verdict'], a.find_runs('for-agents')['runs']['total']]");
  const { total } = await curl("/runs/for-agents/kernels?limit=1");
  assert.deepEqual(answers.slice(0, 3), ["for-agents", total, total]);
  assert.equal(answers[4], 1);
  const problem = await value_of(
    "try: hub.agent.overview('nope')\nexcept Problem as p: said = [p.type, p.detail]", "said");
  assert.deepEqual(problem, ["tool", "no run 'nope'; find_runs lists the runs"]);
});

test("a notebook shows short times and small shares, not zeros", async () => {
  const cells = [[459, "ns"], [-3, "ns"], [90_500, "ns"], [187_350_286, "ns"], [0, "ns"],
    [0.0002, "share"], [0.5, "share"], [0, "share"]];
  assert.deepEqual(await value_of("from stepscope import _shown",
    "[_shown(value, unit) for value, unit in json.loads(sys.argv[1])]", JSON.stringify(cells)),
  ["459 ns", "-3 ns", "90.500 µs", "187.350 ms", "0.000 ms", "<0.1 %", "50.0 %", "0.0 %"]);
});

test("the example notebook runs and finds what curl finds", async () => {
  const asked = ["base=base.id", "cand=cand.id", "kernels=kernels.rows()",
    "summary=difference.summary", "bars=bars.rows()", "ops=ops", "gate=gate.info",
    "pinned=pinned.id", "categories=by_category", "refused=[refused.status, refused.type]",
    "frame=frame is None or [frame['total_ns'].tolist(), str(frame['calls'].dtype)]",
    "links=[base.url, difference.url]"];
  const done = await run_status(PYTHON, [RUNNER, "example.ipynb", ...asked], { cwd: folder,
    env: env({ BASE_TRACES: jobs[0].folder, CAND_TRACES: jobs[1].folder, MPLBACKEND: "agg" }) });
  assert.equal(done.status, 0, done.stderr);
  const found = JSON.parse(done.stdout.trim().split("\n").at(-1));

  const run = await curl("/runs/notebook-base");
  assert.equal(found.base, run.id);
  assert.equal(run.received, 2);
  assert.equal(run.meta.commit, "before");
  const { items } = await curl("/runs/notebook-base/kernels?sort=-total_ns&limit=all");
  assert.ok(items.length > 5);
  assert.deepEqual(found.kernels, items);
  assert.equal(sum(Object.values(found.categories)), sum(items.map((row) => row.owned_ns)));

  const sides = `base=${found.base}&cand=${found.cand}`;
  const compared = await curl(`/compare?${sides}`);
  assert.deepEqual(found.summary, compared.candidates[0].summary);
  const bars = await curl(`/compare/waterfall?${sides}&level=bar&limit=all`);
  assert.deepEqual(found.bars, bars.items);
  assert.equal(found.bars.length, 8);
  const ops = await curl(`/compare/waterfall?${sides}&level=op&limit=all`);
  assert.equal(found.ops.length, ops.total);
  assert.deepEqual(found.gate, await curl(`/compare/gate?${sides}&max_regression=0.03`));
  assert.equal(found.pinned, found.base);
  assert.deepEqual(found.refused, [404, "not-found"]);
  if (have_pandas) assert.deepEqual(found.frame, [items.map((row) => row.total_ns), "int64"]);

  assert.match(found.shown.join("\n"), /<table>/);
  for (const link of found.links) {
    assert.equal((await server.request(new URL(link).pathname)).status, 200, link);
  }
});

test("a gate that fails is false, and check() raises with the lines that curl shows", async () => {
  await value_of(`import os
for name, path in (("fast", sys.argv[1]), ("slow", sys.argv[2])):
    hub.upload(name, path)`, "0", jobs[0].folder, jobs[1].folder);
  const found = await value_of(`gate = hub.gate("fast", "slow", 0.03, undecided="fail")
try:
    gate.check()
    raised = None
except GateFailed as failed:
    raised = str(failed)`, "[bool(gate), gate.result, gate.lines, raised, gate.url]");
  const [passed, result, lines, raised, url] = found;
  assert.equal(passed, false);
  assert.notEqual(result, "pass");
  assert.equal(raised, [...lines, url].join("\n"));
  const text = await run_shell(`curl -sS '${server.base}/api/v1/compare/gate?base=fast&cand=slow` +
    "&max_regression=0.03&undecided=fail&format=text'");
  assert.equal(text.trim(), raised);
  assert.equal(await value_of("", "bool(hub.gate('fast', 'fast'))"), true);
});

test("what changes would bring is one call, in the order asked for", async () => {
  const found = await value_of("", "hub.run('slow').whatif('network_x2', 'host_free', rank=0)");
  assert.deepEqual(found, await curl(
    "/runs/slow/whatif?change=network_x2&change=host_free&rank=0"));
  assert.deepEqual(found.changes.map(({ change }) => change), ["network_x2", "host_free"]);
});

test("candidates of several repeats and tables of a comparison come in full", async () => {
  const [count, runs, rows] = await value_of(
    `both = hub.compare("fast", [["slow"], ["fast", "slow"]])
table = both.runs()`, "[len(both.summaries), table.rows(), both.waterfall(only=2).total]");
  assert.equal(count, 2);
  assert.deepEqual(runs.map(({ cand, name }) => `${cand} ${name}`),
    ["0 fast", "1 slow", "2 fast", "2 slow"]);
  const { total } = await curl("/compare/waterfall?base=fast&cand=slow&cand=fast,slow&only=2");
  assert.equal(rows, total);
});

test("files are streamed: the client needs a fraction of the memory that they take", async () => {
  const file = join(temporary("large"), "rank0.json");
  const line = `${JSON.stringify({ ph: "X", cat: "cpu_op", name: "aten::mul", pid: 1, tid: 1,
    ts: 1, dur: 1, args: { "External id": 1, pad: "x".repeat(4000) } })},\n`;
  const many = line.repeat(20_000);
  writeFileSync(file, `{"traceEvents":[${many}{}]}`);
  const size = statSync(file).size;
  const [grown, last, calls] = await value_of(`import resource
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
begin = peak()
seen = []
hub.upload("large", sys.argv[1], progress=lambda sent, total: seen.append([sent, total]))`,
  "[peak() - begin, seen[-1], len(seen)]", file);
  assert.deepEqual(last, [size, size]);
  assert.ok(calls > 10);
  assert.ok(grown < size / 4, `${grown} bytes more for a file of ${size}`);
});

test("ranks are what the caller says, and more files than one upload takes are sent as several",
  async () => {
    const [first] = jobs[0].files;
    const names = Array.from({ length: 70 }, (_, i) => join(folder, `many-${i}.json`));
    names.forEach((name, i) =>
      writeFileSync(name, `{"traceEvents":[{"ph":"i","ts":1}],"pad":${i}}`));
    const ranks = Object.fromEntries(names.map((name, i) => [i + 3, name]));
    writeFileSync(join(folder, "ranks.json"), JSON.stringify(ranks));
    const found = await value_of(`ranks = json.load(open("ranks.json"))
run = hub.upload("many", ranks, wait=False)
one = hub.upload("one", {7: sys.argv[1]})`, "[run.info['received'], one.ranks()['rank']]",
    join(jobs[0].folder, first.filename));
    assert.deepEqual(found, [70, [7]]);
    assert.equal((await server.request("/api/v1/runs/many/ranks/72/trace")).status, 200);
  });

test("what the service refuses is raised in its own words", async () => {
  const found = await value_of(`problems = []
def attempt(what):
    try:
        what()
        problems.append(None)
    except Problem as problem:
        problems.append([problem.status, problem.type, problem.detail, problem.fix, str(problem)])
attempt(lambda: hub.run("nobody"))
attempt(lambda: hub.run("fast").kernels(color="red"))
attempt(lambda: hub.upload("text", sys.argv[1]))
attempt(lambda: hub.compare("fast", "nobody"))
attempt(lambda: hub.gate("fast", "nobody"))
attempt(lambda: hub.plan("many"))
attempt(lambda: Hub("http://127.0.0.1:9").version())`, "problems", join(folder, "stepscope.py"));
  assert.deepEqual(found.map((one) => one?.[0]), [404, 400, 422, 404, 404, 400, 0]);
  const reply = await curl("/runs/nobody");
  assert.deepEqual(found[0].slice(2, 4), [reply.detail, reply.fix]);
  assert.equal(found[0][4], `${reply.title}: ${reply.detail} (what helps: ${reply.fix})`);
  assert.match(found[6][2], /refused/i);
});

test("metadata, baselines, series and alerts are reached", async () => {
  const found = await value_of(`run = hub.run("fast").set_meta(commit="c1", batch_size=8)
run.set_meta(batch_size=None)
hub.set_baseline("main", run)
named = "main" in hub.baselines()["name"]
pinned = hub.run("@baseline:main").id
hub.delete_baseline("main")
series = hub.series()
points = hub.points(run.info["series"])`,
  "[run.meta, named, pinned == run.id, 'main' in hub.baselines()['name'], " +
    "'fast' in series['series'], " +
    "points['run'] == [run.id], hub.changes('fast').total, hub.alerts(status='new').total]");
  assert.deepEqual(found, [{ commit: "c1" }, true, true, false, true, true, 0, 0]);
});

test("a deleted run is restored under its name", async () => {
  writeFileSync(join(folder, "short.json"), small_json());
  const found = await value_of(`run = hub.upload("short-lived", "short.json")
run.delete()
gone = "short-lived" not in [other.name for other in hub.runs()]
run.restore()`, "[gone, hub.run('short-lived').id == run.id]");
  assert.deepEqual(found, [true, true]);
});

test("a slow run of a series raises an alert, which the client acknowledges", async () => {
  writeFileSync(join(folder, "usual.json"), small_json({ kernel_us: 2000 }));
  writeFileSync(join(folder, "slower.json"), small_json({ kernel_us: 3000 }));
  const [found, seen, left] = await value_of(`for day in range(1, 10):
    hub.upload(f"nightly@{day}", "usual.json")
slow = hub.upload("nightly@10", "slower.json")
found = hub.alerts(series="nightly", status="new").rows()
seen = hub.set_alert(found[0]["id"], "acknowledged", "known")`,
  "[[row['run'] == slow.id for row in found], [seen['status'], seen['comment']], " +
    "hub.alerts(series='nightly', status='new').total]");
  assert.deepEqual([found, seen, left], [[true], ["acknowledged", "known"], 0]);
});

test("texts of uploads are only text where a notebook shows them", async () => {
  const hostile = "<img src=x onerror=alert(1)>";
  const shown = await value_of(`run = hub.create(sys.argv[1])
runs = Table.of_rows("runs", [run.info])`, "[run._repr_html_(), runs._repr_html_()]", hostile);
  for (const html of shown) {
    assert.ok(!html.includes("<img"), html);
    assert.ok(html.includes("&lt;img"), html);
  }
});

test("the guide's lines for notebooks run as they stand", async () => {
  const [, section] = /\n## Notebooks\n([\s\S]*?)\n## /.exec(read_document("GUIDE.md"));
  const blocks = [...section.matchAll(/```(\w+)\n([\s\S]*?)```/g)];
  assert.deepEqual(blocks.map(([, language]) => language).sort(), ["python", "python", "sh"]);
  const job = await generate(small_job("--seed", "3"));
  await server.analyzed("exp41", job.files);
  await run_shell(`cp ${job.folder}/rank0.json rank0.json; gzip -kf rank0.json
    cp ${job.folder}/rank1.json rank1.json; gzip -kf rank1.json`, { cwd: folder });
  await value_of("", "hub.set_baseline('main', 'exp41')");
  for (const [, language, text] of blocks) {
    const lines = text.replaceAll("http://HOST", server.base);
    if (language === "sh") await run_shell(lines, { cwd: folder });
    else if (have_pandas || !lines.includes("import pandas")) await python(lines);
  }
});
