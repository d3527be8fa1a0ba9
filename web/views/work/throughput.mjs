// SPDX-License-Identifier: Apache-2.0
// Tokens per second: for a run with known tokens per step, else how to enter them.
import { html } from "../../base/ui.mjs";
import { count, sentence } from "../../base/format.mjs";
import { run_path } from "../../base/address.mjs";
import { Figure, Help } from "../../widgets/widgets.mjs";

const HELP = "tokens_per_step of the run, over all ranks, divided by the median steady step of the "
  + "typical rank";

const whole = (rate) => (rate === null ? "–" : count(Math.round(rate)));

/** A key figure; nothing without tokens. @param {{throughput: any}} props of a summary */
export function ThroughputFigure({ throughput }) {
  if (!throughput) return null;
  const { tokens_per_second: all, tokens_per_second_per_gpu: each, reason } = throughput;
  return html`<${Figure} label="Tokens per second" value=${whole(all)} help=${HELP}>${
    reason ? sentence(reason) : `${whole(each)} per GPU`}<//>`;
}

/** Same among smaller figures. @param {{run: string, throughput: any}} props */
export function ThroughputFact({ run, throughput }) {
  return html`<div><dt><${Help} text=${HELP}>Tokens per second<//></dt><dd>${
    throughput && !throughput.reason
      ? `${whole(throughput.tokens_per_second)}, ${
        whole(throughput.tokens_per_second_per_gpu)} per GPU`
      : html`<span class="faint">${throughput ? sentence(throughput.reason) : "Not known."} Give the
        run <code>tokens_per_step=65536</code> in its <a href=${run_path(run, "data")}>metadata</a>
        </span>`}
  </dd></div>`;
}
