// SPDX-License-Identifier: Apache-2.0
// Frames of the timeline while it is zoomed and moved, and the windows that it fetches meanwhile.
// usage: node tests/bench/frames.mjs BASE RUN [--ranks all|spread]
// A frame's time is processor time of the page's main thread, input and painting included, so that
// other programs do not count; a window's is from the request to the last byte at the page. Tasks
// between frames, such as reading a window, have their own line. Ranks drawn below the
// timeline are counted by the pixels of their lanes whenever the view rests. Fails past the limits,
// and when a rank was not drawn.
import { launch, settle } from "../e2e/helpers/browser.mjs";

const FRAME_MS = 16.7; // p95
const WINDOW_MS = 20; // p95
const GESTURES = 6;
const RANKS_WAIT_MS = 60_000;

const [, , base, run, , ranks = "all"] = process.argv;

/** Tasks of the page's main thread, and whether each made a frame. */
function tasks_of(events) {
  const slices = events.filter(({ ph }) => ph === "X");
  const drawn = slices.filter(({ name }) => name === "FireAnimationFrame");
  const is_page = ({ tid, pid }) => drawn.some((one) => tid === one.tid && pid === one.pid);
  const made_frame = (task) => drawn.some(({ tid, pid, ts }) =>
    tid === task.tid && pid === task.pid && ts >= task.ts && ts < task.ts + task.dur);
  return slices.filter((task) => task.name === "RunTask" && is_page(task))
    .map((task) => ({ ms: task.tdur / 1000, frame: made_frame(task) }));
}

/** Processor time of each task in which the page made a frame. */
const frames_of = (events) => tasks_of(events).filter(({ frame }) => frame).map(({ ms }) => ms);
const between_frames = (events) =>
  tasks_of(events).filter(({ frame }) => !frame).map(({ ms }) => ms);

/** Runs in the page. */
const windows_ms = () => performance.getEntriesByType("resource")
  .filter(({ name, decodedBodySize }) => decodedBodySize > 0 // not given up
    && name.includes("/timeline?") && name.includes("from_ns"))
  .map(({ requestStart, responseEnd }) => responseEnd - requestStart);

/** Runs in the page: waits until the lanes of the ranks in view are drawn; how many have pixels. */
const ranks_drawn = () => new Promise((resolve) => {
  const BAND = 48;
  const AXIS = 20;
  const look = () => {
    const lanes = document.querySelector(".rank-lanes");
    if (!lanes || lanes.parentElement.closest("[aria-busy=true]")) return setTimeout(look, 50);
    const canvas = lanes.querySelector("canvas");
    const pen = canvas.getContext("2d");
    const zoom = canvas.height / canvas.clientHeight;
    const is_drawn = (_, i) => {
      const top = Math.round((AXIS + i * BAND + 3) * zoom);
      const { data } = pen.getImageData(0, top, canvas.width, Math.round((BAND - 6) * zoom));
      return new Set(new Uint32Array(data.buffer)).size > 1;
    };
    return resolve([...lanes.querySelectorAll("li")].filter(is_drawn).length);
  };
  setTimeout(look, 400); // after the pause before lanes are asked for
});

async function drawn_at_rest(page) {
  const late = new Promise((resolve) => setTimeout(resolve, RANKS_WAIT_MS, 0));
  return Promise.race([page.evaluate(ranks_drawn), late]);
}

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
  const drawn = [await drawn_at_rest(page)];
  await page.mouse.down();
  for (let i = 0; i < 30; i++) {
    await page.mouse.move(x - i * 8, y);
    await page.waitForTimeout(16);
  }
  await page.mouse.up();
  drawn.push(await drawn_at_rest(page));
  await wheel(240, 20);
  return drawn;
}

const quantile = (list, share) =>
  [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * share))];
const line = (what, list) => `${what}: ${list.length}, median ${quantile(list, 0.5).toFixed(1)
  } ms, p95 ${quantile(list, 0.95).toFixed(1)} ms, longest ${Math.max(...list).toFixed(1)} ms`;

const browser = await launch();
const context = await browser.newContext({ baseURL: base, viewport: { width: 1440, height: 900 } });
const page = await context.newPage();
await page.goto(`/runs/${encodeURIComponent(run)}/timeline?beside=${ranks}`);
await settle(page);
const known = await page.evaluate(async (path) => (await (await fetch(path)).json()).total,
  `/api/v1/runs/${encodeURIComponent(run)}/ranks?format=columns&limit=1`);
const wanted = ranks === "all" ? known : Math.min(3, known);
const box = await page.locator(".tl-canvas canvas").first().boundingBox();
await browser.startTracing(page, { categories: ["devtools.timeline",
  "disabled-by-default-devtools.timeline"] });
const drawn = [];
for (let i = 0; i < GESTURES; i++) {
  drawn.push(...await gesture(page, box, (i + 1) / (GESTURES + 1)));
}
const { traceEvents } = JSON.parse(await browser.stopTracing());
const frames = frames_of(traceEvents);
const tasks = between_frames(traceEvents);
const windows = await page.evaluate(windows_ms);
await browser.close();
console.log(line("frames", frames));
console.log(line("tasks between frames", tasks));
console.log(`  past ${FRAME_MS} ms: ${tasks.filter((ms) => ms > FRAME_MS).length}`);
console.log(line("windows", windows));
console.log(`ranks drawn at rest: ${drawn.join(", ")} of ${wanted}`);
process.exit(quantile(frames, 0.95) > FRAME_MS || quantile(windows, 0.95) > WINDOW_MS
  || drawn.some((n) => n !== wanted) ? 1 : 0);
