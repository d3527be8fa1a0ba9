// SPDX-License-Identifier: Apache-2.0
// First sentences of pages of which the run's summary knows nothing; pure.
import { number, plural, short_kernel, time_text } from "../../base/format.mjs";

const MANGLED = /\[.+\]$/; // what Numba adds to a name

/** The longest launch, where no trace says what takes the most time. @param {any[]} rows */
export function profiles_lead(rows) {
  const [longest] = rows.filter(({ duration_ns }) => duration_ns > 0)
    .sort((a, b) => b.duration_ns - a.duration_ns);
  if (!longest) return "";
  const { kernel, duration_ns, dram_percent } = longest;
  const dram = dram_percent === null ? ""
    : `, with DRAM at ${number(dram_percent)} % of its peak`;
  const which = rows.length === 1 ? "The only measured launch"
    : `The longest of ${plural(rows.length, "measured launch", "measured launches")}`;
  return `${which} is ${short_kernel(kernel).replace(MANGLED, "")}: ${
    time_text(duration_ns)}${dram}.`;
}

/** "A step of b has 332 ms of device time, 235 ms less than the 567 ms of a." */
export function difference_text({ base_ns, cand_ns }, of, [base, cand]) {
  const has = `A step of ${cand} has ${time_text(cand_ns)} of ${
    of === "idle" ? "idle" : "device"} time, `;
  if (cand_ns === base_ns) return `${has}as has one of ${base}.`;
  return `${has}${time_text(Math.abs(cand_ns - base_ns))} ${
    cand_ns > base_ns ? "more" : "less"} than the ${time_text(base_ns)} of ${base}.`;
}
