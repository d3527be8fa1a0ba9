// SPDX-License-Identifier: Apache-2.0
// A gate as CI jobs use it: statuses, the three lines, curl, the guide's lines; and the same for
// files on the command line, with its exit codes.
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { guide_script } from "./helpers/documents.mjs";
import { fields, file_part } from "./helpers/multipart.mjs";
import { reply_faults } from "./helpers/openapi.mjs";
import { start_server } from "./helpers/server.mjs";
import { root, run_shell, run_status, stepscope_bin, temporary } from "./helpers/tools.mjs";
import { generate, small_job, small_json } from "./helpers/traces.mjs";

const REPEATS = [1, 2, 3, 4, 5];
const GATE = "/api/v1/compare/gate";

let server;
/** Folders with each series' repeats. @type {Record<string, string[]>} */
const folders = {};
const gate = (query, headers = {}) => server.request(`${GATE}?${query}`, { headers });
const file_of = (series, number) => join(folders[series][number - 1], "rank0.json");
const compare = (...args) => run_status(stepscope_bin(), ["compare", ...args]);
const joined = (series) => REPEATS.map((number) => file_of(series, number)).join();

/** A one-rank job with the noise of repeats, whose products take `percent` of the usual time. */
const job_of = (seed, percent) => generate(small_job("--ranks", "1", "--seed", `${seed}`,
  "--run-noise", "0.5", "--slow-op", `aten::mm=${percent}`));

before(async () => {
  server = await start_server({
    options: ["--auth", "off", "--public-url", "https://traces.example"] });
  for (const [series, first, percent] of [["main", 10, 100], ["same", 20, 100],
    ["slow", 30, 112]]) {
    const jobs = await Promise.all(REPEATS.map((number) => job_of(first + number, percent)));
    folders[series] = jobs.map(({ folder }) => folder);
    for (const number of REPEATS)
      await server.analyzed(`${series}@${number}`, jobs[number - 1].files);
  }
  await server.send("POST", "/runs", { name: "empty" });
});
after(() => server?.stop());

const log_of = (tokens, noise) => [...Array(20).keys()].map((i) => "[titan] 2026-09-14 15:08:"
  + `${10 + i},273 - root - INFO - step: ${i + 1}  loss: ${(9 - i / 10).toFixed(5)}  memory: `
  + `48.87GiB(51.44%)  tps: ${tokens + noise + (i % 3)}  tflops: 253.41  mfu: 25.62%`).join("\n")
  + "\n";

/** Asserts status and result of a JSON answer that matches the description. */
function assert_gate(reply, status, result) {
  assert.equal(reply.status, status, reply.text);
  assert.deepEqual(reply_faults("GET", GATE, reply), []);
  assert.equal(reply.json.result, result, reply.text);
  assert.equal(reply.json.lines.length, 3);
  assert.ok(reply.json.lines[0].startsWith(`${result}: `), reply.json.lines[0]);
  assert.equal("warning" in reply.headers, result === "undecided", reply.headers.warning);
}

test("nothing in a name hides or turns around what follows it", async () => {
  await server.analyzed("rtl\u202ex", [{ data: small_json(), filename: "rank0.json" }]);
  const query = "base=main@1&cand=rtl%E2%80%AEx";
  for (const [format, name] of [["text", "rtl[U+202E]x"], ["markdown", "rtl\\[U+202E\\]x"]]) {
    const { text } = await gate(`${query}&format=${format}`);
    assert.ok(text.includes(name), text);
    assert.ok(!text.includes("\u202e"), text);
  }
});

test("another figure than the step time may be judged, of logs alone", async () => {
  for (const [series, tokens] of [["logged", 7000], ["fewer", 6500], ["more", 7400]])
    for (const number of REPEATS)
      await server.post([...fields({ run: `${series}@${number}` }),
        file_part(log_of(tokens, 7 * number), "train.log")], "/upload?wait=60");
  const metric = "metric=tokens_per_s_per_gpu";
  const fewer = await gate(`base=logged@*&cand=fewer@*&${metric}&max_regression=0.03`);
  assert_gate(fewer, 409, "fail");
  assert.match(fewer.json.lines[0],
    /^fail: Tokens\/s per GPU of fewer@1 and 4 more runs is 7\.\d % worse than that of logged/);
  assert.match(fewer.json.lines[0], / over all pairs of runs \(medians 6,5\d\d and 7,0\d\d\), w/);
  assert.equal(fewer.json.metric.name, "tokens_per_s_per_gpu");
  const { text } = await gate(`base=logged@*&cand=fewer@*&${metric}&format=markdown`);
  assert.match(text, /^### Tokens\/s per GPU: \*\*fail\*\*\n/);
  assert_gate(await gate(`base=logged@*&cand=more@*&${metric}`), 200, "pass");
  for (const number of REPEATS)
    await server.post([...fields({ run: `again@${number}` }),
      file_part(log_of(7000, 0), "train.log")], "/upload?wait=60");
  const again = await gate(`base=again@*&cand=more@*&${metric}`);
  assert.equal(again.json.judgement.base_runs, 1, "one log under five names is one run");
  const unknown = await gate(`base=logged@*&cand=more@*&metric=hfu`);
  assert.equal(unknown.status, 409);
  assert.match(unknown.json.lines[0], /^undecided: HFU is unknown for the base/);
  for (const query of ["metric=speed", `${metric}&sequential=true`])
    assert.equal((await gate(`base=logged@*&cand=more@*&${query}`)).status, 400);
});

test("runs are filtered and series drawn by a figure, of logs alone", async () => {
  const found = await server.get("/runs?metric=tokens_per_s_per_gpu&min=7300&fields=name");
  assert.deepEqual(found.items.map(({ name }) => name.replace(/@.*/, "")), Array(5).fill("more"));
  const { items } = await server.get("/series/logged/points?metric=tokens_per_s_per_gpu");
  assert.deepEqual(items.map(({ value }) => value), REPEATS.map((n) => 7001 + 7 * n));
  assert.ok(items.every(({ step_median_ns }) => step_median_ns > 0));
  for (const query of ["metric=speed", "min=3", "metric=mfu&min=x"])
    assert.equal((await server.request(`/api/v1/runs?${query}`)).status, 400, query);
});

test("a price makes a cost per token, by which runs are sorted", async () => {
  const run = await server.get("/runs/logged@1");
  await server.send("PATCH", "/runs/logged@1", { meta: { gpu_hour_price: "3.6" } },
    { "If-Match": "*" });
  const cost = (await server.get("/runs/logged@1")).figures.cost_per_million_tokens;
  assert.ok(Math.abs(cost - 0.001 / run.figures.tokens_per_s_per_gpu * 1e6) < 1e-9, `${cost}`);
  const [first] = (await server.get("/runs?sort=cost_per_million_tokens")).items;
  assert.equal(first.name, "logged@1");
});

test("a regression is refused with 409, by its operator, with its evidence", async () => {
  const reply = await gate("base=main@*&cand=slow@*&max_regression=0.03");
  assert_gate(reply, 409, "fail");
  const [verdict, why, evidence] = reply.json.lines;
  assert.match(verdict, /^fail: a step of slow@1 and 4 more runs takes [\d.]+ % longer than /);
  assert.match(verdict, / than one of main@1 and 4 more runs over all pairs of runs \(medians /);
  assert.match(verdict, /; the limit is \+3.0 %$/);
  assert.match(why, /^why: aten::mm \+[\d.]+ ms \(\d+ % of the mean step's \+[\d.]+ ms\)/);
  assert.match(evidence, /^evidence: 5 runs per side, exact Mann-Whitney p = 0.0079/);
  const { judgement } = reply.json;
  assert.equal(judgement.verdict, "significant");
  assert.ok(judgement.low_share < judgement.shift_share &&
    judgement.shift_share < judgement.high_share);
  assert.ok(judgement.shift_share > 0.04 && judgement.shift_share < 0.12, judgement.shift_share);
});

test("the largest part of the regression is what was planted", async () => {
  const { json } = await gate("base=main@*&cand=slow@*");
  const named_ms = Number(/aten::mm \+([\d.]+) ms/.exec(json.lines[1])[1]);
  const truths = folders.slow.map((folder) =>
    JSON.parse(readFileSync(join(folder, "truth.json"), "utf8")).slow_op.ns_per_step);
  const planted_ms = truths.reduce((all, one) => all + one, 0) / truths.length / 1e6;
  assert.ok(Math.abs(named_ms - planted_ms) < planted_ms / 5, `${named_ms} ms of ${planted_ms}`);
});

test("an unchanged step passes, and a limit above the regression lets it pass", async () => {
  assert_gate(await gate("base=main@*&cand=same@*&max_regression=0.03"), 200, "pass");
  assert_gate(await gate("base=main@*&cand=slow@*&max_regression=0.3"), 200, "pass");
  assert_gate(await gate("base=slow@*&cand=main@*"), 200, "pass");
});

/** Runs whose only kernel takes about so many microseconds, a quarter of their steps. */
async function upload_kernels(series, first, kernels_us) {
  for (const [i, kernel_us] of kernels_us.entries())
    await server.analyzed(`${series}@${first + i}`,
      [{ filename: "rank0.json", data: small_json({ kernel_us }) }]);
}
const about = (count, kernel_us) => // no two the same
  Array.from({ length: count }, (_, i) => kernel_us + 5 * (i % 4) + i / 1000);

test("a base NAME@* is the newest level of the series, and the answer says so", async () => {
  await upload_kernels("moved", 1, about(12, 2200));
  await upload_kernels("moved", 13, about(6, 2000));
  await upload_kernels("regressed", 1, about(4, 2120));
  const { json, status } = await gate("base=moved@*&cand=regressed@*");
  assert.equal(status, 409, json.lines.join());
  assert.match(json.lines[0],
    /^fail: .* takes 6\.\d % longer than one of moved@13 and 5 more runs/);
  assert.match(json.lines[2],
    /; of moved@\* the 6 runs since moved@13 count: 12 are of an earlier level; /);
  const names = async (query) => (await server.get(`/compare?${query}`)).base.runs.map((run) =>
    Number(run.name.split("@")[1]));
  assert.deepEqual(await names("base=moved@*&cand=regressed@1"), [13, 14, 15, 16, 17, 18]);
  const { note } = (await server.get("/compare?base=moved@*&cand=regressed@1")).base;
  assert.equal(note,
    "of moved@* the 6 runs since moved@13 count: 12 are of an earlier level");
  assert.equal((await server.get("/compare?base=main@*&cand=slow@1")).base.note, null);
  assert.deepEqual(await names("base=moved@*&cand=moved@14"), [13, 15, 16, 17, 18]);
  const newest = [13, 14, 15, 16, 17, 18].map((number) => `moved@${number}`).join();
  assert.equal((await names(`base=moved@*&cand=${newest}`)).length, 12, "that of the others");
  assert.equal((await server.get("/compare?base=main@1&cand=moved@*")).candidates[0].runs.length,
    18, "a candidate is all");
});

test("one run is judged by the base's own runs, where those are eight", async () => {
  await upload_kernels("slower", 1, about(1, 3000));
  const { json, status } = await gate("base=moved@*&cand=slower@1");
  assert.equal(status, 409, json.lines.join());
  assert.match(json.lines[2],
    /^evidence: 6 runs of the base, 1 of the candidate, against 18 runs of the base's series/);
  const few = await gate("base=main@*&cand=slow@1");
  assert.match(few.json.lines[2], /5 runs of the base, 1 of .*, 5 of 8 runs in the base's series/);
});

test("a run with a log only does not stand for the base of steps", async () => {
  await upload_kernels("mixed", 1, about(4, 2000));
  await server.post([...fields({ run: "mixed@5" }), file_part(log_of(7000, 1), "train.log")],
    "/upload?wait=60");
  const { json } = await gate("base=mixed@*&cand=slower@*");
  assert.match(json.lines[2], /the 4 runs since mixed@1 count: 1 is on other hardware or measured/);
});

test("a run passes against itself", async () => {
  const reply = await gate("base=main@1&cand=main@1&max_regression=0");
  assert_gate(reply, 200, "pass");
  assert.equal(reply.json.judgement.shift_ns, 0);
  assert.match(reply.json.lines[1], /no operator, collective or cause of idle time changed/);
});

test("one run per side is undecided: 200 with a warning, or 409 when asked to fail", async () => {
  const query = "base=main@1&cand=slow@1";
  const reply = await gate(query);
  assert_gate(reply, 200, "undecided");
  assert.match(reply.headers.warning, /^199 stepscope "undecided/);
  assert.match(reply.json.lines[2], /^noise unknown: 1 run per side/);
  assert.match(reply.json.lines[2], /upload 3 more repeats of the base, each as a new main@N,/);
  assert.match(reply.json.lines[2], / of the candidate, each as a new slow@N, and ask with base=/);
  assert.deepEqual([reply.json.judgement.base_missing, reply.json.judgement.cand_missing], [3, 3]);
  assert_gate(await gate(`${query}&undecided=fail`), 409, "undecided");
  assert_gate(await gate(`${query}&undecided=pass`), 200, "undecided");
});

test("text is three lines and the address of the page, by parameter and by header", async () => {
  const query = "base=main@*&cand=slow@*";
  const json = (await gate(query)).json;
  const ids = async (series) => (await Promise.all(REPEATS.map((number) =>
    server.get(`/runs/${series}@${number}`)))).map(({ id }) => id).join();
  assert.equal(json.url, `https://traces.example/compare?base=${await ids("main")}&cand=${
    await ids("slow")}`);
  const by_parameter = await gate(`${query}&format=text`);
  const by_header = await gate(query, { Accept: "text/plain" });
  for (const reply of [by_parameter, by_header]) {
    assert.equal(reply.status, 409);
    assert.match(reply.headers["content-type"], /^text\/plain/);
    assert.equal(reply.text, `${[...json.lines, json.url].join("\n")}\n`);
  }
  const choices = (await gate("base=main@1&cand=slow@1&rank=slowest")).json.url;
  assert.match(choices, /&rank=slowest$/);
});

test("the page that the gate links to shows the comparison", async () => {
  const { url } = (await gate("base=main@*&cand=slow@*")).json;
  const reply = await server.request(url.replace("https://traces.example", ""),
    { headers: { Accept: "text/html" } });
  assert.equal(reply.status, 200);
  assert.match(reply.headers["content-type"], /^text\/html/);
});

const REFUSED = [
  ["base=main@1&cand=none", 404, /^cand: no run 'none'/],
  ["base=main@1&cand=empty", 409, /no results yet/],
  ["base=main@1", 400, /no cand=RUN/],
  ["base=main@1&cand=same@1&cand=slow@1", 400, /found 2 candidates, expected one/],
  ["base=main@1&cand=slow@1&max_regression=3%25", 400, /max_regression=3%, expected a number/],
  ["base=main@1&cand=slow@1&max_regression=-2", 400, /max_regression=-2/],
  ["base=main@1&cand=slow@1&undecided=maybe", 400, /undecided=maybe, expected pass or fail/],
  ["base=main@1&cand=slow@1&format=csv", 400, /format 'csv', expected json, text or markdown/],
  ["base=main@1&cand=slow@1&limit=1", 400, /'limit'/],
];

for (const [query, status, detail] of REFUSED) {
  test(`a gate with ${query} is refused with ${status} and a reason`, async () => {
    const reply = await gate(`${query}&format=text`.replace("&format=csv&format=text",
      "&format=csv"));
    assert.equal(reply.status, status, reply.text);
    assert.match(reply.json.detail, detail);
    assert.equal(reply.headers["content-type"], "application/problem+json");
    assert.deepEqual(reply_faults("GET", GATE, reply), []);
  });
}

test("curl ends with 22 on a regression and has printed why", async () => {
  const curl = (query) => run_status("curl", ["-sS", "--fail-with-body",
    `${server.base}${GATE}?${query}&format=text`]);
  const fail = await curl("base=main@*&cand=slow@*");
  assert.equal(fail.status, 22);
  assert.match(fail.stdout, /^fail: .*\nwhy: .*\nevidence: .*\nhttps:\/\//);
  assert.equal((await curl("base=main@*&cand=same@*")).status, 0);
  assert.equal((await curl("base=main@1&cand=slow@1")).status, 0);
  assert.equal((await curl("base=main@1&cand=slow@1&undecided=fail")).status, 22);
  assert.equal((await curl("base=main@1&cand=none")).status, 22);
});

test("the guide's lines for a job gate a change as they stand", async () => {
  const script = guide_script("/compare/gate").replaceAll("http://HOST", server.base);
  const profiles = (series) => {
    const folder = temporary("ci");
    REPEATS.forEach((number) => writeFileSync(join(folder, `profile-${number}.json.gz`),
      gzipSync(readFileSync(file_of(series, number)))));
    return folder;
  };
  const job = (series, name) => run_status("bash",
    ["-c", `set -e\n${script.replaceAll("pr-17", name)}`], { cwd: profiles(series) });
  const bad = await job("slow", "pr-17");
  assert.equal(bad.status, 22, bad.stderr);
  assert.match(bad.stdout, /^fail: a step of pr-17@1 and 4 more runs takes .* % longer/);
  const empty = temporary("ci-empty");
  for (const number of REPEATS)
    writeFileSync(join(empty, `profile-${number}.json.gz`), gzipSync('{"traceEvents": []}'));
  const nothing = await run_status("bash", ["-c", script.replaceAll("pr-17", "pr-19")],
    { cwd: empty });
  assert.notEqual(nothing.status, 0, "nothing was measured");
  assert.match(nothing.stderr, /422/);
  const good = await job("same", "pr-18");
  assert.equal(good.status, 0, `${good.stdout}${good.stderr}`);
  assert.match(good.stdout, /^pass: a step of pr-18@1/);
});

test("a candidate without steps passes no gate, whatever is tried", async () => {
  await server.analyzed("stepless@1", [{ filename: "rank0.json",
    data: Buffer.from('{"traceEvents":[{"ph":"X","name":"a","cat":"cpu_op","ts":1,"dur":1,' +
      '"pid":1,"tid":1}]}') }]);
  for (const query of ["base=main@1&cand=stepless@*", "base=stepless@1&cand=main@1",
    "base=main@*&cand=stepless@*&undecided=pass", "base=main@*&cand=stepless@*&sequential=true"]) {
    const reply = await gate(query);
    assert.equal(reply.status, 409, `${query}: ${reply.text}`);
    assert.match(reply.json.lines[0], /^undecided: .*no steady steps/);
  }
});

// --- the command line ---------------------------------------------------------------------------

test("compare judges files as the service does, and its exit code says how", async () => {
  const answer = async (base, cand, ...more) => {
    const done = await compare("--format", "json", ...more, base, cand);
    return { status: done.status, ...JSON.parse(done.stdout) };
  };
  const fail = await answer(joined("main"), joined("slow"));
  assert.deepEqual([fail.status, fail.result], [1, "fail"]);
  const served = (await gate("base=main@*&cand=slow@*")).json;
  assert.deepEqual(fail.judgement, served.judgement);
  assert.equal(fail.lines[1], served.lines[1]);
  const { items } = await server.get("/compare/waterfall?base=main@*&cand=slow@*&limit=all");
  assert.deepEqual(fail.tables.compare_waterfall, items);
  const pass = await answer(joined("main"), joined("same"));
  assert.deepEqual([pass.status, pass.result], [0, "pass"]);
  const lenient = await answer(joined("main"), joined("slow"), "--max-regression", "0.5");
  assert.deepEqual([lenient.status, lenient.result], [0, "pass"]);
  const alone = await answer(file_of("main", 1), file_of("slow", 1));
  assert.deepEqual([alone.status, alone.result], [2, "undecided"]);
  assert.match(alone.lines[2], /give 3 more repeats of the base and 3 of the candidate/);
  const copies = REPEATS.map((number) => join(temporary("copies"), `${number}.json`));
  for (const copy of copies) copyFileSync(file_of("slow", 1), copy);
  const copied = await answer(joined("main"), copies.join());
  assert.deepEqual([copied.result, copied.judgement.cand_runs], ["undecided", 1]);
  assert.match(copied.lines[2], /4 more runs of the candidate have the same files as another one/);
});

// STEPSCOPE_UPDATE=1 rewrites it; read the result before you commit it.
test("compare prints what a person needs, as it is written in expected/compare.txt", async () => {
  const folder = temporary("text");
  const side = (series) => REPEATS.map((number) => {
    copyFileSync(file_of(series, number), join(folder, `${series}-${number}.json`));
    return `${series}-${number}.json`;
  }).join();
  const done = await run_status(stepscope_bin(), ["compare", side("main"), side("slow")],
    { cwd: folder });
  assert.deepEqual([done.status, done.stderr], [1, ""]);
  const expected = join(root, "tests/e2e/expected/compare.txt");
  if (process.env.STEPSCOPE_UPDATE) writeFileSync(expected, done.stdout);
  assert.equal(done.stdout, readFileSync(expected, "utf8"));
  assert.ok(done.stdout.split("\n").every((line) => line.length <= 100), done.stdout);
});

test("compare takes the ranks of a folder and of its folders, but no other files", async () => {
  const job = await generate(small_job("--ranks", "4"));
  const paths = job.files.map(({ filename }) => join(job.folder, filename));
  const nested = temporary("nested");
  paths.forEach((path, rank) => {
    mkdirSync(join(nested, `rank-${rank}`));
    copyFileSync(path, join(nested, `rank-${rank}`, "trace.json"));
  });
  writeFileSync(join(nested, "config.json"), "{}");
  const done = await compare("--format", "json", job.folder, nested);
  assert.equal(done.status, 0, done.stderr);
  const { tables, result } = JSON.parse(done.stdout);
  assert.equal(result, "pass", "the same traces in another place");
  const ranks = tables.compare_ranks.filter(({ rank }) => rank !== null);
  assert.deepEqual(ranks.map(({ rank }) => rank), [0, 1, 2, 3]);
});

test("compare per token needs tokens and scales by them", async () => {
  const sides = [file_of("main", 1), file_of("main", 1)];
  const unknown = await compare("--per", "token", ...sides);
  assert.equal(unknown.status, 64);
  assert.match(unknown.stderr, /tokens/);
  const done = await compare("--per", "token", "--base-tokens", "1000", "--cand-tokens", "2000",
    "--format", "json", ...sides);
  assert.ok(Math.abs(JSON.parse(done.stdout).judgement.shift_share + 0.5) < 1e-6, done.stdout);
});

test("compare says what is wrong by other codes than its verdicts", async () => {
  const [good] = [file_of("main", 1)];
  const folder = temporary("bad");
  const bad = join(folder, "bad.json");
  writeFileSync(bad, "no json");
  const cases = [
    [[good], 64, /expected two sides, found 1/],
    [[good, good, good], 64, /expected two sides, found 3/],
    [["--max-regression", "3%", good, good], 64, /expected a number such as 0.03, found '3%'/],
    [["--max-regression", "1e9", good, good], 64, /1e\+09, expected a number from -0.99 to 10/],
    [["--alpha", "2", good, good], 64, /alpha/],
    [[`${good},${good}`, good], 64, /found twice on one side, expected different files/],
    [[`${good},`, good], 64, /found an empty name/],
    [["--formatt", "json", good, good], 64, /--format/],
    [[good, join(folder, "none.json")], 3, /none\.json/],
    [[good, folder], 4, /bad\.json/],
    [[`${good},${bad}`, good], 4, /bad\.json/],
    [[good, temporary("nothing")], 3, /found no file in the folder that may be a trace/],
  ];
  for (const [args, status, message] of cases) {
    const done = await compare(...args);
    assert.equal(done.status, status, `${args.join(" ")}: ${done.stderr}`);
    assert.match(done.stderr, message);
    assert.equal(done.stdout, "");
  }
  const help = await compare("--help");
  assert.equal(help.status, 0);
  assert.match(help.stdout, /0 when the candidate passes, 1 when it fails, 2 when undecided/);
  for (const [, status] of cases)
    assert.match(help.stdout, new RegExp(`, ${status} (for|when) `));
});

test("compare of a side without steps ends after the settings", async () => {
  const folder = temporary("steps");
  const none = join(folder, "none.json");
  const op = { ph: "X", cat: "cpu_op", name: "aten::mul", ts: 1, dur: 5, pid: 1, tid: 1 };
  writeFileSync(none, JSON.stringify({ traceEvents: [op] }));
  for (const sides of [[none, file_of("main", 1)], [file_of("main", 1), none]]) {
    const { status, stdout } = await compare(...sides);
    assert.equal(status, 2);
    assert.match(stdout, /^undecided: the (base|candidate) has no steady steps on a device/);
    assert.match(stdout, /none\.json: no steady step\n/);
    assert.match(stdout, /\nsettings that differ\n/);
    assert.doesNotMatch(stdout, /\b0\.000\b|largest changes|ms of a mean step|was matched/);
  }
});

test("compare names causes of idle time by words", async () => {
  const folder = await generate(small_job("--plant", "starvation=3000000"));
  const slow = join(folder.folder, folder.files[0].filename);
  const { stdout } = await compare(file_of("main", 1), slow);
  assert.match(stdout, /idle by data loading  idle host wait, noise unknown\n/);
  assert.doesNotMatch(stdout, /data_loading|idle_host_wait|other_compute|exposed_comm/);
});

test("names in traces command no terminal", async () => {
  const folder = temporary("names");
  const write = (name, kernel_us) => {
    const path = join(folder, name);
    writeFileSync(path, small_json({ names: ["k\u001b[2J"], kernel_us }).toString()
      .replaceAll("aten::mul", "evil\\u001b[2J\\u0007\\r\\n"));
    return path;
  };
  const done = await compare(write("base.json", 20), write("cand.json", 40));
  assert.ok([0, 2].includes(done.status), done.stderr);
  assert.match(done.stdout, /evil/);
  assert.doesNotMatch(done.stdout, /[\u0000-\u0009\u000b-\u001f\u007f]/);
});
