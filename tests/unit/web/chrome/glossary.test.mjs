// SPDX-License-Identifier: Apache-2.0
// The glossary as the help looks terms up, held to the file itself.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { found_terms, meaning_parts, terms_of }
  from "../../../../web/chrome/glossary_model.mjs";

const terms = terms_of(readFileSync(new URL("../../../../GLOSSARY.md", import.meta.url), "utf8"));

test("every row of the glossary is a term with its meaning", () => {
  assert.ok(terms.length > 80, `${terms.length} terms`);
  assert.ok(terms.every(({ term, meaning }) => term && meaning.length > 5));
  assert.ok(!terms.some(({ term }) => /^term$|--/.test(term)));
});

test("a term is found by its beginning first, in plural, and by its meaning", () => {
  assert.equal(found_terms(terms, "rank")[0].term, "rank");
  assert.equal(found_terms(terms, "Typical Rank")[0].term, "typical rank");
  assert.equal(found_terms(terms, "stragglers")[0].term, "straggler");
  assert.ok(found_terms(terms, "bus_gbps").some(({ term }) => term === "bus bandwidth"));
  assert.deepEqual(found_terms(terms, "no such thing"), []);
  assert.equal(found_terms(terms, " ").length, terms.length);
});

test("names of the API are set apart, and links are text", () => {
  assert.deepEqual(meaning_parts("a; `b_ns`, see [x](y.md)"), ["a; ", "b_ns", ", see x"]);
});
