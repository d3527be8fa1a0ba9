// SPDX-License-Identifier: Apache-2.0
// The page of training logs, and the logs of two runs over each other.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { axe_faults, launch, NARROW, on_clean_page, open_page, settle, visit }
  from "./helpers/browser.mjs";
import { fields, file_part } from "./helpers/multipart.mjs";
import { start_server } from "./helpers/server.mjs";
import { small_json } from "./helpers/traces.mjs";
import { megatron_log, titan_log } from "./helpers/training_logs.mjs";

let browser;
let server;

before(async () => {
  browser = await launch();
  server = await start_server();
  const rank0 = file_part(small_json({ rank: 0 }), "rank0.json");
  const log_of = (text) => file_part(text, "train.log");
  for (const [run, ...files] of [["megatron", log_of(megatron_log({ steps: 40 }))],
    ["titan", log_of(titan_log({ steps: 60 }))], ["bare", rank0],
    ["before", rank0, log_of(megatron_log({ steps: 40 }))],
    ["after", rank0, log_of(titan_log({ steps: 60 }))]]) {
    const reply = await server.post([...fields({ run }), ...files], "/upload?wait=60");
    assert.equal(reply.status, 200, reply.text);
  }
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const text_of = (page) => page.locator("main").innerText();

test("the page has the figures, the curve, slow steps and events of a log", () =>
  on_clean_page(browser, server.base, {}, async (page) => {
    await visit(page, "/runs/megatron/training");
    await page.getByRole("group", { name: "Slow steps" }).waitFor();
    const text = await text_of(page);
    for (const words of ["Loss from 12.00 to 10.05 over 40 steps", "Samples/s", "64", "Checkpoint",
      "successfully saved checkpoint from iteration 20"]) assert.ok(text.includes(words), words);
    await page.getByLabel("Show").selectOption("step_ns");
    await page.getByText("Step time over 40 steps").waitFor();
    assert.equal(new URL(page.url()).searchParams.get("metric"), "step_ns");
    const chart = page.getByRole("application");
    await chart.focus();
    await page.keyboard.press("Home");
    assert.match(await text_of(page), /Step 1: 30\.0 s/);
    await page.getByRole("button", { name: "Table" }).click();
    await page.getByRole("group", { name: "Step time" }).waitFor();
    assert.deepEqual(await axe_faults(page), []);
  }));

test("without a trace, the run begins with its log, and its data is what it has", () =>
  on_clean_page(browser, server.base, {}, async (page) => {
    for (const rest of ["/whatif", "/timeline"]) await visit(page, `/runs/megatron${rest}`);
    await visit(page, "/runs/megatron");
    await page.locator(".lead", { hasText: /^A step takes/ }).waitFor();
    await visit(page, "/runs/megatron/data");
    await page.getByRole("table", { name: "Other files" }).waitFor();
    assert.doesNotMatch(await text_of(page), /Launch links|recordings|op tree/);
  }));

test("without a trace, the tabs are those that can say something, and others still open", () =>
  on_clean_page(browser, server.base, {}, async (page) => {
    const tabs = page.getByLabel("Pages of this run").getByRole("link");
    await visit(page, "/runs/megatron");
    assert.deepEqual(await tabs.allInnerTexts(), ["Overview", "Training", "Data"]);
    await visit(page, "/runs/megatron/roofline");
    await page.getByText("This run has no trace").waitFor();
    assert.match(await text_of(page), /Its files are shown under Training\./);
    assert.deepEqual(await tabs.allInnerTexts(), ["Overview", "Roofline", "Training", "Data"]);
    await visit(page, "/runs/bare");
    assert.ok(await tabs.count() > 10);
  }));

test("a file that failed is no rank", () =>
  on_clean_page(browser, server.base, {}, async (page) => {
    const files = [file_part(small_json({ rank: 0 }), "rank0.json"), file_part("{}", "more.json")];
    await server.post([...fields({ run: "extra", world_size: "1" }), ...files], "/upload?wait=60");
    const run = await server.settled("extra");
    assert.deepEqual([run.received, run.failed], [2, 1]);
    await visit(page, "/runs/extra");
    assert.match(await page.locator(".identity").innerText(), /1 rank( of 1)?, 1 file failed/);
  }));

test("the overview of a run without a trace has the figures of its log", () =>
  on_clean_page(browser, server.base, {}, async (page) => {
    const figures = async (path) => {
      await visit(page, path);
      return page.locator("main dl.kpis .kpi").allInnerTexts();
    };
    const shown = await figures("/runs/titan");
    assert.match(shown.join("\n"), /Step time[^]*Tokens\/s per GPU[^]*Loss/);
    assert.deepEqual(shown, await figures("/runs/titan/training"));
  }));

test("it fits a narrow screen", () =>
  on_clean_page(browser, server.base, { viewport: NARROW }, async (page) => {
    await visit(page, "/runs/titan/training");
    await page.getByRole("application").waitFor();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth
      > document.documentElement.clientWidth);
    assert.equal(wide, false);
    assert.deepEqual(await axe_faults(page), []);
  }));

test("a run without a log says how to upload one, one without a trace where to look", () =>
  on_clean_page(browser, server.base, {}, async (page) => {
    await visit(page, "/runs/bare/training");
    await page.getByText("No training log yet").waitFor();
    await visit(page, "/runs/titan");
    await page.getByText("This run has no trace").waitFor();
    await page.locator("main").getByRole("link", { name: "Training" }).last().click();
    await settle(page);
    assert.match(await text_of(page), /Tokens\/s per GPU/);
  }));

test("a comparison lays the logs of both sides over each other", () =>
  on_clean_page(browser, server.base, {}, async (page) => {
    await visit(page, "/compare?base=before&cand=after");
    await page.getByText(/^Loss 10\.\d+ is reached by before at step 40 .*, by after at step 4\d/)
      .waitFor();
    await page.getByLabel("Show").selectOption("tflops");
    await page.getByLabel("over").selectOption("time_ns");
    await page.waitForURL(/log=tflops/);
    assert.deepEqual(await axe_faults(page), []);
  }));

test("logs are compared without any trace, and the page says that it is only them", () =>
  on_clean_page(browser, server.base, {}, async (page) => {
    const { id } = await server.get("/runs/megatron");
    await visit(page, `/compare?base=${id}&cand=titan`);
    await page.getByText("Only training logs can be compared").waitFor();
    await page.getByText(/is reached by megatron/).waitFor();
    assert.equal(await page.getByRole("combobox", { name: "Base" }).inputValue(), "megatron");
    const figures = page.getByRole("group", { name: "Figures of both sides" });
    assert.match(await figures.innerText(), /Step time\s+2,000 ms\s+log/);
    assert.deepEqual(await axe_faults(page), []);
    await visit(page, "/compare?base=megatron&cand=bare");
    await page.getByText("at least one has no training log").waitFor();
  }));

test("no table of a comparison is asked for where there is none", () =>
  on_clean_page(browser, server.base, {}, async (page) => {
    const asked = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await visit(page, "/compare?base=before&cand=after");
    await page.getByRole("heading", { name: "Changes" }).waitFor();
    assert.ok(asked.includes("/api/v1/compare/waterfall"));
    asked.length = 0;
    await page.getByRole("combobox", { name: "Candidate" }).fill("titan");
    await page.getByRole("option", { name: /titan/ }).click();
    await page.getByText("Only training logs can be compared").waitFor();
    await visit(page, "/compare?base=megatron&cand=titan");
    await page.getByText("Only training logs can be compared").waitFor();
    assert.deepEqual(asked.filter((path) => path.startsWith("/api/v1/compare")
      && path !== "/api/v1/compare/settings"), []);
  }));
