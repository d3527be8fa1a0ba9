// SPDX-License-Identifier: Apache-2.0
// The shapes of points in scatter charts, so that kinds differ by more than color; pure.

export const SHAPES = {
  circle: (r) => `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
  square: (r) => `M${-r} ${-r}h${2 * r}v${2 * r}h${-2 * r}z`,
  up: (r) => `M0 ${-r * 1.2}L${r * 1.2} ${r}H${-r * 1.2}z`,
  down: (r) => `M0 ${r * 1.2}L${r * 1.2} ${-r}H${-r * 1.2}z`,
  diamond: (r) => `M0 ${-r * 1.3}L${r * 1.3} 0L0 ${r * 1.3}L${-r * 1.3} 0z`,
  plus: (r) => cross(r, r * 0.36),
  right: (r) => `M${r * 1.2} 0L${-r} ${r * 1.2}V${-r * 1.2}z`,
  left: (r) => `M${-r * 1.2} 0L${r} ${r * 1.2}V${-r * 1.2}z`,
  bar: (r) => `M${-r * 1.3} ${-r * 0.45}h${2.6 * r}v${0.9 * r}h${-2.6 * r}z`,
};

/** A plus of arms 2r long and 2h wide. */
function cross(r, h) {
  const arm = r * 1.2 - h;
  return `M${-h} ${-h}v${-arm}h${2 * h}v${arm}h${arm}v${2 * h}h${-arm}v${arm}h${-2 * h}v${-arm}h${
    -arm}v${-2 * h}z`;
}

export const SHAPE_NAMES = Object.keys(SHAPES);
