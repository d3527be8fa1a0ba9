// SPDX-License-Identifier: Apache-2.0
// Pages about ranks and what they send each other, loaded together.
export { default as collectives } from "../views/comm/collectives.mjs";
export { default as ranks } from "../views/ranks/ranks.mjs";
