// SPDX-License-Identifier: Apache-2.0
// CSV of Nsight Compute: uploaded with a run whose kernels it measures, on the pages Kernels and
// Roofline, and what is said about its other files.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { axe_faults, launch, NARROW, on_clean_page, settle, visit } from "./helpers/browser.mjs";
import { ncu_raw, ncu_text } from "./helpers/kernel_files.mjs";
import { fields, file_part } from "./helpers/multipart.mjs";
import { start_server } from "./helpers/server.mjs";
import { generate, small_job } from "./helpers/traces.mjs";

let browser;
let server;
let shapes;

const rows = async (run, table) =>
  (await server.get(`/runs/${run}/${table}?limit=all`)).items;

const send = (run, ...files) => server.post([...fields({ run }),
  ...files.map(([data, name]) => file_part(data, name))], "/upload?wait=60");

before(async () => {
  browser = await launch();
  server = await start_server();
  const { files } = await generate(small_job());
  const traces = files.map(({ data, filename }) => [data, filename]);
  assert.equal((await send("job", ...traces)).status, 200);
  shapes = await rows("job", "kernel_shapes");
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test("kernels are listed by grid and block", async () => {
  const [kernel] = (await server.get("/runs/job/kernels?rank=0&sort=-total_ns")).items;
  const own = shapes.filter(({ name }) => name === kernel.name);
  assert.equal(own.reduce((sum, { total_ns }) => sum + total_ns, 0), kernel.total_ns);
  assert.equal(own.reduce((sum, { calls }) => sum + calls, 0), kernel.calls);
});

test("a measured launch stands beside the same kernel of the trace", async () => {
  const [heavy, other] = shapes;
  const reply = await send("job", [ncu_raw([
    { kernel: heavy.name, grid: heavy.grid, block: heavy.block, us: 1234.5, dram: 80 },
    { kernel: other.name, grid: "77,7,7", block: other.block, us: 10, occupancy: 33 },
    { kernel: "unknown_kernel", grid: "1,1,1", block: "1,1,1", us: 10 },
  ]), "gemm.csv"]);
  assert.equal(reply.status, 200, reply.text);
  const [found, by_name, unknown] = await rows("job", "kernel_profiles");
  assert.deepEqual([found.file, found.matched, found.trace_kernel, found.trace_calls,
    found.trace_median_ns, found.duration_ns, found.dram_bytes, found.flops],
  ["gemm.csv", "name and grid", heavy.name, heavy.calls, heavy.median_ns, 1_234_500, 1e8, 1e9]);
  assert.equal(found.stalls, "long_scoreboard 50 %, barrier 40 %");
  assert.ok(Math.abs(found.intensity - 10) < 1e-9);
  assert.deepEqual([by_name.matched, by_name.trace_kernel, by_name.trace_median_ns],
    ["name only", other.name, null]);
  assert.deepEqual([unknown.matched, unknown.trace_kernel], [null, null]);
  const kernels = await rows("job", "kernels");
  const kernel = kernels.find(({ name }) => name === heavy.name);
  assert.deepEqual([kernel.profiled_launches, kernel.profiled_ns, kernel.dram_percent,
    kernel.profile_basis], [1, 1_234_500, 80, "gemm.csv: name and grid"]);
});

test("its files that are no CSV are answered with the command", async () => {
  const text = await send("text", [ncu_text(), "ncu.log"]);
  assert.equal(text.status, 422);
  assert.match(text.text, /use ncu --csv --page raw, or ncu --import FILE\.ncu-rep --csv/);
  const report = await send("report", [Buffer.from("NVR\0binary"), "a.ncu-rep"]);
  assert.equal(report.status, 422);
  assert.match(report.text, /use ncu --import FILE\.ncu-rep --csv --page raw > FILE\.csv/);
});

test("the page Kernels shows both, and the launches below", () =>
  on_clean_page(browser, server.base, {}, async (page) => {
    await visit(page, `/runs/job/kernels?q=${encodeURIComponent(shapes[0].name)}`);
    await page.getByRole("heading", { name: "Measured launches" }).waitFor();
    await page.locator(".kernel-name").first().click();
    const text = (await page.locator("main").innerText()).replaceAll("\u00a0", " ");
    for (const words of ["locks clocks and empties caches", "DRAM throughput",
      "long_scoreboard 50 %, barrier 40 %", "another grid"]) assert.ok(text.includes(words), words);
    assert.deepEqual(await axe_faults(page), []);
  }));

test("measured launches without a trace are all that the page shows", () =>
  on_clean_page(browser, server.base, { viewport: NARROW, colorScheme: "dark" }, async (page) => {
    const launches = [{ kernel: "gemm", grid: "1,1,1", block: "64,1,1", us: 1500, dram: 80 },
      { kernel: "copy", grid: "2,1,1", block: "64,1,1", us: 10, dram: 90 }];
    assert.equal((await send("alone", [ncu_raw(launches), "ncu.csv"])).status, 200);
    await visit(page, "/runs/alone/kernels");
    await page.getByRole("heading", { name: "Measured launches" }).waitFor();
    assert.match(await page.locator(".lead").innerText(),
      /^The longest of 2 measured launches is gemm: 1\.50\sms, with DRAM at 80.*% of its peak\.$/);
    assert.equal(await page.getByText("No work on a device").count(), 0);
    assert.deepEqual(await axe_faults(page), []);
  }));

test("the roofline has the measured launches as points, on a narrow, dark screen too", () =>
  on_clean_page(browser, server.base, { viewport: NARROW, colorScheme: "dark" }, async (page) => {
    await visit(page, "/runs/job/roofline");
    await page.getByText("Measured launches; Nsight Compute locks clocks").waitFor();
    await settle(page);
    assert.equal(await page.locator(".roof-point.fill-measured").count(), 3);
    await page.locator(".roofline svg").focus();
    await page.keyboard.press("End");
    assert.match(await page.locator(".readout").innerText(), /measured by Nsight Compute/);
    assert.deepEqual(await axe_faults(page), []);
  }));
