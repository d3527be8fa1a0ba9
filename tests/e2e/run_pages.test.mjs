// SPDX-License-Identifier: Apache-2.0
// The pages of one rank in a real browser: trees that open lazily and by keyboard, sums that are
// exact on screen, charts that respond to keys, names that stay text, and explanations of what a
// recording lacks.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  axe_faults, launch, NARROW, on_clean_page, open_page, settle, visit,
} from "./helpers/browser.mjs";
import { ask_tool, rows_of } from "./helpers/mcp.mjs";
import { start_server } from "./helpers/server.mjs";
import { run_program, temporary, tracegen_bin, until } from "./helpers/tools.mjs";
import { generate, small_job, small_json, small_trace } from "./helpers/traces.mjs";

const HOSTILE = '<img src=x onerror="document.title = 1"><script>document.title = 2</script>';

let server;
let browser;
const ids = {};

/** A trace in which every name from outside is hostile. */
function hostile_trace() {
  const trace = small_trace({ names: [HOSTILE, `${HOSTILE}2`] });
  for (const event of trace.traceEvents) {
    if (event.cat !== "cpu_op") continue;
    event.name = `op ${HOSTILE}`;
    event.args = { ...event.args, "Input Dims": [HOSTILE], "Input type": [HOSTILE] };
  }
  return { data: Buffer.from(JSON.stringify(trace)), filename: "rank0.json" };
}

/** The start of a trace, up to its first device event. @param {Buffer} data */
const before_device_work = (data) =>
  data.subarray(0, String(data).search(/"cat": "(kernel|gpu_mem)/));

before(async () => {
  server = await start_server();
  browser = await launch();
  const rich = await generate(small_job("--stacks", "--memory", "--checkpoint", "--steps", "8"));
  ids.rich = (await server.analyzed("rich", rich.files)).id;
  ids.hostile = (await server.analyzed("hostile", [hostile_trace()])).id;
  const bare = small_trace({ names: ["nobody_knows_this"] });
  bare.traceEvents = bare.traceEvents.filter(({ cat }) => cat !== "cpu_op");
  ids.bare = (await server.analyzed("bare",
    [{ data: Buffer.from(JSON.stringify(bare)), filename: "rank0.json" }])).id;
  const half = await generate(small_job());
  const cut = { ...half.files[0], data: before_device_work(half.files[0].data) };
  ids.cut = (await server.analyzed("cut", [cut])).id;
  ids.half = (await server.analyzed("half", [cut, half.files[1]])).id;
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const on_page = (options, body) => on_clean_page(browser, server.base, options, body);

const run_url = (name, rest) => `/runs/${ids[name]}/${rest}`;

/** Texts without the definitions that are only heard. Runs in the page. */
function seen(/** @type {Element[]} */ parts) {
  return parts.map((part) => {
    const copy = /** @type {Element} */ (part.cloneNode(true));
    for (const heard of copy.querySelectorAll(".visually-hidden")) heard.remove();
    return copy.textContent;
  });
}

/** A rank's file without anything that marks a step. */
function without_steps({ data, filename }) {
  const trace = JSON.parse(String(data));
  trace.traceEvents = trace.traceEvents.filter(({ name }) =>
    !/^(ProfilerStep|Optimizer)/.test(name ?? ""));
  return { data: Buffer.from(JSON.stringify(trace)), filename };
}

test("pages of a recording without steps do not say step", async () => {
  const rank = (one) => without_steps({ filename: `rank${one}.json`,
    data: JSON.stringify(small_trace({ rank: one })) });
  ids.whole = (await server.analyzed("whole", [rank(0), rank(1)])).id;
  const { files } = await generate(small_job("--strategy", "fsdp", "--plant",
    "exposed_comm=9000000"));
  ids.whole_job = (await server.analyzed("whole_job", files.map(without_steps))).id;
  const pages = ["", "ranks", "whatif", "kernels", "idle", "idle?rank=0"];
  await on_page({}, async (page) => {
    for (const [run, name] of [...pages.map((one) => ["whole", one]),
      ["whole_job", "collectives"]]) {
      await visit(page, run_url(run, name));
      const said = await page.locator("main :is(th, .lead, .card-head, .kpi, .verdict)")
        .evaluateAll(seen);
      assert.ok(said.length > 3, name);
      assert.doesNotMatch(said.join("\n").replaceAll(/no step is marked/gi, ""), /\bsteps?\b/i,
        name);
    }
    await visit(page, "/?q=whole_job");
    const row = page.locator("tbody tr", { hasText: "whole_job" });
    assert.match(await row.innerText(), /\d recording/);
  });
  const run = await server.get(`/runs/${ids.whole_job}`);
  assert.deepEqual([run.no_steps, run.figures.step_ns], [true, undefined]);
  assert.equal((await server.get(`/runs/${ids.rich}`)).no_steps, false);
  await server.send("PUT", "/baselines/unmarked", { run: ids.whole_job });
  const { items } = await server.get("/baselines");
  assert.deepEqual(items.map(({ name, step_median_ns }) => [name, step_median_ns]),
    [["unmarked", null]], "a recording has no median step");
  await server.send("DELETE", "/baselines/unmarked");
});

/** The exact nanoseconds of cells, from their titles "1234 ns" or "1,234 ns". */
async function exact_ns(cells) {
  const titles = await cells.evaluateAll((list) => list.map((cell) => cell.title));
  return titles.map((title) => Number(title.replace(/,| ns$/g, "")));
}

const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);

/** Rows of the tree at a level, with their exact totals. */
const totals_at = (page, level) =>
  exact_ns(page.locator(`tr[aria-level="${level}"] td[title$="ns"]:nth-child(2)`));

for (const [what, rest] of [["calls", "operators?view=tree"], ["modules", "modules?open=0"]]) {
  test(`the tree of ${what} asks for children when they open, and they sum exactly`, () =>
    on_page({}, async (page) => {
      const asked = [];
      page.on("request", (request) => {
        const parent = new URL(request.url()).searchParams.get("parent");
        if (parent !== null) asked.push(parent);
      });
      await visit(page, run_url("rich", rest));
      const closed = page.locator('tr[aria-level="2"][aria-expanded="false"]');
      await closed.first().waitFor();
      assert.deepEqual(asked, [], "nothing below the first level was asked for");
      const [root] = await totals_at(page, 1);
      const [self] = await exact_ns(page.locator('tr[aria-level="1"] td[title$="ns"]').last());
      assert.equal(self + sum(await totals_at(page, 2)), root);

      const total = await closed.first().locator("td").first().getAttribute("title");
      await closed.first().locator("th").click();
      await page.locator('tr[aria-level="3"][aria-posinset]').first().waitFor();
      assert.equal(asked.length, 1);
      assert.ok(sum(await totals_at(page, 3)) <= Number(total.replace(" ns", "")));
      await page.waitForURL(/open=0\.\d+/);
      const rows = await page.locator("tbody tr").count();
      await page.reload();
      await settle(page);
      await until("the link opens the same rows", async () =>
        await page.locator("tbody tr").count() === rows);
    }));
}

/** The focused row, as level and text. */
const focused = (page) => page.evaluate(() => {
  const { activeElement: at } = document;
  return { level: Number(at.getAttribute("aria-level")), open: at.getAttribute("aria-expanded"),
    row: Number(at.getAttribute("aria-rowindex")) };
});

test("the keyboard walks, opens and closes the tree, which is one stop for Tab", () =>
  on_page({}, async (page) => {
    await visit(page, run_url("rich", "operators?view=tree"));
    await page.locator('tr[aria-level="2"]').first().waitFor();
    assert.equal(await page.locator('tbody tr[tabindex="0"]').count(), 1);
    await page.locator('tbody tr[tabindex="0"]').focus();
    await page.keyboard.press("ArrowDown");
    assert.equal((await focused(page)).level, 2);
    await page.keyboard.press("ArrowRight");
    await page.locator('tr[aria-level="3"][aria-posinset]').first().waitFor();
    assert.equal((await focused(page)).open, "true");
    await page.keyboard.press("ArrowRight");
    assert.equal((await focused(page)).level, 3);
    await page.keyboard.press("ArrowLeft");
    assert.equal((await focused(page)).level, 2);
    await page.keyboard.press("Enter");
    assert.equal((await focused(page)).open, "false");
    assert.equal(await page.locator('tr[aria-level="3"]').count(), 0);
    await page.keyboard.press("End");
    assert.equal((await focused(page)).row, await page.locator("tbody tr").count() + 1);
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowLeft");
    assert.equal(await page.locator("tbody tr").count(), 1, "the root closes too");
    assert.deepEqual(await axe_faults(page), []);
  }));

test("a branch that cannot be loaded says so and is tried again", async () => {
  const { page, close } = await open_page(browser, server.base);
  let refused = 0;
  await page.route(/parent=/, (route) => (refused++ ? route.fallback() : route.abort()));
  await visit(page, run_url("rich", "operators?view=tree"));
  const closed = page.locator('tr[aria-level="2"][aria-expanded="false"]').first();
  await closed.locator("th").click();
  const note = page.getByText("Could not be loaded", { exact: false });
  await note.click();
  await page.locator('tr[aria-level="3"][aria-posinset]').first().waitFor();
  assert.equal(await note.count(), 0);
  await close();
});

test("idle causes on the page sum to the idle time of the breakdown, to the nanosecond", () =>
  on_page({}, async (page) => {
    const { items } = await server.get(`/runs/${ids.rich}/breakdown?rank=0`);
    const all = await server.get(`/runs/${ids.rich}/idle_causes?rank=0&device=`);
    await visit(page, run_url("rich", "idle?rank=0"));
    const table = page.locator("table", { hasText: "Of gaps" });
    const shown = await exact_ns(table.locator("tbody td:nth-child(2)"));
    assert.ok(shown.length > 0);
    assert.equal(sum(shown), sum(all.items.map(({ total_ns }) => total_ns)));
    const rank0 = items.find(({ scope, rank }) => scope === "rank" && rank === 0);
    if (rank0) assert.equal(sum(shown), rank0.idle_ns);
  }));

test("the memory chart answers to keys and what was alive sums to the peak", () =>
  on_page({}, async (page) => {
    const { items: [row] } = await server.get(
      `/runs/${ids.rich}/memory?rank=0&sort=-peak_allocated_bytes`);
    await visit(page, run_url("rich", "memory?rank=0"));
    const chart = page.getByRole("application");
    await chart.focus();
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowLeft");
    assert.match(await page.locator(".memory-line .readout").innerText(), /allocated, .* reserved/);
    const peak = page.locator("table", { hasText: "Share of peak" });
    const titles = await peak.locator('td[title$="bytes"]').evaluateAll((cells) =>
      cells.map((cell) => Number(cell.title.replace(/,| bytes$/g, ""))));
    const more = page.getByRole("button", { name: /^Show all/ });
    if (await more.count() === 0) assert.equal(sum(titles), row.peak_allocated_bytes);
    assert.match(await page.locator("main").innerText(), /100\.0\s% of the peak/);
  }));

test("the roofline answers to keys and its table is cut to one kind of work", () =>
  on_page({}, async (page) => {
    await visit(page, run_url("rich", "roofline"));
    await page.getByRole("application").focus();
    await page.keyboard.press("Home");
    assert.match(await page.locator(".roofline .readout").innerText(), /TFLOP\/s at .* FLOP\/B/);
    const table = page.getByRole("group", { name: "Work" });
    const before_it = Number(await table.locator("table").getAttribute("aria-rowcount"));
    await page.getByLabel("Kind").selectOption("gemm");
    await page.waitForURL(/kind=gemm/);
    await until("fewer rows are shown", async () =>
      Number(await table.locator("table").getAttribute("aria-rowcount")) < before_it);
  }));

test("a chosen rank is asked for and kept on the way to another page of the run", () =>
  on_page({}, async (page) => {
    await visit(page, run_url("rich", "operators"));
    const asked = page.waitForRequest(/operators\?.*rank=1/);
    await page.getByLabel("Rank").selectOption("1");
    await asked;
    await page.waitForURL(/rank=1/);
    await page.getByRole("link", { name: "Idle", exact: true }).click();
    await page.waitForURL(/idle\?rank=1/);
    await settle(page);
    await page.getByRole("link", { name: "Findings" }).click();
    await page.waitForURL(/findings$/);
  }));

test("a rank that is not there is a problem, not an empty table", async () => {
  const { page, close } = await open_page(browser, server.base);
  await visit(page, run_url("rich", "operators?rank=77"));
  await page.getByRole("alert").waitFor();
  assert.match(await page.getByRole("alert").innerText(), /no figures for rank 77/);
  assert.equal(await page.getByRole("alert").count(), 1, "it is reported once");
  await page.getByRole("button", { name: "the typical rank" }).click();
  await page.locator("table").waitFor();
  assert.equal(new URL(page.url()).search, "");
  await close();
});

test("a file that ends before any device work is reported as cut, not as recorded wrongly", () =>
  on_page({}, async (page) => {
    await visit(page, run_url("cut", ""));
    const words = await page.locator("main").innerText();
    assert.match(words, /The file ends early/);
    assert.match(words, /Trust: The file ends inside the events/);
    assert.doesNotMatch(words, /ProfilerActivity/);
  }));

test("a rank without steps has no difference, and one rank with steps has no spread", () =>
  on_page({}, async (page) => {
    await visit(page, run_url("half", ""));
    const table = page.getByRole("group", { name: "Ranks" });
    const rows = await table.locator("tbody tr").allInnerTexts();
    assert.match(rows[0], /^0\s+–\s+–\s+–$/);
    assert.doesNotMatch(rows.join(), /slowest/);
    assert.match(await page.locator(".kpis").innerText(), /Rank spread\s+–/);
    assert.match(await page.locator("main").innerText(), /Trust: Rank 0: the file ends inside/);
  }));

test("the list of runs shows where a step goes, or that a run has no figures, at any width", () =>
  on_page({}, async (page) => {
    for (const viewport of [{ width: 1440, height: 900 }, { width: 768, height: 1024 }, NARROW]) {
      await page.setViewportSize(viewport);
      await visit(page, "/");
      assert.equal(await page.getByRole("img", { name: /^rich: / }).count(), 1);
      const links = page.getByRole("link", { name: "trust report", exact: true });
      const hrefs = await links.evaluateAll((list) => list.filter((one) => one.offsetWidth > 0)
        .map((one) => one.getAttribute("href")));
      assert.deepEqual(hrefs, [`/runs/${ids.cut}/data`], `${viewport.width} pixels wide`);
    }
  }));

test("a run that does not exist leads to all runs, with nothing to try again", async () => {
  const { page, close } = await open_page(browser, server.base);
  for (const path of ["/runs/nobody", `/compare?base=nobody&cand=${ids.rich}`]) {
    await visit(page, path);
    const notice = page.getByRole("alert").first();
    await notice.waitFor();
    assert.doesNotMatch(await notice.innerText(), /GET|Try again/, path);
    assert.equal(await notice.getByRole("link", { name: "All runs" }).getAttribute("href"), "/");
  }
  const asked = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await visit(page, "/runs/nobody");
  assert.match(await page.locator("h1").innerText(), /^No such run/);
  assert.deepEqual(asked.filter((path) => path.startsWith("/api/v1/runs/")),
    ["/api/v1/runs/nobody/summary"]);
  await close();
});

test("the overview tells the peak of memory, the same as the page of memory", () =>
  on_page({}, async (page) => {
    await visit(page, run_url("rich", "memory"));
    const shown = (await page.locator(".kpi-value").first().innerText()).replace(/\s+/g, " ");
    await visit(page, run_url("rich", ""));
    const kpi = page.locator(".kpi", { hasText: "Peak memory" });
    await kpi.waitFor();
    const peak = await kpi.locator(".kpi-value").innerText();
    assert.equal(peak.replace(/\s+/g, " "), shown);
    assert.match(await page.locator(".kpi", { hasText: "Step p50" }).innerText(), /p95 [\d.]+/);
  }));

test("what to fix first begins with what is most severe, though many others cost more", () =>
  on_page({}, async (page) => {
    const plants = ["starvation", "pageable_copies", "fp32_gemm", "bad_gemm", "launch_bound",
      "exposed_comm"].flatMap((plant) => ["--plant", plant]);
    const leak = ["--ranks", "1", "--steps", "16", "--layers", "2", "--memory", "--leak",
      "134217728"];
    const { id } = await server.analyzed("leaking", (await generate([...leak, ...plants])).files);
    await visit(page, `/runs/${id}`);
    const titles = page.locator(".card", { hasText: "Fix first" }).locator(".finding");
    await titles.first().waitFor();
    assert.equal(await titles.count(), 5);
    assert.match(await titles.first().innerText(), /grow|leak/i);
    assert.match(await page.locator(".lead-why").first().innerText(), /grow|leak/i);
  }));

test("what to fix first is the same on every page and for agents, though another costs more", () =>
  on_page({}, async (page) => {
    const folder = temporary("shape");
    await run_program(tracegen_bin(), ["--shape", "small", "--seed", "3", "--out", folder]);
    const { id } = await server.analyzed("small", [{ filename: "rank0.json",
      data: readFileSync(join(folder, "rank0.json")) }]);
    const { items: [first] } = await server.get(`/runs/${id}/findings`);
    const { items: [costliest] } = await server.get(`/runs/${id}/findings?sort=-cost_ns`);
    assert.notEqual(first.id, costliest.id);
    await visit(page, `/runs/${id}`);
    const shown = (title) => page.locator(".lead-why, .verdict-answers p",
      { hasText: "Fix first" }).getByRole("link", { name: title }).waitFor();
    await shown(first.title);
    await visit(page, `/compare?base=${ids.rich}&cand=${id}`);
    await shown(first.title);
    const [row] = rows_of((await ask_tool(server, "overview", { run: id })).findings);
    const [found] = (await ask_tool(server, "findings", { run: id })).findings;
    assert.deepEqual([row.id, row.severity, found.id], [first.id, first.severity, first.id]);
    assert.equal(row.gain_ms, found.gain_ms);
  }));

test("a run of one rank holds it against no other, and keeps each sign with its number", () =>
  on_page({}, async (page) => {
    await visit(page, run_url("bare", ""));
    const text = await page.locator("main").innerText();
    assert.match(text, /Step p50[^]*Fix first[^]*Top kernels/);
    assert.match(text, /\d\u00a0%/);
    assert.doesNotMatch(text, /Rank spread|no spread|\d %/);
    assert.equal(await page.getByRole("heading", { name: "Ranks" }).count(), 0);
  }));

test("a run of which a file could not be read says so above its figures", () =>
  on_page({}, async (page) => {
    const { id } = await server.analyzed("unread", [hostile_trace(),
      { data: Buffer.from('{"traceEvents": 5}'), filename: "rank1.json" }]);
    await visit(page, `/runs/${id}`);
    const notice = page.locator(".notice", { hasText: "Some files of this run could not be read" });
    await notice.getByText("Everything here covers only the others.").waitFor();
    assert.match(await page.locator("main").innerText(), /Step p50/);
    await notice.getByRole("link", { name: "Files and their errors" }).click();
    await settle(page);
    assert.match(await page.locator("main").innerText(), /failed/);
  }));

test("no table of a run is wider than the screen of a tablet", () =>
  on_page({ viewport: { width: 768, height: 1024 } }, async (page) => {
    for (const rest of ["", "kernels", "operators", "operators?view=shapes", "roofline", "idle",
      "collectives", "memory", "ranks", "training", "data"]) {
      await visit(page, run_url("rich", rest));
      const wide = await page.locator(".table-region").evaluateAll((regions) => regions
        .filter((one) => one.scrollWidth > one.clientWidth + 1)
        .map((one) => one.getAttribute("aria-label")));
      assert.deepEqual(wide, [], rest);
    }
  }));

test("where a recording lacks something the page says what, and how to record it", () =>
  on_page({}, async (page) => {
    for (const [rest, words] of [["memory", /not recorded/], ["modules", /No module/],
      ["operators?view=shapes", /shapes/i], ["roofline", /No operator/]]) {
      await visit(page, run_url("bare", rest));
      assert.match(await page.locator(".lacks").first().innerText(), words, rest);
      const guide = page.getByRole("link", { name: "How to record it" }).first();
      assert.equal(await guide.getAttribute("href"), "/docs/recording");
    }
    await visit(page, run_url("bare", "data"));
    const table = page.getByRole("group", { name: "Recording" });
    assert.match(await table.innerText(), /missing/);
    assert.match(await table.innerText(), /profile_memory/);
    await page.getByRole("link", { name: "How to record a more complete trace" }).click();
    await page.waitForURL("**/docs/recording");
    await settle(page);
  }));

test("categories sum to the busy time, and names that no rule knows are listed", () =>
  on_page({}, async (page) => {
    await visit(page, run_url("bare", "kernels?group=category"));
    assert.match(await page.locator(".notice-warning").last().innerText(), /no category/);
    assert.match(await page.locator("main").innerText(), /nobody_knows_this/);
    const { items } = await server.get(`/runs/${ids.rich}/categories`);
    await visit(page, run_url("rich", "kernels?group=category"));
    const table = page.getByRole("group", { name: "Categories" });
    const shown = await exact_ns(table.locator("tbody td:nth-child(3)"));
    assert.equal(sum(shown), sum(items.map(({ owned_ns }) => owned_ns)));
  }));

test("names from outside stay text in trees, tables, charts and details", () =>
  on_page({}, async (page) => {
    for (const rest of ["operators", "operators?view=shapes", "operators?view=tree&open=0.1.2.3",
      "modules", "ranges", "flame", "roofline", "idle", "memory", "collectives",
      "kernels?group=category", "data", "whatif"]) {
      await visit(page, run_url("hostile", rest));
      for (const opener of await page.locator("tbody button[aria-expanded]").all()) {
        await opener.click();
      }
      assert.doesNotMatch(await page.title(), /^[12]$/, rest);
      assert.equal(await page.locator("img[src=x], main script").count(), 0, rest);
    }
    await visit(page, run_url("hostile", "operators"));
    assert.ok((await page.locator("table").innerText()).includes("op <img src=x"));
  }));

test("on a narrow screen one button leads to all pages of a run", () =>
  on_page({ viewport: NARROW }, async (page) => {
    await visit(page, run_url("rich", "operators"));
    const button = page.getByRole("button", { name: /^Page/ });
    assert.match(await button.innerText(), /Operators/);
    const memory = page.getByRole("link", { name: "Memory", exact: true });
    assert.equal(await memory.isVisible(), false);
    await button.focus();
    await page.keyboard.press("Enter");
    assert.equal(await button.getAttribute("aria-expanded"), "true");
    await memory.click();
    await page.waitForURL(/memory$/);
    await settle(page);
    assert.equal(await memory.isVisible(), false, "the list closes when it has been used");
  }));

test("a long table is printed with all of its rows", () => on_page({}, async (page) => {
  const names = Array.from({ length: 120 }, (_, i) => `kernel_${i}`);
  const { id } = await server.analyzed("long",
    [{ data: small_json({ names, steps: 2 }), filename: "rank0.json" }]);
  await visit(page, `/runs/${id}/kernels`);
  const rows = page.locator("tbody tr:not(.spacer)");
  assert.ok(await rows.count() < 100);
  await page.emulateMedia({ media: "print" });
  await until("all rows are there", async () => await rows.count() === 120);
  const box = page.locator(".table-region.virtual").first();
  assert.ok(await box.evaluate((one) => one.clientHeight >= one.scrollHeight));
  await page.emulateMedia({ media: "screen" });
  await until("only those in sight are", async () => await rows.count() < 100);
}));

test("what is typed on the page Data stays while the run is analyzed", () =>
  on_page({}, async (page) => {
    await visit(page, run_url("rich", "data"));
    const note = page.getByLabel("Note");
    await note.fill("half a sentence");
    const path = `/api/v1/runs/${ids.rich}`;
    const { etag: before_it } = (await server.request(path)).headers;
    const seen = new Set();
    // By its ETag: a browser may have dropped the body by the time it is asked for.
    page.on("response", (reply) => {
      if (new URL(reply.url()).pathname === path) seen.add(reply.headers().etag);
    });
    await page.getByRole("button", { name: "Reanalyze" }).click();
    await until("the page has the new analysis", async () => {
      const { json, headers } = await server.request(path);
      return json.status === "done" && headers.etag !== before_it && seen.has(headers.etag);
    });
    await settle(page);
    assert.equal(await note.inputValue(), "half a sentence");
    await note.fill("a whole sentence");
    await page.getByRole("button", { name: "Save" }).click();
    await until("the note is stored", async () =>
      (await server.get(`/runs/${ids.rich}`)).note === "a whole sentence");
  }));

test("an analysis that ends between two requests of a page is followed by all of it", () =>
  on_page({}, async (page) => {
    const path = `/api/v1/runs/${ids.bare}/trust`;
    const earlier = (await server.request(`${path}?format=columns`)).text;
    await visit(page, run_url("bare", "data"));
    const at = (name) => (url) => url.pathname === `/api/v1/runs/${ids.bare}/${name}`;
    const analyzed = () => until("the run is analyzed", async () => {
      const run = await server.get(`/runs/${ids.bare}`);
      return run.step === "eval*" && run.status === "done";
    });
    await page.route(at("summary"), async (route) => {
      await analyzed();
      await route.continue();
    });
    await page.route(at("trust"), (route) =>
      route.fulfill({ contentType: "application/json", body: earlier }), { times: 1 });
    await page.getByLabel("Annotation that marks a step").fill("eval*");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("No annotation matches the requested step pattern 'eval*'").waitFor();
    await page.unrouteAll({ behavior: "wait" });
  }));

test("the tag of tokens and the mark of a step are set on the page, and the figures follow", () =>
  on_page({}, async (page) => {
    await visit(page, run_url("bare", "data"));
    await page.getByLabel("Tags, as key=value").fill("tokens_per_step=4096");
    await page.getByLabel("Annotation that marks a step").fill("train*");
    await page.getByLabel("Leading steps to exclude").fill("0");
    await page.getByRole("button", { name: "Save" }).click();
    // All of the page follows the new analysis, not only what its state is shown by.
    await page.getByText("No annotation matches the requested step pattern 'train*'").waitFor();
    const own = await until("the run has the change", async () => {
      const run = await server.get(`/runs/${ids.bare}`);
      return run.step === "train*" && run.status === "done" && run;
    });
    assert.deepEqual([own.warmup, own.tags], [0, { tokens_per_step: "4096" }]);
    const { throughput } = await server.get(`/runs/${ids.bare}/summary`);
    await visit(page, run_url("bare", "roofline"));
    const fact = page.locator("dl.metric-facts div", { hasText: "Tokens per second" });
    const whole = Math.round(throughput.tokens_per_second).toLocaleString("en");
    assert.ok((await fact.locator("dd").innerText()).startsWith(`${whole}, `));
    await visit(page, run_url("rich", "roofline"));
    assert.match(await fact.locator("dd").innerText(), /Not known.*tokens_per_step=/s);
  }));

/** The figures of the page What if, by their label. */
const whatif_figures = (page) => page.locator(".kpi").evaluateAll((list) =>
  Object.fromEntries(list.map((one) => [one.querySelector("dt").innerText.split("\n")[0],
    one.querySelector(".kpi-value").innerText])));

/**
 * Requests that match wait until they are released. Those that wait go on before the handler is
 * removed: removing it sends them on, too, and nothing can do that twice.
 */
async function hold_requests(page, match) {
  const waiting = [];
  let holds = true;
  const pass = (route) => (holds ? void waiting.push(route) : route.continue());
  await page.route(match, pass);
  return { waiting, release: async () => {
    holds = false;
    await Promise.all(waiting.map((route) => route.continue()));
    await page.unroute(match, pass);
  } };
}

test("what if: sliders, fields and ready-made changes move the step and are in the address", () =>
  on_page({}, async (page) => {
    await visit(page, run_url("rich", "whatif"));
    const before = await whatif_figures(page);
    assert.match(await page.locator(".lead").innerText(),
      /^Of the ready-made changes, “.+” helps most: .* instead of .*%\sless\.$/);
    assert.equal(before["Step after changes"], before["Step as recorded"]);
    const stairs = page.locator(".whatif-stairs tbody tr");
    assert.ok(await stairs.count() >= 7);
    await stairs.nth(1).getByRole("button").click();
    await page.waitForURL(/change=/);
    await until("the step has moved", async () =>
      (await whatif_figures(page))["Step after changes"] !== before["Step as recorded"]);
    assert.match(await page.locator(".whatif-answer").innerText(), /instead of .*%\sless\.$/);
    assert.equal(await page.locator(".path-bar").count(), 2);
    await stairs.nth(1).getByRole("button").click();
    await page.waitForURL((url) => !url.search.includes("change"));

    const graph = page.waitForResponse((reply) => reply.url().includes("/whatif/graph?"));
    const network = page.getByRole("slider", { name: "Network" });
    await network.focus();
    await (await graph).finished();
    const held = await hold_requests(page, /\/whatif\?/);
    for (let i = 0; i < 3; i++) await network.press("ArrowRight");
    await until("the page has moved the step by itself", async () =>
      (await whatif_figures(page)).Gain !== before.Gain);
    const own = await whatif_figures(page);
    await page.waitForURL(/change=network_x2/);
    await until("the service is asked", () => held.waiting.length > 0);
    await held.release();
    await until("the service has answered", async () =>
      (await page.locator(".whatif-chosen li").count()) === 1);
    assert.deepEqual(await whatif_figures(page), own);
    await page.getByRole("slider", { name: "Host" }).press("End");
    await page.waitForURL(/change=host_free/);
    await page.getByLabel("Kernels").selectOption({ index: 1 });
    await page.waitForURL(/kernel/);
    await page.getByLabel("Any other change").fill("remove:op=aten::nothing");
    await page.getByLabel("Any other change").press("Enter");
    await page.waitForURL(/nothing/);
    await settle(page);
    await until("all four changes are answered", async () =>
      await page.locator(".whatif-chosen li").count() === 4);
    assert.match(await page.locator(".whatif-chosen").innerText(), /selects nothing here/);
    assert.ok(await page.getByLabel("Critical path", { exact: true }).locator("tbody tr").count());
    const composed = await whatif_figures(page);
    await page.reload();
    await settle(page);
    await until("the link shows the same", async () =>
      (await whatif_figures(page))["Step after changes"] === composed["Step after changes"]);
    await page.getByRole("button", { name: "Reset" }).click();
    await until("nothing is changed", async () =>
      (await whatif_figures(page))["Step after changes"] === before["Step after changes"]);
    assert.deepEqual(await axe_faults(page), []);
  }));

test("what if says what is wrong with a change, and why a recording has no answer", async () => {
  const { page, close } = await open_page(browser, server.base);
  await visit(page, run_url("rich", "whatif?change=faster"));
  assert.match(await page.locator(".notice-error").innerText(), /found change 'faster'/);
  await visit(page, run_url("cut", "whatif"));
  assert.match(await page.locator("main").innerText(), /There is no answer for this recording/);
  await close();
});

/** The numbers in the readouts of a chart, column by column. */
async function calls_in(page, card) {
  await page.locator(card).getByRole("button", { name: "Table" }).click();
  const cells = page.locator(`${card} tbody tr td:last-child`);
  return (await cells.allTextContents()).reduce((sum, text) => sum + Number(text), 0);
}

test("a kernel's row leads to its page: all calls, callers, and the longest in the timeline", () =>
  on_page({}, async (page) => {
    const { items: [kernel] } = await server.get(
      `/runs/${ids.rich}/kernels?rank=0&sort=-total_ns&limit=1`);
    await visit(page, run_url("rich", "kernels?rank=0"));
    await page.locator("tbody tr").first().locator(".page-link").click();
    await page.locator(".name-card").waitFor();
    await settle(page);
    const { pathname } = new URL(page.url());
    assert.equal(decodeURIComponent(pathname), `/runs/${ids.rich}/kernels/${kernel.name}`);
    assert.equal(await page.locator(".tabs [aria-current=page]").innerText(), "Kernels");
    assert.equal(await page.locator(".name-card code").innerText(), kernel.name);
    assert.equal(await calls_in(page, ".card:has(> header h2:text-is('Calls'))"), kernel.calls);
    assert.deepEqual(await axe_faults(page), []);
    const callers = page.getByRole("group", { name: "Callers and shapes" });
    const op = await callers.locator("a").first().innerText();
    await callers.locator("a").first().click();
    await page.locator(".name-card").getByText(op, { exact: true }).waitFor();
    await settle(page);
    assert.deepEqual(await axe_faults(page), []);
    await page.getByRole("link", { name: "1. in the timeline" }).click();
    await page.getByRole("heading", { name: "Selection" }).waitFor();
  }));

test("a column of a chart is reached by keys, and its words are read out", () =>
  on_page({ viewport: NARROW }, async (page) => {
    await visit(page, run_url("rich", "operators/aten%3A%3Amm"));
    const chart = page.getByRole("application").first();
    await chart.focus();
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowLeft");
    assert.match(await page.locator(".readout").first().innerText(), /calls? (from|of) /);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), NARROW.width);
  }));

test("a name that the run does not have is said, hostile or not", () =>
  on_page({}, async (page) => {
    await visit(page, run_url("rich", `kernels/${encodeURIComponent(HOSTILE)}`));
    assert.match(await page.locator(".empty").innerText(), /No such kernel/);
    await visit(page, run_url("hostile", "kernels"));
    await page.locator("tbody .page-link").first().click();
    await page.locator(".name-card").waitFor();
    await settle(page);
    assert.equal(await page.locator("main img, main script").count(), 0);
    assert.equal(await page.title() === "1" || await page.title() === "2", false);
  }));

test("a flame graph zooms by click and keys, finds names, and compares with another run", () =>
  on_page({}, async (page) => {
    await visit(page, run_url("rich", "flame"));
    const chart = page.locator(".flame");
    assert.match(await page.locator(".flame-legend").innerText(),
      /Operators\s+Kernels\s+Width is time; shades only separate neighbors\./);
    const trail = page.getByRole("navigation", { name: "Zoomed to" });
    await chart.locator(".flame-box").nth(1).click();
    await trail.waitFor();
    assert.equal(new URL(page.url()).searchParams.get("at"), "0");
    await chart.focus();
    await page.keyboard.press("Escape");
    await trail.waitFor({ state: "detached" });
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await trail.waitFor();
    assert.match(await trail.getByRole("link", { name: "Its page" }).getAttribute("href"),
      /\/operators\//);
    await page.getByRole("searchbox", { name: "Search names" }).fill("mm");
    await chart.locator(".found").first().waitFor();
    assert.match(await page.locator("figcaption").innerText(), / in “mm”$/);
    assert.deepEqual(await axe_faults(page), []);
    await visit(page, run_url("rich", `flame?vs=${ids.half}`));
    assert.match(await page.locator(".lead").innerText(),
      /^A step of half has .*ms of device time, .*ms less than the .*ms of rich\.$/);
    assert.match(await page.locator("figcaption").innerText(), /half compared with rich$/);
    await page.getByRole("button", { name: "Table" }).click();
    assert.ok(await page.getByRole("group", { name: "Largest differences" })
      .locator("tbody tr").count() > 3);
    assert.deepEqual(await axe_faults(page), []);
  }));
