// SPDX-License-Identifier: Apache-2.0
// Comparisons over HTTP: sides of several runs, up to eight candidates, tables in every format,
// what is refused and how, conditional requests.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { csv_rows } from "./helpers/csv.mjs";
import { reply_faults } from "./helpers/openapi.mjs";
import { start_server } from "./helpers/server.mjs";
import { generate, small_job, small_json } from "./helpers/traces.mjs";

const TABLES = ["runs", "settings", "waterfall", "modules", "collectives", "ranks", "memory",
  "findings"];
const REPEATS = [1, 2, 3, 4];

let server;
const api = (path, what) => server.request(`/api/v1${path}`, what);
const names = (side) => side.runs.map(({ name }) => name);

/** Repeats of a job whose matrix products take `percent` of the usual time. */
async function upload_series(name, percent, more = {}) {
  await Promise.all(REPEATS.map(async (number) => {
    const seed = `${percent}${number}`;
    const job = await generate(small_job("--ranks", "1", "--stacks", "--seed", seed,
      "--run-noise", "1", "--slow-op", `aten::mm=${percent}`));
    await server.analyzed(`${name}@${number}`, job.files, more);
  }));
}

before(async () => {
  server = await start_server();
  await upload_series("main", 100);
  await upload_series("slow", 110);
  const wide = await generate(small_job("--ranks", "4", "--memory", "--straggler", "2=140"));
  const rocm = await generate(small_job("--flavour", "rocm", "--memory", "--strategy", "fsdp"));
  await server.analyzed("wide", wide.files);
  await server.analyzed("rocm", rocm.files);
  for (let i = 0; i < 8; i++) {
    await server.analyzed(`tiny-${i}`, [{ filename: "rank0.json",
      data: small_json({ names: ["=1+1", `kernel_${i}`] }) }]);
  }
  await server.send("POST", "/runs", { name: "empty" });
});
after(() => server?.stop());

test("an overview holds each side's runs and steps, and each candidate's figures", async () => {
  const reply = await server.get("/compare?base=main@1,main@2&cand=slow@1&cand=wide");
  assert.deepEqual(names(reply.base), ["main@1", "main@2"]);
  assert.deepEqual(reply.candidates.map(names), [["slow@1"], ["wide"]]);
  assert.deepEqual(reply.candidates.map(({ summary }) => summary.cand), [1, 2]);
  const [{ summary, settings, steps }] = reply.candidates;
  const count = (lists) => lists.flat().length;
  assert.equal(reply.base.steps.length, 2);
  assert.equal(count(reply.base.steps), summary.base_steps);
  assert.equal(count(steps), summary.cand_steps);
  assert.equal(summary.base_runs, 2);
  assert.equal(summary.cand_runs, 1);
  const flags = settings.map(({ differs }) => Number(differs));
  assert.deepEqual(flags, [...flags].sort((a, b) => b - a), "what differs comes first");
  assert.ok(reply.candidates[1].settings.some(({ cand, differs }) => cand === 2 && differs));
  assert.deepEqual([reply.per, reply.rank], ["step", "headline"]);
  assert.deepEqual(reply.thresholds,
    { alpha: 0.05, relevant_share: 0.002, relevant_ns: 100000 });
});

test("thresholds that are asked for are printed and change the verdict", async () => {
  const query = "base=main@*&cand=slow@*";
  const usual = await server.get(`/compare?${query}`);
  assert.equal(usual.candidates[0].summary.verdict, "significant");
  assert.equal(usual.candidates[0].summary.relevant, true);
  const strict = await server.get(`/compare?${query}&alpha=0.001&relevant_ns=1e9`);
  assert.equal(strict.thresholds.alpha, 0.001);
  assert.equal(strict.candidates[0].summary.verdict, "noise unknown", "4 against 4 cannot tell");
  assert.notEqual(strict.candidates[0].summary.relevant, true);
});

test("NAME@* stands for the runs of a series, and commas for repeats", async () => {
  const series = await server.get("/compare?base=main@*&cand=default/slow@*");
  assert.deepEqual(names(series.base).sort(), REPEATS.map((number) => `main@${number}`));
  const listed = await server.get(`/compare?base=${names(series.base).join()}&cand=${
    names(series.candidates[0]).join()}`);
  assert.deepEqual(listed.candidates[0].summary, series.candidates[0].summary);
  const created = series.base.runs.map(({ created: when }) => when);
  assert.deepEqual(created, [...created].sort(), "oldest first");
});

test("keys are what they are elsewhere: ids, project/name, series~latest, baselines", async () => {
  const run = await server.get("/runs/main@2");
  const put = await server.send("PUT", "/baselines/pinned", { run: "main@2" });
  assert.ok([200, 201].includes(put.status), put.text);
  for (const key of [run.id, "default/main@2", "@baseline:pinned"]) {
    const { base } = await server.get(`/compare?base=${encodeURIComponent(key)}&cand=slow@1`);
    assert.deepEqual(names(base), ["main@2"], key);
  }
  const { base } = await server.get("/compare?base=wide~latest&cand=slow@1");
  assert.deepEqual(names(base), ["wide"]);
});

test("a run whose name has a comma is found by its name", async () => {
  await server.analyzed("tiny-0,tiny-1", [{ filename: "rank0.json", data: small_json() }]);
  const { base } = await server.get("/compare?base=tiny-0,tiny-1&cand=tiny-2");
  assert.deepEqual(names(base), ["tiny-0,tiny-1"]);
});

test("eight candidates are compared at once, each as it is alone", async () => {
  const tiny = Array.from({ length: 8 }, (_, i) => `tiny-${i}`);
  const path = `/compare/waterfall?base=main@1&${tiny.map((name) => `cand=${name}`).join("&")}`;
  const { items } = await server.get(`${path}&limit=all`);
  assert.deepEqual([...new Set(items.map(({ cand }) => cand))], [1, 2, 3, 4, 5, 6, 7, 8]);
  const alone = await server.get("/compare/waterfall?base=main@1&cand=tiny-4&limit=all");
  const plain = ({ cand, id, parent, ...row }) => row;
  assert.deepEqual(items.filter(({ cand }) => cand === 5).map(plain), alone.items.map(plain));
  const only = await server.get(`${path}&limit=all&only=5`);
  assert.deepEqual(only.items, items.filter(({ cand }) => cand === 5));
  const nine = await api(`${path}&cand=slow@1`);
  assert.equal(nine.status, 400);
  assert.match(nine.json.detail, /more than 8 candidates/);
});

test("more than 64 runs, and a run twice on one side, are refused", async () => {
  const tiny = Array.from({ length: 8 }, (_, i) => `tiny-${i}`).join();
  const many = await api(`/compare?base=main@1&${Array(8).fill(`cand=${tiny}`).join("&")}`);
  assert.equal(many.status, 400);
  assert.match(many.json.detail, /more than 64 runs/);
  for (const side of ["main@1,main@1", "main@*,main@2"]) {
    const twice = await api(`/compare?base=slow@1&cand=${side}`);
    assert.equal(twice.status, 400);
    assert.match(twice.json.detail, /^cand: found run 'main@\d' twice/);
  }
});

test("a series against one of its runs is the others", async () => {
  const { base } = await server.get("/compare?base=main@*&cand=main@2");
  const all = (await server.get("/compare?base=main@*&cand=slow@1")).base;
  assert.deepEqual(names(base), names(all).filter((name) => name !== "main@2"));
  assert.ok(names(all).includes("main@2"));
  assert.deepEqual(names((await server.get("/compare?base=tiny-0&cand=tiny-0")).base), ["tiny-0"]);
});

test("the same rank is compared on both sides, and texts say which", async () => {
  for (const seed of ["11", "15"]) {
    const job = await generate(["--seed", seed, "--ranks", "3", "--steps", "8", "--layers", "2",
      "--straggler", "1=110", "--run-noise", "0.3", "--noise", "1.5"]);
    await server.analyzed(`chance-${seed}`, job.files);
  }
  const headline = async (run) => (await server.get(`/runs/${run}/summary`)).summary.headline_rank;
  const [first, second] = [await headline("chance-11"), await headline("chance-15")];
  assert.notEqual(first, second, "chance chose the straggler once");
  const query = "base=chance-11&cand=chance-15";
  const { base, candidates: [{ summary, steps }] } = await server.get(`/compare?${query}`);
  assert.match(summary.verdict_text, new RegExp(`; on rank ${first} of both sides;`));
  const { items } = await server.get(`/compare/waterfall?${query}&limit=all`);
  const most = Math.max(...items.map(({ delta_ns }) => Math.abs(delta_ns)));
  assert.ok(most < 1e5, `nothing changed, but a part differs by ${most} ns`);
  const { items: own } = await server.get(`/runs/chance-15/steps?rank=${first}&steady=true`);
  assert.deepEqual(steps, [own.map(({ window_ns }) => window_ns)]);
  assert.equal(base.steps.length, 1);
  const { json } = await api(`/compare/gate?${query}`);
  assert.match(json.lines[2], new RegExp(`; on rank ${first} of both sides;`));
});

test("the same files under four names are one run", async () => {
  const job = await generate(small_job("--ranks", "2", "--seed", "77"));
  for (const number of REPEATS) await server.analyzed(`copy@${number}`, job.files);
  const other = await generate(small_job("--ranks", "2", "--seed", "78"));
  await server.analyzed("copy@5", other.files);
  const { base, candidates: [{ summary }] } =
    await server.get("/compare?base=copy@*&cand=slow@1,slow@2");
  assert.deepEqual(names(base), ["copy@1", "copy@5"]);
  assert.match(summary.verdict_text, /; 3 more runs of the base have the same files as another /);
  const { json } = await api("/compare/gate?base=slow@1&cand=copy@3,copy@1");
  assert.equal(json.judgement.cand_runs, 1);
  assert.match(json.lines[2], /; 1 more run of the candidate has the same files as another one an/);
});

const REFUSED = [
  ["base=main@1", 400, /no cand=RUN/],
  ["cand=main@1", 400, /no base=RUN/],
  ["base=&cand=main@1", 400, /no base=RUN/],
  ["base=main@1&cand=none", 404, /^cand: no run 'none'/],
  ["base=none@*&cand=main@1", 404, /^base: no run of series 'none'/],
  ["base=main@1,&cand=main@2", 404, /^base: no run ''/],
  ["base=@*&cand=main@1", 400, /^base: found '@\*', expected the name of a series/],
  ["base=default/@*&cand=main@1", 400, /^base: found 'default\/@\*', expected the name/],
  ["base=main@1&base=main@2&cand=slow@1", 400, /more than one base, expected repeats/],
  ["base=empty&cand=main@1", 409, /no results yet/],
  ["base=main@1&cand=slow@1&per=fortnight", 400, /per=fortnight, expected step or token/],
  ["base=main@1&cand=slow@1&rank=3", 400, /rank=3, expected headline or slowest/],
  ["base=main@1&cand=slow@1&alpha=0", 400, /alpha/],
  ["base=main@1&cand=slow@1&alpha=nan", 400, /alpha=nan, expected a number/],
  ["base=main@1&cand=slow@1&relevant_share=-1", 400, /relevant_share=-1/],
  ["base=main@1&cand=slow@1&only=2", 400, /only=2, expected a number from 1 to 1/],
  ["base=main@1&cand=slow@1&sort=nome", 400, /nome/],
  ["base=main@1&cand=slow@1&color=red", 400, /'color'/],
];

for (const [query, status, detail] of REFUSED) {
  test(`${query} is refused with ${status} and a reason`, async () => {
    for (const path of ["/compare", "/compare/waterfall"]) {
      const reply = await api(`${path}?${query}`);
      assert.equal(reply.status, status, `${path}: ${reply.text}`);
      assert.match(reply.json.detail, detail);
      assert.deepEqual(reply_faults("GET", `/api/v1${path}`, reply), []);
    }
  });
}

test("a run that is not analyzed yet has its own error word, with what to do", async () => {
  const { json } = await api("/compare?base=main@1&cand=empty");
  assert.match(json.type, /problem\/not-analyzed$/);
  assert.match(json.fix, /wait until/);
});

for (const table of TABLES) {
  test(`json, columns, csv and ndjson of compare/${table} hold the same rows`, async () => {
    const query = "base=wide&cand=rocm&cand=main@1";
    const path = `/compare/${table}?${query}`;
    const json = await server.get(`${path}&limit=all`);
    assert.equal(json.total, json.items.length);
    assert.ok(json.total > 0, "there are rows");
    const columns = json.columns.map(({ name }) => name);
    assert.equal(columns[0], "cand");
    assert.ok(json.columns.every(({ help }) => help.length > 0));
    const { columns: values } = await server.get(`${path}&format=columns`);
    assert.deepEqual(json.items, json.items.map((_, row) =>
      Object.fromEntries(columns.map((name) => [name, values[name][row]]))));
    const ndjson = await api(`${path}&format=ndjson`);
    assert.deepEqual(ndjson.text.split("\n").filter(Boolean).map((line) => JSON.parse(line)),
      json.items);
    const csv = await api(`${path}&format=csv`);
    assert.equal(csv_rows(csv.text).length, json.items.length);
    assert.match(csv.headers["content-disposition"], new RegExp(`-vs-wide-${table}\\.csv"`));
    const first = await server.get(`${path}&limit=1`);
    assert.deepEqual(first.items, json.items.slice(0, 1));
    const only = await server.get(`${path}&limit=all&only=2`);
    assert.deepEqual(only.items, json.items.filter(({ cand }) => cand === 2));
    assert.deepEqual(reply_faults("GET", `/api/v1/compare/${table}`,
      await api(`${path}&limit=all`)), []);
  });
}

test("rows are filtered, sorted and paged; a cursor leads through those of one candidate",
  async () => {
    const query = "/compare/waterfall?base=main@1&cand=slow@1&cand=wide";
    const all = (await server.get(`${query}&limit=all&only=2&sort=-delta_ns`)).items;
    assert.ok(all.length > 10);
    const paged = [];
    let cursor = "";
    do {
      const page = await server.get(`${query}&only=2&sort=-delta_ns&limit=7${cursor}`);
      assert.equal(page.total, all.length);
      paged.push(...page.items);
      cursor = page.next_cursor && `&cursor=${page.next_cursor}`;
    } while (cursor);
    assert.deepEqual(paged, all);
    const bars = (await server.get(`${query}&only=1&level=bar`)).items;
    assert.equal(bars.length, 8);
    const [{ id, delta_ns }] = bars.filter(({ bar }) => bar === "gemm");
    const below = (await server.get(`${query}&parent=${id}&limit=all`)).items;
    assert.ok(below.length > 0);
    assert.equal(below.reduce((sum, row) => sum + row.delta_ns, 0), delta_ns);
  });

test("the figures come as csv, a row per candidate, and no text is a formula", async () => {
  const reply = await api("/compare?base=tiny-0&cand=tiny-1&cand=tiny-2&format=csv");
  assert.equal(csv_rows(reply.text).length, 2);
  const { text } = await api("/compare/waterfall?base=tiny-0&cand=tiny-1&format=csv");
  const kernels = csv_rows(text).flatMap((row) => [row.base_kernel, row.cand_kernel]);
  assert.ok(kernels.includes("'=1+1"), kernels.join());
  assert.deepEqual(kernels.filter((name) => /^[=+\-@\t\r]/.test(name)), []);
});

test("what has not changed is not sent twice, what has is", async () => {
  for (const path of ["/compare", "/compare/waterfall", "/compare/runs"]) {
    const to = `${path}?base=tiny-5&cand=tiny-6`;
    const { etag } = (await api(to)).headers;
    const again = () => api(to, { headers: { "If-None-Match": etag } });
    assert.equal((await again()).status, 304, path);
    const other = await api(`${to}&relevant_ns=7`, { headers: { "If-None-Match": etag } });
    assert.equal(other.status, 200, "another question");
    const patched = await server.send("PATCH", "/runs/tiny-6", { note: path }, { "If-Match": "*" });
    assert.equal(patched.status, 200);
    const changed = await again();
    assert.equal(changed.status, 200, "a run has changed");
    assert.notEqual(changed.headers.etag, etag);
  }
});

test("the slowest rank stands for a run when asked", async () => {
  const { items } = await server.get("/runs/wide/ranks?limit=all&sort=-step_median_ns");
  const slowest = (await server.get("/runs/wide/summary")).summary.slowest_rank;
  const rank_steps = async (rank) => (await server.get(
    `/runs/wide/steps?rank=${rank}&steady=true&limit=all`)).items.map((row) => row.window_ns);
  const reply = await server.get("/compare?base=main@1&cand=wide&rank=slowest");
  assert.equal(reply.rank, "slowest");
  assert.deepEqual(reply.candidates[0].steps, [await rank_steps(slowest)]);
  const [{ step_median_ns }] = items.filter(({ rank }) => rank === slowest);
  assert.equal(reply.candidates[0].summary.cand_step_ns, step_median_ns);
});

test("one rank is compared with many, by statistics of the ranks", async () => {
  const { items } = await server.get("/compare/ranks?base=main@1&cand=wide&limit=all");
  assert.deepEqual(items.map(({ statistic }) => statistic).sort(),
    ["max", "mean", "median", "min"]);
  const same = await server.get("/compare/ranks?base=wide&cand=wide&limit=all");
  const ranks = same.items.filter(({ rank }) => rank !== null);
  assert.deepEqual(ranks.map(({ rank }) => rank), [0, 1, 2, 3]);
  assert.ok(ranks.every(({ delta_ns }) => delta_ns === 0));
});

test("per=token scales the candidate to the base's tokens, and asks for them", async () => {
  const unknown = await api("/compare?base=main@1&cand=slow@1&per=token");
  assert.equal(unknown.status, 400);
  assert.match(unknown.json.detail, /tokens_per_step/);
  const meta = (run, tokens) => server.send("PATCH", `/runs/${run}`,
    { meta: { tokens_per_step: String(tokens) } }, { "If-Match": "*" });
  assert.equal((await meta("main@1", 1000)).status, 200);
  assert.equal((await meta("slow@1", 2000)).status, 200);
  const per_step = await server.get("/compare?base=main@1&cand=slow@1");
  const per_token = await server.get("/compare?base=main@1&cand=slow@1&per=token");
  assert.equal(per_token.per, "token");
  const step_ns = ({ candidates: [{ summary }] }) => summary.cand_step_ns;
  assert.ok(Math.abs(step_ns(per_token) - step_ns(per_step) / 2) <= 1);
  const { summary } = per_token.candidates[0];
  assert.deepEqual([summary.base_tokens, summary.cand_tokens], [1000, 2000]);
  const { items } = await server.get(
    "/compare/waterfall?base=main@1&cand=slow@1&per=token&level=bar");
  assert.equal(items.reduce((sum, row) => sum + row.delta_ns, 0), summary.delta_mean_ns);
});

test("what people say about a run wins over what its trace says, and is marked so", async () => {
  const reply = await server.send("PATCH", "/runs/tiny-7", { meta: { data: "real", lr: "1e-4" } },
    { "If-Match": "*" });
  assert.equal(reply.status, 200);
  const { items } = await server.get("/compare/settings?base=tiny-0&cand=tiny-7&limit=all");
  const row = items.find(({ key }) => key === "lr");
  assert.deepEqual([row.base, row.cand_value, row.differs, row.cand_source],
    [null, "1e-4", true, "upload"]);
});

test("eight earlier runs of the base's series tell the noise of a single run", async () => {
  for (let i = 1; i <= 10; i++) {
    const job = await generate(small_job("--ranks", "1", "--seed", `${i}`, "--run-noise", "1"));
    await server.analyzed(`nightly@${i}`, job.files);
  }
  const { candidates: [{ summary }] } = await server.get(
    "/compare?base=nightly@10&cand=slow@1");
  assert.equal(summary.method, "history");
  assert.ok(summary.threshold_share > 0 && summary.threshold_share < 0.1, summary.threshold_share);
  assert.notEqual(summary.verdict, "noise unknown");
  const wider = await generate(small_job("--ranks", "2"));
  await server.analyzed("nightly@11", wider.files);
  const other = await server.get("/compare?base=nightly@11&cand=slow@1");
  assert.equal(other.candidates[0].summary.threshold_share, null, "other ranks are no history");
  const early = await server.get("/compare?base=nightly@5&cand=slow@1");
  const { threshold_share } = early.candidates[0].summary;
  assert.equal(threshold_share, null, "only runs before the base count");
});
