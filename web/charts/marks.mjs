// SPDX-License-Identifier: Apache-2.0
// The shapes of points in scatter charts, so that kinds differ by more than colour; pure.

export const SHAPES = {
  circle: (r) => `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
  square: (r) => `M${-r} ${-r}h${2 * r}v${2 * r}h${-2 * r}z`,
  up: (r) => `M0 ${-r * 1.2}L${r * 1.2} ${r}H${-r * 1.2}z`,
  down: (r) => `M0 ${r * 1.2}L${r * 1.2} ${-r}H${-r * 1.2}z`,
  diamond: (r) => `M0 ${-r * 1.3}L${r * 1.3} 0L0 ${r * 1.3}L${-r * 1.3} 0z`,
};

export const SHAPE_NAMES = Object.keys(SHAPES);
