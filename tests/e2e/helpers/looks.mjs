// SPDX-License-Identifier: Apache-2.0
// The sizes and colors in which pages are looked at, and what nobody may meet there.
import assert from "node:assert/strict";
import { ALL_RULES, axe_faults, LOOK_RULES, NARROW, settle, unused_early, visit, WIDE }
  from "./browser.mjs";

/**
 * A page is loaded once and then looked at in all of these, one after the other: each size and each
 * theme once, and only once by the rules that mind neither, since axe is slow.
 */
export const LOOKS = [
  { viewport: WIDE, colorScheme: "light", rules: ALL_RULES },
  { viewport: NARROW, colorScheme: "dark", rules: LOOK_RULES },
];

const SETTLES_WITHIN_MS = 20_000;

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

/** Runs in the page: lets it follow its window once more, by a frame that it has drawn. */
const next_frame = () => new Promise((drawn) => {
  requestAnimationFrame(() => setTimeout(drawn));
});

/** Charts and columns follow the window some frames later, on a busy machine much later. */
async function settled_overflow(page) {
  const end = performance.now() + SETTLES_WITHIN_MS;
  for (;;) {
    await settle(page);
    await page.evaluate(next_frame);
    const over = await overflow(page);
    if (over.length === 0 || performance.now() > end) return over;
  }
}

/** What is wrong with a page, as it stands, in one look. */
async function faults_of_look(page, { viewport, colorScheme, rules }) {
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme });
  const wide = await settled_overflow(page);
  const faults = [...wide, ...(rules ? await axe_faults(page, rules) : [])];
  return faults.map((fault) => `${viewport.width} pixels, ${colorScheme}: ${fault}`);
}

/** What is wrong with a page, as it stands, in all looks. */
export async function look_faults(page, looks = LOOKS) {
  const faults = [];
  for (const look of looks) faults.push(...await faults_of_look(page, look));
  return faults;
}

/** A page that says why it has nothing to show need not ask for all that pages of its kind show. */
async function early_faults(page) {
  if (await page.locator("main :is(.empty, .notice-error)").count() > 0) return [];
  return (await unused_early(page)).map((address) => `does not ask for ${address}`);
}

/** Fails with everything wrong with these pages in these looks. */
export async function look_at_all(page, paths, looks = LOOKS) {
  const faults = [];
  for (const path of paths) {
    await visit(page, path);
    assert.equal(await page.locator("main h1").count(), 1, path);
    const found = [...await early_faults(page), ...await look_faults(page, looks)];
    faults.push(...found.map((fault) => `${path}: ${fault}`));
  }
  assert.deepEqual(faults, []);
}
