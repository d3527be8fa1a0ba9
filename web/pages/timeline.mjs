// SPDX-License-Identifier: Apache-2.0
// Pages about what happened when, loaded together.
import "./first.mjs"; // packed with what the frame has, not in pieces that several pages share
export { default as timeline } from "../views/timeline/timeline.mjs";
export { default as compare_timeline } from "../views/compare/compare_timeline.mjs";
export { default as idle } from "../views/timeline/idle.mjs";
