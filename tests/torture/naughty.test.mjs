// SPDX-License-Identifier: Apache-2.0
// Naughty strings as names of kernels, runs, tags and files, through a real browser: no script
// runs, no policy is violated, the console stays empty; CSV cells and file names are safe.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assert_clean, launch, open_page, visit } from "../e2e/helpers/browser.mjs";
import { parse_csv } from "../e2e/helpers/csv.mjs";
import { fields } from "../e2e/helpers/multipart.mjs";
import { start_server } from "../e2e/helpers/server.mjs";
import { NAUGHTY, SCRIPTS } from "./helpers/naughty.mjs";
import { figure, is_long } from "./helpers/torture.mjs";

const ALL = [...NAUGHTY, ...SCRIPTS];
const RUNS = is_long ? ALL.length : 40;

let server, browser;
const ids = [];

before(async () => {
  server = await start_server({ crowd: true });
  browser = await launch();
});
after(async () => {
  await browser.close();
  await server.stop();
});

const part = (events, filename = "trace.json") =>
  ({ filename, data: JSON.stringify({ traceEvents: events }) });

const kernel = (name, i) => ({ ph: "X", cat: "kernel", name, ts: i * 10, dur: 5, pid: 0, tid: 7,
  args: { device: 0, stream: 7, correlation: i } });

const op = (name, i) => ({ ph: "X", cat: "cpu_op", name, ts: i * 10, dur: 5, pid: 1, tid: 1,
  args: { "Module Hierarchy": name, "Input Dims": [[name]] } });

test("there are as many as were promised", () => {
  assert.ok(NAUGHTY.length >= 515, `${NAUGHTY.length}`);
  assert.ok(SCRIPTS.length >= 50, `${SCRIPTS.length}`);
});

test("all of them as names of kernels, operators and threads", async () => {
  const events = ALL.flatMap((name, i) => [kernel(name, i), op(name, i),
    { ph: "M", name: "thread_name", pid: 1, tid: 1, args: { name } }]);
  const run = await server.analyzed("naughty", [part(events)]);
  assert.equal(run.status, "done");
  ids.push(run.id);
  const { items } = await server.get(`/runs/${run.id}/kernels?limit=all`);
  const names = new Set(items.map((row) => row.name));
  for (const name of SCRIPTS) assert.ok(names.has(name), name);
});

test("as names of runs, tags and files: each is kept as it is, or refused in words", async () => {
  const step = Math.max(1, Math.floor(ALL.length / RUNS));
  let kept = 0;
  for (let i = 0; i < ALL.length; i += step) {
    const text = ALL[i];
    const form = [...fields({ run: text || "empty", note: text, tag: `k=${text}` }),
      { name: "trace", ...part([kernel(text, 1)], text.replaceAll(/[\r\n"\0]/g, "_") || "x") }];
    const reply = await server.post(form);
    assert.ok([202, 400, 409, 422].includes(reply.status),
      `${text}: ${reply.status} ${reply.text}`);
    if (reply.status !== 202) continue;
    kept++;
    ids.push(reply.json.run);
  }
  assert.ok(kept > RUNS / 4, `${kept} of ${RUNS}`);
  for (const id of ids) await server.settled(id);
});

test("every cell of CSV is one that no spreadsheet runs", async () => {
  for (const path of [`/runs/${ids[0]}/kernels`, `/runs/${ids[0]}/operators`, "/runs"]) {
    const reply = await server.request(`/api/v1${path}?format=csv&limit=1000`);
    assert.equal(reply.status, 200, reply.text.slice(0, 300));
    for (const cell of parse_csv(reply.text).flat())
      for (const line of cell.split(/\r\n|\r|\n/))
        assert.ok(!/^[\s\u00a0]*[=+@\t\r]/.test(line) && (!/^[\s\u00a0]*-/.test(line) ||
          /^-\d+(\.\d+)?(e[+-]?\d+)?$/.test(line)), JSON.stringify(cell));
  }
});

test("a file's own name cannot change the header of its download", async () => {
  for (const id of ids) {
    const reply = await server.request(`/api/v1/runs/${id}/ranks/0/trace`);
    assert.equal(reply.status, 200);
    assert.match(reply.headers["content-disposition"],
      /^attachment(; filename="[\w.-]+"; filename\*=UTF-8''[\w.%-]+)?$/);
    assert.equal(reply.headers["content-type"], "application/octet-stream");
  }
});

test("in the browser no script runs, no policy is violated, nothing is complained of", async () => {
  const { page, faults, close } = await open_page(browser, server.base);
  const shown = ["", "/kernels", "/operators", "/modules", "/timeline", "/trust", "/data"];
  const paths = ["/", ...shown.map((rest) => `/runs/${ids[0]}${rest}`), "/trends", "/alerts",
    ...ids.slice(1, is_long ? undefined : 6).map((id) => `/runs/${id}`),
    `/compare?base=${ids[0]}&cand=${ids.at(-1)}`];
  for (const path of paths) {
    await visit(page, path);
    const ran = await page.evaluate(() => document.documentElement.dataset.ran);
    assert.equal(ran, undefined, path);
    assert_clean(faults, path);
  }
  await close();
  figure("S3",
    `${NAUGHTY.length} naughty strings and ${SCRIPTS.length} scripts on ${paths.length} pages: ` +
    "0 scripts ran, 0 reports, 0 complaints");
});
