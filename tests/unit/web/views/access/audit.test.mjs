// SPDX-License-Identifier: Apache-2.0
// Entries of the audit log in words.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { audit_lead, deed_of, has_words } from "../../../../../web/views/access/audit_model.mjs";

const openapi = JSON.parse(readFileSync("schema/openapi.json", "utf8"));

const deed = (action, object, outcome = "done") => deed_of({ action, object }, outcome);

test("every change that the API knows has words", () => {
  const missing = Object.entries(openapi.paths).flatMap(([path, methods]) => Object.keys(methods)
    .filter((method) => ["post", "put", "patch", "delete"].includes(method))
    .map((method) => `${method.toUpperCase()} ${path}`).filter((action) => !has_words(action)));
  assert.deepEqual(missing, []);
});

test("the log says how many entries it has and what came last", () => {
  const items = [{ who: "token k_1 (ci)", action: "POST /api/v1/session",
    object: "/api/v1/session", status: 200 }];
  assert.equal(audit_lead({ items, total: 61 }, ""), "61 entries; the newest: ci signed in.");
  assert.equal(audit_lead({ items, total: 1 }, "ci"), "1 entry found; the newest: ci signed in.");
  assert.equal(audit_lead({ items: [], total: 0 }, "x"), "");
});

test("an entry says what was done, and to what", () => {
  assert.equal(deed("DELETE /api/v1/runs/{run}", "/api/v1/runs/exp42 (run r_7q2k9d0x)"),
    "deleted run r_7q2k9d0x");
  assert.equal(deed("PUT /api/v1/runs/{run}/ranks/{rank}/trace",
    "/api/v1/runs/my%20run/ranks/3/trace"), "uploaded rank 3 of run my run");
  assert.equal(deed("POST /api/v1/tokens", "/api/v1/tokens (token k_7q2k)"),
    "created token k_7q2k");
  assert.equal(deed("revoke token", "token k_7q2k"), "revoked token k_7q2k");
  assert.equal(deed("delete run", "r_7q2k9d0x"), "deleted run r_7q2k9d0x by the retention rules");
  assert.equal(deed("PUT /api/v1/baselines/{baseline}", "/api/v1/baselines/main"),
    "set baseline main");
  assert.equal(deed("POST /upload", "/upload (upload u_1 run r_12345678 sha256 ab)"),
    "uploaded to run r_12345678");
});

test("what was not done is shown as an attempt", () => {
  assert.equal(deed("POST /api/v1/session", "/api/v1/session", "refused"), "tried to sign in");
  assert.equal(deed("refuse credentials", "no such token", "refused"), "tried to get in");
  assert.equal(deed("DELETE /api/v1/runs/{run}", "/api/v1/runs/x", "not done"),
    "tried to delete run x");
});

test("an entry of an older or a newer service is shown as it stands", () => {
  assert.equal(deed("BREW /api/v9/{pot}", "/api/v9/tea"), "BREW /api/v9/{pot}");
  assert.equal(deed("DELETE /api/v1/runs/{run}", "/api/v1/runs/%zz"), "deleted run %zz");
});
