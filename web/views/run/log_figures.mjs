// SPDX-License-Identifier: Apache-2.0
// What the training log of a run says first: a sentence and its figures.
import { html } from "../../base/ui.mjs";
import { bytes, count, number, percent, time_text } from "../../base/format.mjs";
import { Figure, Lead, Loaded } from "../../widgets/widgets.mjs";
import { log_sentence, loss_digits, main_log, profiled_text } from "./log_model.mjs";
import { awaited, use_table } from "./run_table.mjs";

/** The query of figures that follow from others. */
export const COMPUTED = { source: "computed", limit: "all" };

/** What follows from the speed and the size of the model, where the log does not print it. */
function Computed({ rows }) {
  const found = rows.filter(({ basis }) => basis !== null);
  return found.map(({ metric, value, basis }) => (metric === "mfu"
    ? html`<${Figure} key=${metric} label="MFU" help=${basis} value=${percent(value)}>from
        tokens/s<//>`
    : html`<${Figure} key=${metric} label="TFLOP/s per GPU" help=${basis}
        value=${number(value)}>from tokens/s<//>`));
}

function Figures({ log, help, traced_ns, computed }) {
  const note = (key, text) => log[key] !== null && text(log[key]);
  const shown = [
    ["step_median_ns", "Step time", time_text, [note("step_p95_ns", (ns) => `p95 ${time_text(ns)}`),
      profiled_text(log.step_median_ns, traced_ns)].filter(Boolean).join("; ")],
    ["tokens_per_s", "Tokens/s per GPU", number],
    ["samples_per_s", "Samples/s", number,
      note("global_batch", (n) => `${count(n)} samples per step`)],
    ["tflops", "TFLOP/s per GPU", number, note("mfu_share", (mfu) => `MFU ${percent(mfu)}`)],
    ["last_loss", "Loss", loss_digits, note("first_loss", (x) => `from ${loss_digits(x)}`)],
    ["memory_bytes", "Memory", bytes, "most on one GPU"],
    ["power_w", "Power", (watts) => `${number(watts)} W`, "of one GPU"],
  ].filter(([key]) => log[key] !== null);
  return html`<dl class="kpis">${shown.map(([key, label, text, below]) => html`<${Figure}
    key=${key} label=${label} help=${help[key]} value=${text(log[key])}>${below}<//>`)}
    <${Computed} rows=${computed} /></dl>`;
}

/**
 * The log with the most steps; what it does not print is left out.
 * @param {{logs: any, computed: any[], traced_ns?: number|null}} props two tables, and the median
 *   step of the run's traces
 */
export function LogFigures({ logs, computed, traced_ns = null }) {
  const log = main_log(logs.rows);
  return log && html`<${Lead} text=${log_sentence(log)} />
    <${Figures} log=${log} help=${logs.frame.help} traced_ns=${traced_ns}
      computed=${computed} />`;
}

/** The Overview of a run without a trace begins with this; nothing without a log. */
export function LogOverview({ run }) {
  const logs = use_table(run, "logs", { limit: "all" });
  const computed = use_table(run, "figures", COMPUTED);
  return html`<${Loaded} resource=${awaited([logs, computed])}>${() =>
    html`<${LogFigures} logs=${logs} computed=${computed.rows} />`}<//>`;
}
