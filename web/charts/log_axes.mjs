// SPDX-License-Identifier: Apache-2.0
// Logarithmic axes: a line and a label per decade, fainter lines between while there is room. The
// vertical one may be linear instead.
import { html } from "../base/ui.mjs";

const MINOR = [2, 3, 4, 5, 6, 7, 8, 9];
const ROOM_PX = 90; // a decade narrower than this has no inner lines
const LABEL_PX = 46;
const NAMED_PX = 190; // from here on 2 and 5 are labelled, too

const between = (powers) =>
  powers.slice(0, -1).flatMap((p) => MINOR.map((m) => p + Math.log10(m)));

function minor_of(powers, scale) {
  return Math.abs(scale(powers[0] + 1) - scale(powers[0])) >= ROOM_PX ? between(powers) : [];
}

/** Powers for the labels 2 and 5 inside the decades, if they fit. */
function named_of(powers, scale) {
  const wide = Math.abs(scale(powers[0] + 1) - scale(powers[0])) >= NAMED_PX;
  return wide ? powers.slice(0, -1).flatMap((p) => [p + Math.log10(2), p + Math.log10(5)]) : [];
}

const value_of = (power) => Number((10 ** power).toPrecision(6));

/**
 * @param {{x: (power: number) => number, y: (power: number) => number, xs: number[], ys: number[],
 *          left: number, right: number, top: number, bottom: number, is_linear?: boolean,
 *          x_text: (value: number) => string, y_text: (value: number) => string}} props
 *   is_linear: ys are values, not powers
 */
export function LogAxes(props) {
  const { x, y, xs, ys, left, right, top, bottom, x_text, y_text, is_linear } = props;
  const every = Math.ceil(LABEL_PX / Math.max(1, x(xs[0] + 1) - x(xs[0])));
  return html`<g class="axis" aria-hidden="true">
    ${!is_linear && minor_of(ys, y).map((p) => html`<line class="minor" key="my${p}" x1=${left}
      x2=${right} y1=${y(p)} y2=${y(p)} />`)}
    ${minor_of(xs, x).map((p) => html`<line class="minor" key="mx${p}" x1=${x(p)} x2=${x(p)}
      y1=${top} y2=${bottom} />`)}
    ${named_of(xs, x).map((p) => html`<text key="nx${p}" x=${x(p)} y=${bottom + 16}
      text-anchor="middle">${x_text(value_of(p))}</text>`)}
    ${ys.map((p) => html`<g key="y${p}"><line x1=${left} x2=${right} y1=${y(p)} y2=${y(p)} />
      <text x=${left - 6} y=${y(p) + 4} text-anchor="end">${y_text(is_linear ? p : 10 ** p)}</text>
      </g>`)}
    ${xs.map((p, i) => html`<g key="x${p}"><line x1=${x(p)} x2=${x(p)} y1=${top} y2=${bottom} />
      ${i % every === 0 && html`<text x=${x(p)} y=${bottom + 16}
        text-anchor=${i === xs.length - 1 ? "end" : "middle"}>${x_text(10 ** p)}</text>`}</g>`)}
  </g>`;
}
