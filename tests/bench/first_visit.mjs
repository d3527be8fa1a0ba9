// SPDX-License-Identifier: Apache-2.0
// What a first visit costs over a slow connection: 100 ms round trip, 20 Mbit/s, an empty cache.
// usage: node tests/bench/first_visit.mjs BASE PATH...
// Prints for each page: milliseconds to the first content and until its data stand, requests, kB.
import { launch } from "../e2e/helpers/browser.mjs";

const LATENCY_MS = 100;
const BYTES_PER_S = 20e6 / 8;

const [, , base, ...paths] = process.argv;
const browser = await launch();

/** Runs in the page. */
const is_settled = () => document.querySelector("main h1") !== null
  && document.querySelector(".loading") === null && document.readyState === "complete";

async function measure(path) {
  const context = await browser.newContext({ baseURL: base, reducedMotion: "reduce" });
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send("Network.enable");
  await devtools.send("Network.emulateNetworkConditions", { offline: false, latency: LATENCY_MS,
    downloadThroughput: BYTES_PER_S, uploadThroughput: BYTES_PER_S });
  let requests = 0;
  let bytes = 0;
  devtools.on("Network.requestWillBeSent", () => requests++);
  devtools.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes += encodedDataLength));
  const begin = performance.now();
  await page.goto(path, { waitUntil: "commit" });
  await page.waitForFunction(is_settled, undefined, { polling: 20 });
  const data_ms = performance.now() - begin;
  const content_ms = await page.evaluate(() =>
    performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN);
  await context.close();
  return { content_ms, data_ms, requests, kb: bytes / 1000 };
}

for (const path of paths) {
  const tries = [];
  for (let i = 0; i < 3; i++) tries.push(await measure(path));
  const best = tries.sort((a, b) => a.data_ms - b.data_ms)[0];
  console.log(`${path}: first content ${best.content_ms.toFixed(0)} ms, data ${
    best.data_ms.toFixed(0)} ms, ${best.requests} requests, ${best.kb.toFixed(0)} kB`);
}
await browser.close();
