// SPDX-License-Identifier: Apache-2.0
// Whether two services answer alike, byte by byte.
import assert from "node:assert/strict";

/** Ids and times differ from service to service. */
export const same_words = (text) => text
  .replaceAll(/\b([rtuiak])_[0-9a-hjkmnp-tv-z]{8,12}\b/g, "$1_ID")
  .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "TIME")
  .replaceAll(/"(parse|analyze)_ns": ?\d+/g, '"$1_ns":TOOK')
  .replaceAll(/"request_id":"\w+"/g, '"request_id":"ID"')
  .replaceAll(/127\.0\.0\.1:\d+/g, "HOST");

/** What each service says about itself, and files. */
const NOT_ASKED = /version|openapi|session|storage|audit|events|timeline|file|trace$|book|report/;

const USUAL = { run: "p/a@1", other: "p/a@2", rank: "1", series: "a", baseline: "best" };

/** Every answer about a run, and lists of runs. */
async function paths_of(server, asked) {
  const { paths } = await server.get("/openapi.json");
  return Object.entries(paths)
    .filter(([path, { get }]) => get && path.startsWith("/api/v1/") && !NOT_ASKED.test(path))
    .map(([path]) => path.replaceAll(/\{(\w+)\}/g, (_, name) =>
      encodeURIComponent(asked[name] ?? "none")))
    .map((path) => (path.includes("/compare")
      ? `${path}?base=${asked.run}&candidate=${asked.other}` : path))
    .concat(["name", "status", "gpu", "step_median_ns", "-created"].map((sort) =>
      `/api/v1/runs?sort=${sort}`), "/api/v1/runs?q=A%40", "/api/v1/runs?tag=model:x");
}

/**
 * @param {any} one a service @param {any} other what should answer the same
 * @param {{run: string, other: string, rank: string, series: string, baseline?: string}} [asked]
 * @param {number} [least] how many answers there are at least
 * @returns {Promise<number>} how many were compared
 */
export async function assert_same_answers(one, other, asked = USUAL, least = 80) {
  const paths = await paths_of(one, asked);
  let answered = 0;
  for (const path of paths) {
    const [here, there] = [await one.request(path), await other.request(path)];
    assert.equal(there.status, here.status, `${path}: ${there.text.slice(0, 400)}`);
    assert.equal(same_words(there.text), same_words(here.text), path);
    answered += Number(here.status === 200);
  }
  assert.ok(answered > least, `only ${answered} of ${paths.length} were answered`);
  return answered;
}

