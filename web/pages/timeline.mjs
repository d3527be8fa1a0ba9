// SPDX-License-Identifier: Apache-2.0
// Pages about what happened when, loaded together.
export { default as timeline } from "../views/timeline/timeline.mjs";
export { default as compare_timeline } from "../views/compare/compare_timeline.mjs";
export { default as idle } from "../views/timeline/idle.mjs";
