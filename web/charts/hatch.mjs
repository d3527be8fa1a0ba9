// SPDX-License-Identifier: Apache-2.0
// SVG fills of the eight parts: plain for work, hatched for idle and the other way for unrecorded
// work, so that color is not the only cue.
import { html } from "../base/ui.mjs";
import { PARTS } from "../base/parts.mjs";

/**
 * Patterns for the parts without recorded work.
 * @param {{id: string}} props a prefix unique in the document
 */
export function Hatches({ id }) {
  return html`<defs>${PARTS.filter((part) => part.idle).map(
    ({ key, lacking }) => html`<pattern key=${key} id="${id}-${key}" width="5" height="5"
        patternUnits="userSpaceOnUse" patternTransform="rotate(${lacking ? -45 : 45})">
      <rect width="5" height="5" class="fill-${key}" />
      <rect width="1.6" height="5" class="hatch-line" /></pattern>`,
  )}</defs>`;
}

/** The attributes for filling a part. @param {import("../base/parts.mjs").Part} part */
export function paint(part, id) {
  return part.idle ? { fill: `url(#${id}-${part.key})` } : { class: `fill-${part.key}` };
}
