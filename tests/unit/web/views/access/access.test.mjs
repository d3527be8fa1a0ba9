// SPDX-License-Identifier: Apache-2.0
// Texts of the pages for tokens and the audit log.
import assert from "node:assert/strict";
import test from "node:test";
import { is_token_name, outcome_of, state_tone, token_request, tokens_lead }
  from "../../../../../web/views/access/access_model.mjs";

test("a token's name is a word", () => {
  for (const name of ["ci", "ci-upload.2", "a_b", "x".repeat(64)]) assert.ok(is_token_name(name));
  for (const name of ["", ".", "..", "a b", "a/b", "ü", "x".repeat(65)])
    assert.ok(!is_token_name(name), name);
});

test("the form's choices become a request; without an end there is none in it", () => {
  const form = new FormData();
  form.set("name", " ci ");
  form.append("scopes", "read");
  form.append("scopes", "upload");
  form.set("expires_in", "90d");
  assert.deepEqual(token_request(form), { name: "ci", scopes: ["read", "upload"],
    expires_in: "90d" });
  form.set("expires_in", "");
  assert.deepEqual(token_request(form), { name: "ci", scopes: ["read", "upload"] });
});

test("the page says how many tokens are active and which was used last", () => {
  const now = Date.parse("2026-11-01T12:00:00Z");
  const token = (name, used, state = "active") => ({ name, used, state });
  assert.equal(tokens_lead([token("a", null), token("b", "2026-11-01T11:55:00Z"),
    token("c", "2026-11-01T11:59:00Z", "revoked")], now),
  "2 tokens are active; b was used last, 5 min ago.");
  assert.equal(tokens_lead([token("a", null)], now), "1 token is active.");
});

test("a status tells what came of it", () => {
  assert.deepEqual([0, 200, 204, 303].map(outcome_of), Array(4).fill("done"));
  assert.deepEqual([401, 403, 429].map(outcome_of), Array(3).fill("refused"));
  assert.deepEqual([404, 409, 413].map(outcome_of), Array(3).fill("not done"));
  assert.deepEqual([500, 507].map(outcome_of), ["failed", "failed"]);
  assert.deepEqual(["active", "expired", "revoked"].map(state_tone), ["good", "warn", "neutral"]);
});
