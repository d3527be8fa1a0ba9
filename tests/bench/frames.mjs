// SPDX-License-Identifier: Apache-2.0
// Frames of the timeline while it is zoomed and moved, and the windows that it fetches meanwhile.
// usage: node tests/bench/frames.mjs BASE RUN [--ranks all|spread]
// A frame's time is processor time of the page's main thread, input and painting included, so that
// other programs do not count; a window's is from the request to the last byte at the page. Fails
// past the limits.
import { launch, settle } from "../e2e/helpers/browser.mjs";

const FRAME_MS = 16.7; // p95
const WINDOW_MS = 20; // p95
const GESTURES = 6;

const [, , base, run, , ranks = "all"] = process.argv;

/** Processor time of each task in which the page made a frame. */
function frames_of(events) {
  const slices = events.filter(({ ph }) => ph === "X");
  const drawn = slices.filter(({ name }) => name === "FireAnimationFrame");
  const in_task = (task) => drawn.some(({ tid, pid, ts }) =>
    tid === task.tid && pid === task.pid && ts >= task.ts && ts < task.ts + task.dur);
  return slices.filter((task) => task.name === "RunTask" && in_task(task))
    .map(({ tdur }) => tdur / 1000);
}

/** Runs in the page. */
const windows_ms = () => performance.getEntriesByType("resource")
  .filter(({ name, decodedBodySize }) => decodedBodySize > 0 // not given up
    && name.includes("/timeline?") && name.includes("from_ns"))
  .map(({ requestStart, responseEnd }) => responseEnd - requestStart);

/** Zooms in at a place, moves along, and zooms out again, as a hand on a wheel and a mouse. */
async function gesture(page, box, share) {
  const [x, y] = [box.x + box.width * share, box.y + box.height / 2];
  const wheel = async (by, times) => {
    for (let i = 0; i < times; i++) {
      await page.mouse.wheel(0, by);
      await page.waitForTimeout(16);
    }
  };
  await page.mouse.move(x, y);
  await wheel(-240, 20);
  await page.mouse.down();
  for (let i = 0; i < 30; i++) {
    await page.mouse.move(x - i * 8, y);
    await page.waitForTimeout(16);
  }
  await page.mouse.up();
  await page.waitForTimeout(400);
  await wheel(240, 20);
}

const quantile = (list, share) =>
  [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * share))];
const line = (what, list) => `${what}: ${list.length}, median ${quantile(list, 0.5).toFixed(1)
  } ms, p95 ${quantile(list, 0.95).toFixed(1)} ms, longest ${Math.max(...list).toFixed(1)} ms`;

const browser = await launch();
const context = await browser.newContext({ baseURL: base, viewport: { width: 1440, height: 900 } });
const page = await context.newPage();
await page.goto(`/runs/${encodeURIComponent(run)}/timeline?ranks=${ranks}`);
await settle(page);
const box = await page.locator(".tl-canvas canvas").first().boundingBox();
await browser.startTracing(page, { categories: ["devtools.timeline",
  "disabled-by-default-devtools.timeline"] });
for (let i = 0; i < GESTURES; i++) await gesture(page, box, (i + 1) / (GESTURES + 1));
const frames = frames_of(JSON.parse(await browser.stopTracing()).traceEvents);
const windows = await page.evaluate(windows_ms);
await browser.close();
console.log(line("frames", frames));
console.log(line("windows", windows));
process.exit(quantile(frames, 0.95) > FRAME_MS || quantile(windows, 0.95) > WINDOW_MS ? 1 : 0);
