// SPDX-License-Identifier: Apache-2.0
// Link tests on the communication page: the curve with the run's collectives, topology, ports.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { axe_faults, launch, NARROW, on_clean_page, settle, visit } from "./helpers/browser.mjs";
import { inspector_log, nccl_tests, ports, ras_status, topology } from "./helpers/link_files.mjs";
import { fields, file_part } from "./helpers/multipart.mjs";
import { start_server } from "./helpers/server.mjs";
import { generate, small_job } from "./helpers/traces.mjs";

let browser;
let server;

const MB = 1 << 20;
const POINTS = [[MB, 50], [16 * MB, 240], [64 * MB, 400], [256 * MB, 475], [512 * MB, 480]];

before(async () => {
  browser = await launch();
  server = await start_server();
  const { files } = await generate(small_job());
  const traces = files.map(({ data, filename }) => file_part(data, filename));
  const links = [file_part(nccl_tests({ ranks: 2, points: POINTS }), "all_reduce.txt"),
    file_part(nccl_tests({ ranks: 2, points: POINTS, collective: "all_gather" }), "gather.txt"),
    file_part(topology(), "topo.txt"), file_part(ports(), "ibstat.txt"),
    file_part(inspector_log(), "inspector.log"), file_part(ras_status(), "ras.json")];
  for (const [run, parts] of [["bare", traces], ["both", [...traces, ...links]],
    ["alone", links]]) {
    const reply = await server.post([...fields({ run }), ...parts], "/upload?wait=60");
    assert.equal(reply.status, 200, reply.text);
  }
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** With plain blanks. */
const text_of = async (page) =>
  (await page.locator("main").innerText()).replaceAll("\u00a0", " ");

test("collectives lie beside the measured curve, and say their share of it", () =>
  on_clean_page(browser, server.base, {}, async (page) => {
    await visit(page, "/runs/both/collectives");
    await page.getByRole("heading", { name: "Link tests", exact: true }).waitFor();
    const [row] = (await server.get("/runs/both/comm_waits?sort=-total_ns")).items;
    const share = `${(row.reference_share * 100).toFixed(1)} %`;
    const text = await text_of(page);
    for (const words of ["all_reduce, 2 ranks on 1 node: up to 480 GB/s at 537 MB; 80 % of that "
      + "from 67.1 MB on", "Of tested", `reaches ${share} of the`, "All 4 GPUs reach each other by "
      + "NV18", "1 of 2 not active", "1 of 1 with ranks missing"]) {
      assert.ok(text.includes(words), words);
    }
    const chart = page.getByRole("application", { name: /^all_reduce, 2 ranks/ });
    assert.ok(await chart.locator(".scatter-dot").count() > 1);
    await chart.focus();
    await page.keyboard.press("End");
    assert.match(await text_of(page), /131 MB: \d+ GB\/s bus, \d+\.\d % of \d+ GB\/s tested/);
    await page.locator("select", { hasText: "all_gather, 2 ranks" }).selectOption("all_gather/2/1");
    await page.getByText("The run has no such collective on this many ranks.").waitFor();
    assert.deepEqual(await axe_faults(page), []);
  }));

test("without link tests nothing of them is shown", () =>
  on_clean_page(browser, server.base, {}, async (page) => {
    await visit(page, "/runs/bare/collectives");
    await page.getByText("Collectives as recorded").first().waitFor();
    await settle(page);
    const text = await text_of(page);
    for (const words of ["Link tests", "Of tested", "Topology", "Network ports"]) {
      assert.ok(!text.includes(words), words);
    }
  }));

test("a run of other files is not said to lack links, or findings of a recording", () =>
  on_clean_page(browser, server.base, { viewport: NARROW }, async (page) => {
    let answer;
    const asked = new Promise((done) => { answer = done; });
    await page.route("**/link_ports*", async (route) => {
      answer();
      await page.getByText("Loading…").waitFor();
      assert.equal(await page.getByText("This run has no trace").count(), 0);
      await route.continue();
    });
    await visit(page, "/runs/alone/collectives");
    await asked;
    await page.getByRole("heading", { name: "Network ports" }).waitFor();
    await visit(page, "/runs/alone/findings");
    await page.getByText("This run has no trace").waitFor();
    assert.equal(await page.getByText("in this recording").count(), 0);
  }));

test("a run of links alone shows them on a narrow, dark screen", () =>
  on_clean_page(browser, server.base, { viewport: NARROW, colorScheme: "dark" }, async (page) => {
    await visit(page, "/runs/alone/collectives");
    await page.getByRole("heading", { name: "Topology of a host" }).waitFor();
    assert.equal(await page.locator(".lead").innerText(), "The links reach up to 480 GB/s: "
      + "all_reduce of 537 MB between 2 ranks; the only communicator has ranks missing, "
      + "failed or behind; 1 of 2 network ports is not active.");
    const wide = await page.evaluate(() => document.documentElement.scrollWidth
      > document.documentElement.clientWidth);
    assert.equal(wide, false);
    assert.deepEqual(await axe_faults(page), []);
  }));
