// SPDX-License-Identifier: Apache-2.0
// Linters of API descriptions have no complaints about schema/openapi.json under their recommended
// rules.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import redocly from "@redocly/openapi-core";
import spectral from "@stoplight/spectral-core";
import rulesets from "@stoplight/spectral-rulesets";
import { openapi } from "./helpers/openapi.mjs";
import { root } from "./helpers/tools.mjs";

// Rules that are off, and why.
const OFF = {
  // The contact is whoever runs the service; the description is the same everywhere.
  "info-contact": "off",
};

test("redocly finds nothing in the description", async () => {
  const config = await redocly.createConfig({ extends: ["recommended"] });
  const found = await redocly.lint({ ref: join(root, "schema/openapi.json"), config });
  assert.deepEqual(found.map(({ ruleId, message, location: [{ pointer }] }) =>
    `${ruleId}: ${message} ${pointer}`), []);
});

test("spectral finds nothing in the description", async () => {
  const linter = new spectral.Spectral();
  linter.setRuleset({ extends: [[rulesets.oas, "recommended"]], rules: OFF });
  const found = await linter.run(openapi);
  assert.deepEqual(found.map(({ code, message, path }) =>
    `${code}: ${message} ${path.join("/")}`), []);
});
