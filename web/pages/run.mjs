// SPDX-License-Identifier: Apache-2.0
// All further pages of a run, loaded together with the first of them that is opened.
import "./first.mjs"; // packed with what the frame has, not in pieces that several pages share
export { default as memory } from "../views/memory/memory.mjs";
export { default as whatif } from "../views/whatif/whatif.mjs";
export { default as training } from "../views/training/training.mjs";
export { default as data } from "../views/run_data/data.mjs";
