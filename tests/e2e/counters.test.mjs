// SPDX-License-Identifier: Apache-2.0
// Counters recorded with the events: each sample and each step's mean against the events
// themselves.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { axe_faults, launch, on_clean_page, visit } from "./helpers/browser.mjs";
import { reply_faults } from "./helpers/openapi.mjs";
import { start_server } from "./helpers/server.mjs";
import { run_program, stepscope_bin, temporary } from "./helpers/tools.mjs";
import { generate } from "./helpers/traces.mjs";

const PERIOD_NS = 100_000;
const folder = temporary("counters");
let server;

before(async () => (server = await start_server()));
after(() => server?.stop());

async function analyze(data) {
  const path = join(folder, "rank0.json");
  writeFileSync(path, data);
  const out = await run_program(stepscope_bin(), ["analyze", "--format", "json", path]);
  const [trace] = JSON.parse(out).traces;
  return trace.tables ?? trace;
}

/** How long the compute stream was busy between two times. */
const busy_of = (events, begin_ns, end_ns) => events.reduce((sum, event) =>
  sum + Math.max(0, Math.min(event.end_ns, end_ns) - Math.max(event.begin_ns, begin_ns)), 0);

/** The mean over an interval of samples that each hold until the next. */
function mean_of(samples, begin_ns, end_ns) {
  let weighted = 0, covered = 0;
  samples.forEach(({ time_ns, value }, i) => {
    const next_ns = samples[i + 1]?.time_ns ?? time_ns + PERIOD_NS;
    const held_ns = Math.min(next_ns, end_ns) - Math.max(time_ns, begin_ns);
    if (held_ns > 0) {
      weighted += value * held_ns;
      covered += held_ns;
    }
  });
  return { mean: covered ? weighted / covered : null, covered };
}

const near = (found, expected, what) => assert.ok(
  Math.abs(found - expected) <= 1e-5 * Math.max(1, Math.abs(expected)),
  `${what}: found ${found}, expected ${expected}`);

for (const [flavour, expected] of [
  ["cuda", { "sm__cycles_active.avg.pct_of_peak_sustained_elapsed": [100 / PERIOD_NS, "percent"],
    "dram__bytes_read.sum": [2000, "bytes"] }],
  ["rocm", { "GPU 2 Utilization: GPU Utilization": [1 / PERIOD_NS, "share"] }],
]) {
  const job = ["--flavour", flavour, "--ranks", "1", "--steps", "5", "--layers", "2",
    "--list-events"];

  test(`counters of ${flavour} are what the events say, by sample and by step`, async () => {
    const { files, truth } = await generate([...job, "--counters"]);
    const tables = await analyze(files[0].data);
    const stream = tables.counter_series && truth.ranks[0].events
      .reduce((count, { stream }) => count.set(stream, (count.get(stream) ?? 0) + 1), new Map());
    const [compute] = [...stream].sort((a, b) => b[1] - a[1])[0];
    const events = truth.ranks[0].events.filter((event) => event.stream === compute);
    const origin_ns = Math.min(...truth.ranks[0].events.map(({ begin_ns }) => begin_ns));
    assert.deepEqual(tables.counters.map(({ counter }) => counter).sort(),
      Object.keys(expected).sort());
    for (const row of tables.counters) {
      const [scale, unit] = expected[row.counter];
      assert.equal(row.unit, unit);
      assert.ok(row.sampled);
      assert.equal(row.spacing_ns, PERIOD_NS);
      const series = tables.counter_series.filter(({ counter }) => counter === row.counter);
      assert.equal(series.length, row.samples);
      for (const { time_ns, value } of series) {
        const begin_ns = time_ns + origin_ns;
        near(value, busy_of(events, begin_ns, begin_ns + PERIOD_NS) * scale, `at ${time_ns}`);
      }
      const steps = tables.counter_steps.filter(({ counter }) => counter === row.counter);
      assert.equal(steps.length, tables.steps.length);
      steps.forEach((step, i) => {
        const { begin_ns } = tables.steps[i];
        const { mean, covered } = mean_of(series, begin_ns, begin_ns + step.step_ns);
        near(step.mean, mean, `step ${step.step}`);
        assert.equal(step.covered_ns, covered);
        assert.ok(step.min <= step.mean && step.mean <= step.max);
      });
    }
  });

  test(`the twin of ${flavour} without counters has all other figures alike`, async () => {
    const [counted, twin] = await Promise.all([[...job, "--counters"], job].map(generate));
    const tables = await analyze(counted.files[0].data), bare = await analyze(twin.files[0].data);
    for (const name of ["counters", "counter_steps", "counter_series"]) {
      assert.equal(bare[name], undefined, name);
      delete tables[name];
    }
    for (const name of ["steps", "kernels", "operators", "idle_causes", "findings", "trust"])
      assert.deepEqual(tables[name], bare[name], name);
  });
}

test("the tables of counters are answered as described", async () => {
  const { files } = await generate(["--ranks", "1", "--steps", "5", "--layers", "2", "--counters"]);
  await server.analyzed("counted", files);
  for (const table of ["counters", "counter_steps", "counter_series"]) {
    const path = `/api/v1/runs/counted/${table}`;
    const reply = await server.request(path);
    assert.equal(reply.status, 200);
    assert.ok(reply.json.items.length > 0, table);
    assert.deepEqual(reply_faults("GET", `/api/v1/runs/{run}/${table}`, reply), []);
  }
});

test("the page of memory shows counters where there are any, without barriers", async () => {
  const browser = await launch();
  try {
    const { files } = await generate(["--ranks", "1", "--steps", "5", "--layers", "2"]);
    await server.analyzed("uncounted", files);
    await on_clean_page(browser, server.base, {}, async (page) => {
      await visit(page, "/runs/counted/memory");
      await page.getByRole("heading", { name: "Counters" }).waitFor();
      await page.locator(".counter-line path").first().waitFor();
      assert.equal(await page.locator(".counter-line").count(), 2);
      assert.match(await page.locator("main").innerText(), /dram__bytes_read\.sum/);
      assert.deepEqual(await axe_faults(page), []);
      await visit(page, "/runs/uncounted/memory");
      assert.equal(await page.getByRole("heading", { name: "Counters" }).count(), 0);
    });
  } finally {
    await browser.close();
  }
});
