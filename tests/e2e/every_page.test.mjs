// SPDX-License-Identifier: Apache-2.0
// Every page in a real browser, on real data, in both themes, wide and narrow.
import { after, before, test } from "node:test";
import { ALL_RULES, launch, NARROW, on_clean_page } from "./helpers/browser.mjs";
import { look_at_all, LOOKS } from "./helpers/looks.mjs";
import { start_server } from "./helpers/server.mjs";
import { add_shown_runs, run_pages } from "./helpers/shown_runs.mjs";

let server;
let browser;
let ids;

before(async () => {
  server = await start_server();
  browser = await launch();
  ids = await add_shown_runs(server);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Runs a test on a new page, which must have no fault. */
const on_page = (options, body) => on_clean_page(browser, server.base, options, body);

const usual_pages = () => ["/", "/upload", "/docs/api?q=figures", "/docs/recording", "/docs/agents",
  "/trends", "/alerts", // comparisons: compare_page.test
  "/?group=gpu", "/compare/timeline", `/compare/timeline?base=${ids.cuda}`,
  `/compare/timeline?base=${ids.cuda}&cand=${ids.rocm}`, ...run_pages(ids.cuda),
  `/runs/${ids.hostile}`, `/runs/${ids.hostile}/data`, `/runs/${ids.empty}`,
  `/runs/${ids.cuda}/timeline`, "/plan", ...(ids.failed ? [`/runs/${ids.failed}`] : [])];
const odd_pages = () => [
  ...["", "/kernels", "/operators", "/idle", "/findings", "/data", "/ranks", "/timeline"]
    .map((rest) => `/runs/${ids.long}${rest}`), `/compare?base=${ids.long}&cand=${ids.turned}`,
  `/runs/${ids.turned}`, `/runs/${ids.turned}/data`];

test("every page works, fits wide and narrow in light and dark, and has no barrier", () =>
  on_page({ colorScheme: "dark" }, async (page) => {
    await look_at_all(page, usual_pages());
    // Of the whole API only the sizes: axe would look at 15,000 elements, of a few kinds.
    await look_at_all(page, ["/docs/api"], LOOKS.map(({ rules, ...look }) => look));
  }));

test("pages of long and turned names fit a narrow screen and have no barrier", () =>
  on_page({ viewport: NARROW }, (page) =>
    look_at_all(page, odd_pages(),
      [{ viewport: NARROW, colorScheme: "light", rules: ALL_RULES }])));
