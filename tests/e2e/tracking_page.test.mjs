// SPDX-License-Identifier: Apache-2.0
// Runs over time in a real browser: a planted change in trends, alerts and baselines, by mouse and
// by keyboard, with all state in the address; metadata shown and edited.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { axe_faults, launch, on_clean_page, settle, visit } from "./helpers/browser.mjs";
import { look_at_all } from "./helpers/looks.mjs";
import { start_server } from "./helpers/server.mjs";
import { until } from "./helpers/tools.mjs";
import { generate, small_json, unmarked_file } from "./helpers/traces.mjs";

const HOSTILE = "<img src=x onerror=alert(1)>";
const PLANTED_AT = 13; // the first run of llama with slower products
const RUNS = 20;
const COMMIT = (number) => String(number).padStart(40, "c0ffee");

let server;
let browser;
/** Ids of llama's runs, oldest first. */
const ids = [];

/** One run of a series of 20, whose products become slower from some run on. */
async function add_run(number) {
  const { files } = await generate(["--ranks", "1", "--world", "1", "--steps", "8", "--layers", "2",
    "--seed", String(number), "--slow", number < PLANTED_AT ? "100" : "gemm=115"]);
  const run = await server.analyzed(`llama@${number}`, files,
    { project: "llm", tag: "branch=main", meta: `commit=${COMMIT(number)}` });
  ids.push(run.id);
}

before(async () => {
  server = await start_server();
  browser = await launch();
  for (let number = 1; number <= RUNS; number++) await add_run(number);
  for (const number of [1, 2]) {
    const data = small_json({ kernel_us: 20 + number });
    await server.analyzed(`${HOSTILE}@${number}`, [{ data, filename: "rank0.json" }],
      { project: "odd" });
  }
  await server.analyzed("lone", [{ data: small_json(), filename: "rank0.json" }],
    { project: "odd" });
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const on_page = (options, body) => on_clean_page(browser, server.base, options, body);

const SERIES = "/trends?project=llm&series=llama";
const query_of = (page) => new URL(page.url()).searchParams;
const chart = (page) => page.getByRole("application");
const readout = (page) => page.locator(".trend-chart .readout");
const points_of = async () => (await server.get("/series/llama/points?project=llm")).items;

/** Compares the first run at the new level with the one before. */
const planted_compare = () =>
  new RegExp(`base=${ids[PLANTED_AT - 2]}&cand=${ids[PLANTED_AT - 1]}$`);

/** Compares the first runs at the new level with the last ones before. */
const planted_repeats = () => `/compare?${new URLSearchParams({
  base: ids.slice(PLANTED_AT - 5, PLANTED_AT - 1).join(","),
  cand: ids.slice(PLANTED_AT - 1, PLANTED_AT + 3).join(",") })}`;

/** Waits until an element's text matches. */
const says = (locator, pattern) => until(`it says ${pattern}`, async () =>
  pattern.test((await locator.first().textContent()) ?? ""));

test("trends draw every series of two runs, list the others, and link to each", () =>
  on_page({}, async (page) => {
    await visit(page, "/trends");
    const cards = page.locator(".small-card");
    await cards.nth(1).waitFor();
    await page.locator(".small-card svg[role=img]").nth(1).waitFor();
    assert.equal(await cards.count(), 2);
    await says(cards, /^llama[^]*▲ [^]*slower since @13/);
    assert.match(await page.locator(".small-card svg").first().getAttribute("aria-label"),
      /Median step of 20 runs of llama.*1 change of level/);
    assert.equal(await page.getByRole("link", { name: "lone" }).count(), 1);
    assert.equal(await page.locator(".small-card img").count(), 0, "names stay text");
    await page.getByRole("link", { name: "llama", exact: true }).click();
    await page.waitForURL(`**${SERIES}`);
    await page.getByRole("heading", { level: 1, name: "llama" }).waitFor();
  }));

test("series are chosen by words, tags and project, and the address keeps the choice", () =>
  on_page({}, async (page) => {
    await visit(page, "/trends");
    await page.getByRole("searchbox").fill("tag:branch=main");
    await page.waitForURL(/q=tag/);
    await until("one is left", async () => await page.locator(".small-card").count() === 1);
    await visit(page, "/trends");
    await page.getByLabel("Project").selectOption("odd");
    await page.waitForURL(/project=odd/);
    await page.reload();
    await settle(page);
    await says(page.locator(".small-card h2"), /img src=x/);
    assert.equal(await page.getByRole("link", { name: "llama", exact: true }).count(), 0);
    await visit(page, "/trends?q=nothing-like-it");
    await says(page.locator(".empty"), /No series matches/);
  }));

test("the planted change is marked in words where it was planted", () =>
  on_page({}, async (page) => {
    const { items } = await server.get("/series/llama/changes?project=llm");
    assert.deepEqual(items.map(({ run }) => run), [ids[PLANTED_AT - 1]]);
    const size = `${(items[0].change_share * 100).toFixed(1)}\\s%`;
    await visit(page, SERIES);
    await says(page.locator(".trend-change-mark"), new RegExp(`▲ ${size} slower`));
    const line = page.locator(".changes li");
    await says(line, new RegExp(`▲ ${size} slower since llama@${PLANTED_AT}`));
    assert.match(await line.getByRole("link", { name: /Compare/ }).getAttribute("href"),
      planted_compare());
    assert.match(await line.innerText(), /c0ffee/, "the commit is shown");
  }));

test("the table below the chart has every run with the figures of the API", () =>
  on_page({}, async (page) => {
    const points = await points_of();
    await visit(page, `${SERIES}&sort=created`);
    const rows = page.locator(".card:last-of-type tbody tr");
    await until("all rows are there", async () => await rows.count() === points.length);
    const titles = await page.locator('.card:last-of-type tbody td span[title$=" ns"]')
      .evaluateAll((cells) => cells.map(({ title }) => Number(title.replace(/,| ns$/g, ""))));
    assert.deepEqual(titles.filter((_, i) => i % (titles.length / points.length) === 0),
      points.map((point) => point.step_median_ns));
    await says(rows.nth(PLANTED_AT - 1), /new level, ▲/);
  }));

test("another figure is drawn with its unit, direction and source, and the address keeps it", () =>
  on_page({}, async (page) => {
    const { items } = await server.get("/series/llama/points?project=llm&metric=busy_share");
    assert.ok(items.every(({ value, source }) => value > 0 && source === "trace"));
    await visit(page, SERIES);
    await page.getByLabel("Figure").selectOption({ label: "GPU busy" });
    await page.waitForURL(/metric=busy_share/);
    await page.reload();
    await page.getByRole("heading", { name: "GPU busy, run by run" }).waitFor();
    const card = page.locator(".card").first();
    await says(card, /higher is better · from the trace · in all 20 runs/);
    await says(card, /GPU busy, %/);
    await chart(page).focus();
    await page.keyboard.press("Home");
    await says(readout(page), new RegExp(`^llama@1, .*: ${
      (items[0].value * 100).toFixed(1)}\\s%`));
    await visit(page, "/trends?metric=busy_share");
    await says(page.locator(".page-note"), /GPU busy: higher is better/i);
    assert.match(await page.getByRole("link", { name: "llama", exact: true }).getAttribute("href"),
      /metric=busy_share/);
  }));

test("the keyboard walks the chart, chooses two runs to compare, and opens one", () =>
  on_page({}, async (page) => {
    await visit(page, SERIES);
    await chart(page).focus();
    await page.keyboard.press("Home");
    await says(readout(page), /^llama@1, commit/);
    await page.keyboard.press("ArrowRight");
    await says(readout(page), /^llama@2, .*than the previous run|as before/);
    await page.keyboard.press("Space");
    await page.waitForURL(new RegExp(`pick=${ids[1]}`));
    await says(page.locator(".pick-bar"), /choose one more/);
    await page.keyboard.press("End");
    await page.keyboard.press("Space");
    await page.waitForURL(/pick=[^&]*(,|%2C)/);
    await page.reload();
    await settle(page);
    const link = page.getByRole("link", { name: "Compare", exact: true }).last();
    assert.equal(await link.getAttribute("href"), `/compare?base=${ids[1]}&cand=${ids[RUNS - 1]}`);
    await chart(page).focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/runs/${ids[0]}`);
  }));

/** A run's place in the chart, by its number. */
async function place_of(page, number) {
  const box = await chart(page).boundingBox();
  const pitch = (box.width - 64) / RUNS;
  return { x: box.x + 54 + (number - 0.5) * pitch, y: box.y + 120 };
}

test("the pointer opens a run, and a drag from one to another chooses both", () =>
  on_page({}, async (page) => {
    await visit(page, SERIES);
    const from = await place_of(page, 17);
    const to = await place_of(page, 4);
    await page.mouse.move(from.x, from.y);
    await says(readout(page), /^llama@17,/);
    await page.mouse.down();
    await page.mouse.move(to.x, to.y, { steps: 4 });
    await page.mouse.up();
    await until("both are chosen", () => query_of(page).get("pick") === `${ids[16]},${ids[3]}`);
    await says(page.locator(".pick-bar"), /Base\s+llama@4\s+→\s+candidate\s+llama@17/);
    await page.getByRole("button", { name: "Clear" }).click();
    await until("none is", () => query_of(page).get("pick") === null);
    await page.getByLabel("Choose llama@9 to compare").check();
    await until("one is", () => query_of(page).get("pick") === ids[8]);
    await chart(page).scrollIntoViewIfNeeded();
    const place = await place_of(page, 4);
    await page.mouse.click(place.x, place.y);
    await page.waitForURL(`**/runs/${ids[3]}`);
  }));

test("an alert is triaged: out of the inbox, off the count, with what was said about it", () =>
  on_page({}, async (page) => {
    await visit(page, "/alerts");
    const alert = page.locator(".alert");
    await says(alert, new RegExp(`▲ .* slower in llama[^]*since llama@${PLANTED_AT}`));
    assert.equal(await alert.count(), 1);
    const news = page.getByRole("banner").getByLabel("1 new");
    await news.waitFor();
    await alert.getByRole("button", { name: "Comment" }).click();
    await page.getByLabel("Comment", { exact: true }).fill(`${HOSTILE} on it`);
    await page.keyboard.press("Enter");
    await says(page.locator(".alert-comment"), /<img src=x.*on it/);
    await alert.getByRole("button", { name: "Acknowledge" }).focus();
    await page.keyboard.press("Enter");
    await says(page.locator(".alerts-none"), /No new alerts/);
    await news.waitFor({ state: "detached" });
    await page.getByRole("button", { name: /^Acknowledged/ }).click();
    await page.waitForURL(/status=acknowledged/);
    await alert.waitFor();
    assert.equal(await alert.count(), 1);
    const [row] = (await server.get("/alerts")).items;
    assert.equal(row.status, "acknowledged");
    assert.equal(row.comment, `${HOSTILE} on it`);
    await alert.getByRole("button", { name: "Reopen" }).click();
    await news.waitFor();
  }));

test("an alert leads to its series, where it can be triaged too, and to the comparison", () =>
  on_page({}, async (page) => {
    await visit(page, "/alerts");
    const link = page.locator(".alert").getByRole("link", { name: "Compare 4 runs before with 4" });
    assert.equal(await link.getAttribute("href"), planted_repeats());
    await says(page.locator(".alert-why"), /^Mostly aten::\w*mm\b[^]* → [^]* per step/);
    await says(page.locator(".alert"), /commits ?c0ffee\w* to c0ffee\w*/);
    await page.locator(".alert").getByRole("link", { name: "llama", exact: true }).click();
    await page.waitForURL(`**${SERIES}`);
    await page.locator(".trend-flag").waitFor();
    await page.locator(".alert").waitFor();
    assert.equal(await page.locator(".alert").count(), 1);
  }));

test("home says what is new, what moved, what failed, and what waits for a decision", () =>
  on_page({}, async (page) => {
    await visit(page, "/news");
    await says(page.locator(".lead"), /7 days: 23 new runs, 1 series moved and 1 alert waits/);
    await page.locator(".alert").getByText("slower").first().waitFor();
    await says(page.locator(".news"), /llama ?▲ [\d.]+\s% slower/);
    assert.deepEqual(await axe_faults(page), []);
    await page.evaluate(() => localStorage.setItem("home-visit",
      JSON.stringify({ at: Date.now() - 3_600_000, before: 0 })));
    await page.reload();
    await says(page.locator(".lead"), /^Since you were here on \d{4}-/);
  }));

test("a short link keeps what a page shows, and a comment its place and its author", () =>
  on_page({}, async (page) => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await visit(page, "/?q=llama&sort=name");
    await page.getByRole("button", { name: /^Link/ }).click();
    await says(page.locator(".short-link"), /^Copied \/v\/v_/);
    const link = await page.evaluate(() => navigator.clipboard.readText());
    await page.goto(link);
    await page.waitForURL(`${server.base}/?q=llama&sort=name`);
    await visit(page, `/runs/${ids[0]}`);
    await page.getByLabel("Comment on this run").fill(`${HOSTILE} disk was full`);
    await page.getByLabel("Your name").fill("Ada");
    await page.keyboard.press("Enter");
    await says(page.locator(".comments li"), /<img src=x.*disk was full[^]*Ada/);
    assert.equal((await server.get(`/runs/${ids[0]}/comments`)).items[0].author, "Ada");
    await page.getByRole("button", { name: "Remove the comment of Ada" }).click();
    await page.getByRole("button", { name: "Keep" }).click();
    await page.getByRole("button", { name: "Remove the comment of Ada" }).click();
    await page.getByRole("button", { name: "Remove", exact: true }).click();
    await page.locator(".comments").waitFor({ state: "detached" });
  }));

test("a short link that cannot be copied stays in a field", () =>
  on_page({}, async (page) => {
    await page.addInitScript(() => {
      Object.defineProperty(navigator, "clipboard",
        { value: { writeText: () => Promise.reject(new Error("refused")) } });
    });
    await visit(page, "/?q=llama");
    await page.getByRole("button", { name: /^Link/ }).click();
    const field = page.getByRole("textbox", { name: "Short link to this page" });
    assert.match(await field.inputValue(), /^http.*\/v\/v_/);
    assert.deepEqual(await axe_faults(page), []);
    await page.getByRole("button", { name: "Close the link" }).click();
    await page.getByRole("button", { name: /^Link/ }).waitFor();
  }));

test("runs collapse to series, columns go, and a saved view brings both back", () =>
  on_page({}, async (page) => {
    await visit(page, "/");
    const rows = page.locator("main tbody tr");
    await page.getByRole("button", { name: "Series", exact: true }).click();
    await page.waitForURL(/rows=series/);
    await until("a row for each series", async () => await rows.count() === 3);
    await says(rows.filter({ hasText: "llama" }), /and 19 more runs of llama/);
    await page.getByText("Columns", { exact: true }).click();
    await page.getByLabel("GPU busy").uncheck();
    await page.waitForURL(/hide=busy_share/);
    assert.equal(await page.getByRole("columnheader", { name: /^GPU busy/ }).count(), 0);
    await page.getByRole("button", { name: "Save view" }).click();
    await page.getByLabel("Name of the view").fill(HOSTILE);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Remove view" }).waitFor();
    await visit(page, "/");
    await page.locator("label", { hasText: "View" }).locator("select").selectOption(HOSTILE);
    await page.waitForURL(/hide=busy_share&rows=series/);
    await page.getByRole("button", { name: "Remove view" }).click();
    await page.getByRole("button", { name: "Remove", exact: true }).click();
    await page.getByRole("button", { name: "Save view" }).waitFor();
  }));

test("ticked runs are tagged together", () =>
  on_page({}, async (page) => {
    await visit(page, "/?q=llama");
    for (const name of ["llama@2", "llama@3"]) {
      await page.getByLabel(`Select ${name}`, { exact: true }).check();
    }
    await page.getByRole("button", { name: "Tag…" }).click();
    await page.getByLabel("Tag of 2 runs").fill("kind=bulk");
    await page.keyboard.press("Enter");
    await until("both are tagged", async () =>
      (await server.get("/runs?tag=kind%3Dbulk")).total === 2);
  }));

test("a star makes a run the baseline of its series, whose noise is not guessed", () =>
  on_page({}, async (page) => {
    await visit(page, "/?q=llama");
    await page.getByRole("button", { name: "Make llama@12 a baseline" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox").fill("not a name");
    assert.ok(await dialog.getByRole("button", { name: "Set", exact: true }).isDisabled());
    await dialog.getByRole("textbox").fill("main");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await says(page.locator(".baseline-strip"), /main llama@12/);
    const chip = page.locator("tbody tr", { hasText: "llama@13" }).locator("td .delta-chip");
    await says(chip, /▲ \d+\.\d\s%[^]*slower than llama@12[^]*noise unknown/);
    assert.match(await chip.getAttribute("href"), new RegExp(`base=${ids[11]}&cand=${ids[12]}$`));
    assert.equal((await server.get("/baselines")).items[0].run, ids[11]);
    await page.getByRole("button", { name: /llama@12 is baseline main/ }).click();
    await dialog.getByRole("button", { name: "Unset main" }).click();
    await page.locator(".baseline-strip").waitFor({ state: "detached" });
    assert.deepEqual((await server.get("/baselines")).items, []);
  }));

test("the list of runs shows the line of a series once there are two runs, and leads to it", () =>
  on_page({}, async (page) => {
    const asked = [];
    page.on("request", (request) => /\/points/.test(request.url()) && asked.push(request.url()));
    await visit(page, "/");
    const link = page.getByRole("link", { name: "Trend of llama, 20 runs" });
    await link.first().locator("svg").waitFor();
    assert.equal(new Set(asked).size, asked.length, "a series is asked for once");
    const lone = page.locator("tbody tr", { hasText: "lone" });
    assert.equal(await lone.locator(".series-cell").count(), 0);
    await link.first().click();
    await page.waitForURL(`**${SERIES}`);
  }));

test("metadata is shown with where it is from, edited with help, and refused with a reason", () =>
  on_page({}, async (page) => {
    await visit(page, `/runs/${ids[0]}/data`);
    const row = page.getByRole("table", { name: "Environment" }).locator("tr");
    await says(row.filter({ hasText: "commit" }), /c0ffee[^]*given/);
    await says(row.filter({ hasText: "gpu" }), /H100[^]*trace/);
    const field = (name) => page.getByLabel(`Value of ${name}`);
    await page.getByRole("button", { name: "batch_size", exact: true }).click();
    await page.keyboard.type("512");
    await page.getByRole("button", { name: "data", exact: true }).click();
    await field("data").fill(HOSTILE.slice(0, 20));
    const sent = [];
    page.on("request", (request) => request.method() === "PATCH" && sent.push(request.postData()));
    await field("data").fill("synthetic");
    await page.getByRole("button", { name: "Save" }).click();
    await says(row.filter({ hasText: "batch_size" }), /512[^]*given/);
    assert.deepEqual(JSON.parse(sent[0]).meta, { batch_size: "512", data: "synthetic" });
    await page.getByRole("button", { name: "Remove commit" }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await until("it is gone", async () =>
      (await server.get(`/runs/${ids[0]}`)).meta.commit === undefined);
    assert.deepEqual((await server.get(`/runs/${ids[0]}`)).meta,
      { batch_size: "512", data: "synthetic" });
  }));

test("without runs the pages say what is to be done", async () => {
  const empty = await start_server();
  await on_clean_page(browser, empty.base, {}, async (page) => {
    await visit(page, "/trends");
    await says(page.locator(".empty"), /No series yet[^]*curl -F run=/);
    assert.deepEqual(await axe_faults(page), []);
    await visit(page, "/alerts");
    await says(page.locator(".alerts-none"), /No new alerts/);
    assert.deepEqual(await axe_faults(page), []);
  });
  await empty.stop();
});

test("a series of recordings without steps is not said to have any", async () => {
  const other = await start_server();
  for (const number of [1, 2])
    await other.analyzed(`whole@${number}`, [unmarked_file({ kernel_us: 400 * number })]);
  await on_clean_page(browser, other.base, {}, async (page) => {
    for (const [path, words] of [["/trends", /▲ [\d.]+\s% longer/], ["/news", /% longer/],
      ["/trends?series=whole", /Recording of 2 runs of whole, lower is better/]]) {
      await visit(page, path);
      await says(page.locator("main"), words);
      assert.doesNotMatch(await page.locator("main").innerText(), /median step|ms per step|slower/i,
        path);
    }
    await visit(page, "/runs");
    await says(page.locator("h1"), /^Runs$/);
  });
  await other.stop();
});

test("trends, alerts and baselines fit in every size and theme and have no barrier", () =>
  on_page({}, async (page) => {
    await server.send("PUT", "/baselines/main", { run: ids[3] });
    await look_at_all(page, ["/trends", `${SERIES}&pick=${ids[2]},${ids[15]}`, "/alerts",
      "/alerts?status=all", "/", `/runs/${ids[1]}/data`]);
  }));
