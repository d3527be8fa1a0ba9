// SPDX-License-Identifier: Apache-2.0
// What comes late on a page acts on nothing newer: replies are kept back until the user has gone
// on, and keys are pressed before the page has drawn.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, on_clean_page, settle, visit } from "./helpers/browser.mjs";
import { start_server } from "./helpers/server.mjs";
import { generate, small_job, small_json } from "./helpers/traces.mjs";

let server;
let browser;

const make = (name) =>
  server.analyzed(name, [{ data: small_json({ names: [name] }), filename: "rank0.json" }]);

before(async () => {
  server = await start_server();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const on_page = (body) => on_clean_page(browser, server.base, {}, body);

/** A run with steps, stacks and lanes. */
async function make_job(name) {
  const { files } = await generate(small_job("--stacks"));
  return (await server.analyzed(name, files)).id;
}

/** Keeps back the requests of a method; returns a function that lets them go. */
async function hold(page, method, path) {
  let let_go;
  const free = new Promise((resolve) => (let_go = resolve));
  await page.route(path, async (route) => {
    if (route.request().method() === method) await free;
    await route.continue();
  });
  return let_go;
}

const dialog_of = (page, text) => page.getByRole("dialog").getByText(text);

test("what is typed while the address takes the last words stays", () => on_page(async (page) => {
  await make("typed");
  await visit(page, "/");
  await page.evaluate(() => {
    const field = document.querySelector("[data-search]");
    const type = (text) => {
      field.value = text;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    };
    const { replaceState } = history;
    history.replaceState = (...args) => {
      replaceState.apply(history, args);
      if (!/q=ty$/.test(location.search)) return;
      history.replaceState = replaceState;
      setTimeout(() => type("typed")); // the page has the words, and has not drawn them
    };
    type("ty");
  });
  await page.waitForURL(/q=typed$/);
  assert.equal(await page.getByRole("searchbox").inputValue(), "typed");
}));

test("a deletion that ends late leaves the next question open", async () => {
  for (const name of ["one", "two"]) {
    await make(name);
    const headers = { "If-Match": "*" };
    await server.request(`/api/v1/runs/${name}`, { method: "DELETE", headers });
  }
  await on_page(async (page) => {
    await visit(page, "/settings/bin");
    const let_go = await hold(page, "DELETE", "**/api/v1/bin/*");
    await page.getByRole("button", { name: "Delete one for good" }).click();
    await page.getByRole("button", { name: "Delete for good", exact: true }).click();
    await page.keyboard.press("Escape");
    await dialog_of(page, "Delete one").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Empty the bin…" }).click();
    await dialog_of(page, "2 runs with").waitFor();
    let_go();
    await dialog_of(page, "1 run with").waitFor();
    await settle(page);
    assert.equal(await page.getByRole("dialog").count(), 1);
  });
});

test("a name that is saved late does not lead back to its page", async () => {
  await make("before");
  await on_page(async (page) => {
    await visit(page, "/runs/before/data");
    const let_go = await hold(page, "PATCH", "**/api/v1/runs/*");
    await page.getByLabel("Name", { exact: true }).fill("behind");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByLabel("Main").getByRole("link", { name: "Runs" }).click();
    await page.getByRole("heading", { name: "Runs", exact: true }).waitFor();
    let_go();
    await page.getByRole("link", { name: "behind", exact: true }).waitFor();
    await settle(page);
    assert.equal(new URL(page.url()).pathname, "/");
  });
});

test("a search of a timeline that was left finds nothing", async () => {
  await make_job("lanes");
  await on_page(async (page) => {
    await visit(page, "/runs/lanes/timeline?rank=0");
    const let_go = await hold(page, "GET", "**/find?*");
    const is_find = (request) => request.url().includes("/find?");
    const over = Promise.race(["requestfinished", "requestfailed"].map((event) =>
      page.waitForEvent(event, is_find)));
    const box = page.getByRole("searchbox", { name: "Find an event" });
    await box.fill("gemm");
    await box.press("Enter");
    await page.waitForURL(/find=gemm/);
    await page.getByLabel("Main").getByRole("link", { name: "Runs" }).click();
    await page.getByRole("heading", { name: "Runs", exact: true }).waitFor();
    let_go();
    await over;
    await settle(page);
    const { pathname, search } = new URL(page.url());
    assert.equal(pathname + search, "/");
  });
});

test("a comment that is sent late takes nothing of the next one", async () => {
  await make("talk");
  await on_page(async (page) => {
    await visit(page, "/runs/talk");
    const let_go = await hold(page, "POST", "**/comments");
    const field = page.getByLabel("Comment on this run");
    await field.fill("first");
    await field.press("Enter");
    await field.fill("second");
    let_go();
    await page.locator(".comments li").getByText("first").waitFor();
    assert.equal(await field.inputValue(), "second");
    await field.press("Enter");
    await page.locator(".comments li").getByText("second").waitFor();
    await page.waitForFunction(() => document.querySelector(".comment-form input").value === "");
  });
});

test("children of a tree that arrive late leave the focus among the rows", async () => {
  await make_job("tree");
  await on_page(async (page) => {
    await visit(page, "/runs/tree/operators?view=tree");
    await page.locator('tr[aria-level="2"][aria-expanded=false]').first().focus();
    const let_go = await hold(page, "GET", "**/op_tree?*parent=*");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.locator("tr:focus", { hasText: "Loading…" }).waitFor();
    let_go();
    await page.locator('tr[aria-level="3"][aria-posinset="1"]:focus').waitFor();
    assert.equal(await page.locator('tbody tr[tabindex="0"]:focus').count(), 1);
  });
});

test("a page that is left right after scrolling is found there again", async () => {
  await make_job("long");
  await on_page(async (page) => {
    await visit(page, "/runs/long");
    const left = await page.evaluate(() => {
      scrollTo(0, 400);
      const { scrollY } = globalThis;
      document.querySelector("main a[href*='/kernels/']").click();
      return scrollY;
    });
    assert.ok(left > 100);
    await page.locator(".name-card").waitFor();
    await page.goBack();
    await page.waitForFunction((y) => Math.abs(scrollY - y) <= 1, left);
  });
});

test("a dialog is open as soon as it is asked for", () => on_page(async (page) => {
  await visit(page, "/");
  assert.ok(await page.evaluate(async () => {
    document.querySelector("button[aria-label=Help]").click();
    await new Promise(queueMicrotask); // before the next frame, and before any key
    return document.querySelector("dialog")?.open;
  }));
}));
