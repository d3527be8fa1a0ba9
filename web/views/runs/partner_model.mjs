// SPDX-License-Identifier: Apache-2.0
// Which run did the same work on the GPU of another maker; pure.

const MAKERS = [["amd", /amd|instinct|\bmi\d{2,3}/i], ["nvidia",
  /nvidia|geforce|tesla|\b(a|b|h|gh|gb|v|l)\d{2,3}/i], ["intel", /intel|gaudi|max\s*\d{4}/i]];
const HARDWARE = new RegExp(`^(${["amd", "nvidia", "cuda", "rocm", "hip", "instinct", "mi\\d+\\w*",
  "[abhvlt]\\d{2,3}\\w*", "g[hb]\\d+"].join("|")})$`, "i");
const SETTINGS = ["model", "batch_size", "seq_len", "precision", "tokens_per_step"];
const LEAST = 0.6; // share of the words of both names that they have in common

/** @param {string|null} gpu @returns {string|null} */
export const maker_of = (gpu) => MAKERS.find(([, pattern]) => pattern.test(gpu ?? ""))?.[0] ?? null;

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
 * The run most like this one on another maker's GPU; of equals the first.
 * @param {any} run @param {any[]} runs newest first @returns {any|null}
 */
export function partner_of(run, runs) {
  const maker = maker_of(run.gpu);
  if (!maker) return null;
  const words = words_of(run);
  let best = null;
  let most = LEAST;
  for (const other of runs) {
    const theirs = maker_of(other.gpu);
    if (!theirs || theirs === maker || !agrees(run, other)) continue;
    const same_ranks = ranks_of(run) === ranks_of(other) ? 0.05 : 0;
    const score = likeness(words, words_of(other));
    if (score >= LEAST && score + same_ranks > most) [best, most] = [other, score + same_ranks];
  }
  return best;
}
