// SPDX-License-Identifier: Apache-2.0
// Pages over all runs that are opened after the list, loaded together.
import "./first.mjs"; // packed with what the frame has, not in pieces that several pages share
export { default as upload } from "../views/runs/upload.mjs";
export { default as trends } from "../views/trends/trends.mjs";
export { default as alerts } from "../views/trends/alerts.mjs";
