// SPDX-License-Identifier: Apache-2.0
// How the dashboard writes numbers.
import assert from "node:assert/strict";
import test from "node:test";
import * as format from "../../../../web/base/format.mjs";

test("milliseconds keep three significant digits and never round whole ones away", () => {
  const cases = [
    [0, "0"],
    [512, "0.00051"],
    [5120, "0.00512"],
    [61_234_567, "61.2"],
    [512_412_345, "512"],
    [2_318_012_345, "2,318"],
    [99_960_000, "100"],
    [-38_100_000, "−38.1"],
  ];
  for (const [ns, text] of cases) assert.equal(format.ms(ns), text);
});

test("a time too short for five decimals does not look like zero", () => {
  assert.equal(format.ms(1), "<0.00001");
  assert.equal(format.ms(0), "0");
});

test("short times are in microseconds, in a table if most calls are short", () => {
  assert.deepEqual([95_500, -9_000, 100_000, 0].map((ns) => format.time_text(ns)),
    ["95.5 µs", "−9.00 µs", "0.100 ms", "0 ms"]);
  assert.deepEqual([5, -999, 1000].map((ns) => format.time_text(ns)),
    ["5 ns", "−999 ns", "1.00 µs"]);
  assert.equal(format.fits_us([2_170_000, 13_000, 800, null, 0]), true);
  assert.equal(format.fits_us([2_170_000, 13_000]), false);
  assert.equal(format.fits_us([]), false);
});

test("times of ten seconds and more are in seconds, of ten minutes and more in minutes", () => {
  assert.deepEqual([9_999e6, 10e9, 137_069_000_000, -137_069_000_000, 599e9, 600e9, 7_200e9]
    .map((ns) => format.time_text(ns)),
  ["9,999 ms", "10.0 s", "137 s", "−137 s", "599 s", "10.0 min", "120 min"]);
  assert.equal(format.time_signed(53_200_000_000), "+53.2 s");
  assert.deepEqual([137_069_000_000, 61_234_567, null].map((ns) => format.time_in_bar(ns)),
    ["137 s", "61.2", "–"]);
});

test("two times beside each other have one unit", () => {
  assert.equal(format.change_text(9_000_000_000, 12_500_000_000), "9.00 → 12.5 s");
  assert.equal(format.change_text(493_000_000, 251_000_000), "493 → 251 ms");
  assert.equal(format.change_text(20_000, 50_000), "0.0200 → 0.0500 ms");
  assert.equal(format.range_text(18_080_000, 18_120_000), "18.08 to 18.12 ms");
  assert.equal(format.range_text(135_000_000_000, 139_000_000_000), "135 to 139 s");
  assert.equal(format.range_text(726_100_000_000, 727_300_000_000), "12.10 to 12.12 min",
    "digits are those of the unit it is written in");
  assert.deepEqual([0, 50e9, 150e9].map((ns) => format.time_like(ns, 150e9)),
    ["0 s", "50.0 s", "150 s"]);
  assert.deepEqual([12e9, 5e9, 1000].map(format.axis_of_time), [{ unit: "s", per: 1e9 },
    { unit: "ms", per: 1e6 }, { unit: "ms", per: 1e6 }]);
});

test("missing values are dashes, not zeros", () => {
  for (const write of [format.ms, format.time_text, format.ms_signed, format.percent,
    format.percent_signed, format.count, format.number, format.bytes]) {
    assert.equal(write(null), "–");
    assert.equal(write(undefined), "–");
  }
});

test("signed differences carry their sign unless they round to nothing", () => {
  assert.equal(format.ms_signed(8_200_000), "+8.20");
  assert.equal(format.ms_signed(-8_200_000), "−8.20");
  assert.equal(format.percent_signed(0.0123), "+1.2 %");
  assert.equal(format.percent_signed(-0.0123), "−1.2 %");
  assert.equal(format.percent_signed(0.0000123), "0.0 %");
});

test("a small share is not shown as zero", () => {
  assert.equal(format.percent(0.0001), "<0.1 %");
  assert.equal(format.percent(0), "0.0 %");
  assert.equal(format.percent(0.1234), "12.3 %");
  assert.equal(format.unbroken("1.3 % of all, % of 4 %"), "1.3\u00a0% of all, % of 4\u00a0%");
});

test("bytes are decimal", () => {
  assert.equal(format.bytes(0), "0 B");
  assert.equal(format.bytes(999), "999 B");
  assert.equal(format.bytes(1000), "1.00 kB");
  assert.equal(format.bytes(268_435_456), "268 MB");
  assert.equal(format.bytes(999_600), "1.00 MB");
});

test("ages use the largest unit that fits", () => {
  const now = Date.parse("2026-01-10T00:00:00Z");
  const ago = (seconds) => format.age(new Date(now - seconds * 1000).toISOString(), now);
  assert.equal(ago(1), "now");
  assert.equal(ago(59), "now");
  assert.equal(ago(60), "1 min");
  assert.equal(ago(3 * 3600), "3 h");
  assert.equal(ago(2 * 86400), "2 d");
  assert.equal(format.age("no time", now), "–");
});

test("a time that does not fit the unit of its column brings its own", () => {
  const said = (write, list) => list.map((ns) => write(ns).replace(/\s/gu, " "));
  assert.deepEqual(said(format.ms_cell, [null, 0, 1580, 837e3, 9.9e9, 15122e6, 637182e6]),
    ["–", "0", "1.58 µs", "0.837", "9,900", "15.1 s", "10.6 min"]);
  assert.deepEqual(said(format.us_cell, [null, 0, 1, 1580, 5370e3, 733003e3]),
    ["–", "0", "1 ns", "1.58", "5,370", "733 ms"]);
});

test("a sentence begins with a capital, a name with its own letter", () => {
  assert.equal(format.sentence("the device waits 5 ms"), "The device waits 5 ms.");
  assert.equal(format.sentence("gaps, and more."), "Gaps, and more.");
  for (const name of ["dcgm_exporter.prom", "train.log", "fp8", "aten::mm", "p95", "host_compute"])
    assert.equal(format.sentence(`${name} is there`), `${name} is there.`);
});

test("a kernel's short name drops return type, arguments and common namespaces only", () => {
  const cases = [
    ["void at::native::vectorized_elementwise_kernel<4, f<float>>(int, f<float>, char*)",
      "vectorized_elementwise_kernel<4, f<float>>"],
    ["ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", "ncclDevKernel_Generic"],
    ["Cijk_Ailk_Bljk_BBS_BH", "Cijk_Ailk_Bljk_BBS_BH"],
    ["Memcpy DtoD (Device -> Device)", "Memcpy DtoD"],
    ["(anonymous)", "(anonymous)"],
    [")", ")"],
  ];
  for (const [name, short] of cases) assert.equal(format.short_kernel(name), short);
});

test("a device is named without its vendor and memory", () => {
  assert.equal(format.short_gpu("AMD Instinct MI300X"), "MI300X");
  assert.equal(format.short_gpu("NVIDIA H100 80GB HBM3"), "H100");
  assert.equal(format.short_gpu("Tesla V100-SXM2-16GB"), "Tesla V100");
  assert.equal(format.short_gpu("NVIDIA RTX 5000 Ada Generation Laptop GPU"),
    "RTX 5000 Ada Generation Laptop");
  assert.equal(format.short_gpu(null), "–");
});

test("a commit is its first ten digits, another version is as it was given", () => {
  assert.equal(format.short_commit("0123456789abcdef0123"), "0123456789");
  assert.equal(format.short_commit("v2.1-rc1"), "v2.1-rc1");
  assert.equal(format.short_commit(null), "");
});

test("a tiny p is written as a bound, a missing one as a dash", () => {
  assert.equal(format.p_text(0.000001), "<0.0001");
  assert.equal(format.p_text(0.008), "0.0080");
  assert.equal(format.p_text(null), "–");
});

test("axes carry no zeros that say nothing", () => {
  for (const [value, text] of [[0, "0 B"], [2e9, "2 GB"], [1.2e9, "1.2 GB"], [2e11, "200 GB"],
    [1_250_000, "1.25 MB"]]) assert.equal(format.bytes_round(value), text);
});

test("a kernel of an anonymous namespace is known by its own name", () => {
  const name = "void (anonymous namespace)::copy<4, (anonymous namespace)::T>(T)";
  assert.equal(format.short_kernel(name), "copy<4, T>");
});

test("a server's text is set with the signs of print", () => {
  assert.equal(format.typeset("bmm -133 ms, _softmax -109 ms"), "bmm −133 ms, _softmax −109 ms");
  assert.equal(format.typeset("under 30 us."), "under 30 µs.");
  assert.equal(format.typeset("fp8-e4m3, run-2 of us"), "fp8-e4m3, run-2 of us");
});
