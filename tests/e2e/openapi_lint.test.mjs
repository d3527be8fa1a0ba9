// SPDX-License-Identifier: Apache-2.0
// What linters of API descriptions say of schema/openapi.json by their recommended rules: nothing.
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
  // Whoever runs the service is the one to ask, and the description is the same everywhere.
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
