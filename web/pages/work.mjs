// SPDX-License-Identifier: Apache-2.0
// Pages about kernels, operators and modules of a run, loaded together.
import "./first.mjs"; // packed with what the frame has, not in pieces that several pages share
export { default as kernels } from "../views/work/kernels.mjs";
export { default as operators } from "../views/work/operators.mjs";
export { default as kernel } from "../views/work/kernel_page.mjs";
export { default as operator } from "../views/work/operator_page.mjs";
export { default as modules } from "../views/work/modules.mjs";
export { default as ranges } from "../views/work/ranges.mjs";
export { default as roofline } from "../views/work/roofline.mjs";
export { default as flame } from "../views/work/flame_page.mjs";
