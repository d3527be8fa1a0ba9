// SPDX-License-Identifier: Apache-2.0
// The page's colors for a canvas: resolved for the theme, with readable text colors.
import { color_reader, ink_on, mixed, written } from "../canvas.mjs";
import { TINTS } from "./timeline_model.mjs";

const VARIABLES = {
  gemm: "--gemm", attention: "--attention", other_compute: "--other-compute",
  exposed_comm: "--exposed-comm", exposed_memory: "--exposed-memory", operator: "--forward",
  call: "--backward", frame: "--reserved", annotation: "--line-strong",
};
const LEVELS = 5; // of busy share in a merged slice

/** Thin lines in the surface's color across a merged slice. */
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

/** @param {HTMLCanvasElement} node */
export function read_palette(node) {
  const of = color_reader(node);
  const surface = of("--surface");
  const tints = TINTS.map(({ key }) => of(VARIABLES[key]));
  const palette = {
    tints: tints.map(written),
    inks: tints.map(ink_on),
    merged: tints.map((rgb) => Array.from({ length: LEVELS }, (_, level) =>
      written(mixed(rgb, surface, 0.4 + (0.5 * level) / (LEVELS - 1))))),
    merged_inks: tints.map((rgb) => ink_on(mixed(rgb, surface, 0.8))),
    hatch: hatch_pattern(node.getContext("2d"), written(surface)),
  };
  for (const name of ["surface", "sunken", "line", "line-strong", "ink", "ink-2", "ink-3", "focus",
    "accent", "accent-soft"]) palette[name.replace("-", "_")] = written(of(`--${name}`));
  return palette;
}

/** The shade of a merged slice: the less busy, the paler. */
export function merged_fill(palette, tint, busy_share) {
  const level = Math.round(Math.min(1, Math.max(0, busy_share)) * (LEVELS - 1));
  return palette.merged[tint][level];
}
