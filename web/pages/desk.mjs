// SPDX-License-Identifier: Apache-2.0
// Pages of no run that are seldom opened, loaded together.
import "./first.mjs"; // packed with what the frame has, not in pieces that several pages share
export { default as tokens } from "../views/access/tokens.mjs";
export { default as audit } from "../views/access/audit.mjs";
export { default as bin } from "../views/bin/bin.mjs";
export { default as plan } from "../views/plan/plan.mjs";
export { default as api } from "../views/docs/api_docs.mjs";
export { default as recording } from "../views/docs/recording.mjs";
export { default as agents } from "../views/docs/agents.mjs";
