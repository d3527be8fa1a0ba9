// SPDX-License-Identifier: Apache-2.0
// Which pages of a run its tabs show; pure.
import { evidence_pages } from "./evidence_model.mjs";

// Of a run without a trace: Training also has the steps that its job sends.
const ALWAYS = ["", "training", "data"];

/**
 * The tabs of pages that can say something of the run, and of the page that is open.
 * @param {[string, string][][]} groups pages in the address, "" for the Overview, with their labels
 * @param {{run: any, files: any[], page: string}} of `files` are rows of inputs, needed without a
 *   trace only
 */
export function shown_tabs(groups, { run, files, page }) {
  if (run.received > 0) return groups;
  const kept = new Set([...ALWAYS, page, ...evidence_pages(files).map(({ key }) => key),
    ...(run.findings > 0 ? ["findings"] : [])]);
  return groups.map((group) => group.filter(([key]) => kept.has(key)))
    .filter((group) => group.length > 0);
}
