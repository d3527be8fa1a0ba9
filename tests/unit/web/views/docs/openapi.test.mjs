// SPDX-License-Identifier: Apache-2.0
// How the API's description is shown.
import assert from "node:assert/strict";
import test from "node:test";
import { answers_of, operations_of, properties_of, refusals_of, resolve, type_text }
  from "../../../../../web/views/docs/openapi_model.mjs";

const api = {
  servers: [{ url: "/api/v1/" }],
  tags: [{ name: "Runs", description: "what came" }],
  paths: {
    "/runs": { get: { tags: ["Runs"], parameters: [{ $ref: "#/components/parameters/q" }] } },
  },
  components: {
    parameters: { q: { name: "q", in: "query" } },
    responses: {
      Busy: { description: "too much",
        content: { "application/problem+json": { example: { status: 503 } } } },
      NotFound: { description: "nothing there",
        content: { "application/problem+json": { example: { status: 404 } } } },
      NotModified: { description: "the same" },
    },
    schemas: {
      run: { type: "object", properties: { id: { type: "string", description: "its id" } } },
      loop: { $ref: "#/components/schemas/loop" },
      "a/b": { type: "null" },
    },
  },
};

test("operations come by tag with their references resolved", () => {
  const [group] = operations_of(api);
  assert.equal(group.about, "what came");
  assert.equal(group.operations[0].path, "/api/v1/runs");
  assert.equal(group.operations[0].parameters[0].name, "q");
});

test("references in circles end, escaped ones resolve", () => {
  assert.ok(resolve(api, { $ref: "#/components/schemas/loop" }));
  assert.equal(resolve(api, { $ref: "#/components/schemas/a~1b" }).type, "null");
});

test("refusals are described once, apart from an operation's own answers", () => {
  const at = (name) => ({ $ref: `#/components/responses/${name}` });
  const { own, refusals } = answers_of(api, { 200: { description: "it" }, 304: at("NotModified"),
    404: at("NotFound"), 503: at("Busy"), default: at("Busy") });
  assert.deepEqual(own.map(([status]) => status), ["200", "304"]);
  assert.deepEqual(refusals, ["404", "503"]);
  assert.deepEqual(refusals_of(api), [{ status: "404", description: "nothing there" },
    { status: "503", description: "too much" }]);
});

test("types are put in words", () => {
  assert.equal(type_text({ type: ["integer", "null"] }), "integer or null");
  assert.equal(type_text({ type: "array", items: { $ref: "#/x/Run" } }), "array of Run");
  assert.equal(type_text({ enum: ["a", "b"] }), "a | b");
  assert.deepEqual(properties_of(api, { $ref: "#/components/schemas/run" }),
    [{ name: "id", type: "string", description: "its id", unit: "" }]);
});
