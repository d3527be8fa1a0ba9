// SPDX-License-Identifier: Apache-2.0
// Which settings of two sides come first: those that matter most for a comparison; pure.
import { bytes, short_commit } from "../../base/format.mjs";

const FIRST = ["gpu", "ranks", "world_size", "precision", "batch_size", "seq_len",
  "tokens_per_step", "model", "data", "framework", "pytorch_version", "flavour", "driver",
  "driver_version", "runtime", "commit"];

const place = ({ key }) => {
  const at = FIRST.indexOf(key);
  return at < 0 ? FIRST.length : at;
};

/** @param {any[]} settings rows of compare_settings */
export function ordered_settings(settings) {
  return settings.map((row, i) => ({ row, i }))
    .sort((a, b) => Number(b.row.differs) - Number(a.row.differs)
      || place(a.row) - place(b.row) || a.i - b.i)
    .map(({ row }) => row);
}

/** The candidate's value, under its name in either shape of the table. */
export const cand_value = (row) => row.cand_value ?? null;

/** A value for people: memory sizes come as plain bytes; repeats join their values by a bar. */
export function setting_text(key, value) {
  if (key === "commit") return value?.split(" | ").map(short_commit).join(" | ") ?? value;
  const is_size = /(^|_)(memory|bytes)$/.test(key) && /^\d{6,}$/.test(value ?? "");
  return is_size ? bytes(Number(value)) : value;
}

/** The source: only values that people gave are marked. @param {string|null} source */
export const source_mark = (source) => (source === "upload" ? "given" : "");

/** "3 settings differ". @param {number} n */
export function differ_text(n) {
  if (n === 0) return "No recorded setting differs";
  return `${n} ${n === 1 ? "setting differs" : "settings differ"}`;
}
