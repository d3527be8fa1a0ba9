// SPDX-License-Identifier: Apache-2.0
// Which run did the same work on the GPU of another vendor; pure.

const VENDORS = [["amd", /amd|instinct|\bmi\d{2,3}/i], ["nvidia",
  /nvidia|geforce|tesla|\b(a|b|h|gh|gb|v|l)\d{2,3}/i], ["intel", /intel|gaudi|max\s*\d{4}/i]];
const HARDWARE = new RegExp(`^(${["amd", "nvidia", "cuda", "rocm", "hip", "instinct", "mi\\d+\\w*",
  "[abhvlt]\\d{2,3}\\w*", "g[hb]\\d+"].join("|")})$`, "i");
const SETTINGS = ["model", "batch_size", "seq_len", "precision", "tokens_per_step"];
const LEAST = 0.6; // share of the words of both names that they have in common

/** @param {string|null} gpu @returns {string|null} */
export const vendor_of = (gpu) =>
  VENDORS.find(([, pattern]) => pattern.test(gpu ?? ""))?.[0] ?? null;

/** A name's words without the hardware, as "llama", "fp8" of "llama_mi300x_fp8@2". */
function words_of({ name }) {
  const words = name.replace(/@.*$/, "").toLowerCase().split(/[^a-z0-9.]+/).filter(Boolean);
  return words.filter((word) => !HARDWARE.test(word));
}

function likeness(a, b) {
  const left = new Set(a);
  const right = new Set(b);
  const all = new Set([...left, ...right]);
  if (all.size === 0) return 0;
  return [...left].filter((word) => right.has(word)).length / all.size;
}

const ranks_of = ({ world_size, received }) => world_size ?? received;

/** Settings that both give must agree. */
function agrees(a, b) {
  return SETTINGS.every((key) => {
    const [x, y] = [a.meta?.[key], b.meta?.[key]];
    return x === undefined || y === undefined || x === y;
  });
}

/**
 * Analyzed runs of the same work on another vendor's GPU, the one most like it first, of equals the
 * newest.
 * @param {any} run @param {any[]} runs newest first @returns {any[]}
 */
export function partners_of(run, runs) {
  const vendor = vendor_of(run.gpu);
  if (!vendor) return [];
  const words = words_of(run);
  const is_partner = (other) => other.status === "done" && vendor_of(other.gpu)
    && vendor_of(other.gpu) !== vendor && agrees(run, other);
  return runs.filter(is_partner)
    .map((other, i) => ({ other, i, like: likeness(words, words_of(other)),
      same_ranks: ranks_of(run) === ranks_of(other) ? 0.05 : 0 }))
    .filter(({ like }) => like >= LEAST)
    .sort((a, b) => b.like + b.same_ranks - a.like - a.same_ranks || a.i - b.i)
    .map(({ other }) => other);
}
