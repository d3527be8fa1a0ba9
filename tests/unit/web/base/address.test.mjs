// SPDX-License-Identifier: Apache-2.0
// Paths, queries and what may become a link.
import assert from "node:assert/strict";
import test from "node:test";
import { address, evidence_path, kernel_path, login_path, match_path, next_page, operator_path,
  patch_query, run_path }
  from "../../../../web/base/address.mjs";

test("each path names one page", () => {
  assert.deepEqual(match_path("/"), { page: "runs" });
  assert.deepEqual(match_path("/runs"), { page: "runs" });
  assert.deepEqual(match_path("/runs/r_1"), { page: "overview", run: "r_1" });
  assert.deepEqual(match_path("/runs/r_1/kernels/"), { page: "kernels", run: "r_1" });
  assert.deepEqual(match_path("/runs/r_1/op%C3%A9/idle"), { page: "none" });
  assert.deepEqual(match_path("/runs/r_1/roofline"), { page: "roofline", run: "r_1" });
  assert.deepEqual(match_path("/docs/api"), { page: "api" });
  assert.deepEqual(match_path("/plan"), { page: "plan" });
  assert.deepEqual(match_path("/api/v1/runs"), { page: "none" });
  assert.deepEqual(match_path("/runs/r_1/nothing"), { page: "none" });
});

test("a run's name survives the way into the path and back", () => {
  for (const name of ["a b", "ü/x", "100%", "llama~latest", "a@2"]) {
    assert.equal(match_path(run_path(name, "data")).run, name);
  }
});

test("signing in leads back to a page of ours and nowhere else", () => {
  const origin = "https://traces.example";
  for (const page of ["/", "/runs/r_1/kernels?q=gemm#top", "/compare?base=a&cand=b",
    "/settings/tokens"]) {
    const login = new URL(login_path(page), origin);
    assert.equal(login.pathname, "/login");
    assert.equal(next_page(login.searchParams.get("next"), origin), page);
  }
  for (const next of [null, "", "https://evil.example/", "//evil.example", "/\\evil.example",
    "/\t/evil.example", "javascript:alert(1)", "runs", "/login?next=/login", "/nothing/here",
    "/api/v1/session", "\\\\evil", "/%2f/evil.example", "http:/evil.example"]) {
    assert.equal(next_page(next, origin), "/", JSON.stringify(next));
  }
});

test("a damaged escape in a path is taken as it stands", () => {
  assert.equal(match_path("/runs/%E0%A4%A").run, "%E0%A4%A");
});

test("defaults and empty values leave the query, keys are sorted, unknown keys stay", () => {
  const defaults = { sort: "-total_ns", q: "" };
  assert.equal(patch_query("?z=1&q=x", { q: "" }, defaults), "?z=1");
  assert.equal(patch_query("?z=1", { sort: "name", q: "a b" }, defaults), "?q=a+b&sort=name&z=1");
  assert.equal(patch_query("?sort=name", { sort: "-total_ns" }, defaults), "");
});

test("an array in the query repeats its key in its order, and an empty one leaves it", () => {
  assert.equal(patch_query("?cand=z&a=1", { cand: ["y", "x,w"] }, { cand: [] }),
    "?a=1&cand=y&cand=x%2Cw");
  assert.equal(patch_query("?cand=y&cand=x", { cand: [] }, { cand: [] }), "");
  assert.equal(patch_query("?cand=y&cand=x", { q: "1" }, { cand: [] }), "?cand=y&cand=x&q=1");
});

test("arrays repeat their key and nulls are left out", () => {
  assert.equal(address("/runs", { tag: ["a=b", "c=d"], q: "", cursor: null, limit: 3 }),
    "/runs?tag=a%3Db&tag=c%3Dd&limit=3");
  assert.equal(address("/runs", {}), "/runs");
});

test("evidence links lead to pages of the run and nowhere else", () => {
  assert.equal(evidence_path("r_1", "kernels?category=gemm"), "/runs/r_1/kernels?category=gemm");
  assert.equal(evidence_path("r_1", "collectives"), "/runs/r_1/collectives");
  assert.equal(evidence_path("r_1", "steps?sort=-idle_ns"), "/runs/r_1");
  assert.equal(evidence_path("r_1", "trust"), "/runs/r_1/data");
  assert.equal(evidence_path("r_1", "idle_gaps?cause=x&rank=3"), "/runs/r_1/idle?rank=3");
  assert.equal(evidence_path("r_1", "op_shapes"), "/runs/r_1/operators?view=shapes");
  assert.equal(evidence_path("r_1", "memory?rank=2"), "/runs/r_1/memory?rank=2");
  assert.equal(evidence_path("r_1", "lateness?rank=5&sort=x"), "/runs/r_1/collectives?rank=5");
  assert.equal(evidence_path("r_1", "comm_waits?process_group=dp+0&kind=send&rank=1"),
    "/runs/r_1/collectives?group=dp+0&kind=send");
  assert.equal(evidence_path("r_1", "rank_steps?rank=5&step=3"),
    "/runs/r_1/ranks?by=steps&rank=5&step=3");
  for (const href of ["javascript:alert(1)", "//example.com", "../../x", "https://example.com",
    "kernels#x", "nothing?x=1", "", null, 7, { x: 1 }]) {
    assert.equal(evidence_path("r_1", href), null);
  }
});

test("a kernel or operator of any name has an address that leads back to the name", () => {
  for (const name of ["gemm", "aten::mm", "void f<a/b>(int, char*)", "50% ☃ &?#", "a b"]) {
    const [path, search] = kernel_path("r/1", name, 3).split("?");
    assert.deepEqual(match_path(path), { page: "kernel", run: "r/1", name });
    assert.equal(search, "rank=3");
    assert.deepEqual(match_path(operator_path("r", name)), { page: "operator", run: "r", name });
  }
});

test("a name too long for an address, or none, leads to the table", () => {
  assert.ok(kernel_path("r", "k".repeat(9000)).startsWith("/runs/r/kernels?q=kkk"));
  assert.equal(operator_path("r", ".."), "/runs/r/operators?q=..");
});

test("what stands in for an operator has no page", () => {
  for (const name of ["(no operator)", "(several)", "", null]) {
    assert.equal(operator_path("r", name), null);
  }
});
