// SPDX-License-Identifier: Apache-2.0
// What people type or drop: searches, tags, file names; and what the API describes of itself.
import assert from "node:assert/strict";
import test from "node:test";
import { files_of_input, guess_run_name } from "../../../web/dropped_files.mjs";
import { parse_search } from "../../../web/search_query.mjs";
import { tags_patch } from "../../../web/views/tags.mjs";
import { answers_of, operations_of, properties_of, refusals_of, resolve, type_text }
  from "../../../web/views/openapi_model.mjs";

test("known keys become filters, everything else is searched for", () => {
  assert.deepEqual(parse_search("llama gpu:MI300X tag:a=b tag:c=d since:14d exp"),
    { gpu: ["MI300X"], tag: ["a=b", "c=d"], since: ["14d"], q: "llama exp" });
  assert.deepEqual(parse_search('gpu:"NVIDIA H100"'), { gpu: ["NVIDIA H100"] });
  assert.deepEqual(parse_search("http://x"), { q: "http://x" });
  assert.deepEqual(parse_search("  "), {});
});

test("a merge patch of tags removes what is gone", () => {
  assert.deepEqual(tags_patch({ a: "1", b: "2" }, "b=3 c=x=y flag"),
    { a: null, b: "3", c: "x=y", flag: "" });
  assert.deepEqual(tags_patch({ a: "1" }, ""), { a: null });
});

test("a run is named after the folder, else after what its files share", () => {
  assert.equal(guess_run_name(["exp 42/rank0.json", "exp 42/rank1.json"]), "exp-42");
  assert.equal(guess_run_name(["llama_rank0.json.gz", "llama_rank1.json.gz"]), "llama");
  assert.equal(guess_run_name(["llama-r12.123.pt.trace.json.gz"]), "llama");
  assert.equal(guess_run_name(["mi300x_qwen.json.zst"]), "mi300x_qwen");
  assert.equal(guess_run_name(["rank0.json", "rank1.json"]), "");
  assert.equal(guess_run_name([]), "");
});

test("files left behind by file managers are not uploaded, ranks come in order", () => {
  const file = (path) => ({ name: path.split("/").at(-1), webkitRelativePath: path });
  const found = files_of_input(["a/rank10.json", "a/.DS_Store", "a/rank2.json", "a/__MACOSX/x"]
    .map(file));
  assert.deepEqual(found.map(({ path }) => path), ["a/rank2.json", "a/rank10.json"]);
});

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
