// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { difference_text, profiles_lead } from "../../../../../web/views/work/work_leads.mjs";

const plain = (text) => text.replace(/\s/gu, " ");

test("one measured launch is not the longest of several", () => {
  const launch = { kernel: "gemm", duration_ns: 1.5e6, dram_percent: 80 };
  assert.equal(plain(profiles_lead([launch])),
    "The only measured launch is gemm: 1.50 ms, with DRAM at 80.0 % of its peak.");
  assert.equal(plain(profiles_lead([{ ...launch, duration_ns: 10, dram_percent: null }, launch])),
    "The longest of 2 measured launches is gemm: 1.50 ms, with DRAM at 80.0 % of its peak.");
  assert.equal(profiles_lead([{ ...launch, duration_ns: null }]), "");
});

test("runs that take the same have no difference of 0", () => {
  const said = (base_ns, cand_ns, of) => plain(difference_text({ base_ns, cand_ns }, of,
    ["a", "b"]));
  assert.equal(said(3e6, 2e6, ""),
    "A step of b has 2.00 ms of device time, 1.00 ms less than the 3.00 ms of a.");
  assert.equal(said(2e6, 3e6, "idle"),
    "A step of b has 3.00 ms of idle time, 1.00 ms more than the 2.00 ms of a.");
  assert.equal(said(3e6, 3e6, "idle"), "A step of b has 3.00 ms of idle time, as has one of a.");
});
