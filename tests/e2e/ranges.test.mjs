// SPDX-License-Identifier: Apache-2.0
// Tables of a run by a named range, over the API and on pages.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { tar } from "./helpers/archives.mjs";
import { axe_faults, launch, NARROW, on_clean_page, visit } from "./helpers/browser.mjs";
import { start_server } from "./helpers/server.mjs";
import { run_program, temporary } from "./helpers/tools.mjs";
import { generate, small_job } from "./helpers/traces.mjs";

const AS_ROLES = fileURLToPath(new URL("../tracegen/as_roles.py", import.meta.url));

let browser;
let server;
let range;

const items = async (path) => (await server.get(`/runs/job/${path}`)).items;
const sum = (rows, key) => rows.reduce((all, row) => all + row[key], 0);

before(async () => {
  browser = await launch();
  server = await start_server();
  await server.analyzed("job", (await generate(small_job())).files);
  const ranges = await items("ranges?limit=all&rank=1&depth=1&depth=2");
  [range] = ranges.filter(({ name }) => !name.includes("*"))
    .sort((a, b) => b.total_owned_ns - a.total_owned_ns);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test("tables of a range sum to its device time and idle time, to the nanosecond", async () => {
  const by_range = `?rank=1&range=${encodeURIComponent(range.name)}&limit=all`;
  const same_name = await items(`ranges?limit=all&rank=1&name=${encodeURIComponent(range.name)}`);
  const owned_ns = sum(same_name, "total_owned_ns");
  for (const table of ["kernels", "operators", "categories"]) {
    assert.equal(sum(await items(`${table}${by_range}`), "owned_ns"), owned_ns, table);
  }
  const [parts] = await items(`breakdown${by_range}`);
  assert.equal(parts.busy_ns, owned_ns);
  assert.equal(parts.idle_ns, sum(same_name, "idle_ns"));
  assert.equal(sum(await items(`idle_causes${by_range}`), "total_ns"), parts.idle_ns);
  assert.equal(sum(await items(`process_groups${by_range}`), "total_ns"),
    sum(await items(`collectives${by_range}`), "total_ns"));
  for (const tree of ["op_tree", "modules"]) {
    const [root] = await items(`${tree}${by_range}&depth=0`);
    assert.equal(root.total_owned_ns, owned_ns, tree);
  }
  const sizes = await items(`comm_sizes${by_range}`);
  assert.equal(sum(sizes, "total_ns"), sum(await items(`collectives${by_range}`), "total_ns"));
  const ops = await items(`comm_ops${by_range}`), calls = await items(`comm_calls${by_range}`);
  assert.equal(sum(calls.filter(({ part }) => part === 0), "dur_ns"), sum(sizes, "total_ns"));
  assert.deepEqual([...new Set(calls.map(({ op }) => op))], ops.map((_, row) => row));
  const [peak] = await items("memory?rank=1"), [within] = await items(`memory${by_range}`);
  assert.ok(!within || within.peak_allocated_bytes <= peak.peak_allocated_bytes);
  const work = async (where) => (await items(`utilization${where}`))
    .find(({ metric }) => metric === "flops_per_step");
  assert.ok((await work(by_range)).value <= (await work("?rank=1&limit=all")).value);
  const shapes = await items(`op_shapes${by_range}`);
  assert.ok(shapes.length > 0 && shapes.every(({ median_ns }) => median_ns > 0));
  assert.equal(sum(shapes, "owned_ns"), sum((await items(`operators${by_range}`))
    .filter(({ name }) => name), "owned_ns"));
  const gaps = await items(`idle_gaps${by_range}`);
  assert.ok(sum(gaps, "dur_ns") <= parts.idle_ns && gaps.every(({ device }) => device === null));
  const waits = await items(`stream_idle${by_range}`);
  assert.ok(waits.length > 0);
  for (const wait of waits) {
    const all = (await items("stream_idle?rank=1&limit=all")).find(({ stream, category }) =>
      stream === wait.stream && category === wait.category);
    assert.ok(wait.gaps <= all.gaps && wait.idle_ns <= all.idle_ns);
  }
  assert.ok(sum(await items(`queues${by_range}`), "launches") > 0);
  const kernels = await items(`kernels${by_range}`);
  const whole = await items("kernels?rank=1&limit=all");
  for (const kernel of kernels) {
    const all = whole.find(({ name }) => name === kernel.name);
    assert.ok(kernel.total_ns <= all.total_ns, kernel.name);
    assert.ok(kernel.min_ns >= all.min_ns && kernel.max_ns <= all.max_ns, kernel.name);
  }
});

test("without a rank it is the headline rank's; filters, order and CSV hold as ever", async () => {
  const name = encodeURIComponent(range.name);
  const [kernel] = await items(`kernels?range=${name}&sort=-owned_ns&limit=1`);
  assert.equal(kernel.median_ns, null);
  assert.ok(kernel.owned_ns > 0);
  const { text } = await server.request(`/api/v1/runs/job/kernels?range=${name}&format=csv`
    + "&fields=name,calls&limit=all");
  assert.match(text, /^name,calls\r?\n/);
});

test("an unknown range and a table that cannot be had by range are refused", async () => {
  const unknown = await server.request("/api/v1/runs/job/kernels?range=nowhere");
  assert.equal(unknown.status, 404);
  assert.match(unknown.text, /has no range 'nowhere'; its table ranges lists all/);
  const other = await server.request("/api/v1/runs/job/steps?range=x");
  assert.equal(other.status, 400);
});

test("a range is chosen in the tree, and its tables follow", () =>
  on_clean_page(browser, server.base, {}, async (page) => {
    await visit(page, "/runs/job/ranges?rank=1");
    await page.getByRole("link", { name: range.name, exact: true }).first().click();
    await page.getByRole("heading", { name: "Kernels in the range" }).waitFor();
    await page.getByRole("heading", { name: "Idle time in the range" }).waitFor();
    assert.match(page.url(), /range=/);
    assert.deepEqual(await axe_faults(page), []);
  }));

test("the page Kernels filters by a range, on a narrow, dark screen too", () =>
  on_clean_page(browser, server.base, { viewport: NARROW, colorScheme: "dark" }, async (page) => {
    await visit(page, "/runs/job/kernels");
    await page.locator("label.pick", { hasText: "Range" }).locator("select")
      .selectOption(range.name);
    await page.getByText(`within ${range.name}, typical rank`).waitFor();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth
      > document.documentElement.clientWidth);
    assert.equal(wide, false);
    assert.deepEqual(await axe_faults(page), []);
  }));

test("a range chosen on one page filters the next, until it is cleared", () =>
  on_clean_page(browser, server.base, {}, async (page) => {
    await visit(page, "/runs/job/operators?rank=1");
    await page.locator("label.range-pick select").selectOption(range.name);
    await page.getByText(`within ${range.name}`).waitFor();
    const tab = (name) => page.getByLabel("Pages of this run").getByRole("link", { name }).click();
    await tab("Idle");
    await page.getByText(`within ${range.name}, rank 1`).waitFor();
    const queues = page.locator("section.card", { hasText: "Queues" });
    await queues.getByText(`within ${range.name}; launched`).waitFor();
    await tab("Timeline");
    await page.getByText("does not filter this page").waitFor();
    await tab("Communication");
    await page.getByRole("button", { name: "Clear the range" }).click();
    await page.waitForURL((url) => !url.searchParams.has("range"));
    assert.deepEqual(await axe_faults(page), []);
  }));

/** The steps' roles of all ranks, as roles.json says. */
function merged_truth(truth) {
  const merged = new Map();
  for (const { window_ns: window, rows } of Object.values(truth)) {
    for (const row of rows.filter(({ begin_ns }) => begin_ns !== null)) {
      const key = `${row.step} ${row.role}`;
      const sum = merged.get(key) ?? { ranks: 0, begin_ns: Infinity, end_ns: 0, compute_ns: 0,
        copy_ns: 0, idle_ns: 0 };
      for (const figure of ["compute_ns", "copy_ns", "idle_ns"]) sum[figure] += row[figure];
      sum.ranks += 1;
      sum.begin_ns = Math.min(sum.begin_ns, window + row.begin_ns);
      sum.end_ns = Math.max(sum.end_ns, window + row.end_ns);
      merged.set(key, sum);
    }
  }
  return merged;
}

test("roles named by ranges have their times and the waits between them, to the nanosecond",
  async () => {
    const job = await generate(small_job());
    const folder = temporary("roles");
    await run_program("python3", [AS_ROLES, folder,
      ...job.files.map(({ filename }) => join(job.folder, filename))]);
    const truth = JSON.parse(readFileSync(join(folder, "roles.json"), "utf8"));
    await server.analyzed("rl", job.files.map(({ filename }) =>
      ({ filename, data: readFileSync(join(folder, filename)) })));
    const get = async (path) => (await server.get(`/runs/rl/${path}`)).items;
    for (const [rank, { rows }] of Object.values(truth).entries()) {
      const found = await get(`role_steps?rank=${rank}&limit=all`);
      assert.equal(found.length, rows.length);
      for (const row of rows) {
        assert.deepEqual(found.find(({ step, role }) => step === row.step && role === row.role),
          row);
      }
    }
    const merged = [...merged_truth(truth)].sort(([, a], [, b]) => a.begin_ns - b.begin_ns);
    const steps = await get("role_steps?limit=all");
    let end_ns = merged[0][1].begin_ns;
    merged.forEach(([key, want], i) => {
      const { step, role, wait_ns, ...got } = steps[i];
      assert.equal(`${step} ${role}`, key);
      assert.equal(wait_ns, Math.max(0, want.begin_ns - end_ns), key);
      for (const figure of ["ranks", "compute_ns", "copy_ns", "idle_ns"]) {
        assert.equal(got[figure], want[figure], `${figure} of ${key}`);
      }
      end_ns = Math.max(end_ns, want.end_ns);
    });
    const roles = await get("roles");
    assert.equal(sum(roles, "wait_ns"), sum(steps, "wait_ns"));
    assert.deepEqual(roles.map(({ steps: n, shared_steps: m, basis }) => [n, m, basis]),
      roles.map(() => [5, 5, "ranges"]));
  });

test("the role of an upload holds for the whole of its traces", async () => {
  const { files } = await generate(small_job());
  await server.analyzed("actors", [files[0]], { role: "policy" });
  await server.analyzed("actors", [files[1]], { role: "rollout engine" });
  const roles = (await server.get("/runs/actors/roles")).items;
  assert.deepEqual(roles.map(({ role, basis, ranks }) => [role, basis, ranks]),
    [["policy", "trace", 1], ["rollout engine", "trace", 1]]);
  const steps = (await server.get("/runs/actors/steps?rank=0&limit=all")).items;
  assert.equal(roles[0].compute_ns, sum(steps, "compute_ns"));
  await server.analyzed("actors", [files[1]], { role: "generation" }); // the same file again
  assert.deepEqual((await server.get("/runs/actors/roles")).items.map(({ role }) => role),
    ["policy", "generation"]);
});

test("the role of an archive is that of its traces", async () => {
  const { files } = await generate(small_job());
  const data = tar([{ name: "rank0.json", data: files[0].data }]);
  const filename = "actors.tar";
  const roles = async () => (await server.get("/runs/packed/roles")).items.map(({ role }) => role);
  await server.analyzed("packed", [{ filename, data }], { role: "policy" });
  await server.analyzed("packed", [files[1]], { role: "reward" });
  assert.deepEqual(await roles(), ["policy", "reward"]);
  await server.analyzed("packed", [{ filename, data }], { role: "reference" });
  assert.deepEqual(await roles(), ["reference", "reward"]);
});

test("the ranks within a range are those of the ranks' own trees", async () => {
  const ranks = await items(`ranks?range=${encodeURIComponent(range.name)}&rank=1`);
  const [own] = await items(`rank_ranges?name=${encodeURIComponent(range.name)}&rank=1`);
  assert.equal(ranks.length, 1);
  assert.equal(ranks[0].step_count, own.steps);
  assert.ok(Math.abs(ranks[0].busy_ns - own.total_owned_ns / own.steps) < 1);
  const other = await server.request("/api/v1/runs/job/ranks?range=nowhere");
  assert.equal(other.status, 404);
});

test("a page shows the roles of a job", () =>
  on_clean_page(browser, server.base, { viewport: NARROW, colorScheme: "dark" }, async (page) => {
    await visit(page, "/runs/rl/ranges");
    const card = page.locator("section.card", { hasText: "Roles" }).first();
    await card.getByText("generation", { exact: true }).waitFor();
    assert.deepEqual(await axe_faults(page), []);
  }));
