// SPDX-License-Identifier: Apache-2.0
// Pages about ranks and what they send each other, loaded together.
import "./first.mjs"; // packed with what the frame has, not in pieces that several pages share
export { default as collectives } from "../views/comm/collectives.mjs";
export { default as ranks } from "../views/ranks/ranks.mjs";
