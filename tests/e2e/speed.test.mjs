// SPDX-License-Identifier: Apache-2.0
// Time limits of the pages in a real browser. tests/run runs this file while nothing else does.
// Timed: nothing runs beside it.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { launch, on_clean_page, visit } from "./helpers/browser.mjs";
import { start_server } from "./helpers/server.mjs";
import { root } from "./helpers/tools.mjs";
import { small_json } from "./helpers/traces.mjs";

const MANY = 10_000;
const RESPONSE_MS = 100;
const PAINT_MS = 40; // far above what it takes, far below what one would notice
const FRAME_MS = 16;
const TRIES = 3; // if the machine is busy, it is measured again

let server;
let browser;
let run;

before(async () => {
  server = await start_server();
  browser = await launch();
  const names = Array.from({ length: MANY }, (_, i) => `kernel_${String(i * 7919 % MANY)}`);
  const data = small_json({ names, steps: 1, kernel_us: 3 });
  run = (await server.analyzed("many-kernels", [{ data, filename: "rank0.json" }])).id;
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const on_page = (body) => on_clean_page(browser, server.base, {}, body);

/** Runs in the page: milliseconds from an action to the frame that shows its effect. */
async function time_in_page({ actions, value }) {
  const region = document.querySelector(".table-region");
  const seen = () => (value === "rows"
    ? region.querySelector("tbody tr[aria-rowindex]").getAttribute("aria-rowindex")
    : `${region.querySelector("tbody th").innerText}|${region.querySelector("[aria-sort]")
      ?.getAttribute("aria-sort")}|${region.querySelector("table").getAttribute("aria-rowcount")}`);
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const act = {
    scroll: (top) => (region.scrollTop = top),
    click: (name) => [...document.querySelectorAll("th button")]
      .find((button) => button.innerText.startsWith(name)).click(),
    type: (text) => {
      const box = document.querySelector("[data-search]");
      box.value = text;
      box.dispatchEvent(new Event("input", { bubbles: true }));
    },
  };
  const times = [];
  for (const [kind, argument] of actions) {
    const old = seen();
    await frame();
    const begin = performance.now();
    act[kind](argument);
    while (seen() === old && performance.now() - begin < 5000) await frame();
    times.push(performance.now() - begin);
  }
  return times;
}

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

test(`${MANY} kernels scroll, sort and filter within ${RESPONSE_MS} ms`, async (t) => {
  await on_page(async (page) => {
    await visit(page, `/runs/${run}/kernels`);
    await page.locator(`table[aria-rowcount="${MANY + 1}"]`).waitFor();
    const rows = await page.locator("tbody tr[aria-rowindex]").count();
    assert.ok(rows < 200, `${rows} of ${MANY} rows are in the document`);
    const jumps = Array.from({ length: 15 }, (_, i) => ["scroll", 9000 + i * 19_001]);
    const clicks = ["Calls", "Kernel", "Kernel", "p95", "Kernel", "Kernel"].map((name) =>
      ["click", name]);
    const words = ["kernel_1", "kernel_12", "kernel_123", "kernel_9", "kernel_", ""].map((text) =>
      ["type", text]);
    const actions = { scroll: [jumps, "rows"], sort: [clicks, "order"], filter: [words, "order"] };
    for (const [what, [list, value]] of Object.entries(actions)) {
      const tries = [];
      while (tries.length < TRIES && !(Math.min(...tries) <= RESPONSE_MS)) {
        tries.push(median(await page.evaluate(time_in_page, { actions: list, value })));
      }
      t.diagnostic(`${what}: ${tries.map((ms) => `${ms.toFixed(0)} ms`).join(", ")}`);
      assert.ok(Math.min(...tries) <= RESPONSE_MS, `${what} took ${tries} ms`);
    }
  });
});

/** Runs in the page: the median time to paint a grid. */
async function paint_time({ base, columns, rows }) {
  const { paint_heatmap, read_heat_palette } = await import(`${base}/charts/heat_paint.mjs`);
  const { band_layout, empty_grid } = await import(`${base}/charts/heat_model.mjs`);
  const { heat_scale } = await import(`${base}/charts/heat_scale.mjs`);
  const names = (n) => Array.from({ length: n }, (_, i) => String(i));
  const grid = empty_grid(names(columns), names(rows), "rank", "step");
  grid.item.forEach((_, i) => (grid.item[i] = i));
  const values = Array.from(grid.item, (i) => (i * 7919) % 1000);
  const canvas = document.createElement("canvas");
  document.body.append(canvas);
  const layout = band_layout(columns, rows, { width: 1200, height: 430 });
  [canvas.width, canvas.height] = [1280, layout.height];
  const scene = { grid, values, scale: heat_scale(values), layout, left: 60, width: 1280,
    height: layout.height, palette: read_heat_palette(canvas), write: String };
  const pen = canvas.getContext("2d");
  const times = Array.from({ length: 9 }, () => {
    const begin = performance.now();
    paint_heatmap(pen, scene);
    pen.getImageData(0, 0, 1, 1); // forces the painting to finish
    return performance.now() - begin;
  });
  canvas.remove();
  return times.sort((a, b) => a - b)[4];
}

test("1,024 x 100 cells are painted within a frame or two", async () => {
  // The module by itself, as it is before it is packed.
  const unpacked = await start_server({ options: ["--web-dir", join(root, "web")] });
  after(() => unpacked.stop());
  await on_clean_page(browser, unpacked.base, {}, async (page) => {
    await visit(page, "/upload");
    const src = await page.locator('script[type="module"]').getAttribute("src");
    const base = src.replace(/\/app\.mjs$/, "");
    let best = Infinity;
    for (let i = 0; i < TRIES && best > PAINT_MS; i++) {
      best = Math.min(best, await page.evaluate(paint_time, { base, columns: 1024, rows: 100 }));
    }
    process.stderr.write(`NOTE: painting 1,024 x 100 cells takes ${best.toFixed(1)} ms\n`);
    assert.ok(best <= PAINT_MS, `${best.toFixed(1)} ms, expected at most ${PAINT_MS}`);
  });
});

test("a redraw of a full picture takes less than a frame", () =>
  on_page(async (page) => {
    const slices = { lane: [], row: [], begin_ns: [], dur_ns: [], name: [], class: [], count: [],
      busy_ns: [] };
    const lanes = Array.from({ length: 16 }, (_, i) => ({ name: `stream ${i}`, kind: "stream",
      process: "0", thread: String(i), rows: 1 }));
    for (let i = 0; i < 20_000; i++) {
      const values = [i % 16, 0, (i >> 4) * 800, 700, i % 3, i % 3, 1 + i % 2, 500];
      Object.keys(slices).forEach((key, k) => slices[key].push(values[k]));
    }
    await page.route(/api\/v1\/runs\/[^/]+\/timeline\?/, (route) => route.fulfill({ json: {
      rank: 0, begin_ns: 0, end_ns: 1e6, from_ns: 0, to_ns: 1e6, resolution_ns: 1, lanes, slices,
      names: ["a", "b", "c"], classes: ["GEMM", "attention", "communication"], steps: [] } }));
    await visit(page, `/runs/${run}/timeline`);
    await page.getByRole("application").focus();
    await page.locator('.tl-where[aria-busy="false"]').waitFor();
    const best_ms = await page.evaluate(async () => {
      const node = document.querySelector("canvas");
      // Callbacks of one frame run in the order they were requested: the redraw is between the two
      // that are requested around the event.
      const stamp = () => new Promise((done) => requestAnimationFrame(() =>
        done(performance.now())));
      let best = Infinity;
      for (let i = 0; i < 12; i++) {
        const begin = stamp();
        node.dispatchEvent(new WheelEvent("wheel", { deltaX: i % 2 ? 40 : -40, cancelable: true }));
        const end = stamp();
        best = Math.min(best, await end - await begin);
      }
      return best;
    });
    assert.ok(best_ms > 0 && best_ms < FRAME_MS, `the best of twelve redraws took ${best_ms} ms`);
  }));
