// SPDX-License-Identifier: Apache-2.0
// The comparison, which is larger than all other pages.
import "./first.mjs"; // packed with what the frame has, not in pieces that several pages share
export { default as compare } from "../views/compare/compare.mjs";
