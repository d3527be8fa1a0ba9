// SPDX-License-Identifier: Apache-2.0
// Headless pages that record everything a user must never meet: console errors, exceptions,
// violations of the security policy, requests to any other host.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";
import { chromium_bin } from "./tools.mjs";

const ARGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.*"]; // nothing leaves the machine
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const LIMIT_MS = 60_000; // no claim: several files share slow machines

export const WIDE = { width: 1440, height: 900 };
export const NARROW = { width: 390, height: 844 };

export const launch = () => chromium.launch({ executablePath: chromium_bin(), args: ARGS });

/** Reports policy violations visible from here. Runs in the page. */
function watch_policy() {
  addEventListener("securitypolicyviolation", (event) =>
    console.error(`policy violated: ${event.violatedDirective} ${event.blockedURI}`));
}

/** Notes what the page asks for. Runs in the page. */
function note_fetches() {
  const { fetch } = globalThis;
  globalThis.fetched = new Set();
  globalThis.fetch = (path, options) => {
    globalThis.fetched.add(String(path));
    return fetch(path, options);
  };
}

/** What the page's head names to be fetched early, and the page never asked for. */
export const unused_early = (page) => page.evaluate(() =>
  [...document.querySelectorAll("link[rel=preload][as=fetch]")]
    .map((link) => link.getAttribute("href"))
    .filter((href) => !globalThis.fetched.has(href)));

function note_faults(page, base, faults) {
  page.on("console", (message) => {
    if (message.type() === "error")
      faults.push(`console: ${message.text()} ${message.location().url}`.trim());
  });
  page.on("pageerror", (error) => faults.push(`exception: ${error.stack ?? error}`));
  // Only noted: page.route would stop each request of every page, and turn the cache off.
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol.startsWith("http") && origin !== base)
      faults.push(`request to another host: ${request.url()}`);
  });
}

/**
 * A new page in a separate browser context.
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
  await page.addInitScript(note_fetches);
  note_faults(page, base, faults);
  return { page, faults, close: () => context.close() };
}

/** Runs in the page: whether everything it waits for is there. */
function is_settled() {
  return document.querySelector("main h1") !== null &&
    document.querySelector(".loading") === null && document.readyState === "complete";
}

/** Goes to an address of the dashboard and waits until the page is complete. */
export async function visit(page, path) {
  await page.goto(path);
  await settle(page);
}

export const settle = (page) => page.waitForFunction(is_settled, undefined, { polling: 50 });

export const ALL_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
/** The rules whose answer depends on colors and sizes. */
export const LOOK_RULES = ["color-contrast", "target-size", "scrollable-region-focusable"];

/**
 * Runs in the page: marks every row, option and mark of a chart that has three like it before it
 * in the same place: the same elements, attributes, classes and colors, with texts in the same
 * places. A table of fifty rows has one kind of them or two, and axe says the same about each.
 */
function mark_alike() {
  const form_of = (/** @type {Element} */ one) => [one.localName, one.getAttribute("class"),
    one.getAttribute("role"), ...one.getAttributeNames(), /\S/.test(one.textContent),
    /color|background/.test(one.getAttribute("style")) && one.getAttribute("style")].join();
  for (const one of document.querySelectorAll("[data-alike]")) one.removeAttribute("data-alike");
  const places = new Map();
  for (const one of document.querySelectorAll("main :is(tbody tr, option, li, svg *)")) {
    const form = [one, ...one.querySelectorAll("*")].map(form_of).join("|");
    const seen = places.get(one.parentElement) ?? new Map();
    places.set(one.parentElement, seen);
    seen.set(form, (seen.get(form) ?? 0) + 1);
    one.toggleAttribute("data-alike", seen.get(form) > 3);
  }
}

/**
 * The faults axe finds on the page, as lines. Describing every element without a fault as well
 * would take twice as long as finding those with one; no rule of these needs the style sheets that
 * it would otherwise fetch again.
 */
export async function axe_faults(page, rules = ALL_RULES) {
  if (!await page.evaluate(() => "axe" in globalThis)) await page.evaluate(AXE);
  await page.evaluate(mark_alike);
  const { violations } = await page.evaluate((runOnly) => globalThis.axe.run(
    { include: [document], exclude: ["[data-alike]"] },
    { runOnly, resultTypes: ["violations"], preload: false }), rules);
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.slice(0, 3).map((node) => `${id}: ${help}: ${node.html.slice(0, 160)}`));
}

/** Fails with all faults the page has had. */
export function assert_clean(faults, what) {
  assert.deepEqual(faults, [], what);
}

/** Opens a page, does something on it and closes it; fails if the page had any fault. */
export async function on_clean_page(browser, base, options, body) {
  const { page, faults, close } = await open_page(browser, base, options);
  try {
    await body(page);
    assert_clean(faults, page.url());
  } finally {
    await close();
  }
}
