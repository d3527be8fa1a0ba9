// SPDX-License-Identifier: Apache-2.0
// The timeline in a real browser: wheel, drag, selection, keyboard only, links that open the same
// picture, a rank's neighbors, few requests.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { axe_faults, launch, NARROW, on_clean_page, settle, visit } from "./helpers/browser.mjs";
import { read_perfetto } from "./helpers/perfetto.mjs";
import { start_server } from "./helpers/server.mjs";
import { until } from "./helpers/tools.mjs";
import { generate, small_job } from "./helpers/traces.mjs";

let server;
let browser;
let run;

before(async () => {
  server = await start_server();
  browser = await launch();
  const { files } = await generate(small_job("--stacks"));
  run = (await server.analyzed("lanes", files)).id;
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const url = (rest = "") => `/runs/${run}/timeline${rest}`;
const canvas = (page) => page.getByRole("application");
const query = (page) => Object.fromEntries(new URL(page.url()).searchParams);

/** Goes there and waits until the finest picture is drawn. */
async function show(page, rest) {
  await visit(page, url(rest));
  await canvas(page).waitFor();
  await drawn(page);
}

const drawn = (page) => page.locator('.tl-where[aria-busy="false"]').waitFor();

const on_page = (options, body) => on_clean_page(browser, server.base, options, body);

/** Waits until the address has parameters that meet the condition, and returns them. */
const asked = (page, what, condition) => until(what, () => {
  const now = query(page);
  return condition(now) && now;
});

/** Same for an address at rest: during a drag it is only updated now and then. */
function asked_at_rest(page, what, condition) {
  let before = "", same = 0;
  return asked(page, what, (now) => {
    same = page.url() === before ? same + 1 : 0;
    before = page.url();
    return same > 4 && condition(now);
  });
}

test("without any choice the timeline shows the first steady step", () =>
  on_page({}, async (page) => {
    await show(page);
    const { items } = await server.get(`/runs/${run}/steps?rank=0`);
    const steady = items.find((row) => row.steady);
    const { steps } = await server.get(`/runs/${run}/timeline?rank=0`);
    const step = steps.find(({ number }) => number === steady.step);
    const shown = await page.locator(".tl-where").innerText();
    const from_ms = Number(/from ([\d.,]+) ms/.exec(shown)[1].replaceAll(",", ""));
    assert.ok(from_ms * 1e6 <= step.begin_ns && from_ms * 1e6 > step.begin_ns -
      0.05 * (step.end_ns - step.begin_ns), shown);
    assert.deepEqual(query(page), {}, "defaults stay out of the address");
    assert.deepEqual(await axe_faults(page), []);
  }));

test("the wheel zooms, a drag moves, shift and drag selects, and back undoes each", () =>
  on_page({}, async (page) => {
    await show(page);
    const box = await canvas(page).boundingBox();
    const at = (share) => [box.x + box.width * share, box.y + 65];
    await page.mouse.move(...at(0.5));
    await page.mouse.wheel(0, -400);
    const zoomed = await asked_at_rest(page, "the view is zoomed", ({ from }) => from);
    await drawn(page);
    await page.mouse.down();
    await page.mouse.move(...at(0.7), { steps: 4 });
    await page.mouse.up();
    const moved = await asked_at_rest(page, "the view has moved",
      ({ from }) => from !== zoomed.from);
    const span = ({ from, to }) => to - from;
    assert.ok(Math.abs(span(moved) - span(zoomed)) <= 1, "moving keeps the length");
    assert.ok(Number(moved.from) < Number(zoomed.from), "dragged right is earlier");
    await page.keyboard.down("Shift");
    await page.mouse.down();
    await page.mouse.move(...at(0.3), { steps: 4 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    const { sel } = await asked(page, "a span is selected", (now) => now.sel);
    const [low, high] = sel.split("-").map(Number);
    assert.ok(low >= Number(moved.from) && high <= Number(moved.to) && high > low);
    await page.getByRole("group", { name: "Selection by class" }).waitFor();
    for (const before_it of [moved, zoomed, {}]) {
      await page.goBack();
      assert.deepEqual(query(page), before_it);
    }
  }));

test("a click shows a slice in full and leads to all of its name", () =>
  on_page({}, async (page) => {
    await show(page);
    const row = page.getByRole("group", { name: "Longest slices in view" }).locator("tbody tr");
    assert.ok(await row.count() > 0 && await row.count() <= 20);
    const name = await row.first().locator("button [title]").getAttribute("title");
    await row.first().locator("button").click();
    const card = page.locator(".tl-slice");
    assert.equal(await card.locator("code").innerText(), name);
    assert.match(await card.innerText(), /\d ns\)/);
    await card.getByText("Correlation").waitFor();
    assert.match(await card.innerText(), /Grid[\s\S]*Shapes[\s\S]*Stack, \d+ calls/);
    const { pin } = query(page);
    await canvas(page).press("l");
    await asked(page, "the launch is shown", (now) => now.pin && now.pin !== pin);
    await card.getByText("of device time").waitFor();
    await canvas(page).press("l");
    await asked(page, "and what it launched", (now) => now.pin === pin);
    await card.getByRole("link", { name: "All calls of this kernel" }).click();
    await page.waitForURL(/kernels\/./);
    await settle(page);
    assert.equal(await page.locator(".name-card code").innerText(), name);
  }));

test("keys alone go from slice to slice, pin, mark, zoom and let go", () =>
  on_page({}, async (page) => {
    await show(page, "?rank=0");
    await canvas(page).focus();
    const live = page.locator("#live");
    const press = (...keys) => keys.reduce((done, key) => done.then(() =>
      page.keyboard.press(key)), Promise.resolve());
    await press("ArrowRight", "ArrowRight", "ArrowDown");
    await until("the slice is said", async () => / at [\d.,]+ ms, /.test(await live.innerText()));
    await press("Enter");
    const { pin } = await asked(page, "the slice is pinned", (now) => now.pin);
    assert.match(pin, /^\d+\.\d+\.\d+$/);
    await press("b");
    await asked(page, "the view is bookmarked", (now) => /^\d+-\d+$/.test(now.marks));
    await press("m");
    await asked(page, "its time is selected", (now) => now.sel);
    await press("f");
    const { from, to } = await asked(page, "the view fits it", (now) => now.from);
    await press("w");
    await asked(page, "w zooms in", (now) => now.to - now.from < to - from);
    await press("0");
    await asked(page, "0 shows everything", (now) => now.from === "0");
    await press("Escape");
    await asked(page, "nothing is chosen", (now) => !now.pin && !now.sel);
    await press("]");
    await asked(page, "the next rank is shown", (now) => now.rank === "1");
  }));

test("a link opens the same picture, selection and slice", () =>
  on_page({}, async (page) => {
    await show(page);
    const button = page.getByRole("group", { name: "Longest slices in view" })
      .locator("tbody button").first();
    await button.click();
    await page.getByRole("button", { name: "Select its time" }).click();
    await page.locator(".tl-slice").getByRole("button", { name: "Zoom to it" }).click();
    await asked(page, "the view is in the address", (now) => now.from && now.sel && now.pin);
    // The details of the slice and of the selection come in replies of their own.
    const details = async () => {
      await drawn(page);
      await page.locator(".tl-slice").getByText("Correlation").waitFor();
      await until("all of them are there", async () =>
        await page.locator("main [aria-busy=true], main .loading").count() === 0);
      return page.locator(".tl-where, .tl-slice, .tl-span").allInnerTexts();
    };
    const before_it = await details();
    const link = page.url();
    await show(page, new URL(link).search);
    assert.deepEqual(await details(), before_it);
  }));

test("a gap of the idle page leads to its place, where the device does nothing", () =>
  on_page({}, async (page) => {
    await visit(page, `/runs/${run}/idle?rank=0`);
    const gaps = page.getByRole("group", { name: "Longest gaps" });
    await gaps.locator("tbody button[aria-expanded]").first().click();
    await page.getByRole("link", { name: "Show in the timeline" }).click();
    const { sel } = await asked(page, "the gap is selected", (now) => now.sel && !now.at && now);
    const { items } = await server.get(`/runs/${run}/idle_gaps?rank=0&sort=-dur_ns`);
    const [low, high] = sel.split("-").map(Number);
    assert.equal(high - low, items[0].dur_ns);
    const { lanes, slices } = await server.get(
      `/runs/${run}/timeline?rank=0&lanes=device&from_ns=${low}&to_ns=${high}&px=4000`);
    const on_stream = (_, i) => lanes[slices.lane[i]].kind === "stream";
    const begins = slices.begin_ns.filter(on_stream);
    const ends = slices.begin_ns.map((begin, i) => begin + slices.dur_ns[i]).filter(on_stream);
    assert.ok(begins.every((begin, i) => begin >= high || ends[i] <= low),
      "no slice lies in the gap");
    await page.getByText("Nothing ran on the device").waitFor();
  }));

test("moving about asks seldom, and nothing that is in sight twice", () =>
  on_page({}, async (page) => {
    const requests = [];
    page.on("request", (request) => {
      if (/api.*timeline\?/.test(request.url())) requests.push(request.url());
    });
    await show(page);
    const begun = requests.length;
    await canvas(page).focus();
    for (let i = 0; i < 6; i++) await page.keyboard.press(i % 3 ? "d" : "a");
    await asked(page, "the view has moved", (now) => now.from);
    await drawn(page);
    assert.ok(requests.length <= begun + 2, requests.join("\n"));
    assert.equal(new Set(requests).size, requests.length);
  }));

test("a window that failed is asked for again when the user says so, each time once", () =>
  on_page({}, async (page) => {
    let asks = 0;
    await page.route(/timeline\?.*from_ns=/, (route) =>
      (++asks <= 2 ? route.fulfill({ contentType: "application/json", body: "{" })
        : route.continue()));
    await visit(page, url());
    const again = page.getByRole("button", { name: "Try again" });
    await again.click();
    await until("the second request fails", () => asks === 2);
    await again.waitFor();
    await page.evaluate(() => fetch("/api/v1/version").then((reply) => reply.text()));
    assert.equal(asks, 2);
    await again.click();
    await drawn(page);
    assert.equal(asks, 3);
  }));

for (const colorScheme of ["light", "dark"]) {
  test(`on a narrow ${colorScheme} screen nothing overflows and nothing is inaccessible`, () =>
    on_page({ viewport: NARROW, colorScheme }, async (page) => {
      await show(page);
      await page.getByRole("button", { name: "+ Zoom in" }).click();
      await asked(page, "the view is zoomed", (now) => now.from);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= NARROW.width, `the page is ${wide} px wide`);
      assert.deepEqual(await axe_faults(page), []);
    }));
}

// A stand-in for Perfetto's page: answers a greeting, then notes what it gets.
const STAND_IN = `<!doctype html><title>waiting</title><script>
  addEventListener("message", ({ data, origin, source }) => {
    if (data === "PING") source.postMessage("PONG", origin);
    else if (data.perfetto) {
      window.got = { ...data.perfetto, buffer: [...new Uint8Array(data.perfetto.buffer)] };
      document.title = "got it";
    }
  });
</script>`;

test("Open in Perfetto hands over the shown span of this rank or of all", () =>
  on_page({}, async (page) => {
    await page.context().route("https://ui.perfetto.dev/**", (route) =>
      route.fulfill({ contentType: "text/html", body: STAND_IN }));
    await show(page, "?rank=0&from=0&to=9000000");
    for (const [choice, ranks] of [["This rank", 1], ["All ranks", 2]]) {
      await page.getByRole("button", { name: choice }).click();
      const opened = page.waitForEvent("popup");
      await page.getByRole("button", { name: "Open in Perfetto" }).click();
      const perfetto = await opened;
      await perfetto.waitForFunction(() => document.title === "got it");
      const got = await perfetto.evaluate(() => window.got);
      const tracks = read_perfetto(Buffer.from(got.buffer));
      assert.equal(new Set(tracks.map(({ rank }) => rank)).size, ranks);
      assert.ok(tracks.some(({ slices }) => slices.length > 0));
      assert.match(got.fileName, /\.pftrace$/);
      assert.match(got.url, /\/timeline/);
      await perfetto.close();
    }
    await page.getByRole("button", { name: "Open in Perfetto" }).waitFor();
    const [download] = await Promise.all([page.waitForEvent("download"),
      page.getByRole("link", { name: "Chrome JSON" }).click()]);
    assert.match(download.suggestedFilename(), /^lanes\.json$/);
    assert.deepEqual(await axe_faults(page), []);
  }));

test("a blocked window is said, with what to do", () => on_page({}, async (page) => {
  await show(page, "?rank=0");
  await page.evaluate(() => {
    window.open = () => null;
  });
  await page.getByRole("button", { name: "Open in Perfetto" }).click();
  await page.getByRole("alert").filter({ hasText: "blocked the new window" }).waitFor();
}));

test("ranks stand side by side on one clock, chosen by what they are or by number", () =>
  on_page({}, async (page) => {
    await show(page);
    const card = page.locator(".card:has(> header h2:text-is('Ranks side by side'))");
    assert.equal(await card.locator("canvas").count(), 0); // nothing is asked for without a choice
    await card.getByRole("button", { name: "All" }).click();
    await card.locator("canvas").waitFor();
    assert.equal(new URL(page.url()).searchParams.get("beside"), "all");
    assert.deepEqual(await card.locator(".rank-lanes li a").allTextContents(),
      ["Rank 0", "Rank 1"]);
    assert.match(await card.locator("figcaption").innerText(), /wait/);
    assert.match(await card.locator(".readout").innerText(), /[1-9]\d* collectives? in view/);
    assert.deepEqual(await axe_faults(page), []);
    await card.getByRole("button", { name: "Table" }).click();
    await card.getByRole("group", { name: "Longest waits of these ranks" }).waitFor();
    const search = card.getByRole("searchbox", { name: "Ranks to show" });
    await search.fill("1");
    await search.press("Enter");
    await until("one rank is left", async () => new URL(page.url()).searchParams.get("beside")
      === "1");
  }));

test("all ranks are lanes of groups, which open to their ranks; the late one is named", () =>
  on_page({}, async (page) => {
    const { files } = await generate(small_job("--ranks", "18", "--steps", "3", "--layers", "2",
      "--straggler", "5=150"));
    await server.analyzed("crowd", files);
    await visit(page, "/runs/crowd/timeline");
    const card = page.locator(".card:has(> header h2:text-is('All ranks'))");
    await card.getByText("18 ranks, 8 a lane").waitFor();
    await card.getByText(/^Rank 5 usually communicates for the shortest time/).waitFor();
    await card.getByRole("button", { name: "Ranks 0–7" }).click();
    await card.getByText("8 of 18 ranks").waitFor();
    await card.getByText(/^Rank 5: \d+\s% communication, median/).waitFor();
    assert.match(await card.getByRole("link", { name: "Rank 5" }).getAttribute("href"), /rank=5&/);
    assert.deepEqual(await axe_faults(page), []);
    await card.getByRole("button", { name: "All ranks" }).click();
    await card.getByRole("button", { name: "Ranks 16–17" }).waitFor();
  }));

test("a search goes from event to event, by keys and buttons, and shows where it is", () =>
  on_page({}, async (page) => {
    await show(page, "?rank=0");
    const box = page.getByRole("searchbox", { name: "Find an event" });
    await box.fill("gemm");
    await box.press("Enter");
    const found = page.locator(".tl-found");
    await found.waitFor();
    const [, first, all] = /^([\d,]+) of ([\d,]+)$/.exec(await found.innerText());
    const { sel } = await asked(page, "it is selected", (now) => now.sel);
    await page.getByRole("button", { name: "Next match" }).click();
    await until("the next is selected", async () => new URL(page.url()).searchParams.get("sel")
      !== sel);
    await box.press("Shift+Enter");
    await until("the first again", async () =>
      await found.innerText() === `${first} of ${all}`);
    await box.fill("no such name");
    await box.press("Enter");
    await page.getByText("nothing found").waitFor();
    assert.deepEqual(await axe_faults(page), []);
  }));

test("two runs stand on one axis, aligned at an event; one zoom moves both", () =>
  on_page({}, async (page) => {
    const other = (await server.analyzed("other", (await generate(small_job("--stacks", "--slow",
      "30"))).files)).id;
    await visit(page, `/compare/timeline?base=${run}&cand=${other}&base_name=aten::mm${""
      }&cand_name=aten::mm`);
    const charts = page.getByRole("application");
    await charts.nth(1).waitFor();
    assert.match(await page.locator(".lead").innerText(),
      /^“aten::mm” takes .*s in .* and .*s in other, .*s (more|less)\.$/);
    assert.match(await page.locator("main").innerText(), /Base[\s\S]*aten::mm[\s\S]*Candidate/);
    assert.deepEqual(await axe_faults(page), []);
    const picture = () => charts.nth(1).evaluate((canvas) => canvas.toDataURL());
    let before_it = "";
    await until("its own drawing has ended", async () => {
      const last = before_it;
      await page.waitForTimeout(300);
      before_it = await picture();
      return before_it === last && await page.locator("[aria-busy=true]").count() === 0;
    });
    await charts.first().focus();
    await page.keyboard.press("w");
    await asked(page, "the common view is in the address", ({ from }) => from);
    await until("the other one has moved, too", async () => await picture() !== before_it);
  }));
