// SPDX-License-Identifier: Apache-2.0
// Headless pages that note everything a user must never meet: errors in the console, exceptions,
// violations of the security policy, requests to any other host.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";
import { chromium_bin } from "./tools.mjs";

const ARGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const LIMIT_MS = 20_000;

export const WIDE = { width: 1440, height: 900 };
export const NARROW = { width: 390, height: 844 };

export const launch = () => chromium.launch({ executablePath: chromium_bin(), args: ARGS });

/** Reports violations where they can be seen from here. Runs in the page. */
function watch_policy() {
  addEventListener("securitypolicyviolation", (event) =>
    console.error(`policy violated: ${event.violatedDirective} ${event.blockedURI}`));
}

function note_faults(page, base, faults) {
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`exception: ${error.stack ?? error}`));
  return page.route((url) => url.origin !== base, (route) => {
    faults.push(`request to another host: ${route.request().url()}`);
    return route.abort();
  });
}

/**
 * A new page in a browser context of its own.
 * @param {import("playwright-core").Browser} browser @param {string} base of the service
 * @param {object} [options] of the context
 */
export async function open_page(browser, base, options = {}) {
  const settings = { viewport: WIDE, reducedMotion: "reduce", ...options };
  const context = await browser.newContext({ baseURL: base, ...settings });
  context.setDefaultTimeout(LIMIT_MS);
  const page = await context.newPage();
  const faults = [];
  await page.addInitScript(watch_policy);
  await note_faults(page, base, faults);
  return { page, faults, close: () => context.close() };
}

/** Runs in the page: whether everything that it waits for is there. */
function is_settled() {
  return document.querySelector("main h1") !== null &&
    document.querySelector(".loading") === null && document.readyState === "complete";
}

/** Goes to an address of the dashboard and waits until it shows all it wants to show. */
export async function visit(page, path) {
  await page.goto(path);
  await settle(page);
}

export const settle = (page) => page.waitForFunction(is_settled, undefined, { polling: 50 });

/** What axe finds wrong on the page, as lines. */
export async function axe_faults(page) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, {
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.slice(0, 3).map((node) => `${id}: ${help}: ${node.html.slice(0, 160)}`));
}

/** Fails with all faults that a page has met. */
export function assert_clean(faults, what) {
  assert.deepEqual(faults, [], what);
}

/** Opens a page, does something on it and closes it; fails when the page had any fault. */
export async function on_clean_page(browser, base, options, body) {
  const { page, faults, close } = await open_page(browser, base, options);
  try {
    await body(page);
    assert_clean(faults, page.url());
  } finally {
    await close();
  }
}
