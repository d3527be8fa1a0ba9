// SPDX-License-Identifier: Apache-2.0
// The page's colours as a canvas needs them: resolved for the theme, with ink that stays readable.
import { TINTS } from "./timeline_model.mjs";

const VARIABLES = {
  gemm: "--gemm", attention: "--attention", other_compute: "--other-compute",
  exposed_comm: "--exposed-comm", exposed_memory: "--exposed-memory", operator: "--forward",
  call: "--backward", frame: "--reserved", annotation: "--line-strong",
};
const LEVELS = 5; // of how busy a merged slice is

/** Red, green and blue of a variable, as the node's theme resolves it. */
function resolved(node, context, variable) {
  node.style.color = `var(${variable})`;
  context.clearRect(0, 0, 1, 1);
  context.fillStyle = getComputedStyle(node).color;
  context.fillRect(0, 0, 1, 1);
  return [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
}

const written = ([r, g, b]) => `rgb(${r} ${g} ${b})`;

const mixed = (a, b, share) => a.map((value, i) => Math.round(value * share + b[i] * (1 - share)));

/** Relative luminance as WCAG defines it. */
function luminance(rgb) {
  const [r, g, b] = rgb.map((value) => {
    const v = value / 255;
    return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

const ink_on = (rgb) => (luminance(rgb) > 0.2 ? "#0b0f14" : "#ffffff");

/** Thin lines of the surface's colour across a merged slice. */
function hatch_pattern(context, surface) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const pen = tile.getContext("2d");
  pen.strokeStyle = surface;
  pen.lineWidth = 1.4;
  pen.globalAlpha = 0.55;
  for (const shift of [-6, 0, 6]) {
    pen.moveTo(shift - 1, 7);
    pen.lineTo(shift + 7, -1);
  }
  pen.stroke();
  return context.createPattern(tile, "repeat");
}

/**
 * @param {HTMLElement} node inside the page, whose own colour is of no matter
 * @param {CanvasRenderingContext2D} target
 */
export function read_palette(node, target) {
  const pixel = document.createElement("canvas");
  pixel.width = pixel.height = 1;
  const context = pixel.getContext("2d", { willReadFrequently: true });
  const of = (variable) => resolved(node, context, variable);
  const surface = of("--surface");
  const tints = TINTS.map(({ key }) => of(VARIABLES[key]));
  const palette = {
    tints: tints.map(written),
    inks: tints.map(ink_on),
    merged: tints.map((rgb) => Array.from({ length: LEVELS }, (_, level) =>
      written(mixed(rgb, surface, 0.4 + (0.5 * level) / (LEVELS - 1))))),
    merged_inks: tints.map((rgb) => ink_on(mixed(rgb, surface, 0.8))),
    hatch: hatch_pattern(target, written(surface)),
  };
  for (const name of ["surface", "sunken", "line", "line-strong", "ink", "ink-2", "ink-3", "focus",
    "accent", "accent-soft"]) palette[name.replace("-", "_")] = written(of(`--${name}`));
  node.style.color = "";
  return palette;
}

/** The shade of a merged slice, paler the less of it is busy. */
export function merged_fill(palette, tint, busy_share) {
  const level = Math.round(Math.min(1, Math.max(0, busy_share)) * (LEVELS - 1));
  return palette.merged[tint][level];
}
