// SPDX-License-Identifier: Apache-2.0
// Names from outside cannot hide anything.
import assert from "node:assert/strict";
import test from "node:test";
import { reorders, visible } from "../../../../web/base/visible.mjs";

test("what cannot be seen is shown as its code", () => {
  assert.equal(visible("run\u202egnp.exe"), "run[U+202E]gnp.exe");
  assert.equal(visible("a\u200bb\u2060c\ufeff"), "a[U+200B]b[U+2060]c[U+FEFF]");
  assert.equal(visible("bell\u0007 del\u007f c1\u0085"), "bell[U+0007] del[U+007F] c1[U+0085]");
  assert.equal(visible("tag\u{e0041}"), "tag[U+E0041]");
  assert.equal(visible("ab\u200dcd\u200c"), "ab[U+200D]cd[U+200C]");
  assert.equal(visible("run1\ufe0f x\u{e0100}"), "run1[U+FE0F] x[U+E0100]");
  assert.equal(visible("a\u180bb\u{1d173}c\u3164"), "a[U+180B]b[U+1D173]c[U+3164]");
});

test("text that people write stays as it is, joiners of their scripts too", () => {
  for (const text of ["llama@2", "two\nlines\tof", "Größe µs → 3 × H100", "模型", "שלום",
    "می\u200cخواهم", "क्\u200dष", "👩🏽\u200d🔬",
    "❤️\u200d🔥", "e\u0301", "1\ufe0f\u20e3", "葛\u{e0100}", "ᠨ\u180b",
    ""]) assert.equal(visible(text), text);
});

test("a text that reads from right to left is known as one that reorders", () => {
  for (const text of ["שלום", "run مرحبا 5", "a \u{10840}"]) assert.ok(reorders(text), text);
  for (const text of ["llama", "µ → ×", "模型", ""]) assert.ok(!reorders(text), text);
});
