// SPDX-License-Identifier: Apache-2.0
// Further pages of a run, loaded together with the first of them that is opened.
export { default as kernels } from "../views/work/kernels.mjs";
export { default as operators } from "../views/work/operators.mjs";
export { default as kernel } from "../views/work/kernel_page.mjs";
export { default as operator } from "../views/work/operator_page.mjs";
export { default as modules } from "../views/work/modules.mjs";
export { default as ranges } from "../views/work/ranges.mjs";
export { default as roofline } from "../views/work/roofline.mjs";
export { default as flame } from "../views/work/flame_page.mjs";
export { default as timeline } from "../views/timeline/timeline.mjs";
export { default as idle } from "../views/timeline/idle.mjs";
export { default as memory } from "../views/memory/memory.mjs";
export { default as collectives } from "../views/comm/collectives.mjs";
export { default as ranks } from "../views/ranks/ranks.mjs";
export { default as whatif } from "../views/whatif/whatif.mjs";
export { default as training } from "../views/training/training.mjs";
export { default as data } from "../views/run_data/data.mjs";
