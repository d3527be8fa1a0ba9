// SPDX-License-Identifier: Apache-2.0
// Takes the README's picture of a page: node tests/screenshot.mjs BASE PATH FILE
import { launch, visit } from "./e2e/helpers/browser.mjs";

const [, , base, path, file] = process.argv;
const browser = await launch();
const page = await browser.newPage({ baseURL: base, viewport: { width: 1280, height: 930 },
  reducedMotion: "reduce" });
await visit(page, path);
await page.screenshot({ path: file });
await browser.close();
