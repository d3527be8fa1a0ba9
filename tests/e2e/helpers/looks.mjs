// SPDX-License-Identifier: Apache-2.0
// The sizes and colors in which pages are looked at, and what nobody may meet there.
import assert from "node:assert/strict";
import { axe_faults, NARROW, settle, visit, WIDE } from "./browser.mjs";

/**
 * A page is loaded once and then looked at in all of these, one after the other. axe is slow: it
 * looks at each size and each theme once.
 */
export const LOOKS = [
  { viewport: WIDE, colorScheme: "dark", with_axe: false },
  { viewport: WIDE, colorScheme: "light", with_axe: true },
  { viewport: NARROW, colorScheme: "light", with_axe: false },
  { viewport: NARROW, colorScheme: "dark", with_axe: true },
];

/**
 * Runs in the page: what scrolls sideways other than a wide table, chart or code in its own box.
 */
function scrolled_sideways() {
  return [...document.querySelectorAll("body *:not(.table-region, .waterfall, pre, code)")]
    .filter((one) => one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1 &&
      ["auto", "scroll"].includes(getComputedStyle(one).overflowX))
    .map((one) => `${one.localName}.${one.className}`);
}

/** How far a page overflows its window. */
async function overflow(page) {
  const over = await page.evaluate(() =>
    document.documentElement.scrollWidth - document.documentElement.clientWidth);
  const sideways = await page.evaluate(scrolled_sideways);
  return [...(over > 0 ? [`${over} pixels wider than the window`] : []),
    ...sideways.map((what) => `${what} scrolls sideways`)];
}

/** What is wrong with a page, as it stands, in one look. */
async function faults_of_look(page, { viewport, colorScheme, with_axe }) {
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme });
  await settle(page);
  const faults = [...await overflow(page), ...(with_axe ? await axe_faults(page) : [])];
  return faults.map((fault) => `${viewport.width} pixels, ${colorScheme}: ${fault}`);
}

/** What is wrong with a page, as it stands, in all looks. */
export async function look_faults(page, looks = LOOKS) {
  const faults = [];
  for (const look of looks) faults.push(...await faults_of_look(page, look));
  return faults;
}

/** Fails with everything wrong with these pages in these looks. */
export async function look_at_all(page, paths, looks = LOOKS) {
  const faults = [];
  for (const path of paths) {
    await visit(page, path);
    assert.equal(await page.locator("main h1").count(), 1, path);
    faults.push(...(await look_faults(page, looks)).map((fault) => `${path}: ${fault}`));
  }
  assert.deepEqual(faults, []);
}
