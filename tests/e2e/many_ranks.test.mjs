// SPDX-License-Identifier: Apache-2.0
// Communication, ranks and findings in a real browser: sums that add up as stated, a late rank that
// is named, a heatmap for pointer and keyboard, findings dismissed with a reason.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import {
  ALL_RULES, launch, LOOK_RULES, NARROW, on_clean_page, open_page, settle, visit, WIDE,
} from "./helpers/browser.mjs";
import { look_at_all } from "./helpers/looks.mjs";
import { mock_ranks, serve_tables } from "./helpers/mock_ranks.mjs";
import { start_server } from "./helpers/server.mjs";
import { skipped, until } from "./helpers/tools.mjs";
import { generate, have_real_traces, real_file, small_job } from "./helpers/traces.mjs";

const LATE = 5;
const HOSTILE = "<img src=x onerror=\"document.title = 1\">";

let server;
let browser;
const ids = {};

async function fill(name, args, choose = (files) => files) {
  const { files } = await generate(small_job(...args));
  ids[name] = (await server.analyzed(name, choose(files))).id;
}

before(async () => {
  server = await start_server();
  browser = await launch();
  await fill("late", ["--ranks", "8", "--steps", "6", "--layers", "3", "--straggler",
    `${LATE}=140`]);
  await fill("lone", ["--ranks", "2"], (files) => files.slice(0, 1));
  if (!have_real_traces()) return;
  const pair = ["pair_rank0", "pair_rank1"].map((one) =>
    ({ data: readFileSync(real_file(one)), filename: `${one}.json.gz` }));
  ids.pair = (await server.analyzed("pair", pair)).id;
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const on_page = (options, body) => on_clean_page(browser, server.base, options, body);

const url = (name, rest) => `/runs/${ids[name]}/${rest}`;
const heatmap = (page) => page.getByRole("application", { name: /per step: median/ });
const readout = (page) => page.locator(".chart .readout").first();

test("the verdict's waiting and transfer add up to the exposed communication of the ranks", () =>
  on_page({}, async (page) => {
    await visit(page, url("late", "collectives"));
    const text = await page.locator(".verdict-line").innerText();
    const form = /^Exposed communication .* = .* waiting for late ranks \+ [\d.]+ ms transfer$/;
    assert.match(text, form);
    const [exposed, wait, transfer] = [...text.matchAll(/([\d.]+) ms/g)]
      .map(([, ms]) => Number(ms));
    assert.ok(Math.abs(exposed - wait - transfer) <= 0.011 * exposed, text);
    const { items } = await server.get(`/runs/${ids.late}/ranks`);
    const mean = (name) => items.reduce((sum, row) => sum + row[name], 0) / items.length / 1e6;
    assert.ok(Math.abs(mean("exposed_comm_ns") - exposed) < 0.01 * exposed);
    assert.ok(Math.abs(mean("exposed_wait_ns") - wait) < 0.01 * wait);
  }));

test("the late rank is named with its share and its reason, and links to its own pages", () =>
  on_page({}, async (page) => {
    await visit(page, url("late", "collectives"));
    const named = page.locator(".verdict p", { hasText: `Rank ${LATE} starts last in` });
    assert.match(await named.innerText(), /causes \d+\.\d\s% of all waiting: .* ms per step/);
    assert.match(await named.innerText(), /The same kernels take longer on it/);
    assert.equal(await page.locator(".verdict p", { hasText: "starts last in" }).count(), 1);
    const first = page.getByRole("group", { name: "Late ranks" }).locator("tbody tr").first();
    assert.match(await first.innerText(), new RegExp(`^${LATE}\\s.*Compute slower`, "s"));
    await named.getByRole("link", { name: "Its timeline" }).click();
    await page.waitForURL(new RegExp(`timeline.*rank=${LATE}`));
  }));

test("rows of collectives sort, open and are filtered in the picture and the table alike", () =>
  on_page({}, async (page) => {
    await visit(page, url("late", "collectives"));
    const table = page.getByRole("group", { name: "Collectives over all ranks" });
    await table.getByRole("button", { name: /^Bus/ }).click();
    await page.waitForURL(/waits_sort=-bus_gbps/);
    const cells = await table.locator("tbody tr > td:nth-last-child(2)").allInnerTexts();
    const bus = cells.map(Number);
    assert.deepEqual(bus, [...bus].sort((a, b) => b - a));
    await table.getByRole("button", { name: "all_reduce" }).first().click();
    assert.match(await table.locator(".kernel-detail").innerText(), /Transfer p95|transfer p95/i);
    await visit(page, url("late", "collectives?kind=broadcast"));
    assert.equal(await table.locator("tbody tr").count(), 0);
    await page.getByRole("button", { name: "Show all" }).first().click();
    await table.locator("tbody tr").first().waitFor();
  }));

test("the marks of the bandwidths are read with the arrow keys", () =>
  on_page({}, async (page) => {
    await visit(page, url("late", "collectives"));
    const chart = page.getByRole("application", { name: /Best bus bandwidth/ });
    await chart.focus();
    await page.keyboard.press("End");
    await page.locator(".readout", { hasText:
      /all_reduce .*: \d+(\.\d+)? GB\/s bus, .* median, \d+ calls/ }).waitFor();
    await until("it is announced", async () =>
      /GB\/s bus/.test(await page.locator("#live").innerText()));
  }));

test("a lone rank's page says what it cannot know", () =>
  on_page({}, async (page) => {
    await visit(page, url("lone", "collectives"));
    const verdict = page.locator(".verdict");
    assert.match(await verdict.innerText(), /Exposed communication|No communication is exposed/);
    assert.match(await verdict.innerText(), /only one of 2 was uploaded.*is unknown/s);
    assert.equal(await page.getByRole("heading", { name: "Who is late" }).count(), 0);
    await visit(page, url("lone", "ranks"));
    assert.match(await page.locator("main").innerText(), /1 rank of 2 not recorded: 1\./);
  }));

test("ranks whose collectives say nothing of themselves are not compared", async (t) => {
  if (!ids.pair) return t.skip(skipped("the pair of real traces is not there"));
  return on_page({}, async (page) => {
    await visit(page, url("pair", "collectives"));
    const text = await page.locator(".verdict").innerText();
    assert.match(text, /No collective could be matched across ranks/);
    assert.doesNotMatch(text, /waiting for late ranks/);
    await visit(page, url("pair", "ranks"));
    assert.match(await page.locator("main").innerText(), /126 ranks of 128 not recorded/);
  });
});

test("the heatmap is walked and chosen from by keyboard, and leads to the rank's pages", () =>
  on_page({}, async (page) => {
    await visit(page, url("late", "ranks"));
    await heatmap(page).focus();
    await page.keyboard.press("Home");
    for (let i = 0; i < LATE; i++) await page.keyboard.press("ArrowRight");
    assert.match(await readout(page).innerText(), new RegExp(`^Rank ${LATE} .*lateness`));
    await until("the cell is announced", async () =>
      (await page.locator("#live").innerText()).startsWith(`Rank ${LATE}`));
    await page.keyboard.press("Enter");
    await page.waitForURL(new RegExp(`rank=${LATE}`));
    const chosen = page.getByRole("region", { name: `Rank ${LATE}` });
    assert.match(await chosen.innerText(), /the same kernels take longer on it/);
    assert.equal(await page.getByRole("link", { name: "Kernels", exact: true }).first()
      .getAttribute("href"), url("late", `kernels?rank=${LATE}`), "tabs keep the rank");
    await chosen.getByRole("link", { name: "Timeline" }).click();
    await page.waitForURL(new RegExp(`timeline.*rank=${LATE}`));
  }));

test("by pointer: hovering tells, a click chooses a step, a second one lets it go", () =>
  on_page({}, async (page) => {
    await visit(page, url("late", "ranks?by=steps&metric=compute"));
    const box = await heatmap(page).boundingBox();
    const at = { x: 200, y: 16 + 34 * LATE + 17 };
    await page.mouse.move(box.x + at.x, box.y + at.y);
    assert.match(await readout(page).innerText(), new RegExp(`^Rank ${LATE}, step \\d+.*compute`));
    await heatmap(page).click({ position: at });
    await page.waitForURL(new RegExp(`rank=${LATE}&step=\\d+`));
    const link = page.getByRole("link", { name: /^Step \d+ in its timeline/ });
    await until("the link knows the step's place", async () =>
      /at=\d+-\d+/.test(await link.getAttribute("href")));
    await heatmap(page).click({ position: at });
    await page.waitForURL((address) => !address.search.includes("step="));
  }));

test("figures and layouts of the heatmap are in the address, and there is a table", () =>
  on_page({}, async (page) => {
    await visit(page, url("late", "ranks"));
    await page.getByLabel("Figure").selectOption("wait");
    await page.waitForURL(/metric=wait/);
    assert.match(await page.locator("figcaption").first().innerText(), /^Exposed wait per step/);
    await page.getByRole("button", { name: "Ranks × steps" }).click();
    await page.waitForURL(/by=steps/);
    await settle(page);
    await page.getByRole("button", { name: "Table", exact: true }).first().click();
    const table = page.getByRole("group", { name: "Heatmap values" });
    const { items } = await server.get(`/runs/${ids.late}/rank_steps`);
    assert.equal(await table.locator("tbody tr:not(.spacer)").count(), items.length);
  }));

test("the outliers are those of the figure that is chosen, farthest first, and sort", () =>
  on_page({}, async (page) => {
    await visit(page, url("late", "ranks?metric=compute"));
    const table = page.getByRole("group", { name: "Ranks farthest from the median" });
    const first = () => table.locator("tbody th").first().innerText();
    assert.match(await first(), new RegExp(`^${LATE}.*stands out`, "s"));
    await table.getByRole("button", { name: "Rank", exact: true }).click();
    await page.waitForURL(/far=rank/);
    assert.equal((await first()).trim(), "0");
  }));

const BIG = { ranks: 1024, steps: 100, late: 517, missing: [9, 600] };

test("1,024 ranks and 100 steps: one picture, holes named, every rank within reach", () =>
  on_page({}, async (page) => {
    await serve_tables(page, mock_ranks(BIG));
    await visit(page, url("late", "ranks"));
    assert.match(await page.locator("figcaption").first().innerText(), /most 10\.0 ms on rank 517/);
    assert.equal(await page.getByRole("group", { name: "Ranks farthest from the median" })
      .locator("tbody tr").count(), 20);
    await visit(page, url("late", "ranks?by=steps"));
    await heatmap(page).focus();
    await page.keyboard.press("End");
    assert.match(await readout(page).innerText(), /^Rank 1023, step 0/);
    const { x, width } = await heatmap(page).boundingBox();
    assert.ok(x >= 0 && x + width <= 1440);
  }));

test("a finding is dismissed with a reason, stays so, costs no more, and comes back", () =>
  on_page({}, async (page) => {
    await visit(page, url("late", "findings"));
    const saving = async () => { // there is no such line without findings
      const [line = ""] = await page.locator(".verdict-line").allInnerTexts();
      return Number(/up to ([\d.]+) ms/.exec(line)?.[1] ?? 0);
    };
    await page.locator(".verdict-line").first().waitFor();
    const before_it = await saving();
    const title = await page.locator(".finding-title").first().innerText();
    await page.getByRole("button", { name: /^Dismiss: / }).first().click();
    const submit = page.getByRole("button", { name: "Dismiss", exact: true });
    assert.ok(await submit.isDisabled(), "a reason is needed");
    await page.getByLabel("Why does it not matter here?").fill(`known ${HOSTILE}`);
    await submit.click();
    const fold = page.getByText("1 dismissed finding");
    await fold.waitFor();
    await until("the sum is less", async () => (await saving()) < before_it);
    await page.reload();
    await settle(page);
    await fold.click();
    assert.ok((await page.locator(".dismissed").innerText()).includes(`known ${HOSTILE}`));
    assert.equal(await page.locator("main img").count(), 0);
    await visit(page, url("late", ""));
    assert.equal(await page.locator(".finding-title", { hasText: title }).count(), 0);
    await visit(page, url("late", "findings"));
    await fold.click();
    await page.getByRole("button", { name: /^Undo dismissing/ }).click();
    await until("it counts again", async () => (await saving()) === before_it);
    assert.equal(await fold.count(), 0);
  }));

test("a dismissal that fails says so and keeps what was written", async () => {
  const { page, close } = await open_page(browser, server.base);
  await page.route(/dismissals\//, (route) => route.abort());
  await visit(page, url("late", "findings"));
  await page.getByRole("button", { name: /^Dismiss: / }).first().click();
  await page.getByLabel("Why does it not matter here?").fill("known");
  await page.getByRole("button", { name: "Dismiss", exact: true }).click();
  await page.getByRole("alert").filter({ hasText: "The server is not responding" }).waitFor();
  assert.equal(await page.getByLabel("Why does it not matter here?").inputValue(), "known");
  await close();
});

/** Tables that scroll sideways. */
const sideways = (page) => page.locator(".table-region").evaluateAll((regions) =>
  regions.filter((node) => node.scrollWidth > node.clientWidth)
    .map((node) => `${node.ariaLabel}: ${node.scrollWidth} of ${node.clientWidth} pixels`));

for (const [colorScheme, name] of [["light", "late"], ["dark", "late"], ["dark", "lone"]]) {
  test(`on a narrow screen, ${colorScheme}, the pages of ${name} fit with all their tables`, () =>
    on_page({ viewport: NARROW, colorScheme }, async (page) => {
      for (const rest of ["collectives", "ranks", "ranks?by=steps&rank=0&step=4", "findings"]) {
        await visit(page, url(name, rest));
        const wide = await page.evaluate(() =>
          document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.equal(wide, 0, rest);
        assert.deepEqual(await sideways(page), [], rest);
      }
    }));
}

test("groups with long names fit a narrow screen", async () => {
  const { files } = await generate(["mesh", "--tp", "2", "--dp", "2", "--steps", "3"]);
  const renamed = files.map(({ data, filename }) => ({ filename, data: Buffer.from(data.toString()
    .replace(/("Process Group Name": ?")/g, `$1${"a_group_of_many_ranks_".repeat(6)}`)) }));
  ids.names = (await server.analyzed("names", renamed)).id;
  await on_page({ viewport: NARROW }, async (page) => {
    await visit(page, url("names", "collectives"));
    await page.locator("label.pick", { hasText: "Process group" }).waitFor();
    const wide = await page.evaluate(() =>
      document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(wide, 0);
  });
});

test("1,024 ranks fit a narrow screen", () =>
  on_page({ viewport: NARROW }, async (page) => {
    await serve_tables(page, mock_ranks(BIG));
    for (const rest of ["ranks", "ranks?by=steps"]) {
      await visit(page, url("late", rest));
      assert.deepEqual(await sideways(page), [], rest);
      const { x, width } = await heatmap(page).boundingBox();
      assert.ok(x >= 0 && x + width <= NARROW.width);
    }
  }));

test("pages of many ranks have no barrier, in light and dark", () =>
  on_page({}, (page) => look_at_all(page,
    ["collectives", `ranks?rank=${LATE}`, "ranks?by=steps", "findings"]
      .map((rest) => url("late", rest)),
    [{ viewport: WIDE, colorScheme: "light", rules: ALL_RULES },
      { viewport: WIDE, colorScheme: "dark", rules: LOOK_RULES }])));
