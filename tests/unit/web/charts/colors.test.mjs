// SPDX-License-Identifier: Apache-2.0
// The colors of the eight parts: each has one hue in both themes, and no two look alike, whatever
// the reader's color vision.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

const PARTS = ["gemm", "attention", "other-compute", "exposed-comm", "exposed-memory",
  "idle-host-wait", "idle-other"];
const APART = 12; // hundredths of OKLab
const CONTRAST = 3;
const BACKGROUNDS = ["#ffffff", "#0f1419"];

// Severe protan, deutan and tritan vision, by Machado, Oliveira and Fernandes, 2009.
const VISIONS = [
  [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998]],
  [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881]],
  [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039]],
];

const css = readFileSync(new URL("../../../../web/css/base.css", import.meta.url), "utf8");
const color_of = (part, theme) => new RegExp(`--${part}: light-dark\\((#\\w+), (#\\w+)\\)`)
  .exec(css)[theme + 1];

const linear = (hex) => [1, 3, 5].map((at) => {
  const c = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
  return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
});
const seen = (rgb, rows) => rows.map((row) =>
  Math.min(1, Math.max(0, row.reduce((sum, weight, i) => sum + weight * rgb[i], 0))));

function oklab([r, g, b]) {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s];
}

const luminance = ([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
const hue = (hex) => {
  const [, a, b] = oklab(linear(hex));
  return Math.atan2(b, a) * 180 / Math.PI;
};

test("no two parts look alike in either theme, whatever the color vision", () => {
  for (const theme of [0, 1]) {
    for (const vision of VISIONS) {
      const all = PARTS.map((part) => oklab(seen(linear(color_of(part, theme)), vision)));
      all.forEach((one, i) => all.slice(0, i).forEach((other, k) => {
        const apart = 100 * Math.hypot(...one.map((value, at) => value - other[at]));
        assert.ok(apart >= APART, `${PARTS[i]} and ${PARTS[k]}: ${apart}`);
      }));
    }
  }
});

test("a part has the same hue in both themes, and stands out from the page", () => {
  for (const part of PARTS) {
    const turn = Math.abs(hue(color_of(part, 0)) - hue(color_of(part, 1))) % 360;
    assert.ok(Math.min(turn, 360 - turn) <= 20, `${part}: ${turn}`);
    for (const theme of [0, 1]) {
      const pair = [color_of(part, theme), BACKGROUNDS[theme]].map((hex) => luminance(linear(hex)));
      const contrast = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
      assert.ok(contrast >= CONTRAST, `${part}: ${contrast}`);
    }
  }
});
