// SPDX-License-Identifier: Apache-2.0
// Metadata that people enter for a run: useful keys, edits, and how it is merged with the trace's;
// pure.

/** Keys that comparisons use, with their purpose. */
const KNOWN_META = [
  { key: "model", help: "What is trained or served", example: "llama-70b" },
  { key: "commit", help: "Version of the code; trends show it beside each run",
    example: "9f3c1e2" },
  { key: "precision", help: "Type of the arithmetic", example: "bf16" },
  { key: "batch_size", help: "Samples per step over all ranks, a whole number", example: "512" },
  { key: "seq_len", help: "Tokens per sample, a whole number", example: "4096" },
  { key: "tokens_per_step", help: "Tokens per step over all ranks; without it batch_size × "
    + "seq_len. Tokens per second and comparisons per token need it", example: "2097152" },
  { key: "data", help: "real or synthetic", example: "synthetic" },
  { key: "gpu_hour_price", help: "Price of one GPU for an hour; reports then have the cost per "
    + "million tokens", example: "2.50" },
  { key: "gpu", help: "Device, where the trace does not name it", example: "MI300X" },
  { key: "driver", help: "Version of the GPU driver", example: "570.86" },
  { key: "framework", help: "Framework and version", example: "torch 2.9.1" },
];

const ORDER = new Map(KNOWN_META.map(({ key }, i) => [key, i]));
const place = (key) => ORDER.get(key) ?? ORDER.size;

/** Pairs of given metadata, known keys first. @param {Record<string, string>} meta */
export function meta_entries(meta) {
  return Object.entries(meta ?? {})
    .sort(([a], [b]) => place(a) - place(b) || a.localeCompare(b));
}

/** What a key is for, or "". @param {string} key */
export const meta_help = (key) => KNOWN_META[place(key)]?.help ?? "";

/** Known keys without a value yet. @param {{key: string}[]} rows */
export function missing_keys(rows) {
  const given = new Set(rows.map(({ key }) => key.trim()));
  return KNOWN_META.filter(({ key }) => !given.has(key));
}

/**
 * The merge patch from some metadata to edited rows: removed or empty keys become null.
 * @param {Record<string, string>} before @param {{key: string, value: string}[]} rows
 */
export function meta_patch(before, rows) {
  const after = new Map(rows.map(({ key, value }) => [key.trim(), value.trim()])
    .filter(([key, value]) => key && value));
  const patch = Object.fromEntries([...after].filter(([key, value]) => before?.[key] !== value));
  for (const key of Object.keys(before ?? {})) if (!after.has(key)) patch[key] = null;
  return patch;
}

/**
 * A run's settings: what people entered overrides what its recordings state, which is then shown
 * next to it.
 * @param {Record<string, string>} meta
 * @param {{key: string, value: string, ranks?: number}[]} environment
 * @returns {{key: string, value: string, source: "given"|"trace", traced: string|null,
 *            ranks: number|null}[]}
 */
export function settings_of(meta, environment) {
  const given = meta_entries(meta).map(([key, value]) => {
    const traced = environment.filter((row) => row.key === key).map((row) => row.value);
    return { key, value, source: "given", ranks: null,
      traced: traced.length === 0 || traced.includes(value) ? null : traced.join(", ") };
  });
  const rest = environment.filter(({ key }) => meta?.[key] === undefined)
    .map(({ key, value, ranks }) => ({ key, value, source: "trace", traced: null,
      ranks: ranks ?? null }));
  return [...given, ...rest];
}
