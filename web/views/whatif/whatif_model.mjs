// SPDX-License-Identifier: Apache-2.0
// Changes as the API writes them, and as the controls of the page show them.
import { percent, time_text } from "../../base/format.mjs";
import { NO_PROFILER } from "../said/promise_model.mjs";

/** How many times as fast the network is, and how much of the host's time is left. */
export const NETWORKS = [1, 1.25, 1.5, 2, 3, 4, 8, Infinity];
export const HOSTS = [1, 0.75, 0.5, 0.25, 0];

/** A smaller gain, as a share of the step, is shown as nothing. */
export const LEAST_GAIN = 0.0005;

const LONGEST_NAME = 300; // of a kernel in a change; the middle of a longer one matches anything

/** The parts of a critical path, in the order in which bars stack them. */
export const PATH_PARTS = [
  { key: "compute", part: "gemm", label: "Compute", help: "Kernels that compute." },
  { key: "communication", part: "exposed_comm", label: "Communication",
    help: "Transfers of collectives, sends and receives." },
  { key: "memory", part: "exposed_memory", label: "Copies",
    help: "Copies and memsets on the device." },
  { key: "host", part: "idle_host_wait", label: "Host",
    help: "What threads do between calls, and in them without waiting." },
  { key: "delay", part: "idle_other", label: "Delays",
    help: "Time from the end of what some work waits for to its start, such as launch latency." },
  { key: "unrecorded", part: "unrecorded", label: "Unrecorded work",
    help: "The device was busy with work that the recording lacks." },
  { key: "replay_error", part: "none", label: "Replay error",
    help: "Recorded minus replayed steps; it may be negative." },
];

/**
 * @typedef {{network: number, host: number, balanced: string, profiler: boolean, data: boolean,
 *            copies: boolean, recompute: boolean, overlap: boolean, gemm: boolean,
 *            kernels: {name: string, factor: number}[], others: string[]}} Setup
 * `balanced` is "", "all" or a rank.
 */

/** @returns {Setup} */
const recorded = () => ({ network: 1, host: 1, balanced: "", profiler: false, data: false,
  copies: false, recompute: false, overlap: false, gemm: false, kernels: [], others: [] });

const NAMED = {
  balanced: { balanced: "all" }, data_ready: { data: true }, no_copies: { copies: true },
  [NO_PROFILER]: { profiler: true }, no_recompute: { recompute: true },
  perfect_overlap: { overlap: true }, gemm_roofline: { gemm: true }, host_free: { host: 0 },
  network_x2: { network: 2 }, infinite_network: { network: Infinity },
};

/** The network of those on the slider whose transfers take that share; undefined: none. */
const network_of = (share) => NETWORKS.find((times) => Math.abs(1 / times - share) < 1e-3);

function read_scale(setup, factor, what) {
  const [, kernel] = /^kernel=(.+)$/s.exec(what) ?? [];
  if (kernel && factor <= 1) setup.kernels.push({ name: kernel, factor });
  else if (what === "host" && HOSTS.includes(factor)) setup.host = factor;
  else if (what === "class=communication" && network_of(factor)) {
    setup.network = network_of(factor);
  } else return false;
  return true;
}

/** What the controls show for these changes. @param {string[]} changes @returns {Setup} */
export function read_changes(changes) {
  const setup = recorded();
  for (const change of changes) {
    const [, factor, what] = /^scale=([0-9.]+):(.+)$/s.exec(change) ?? [];
    const [, rank] = /^balanced=(\d+)$/.exec(change) ?? [];
    if (Object.hasOwn(NAMED, change)) Object.assign(setup, NAMED[change]);
    else if (rank) setup.balanced = rank;
    else if (!factor || !read_scale(setup, Number(factor), what)) setup.others.push(change);
  }
  return setup;
}

/** Changes that make sense for a rank by itself: balance needs others. @param {string[]} changes */
export const changes_alone = (changes) =>
  changes.filter((change) => !/^balanced(=|$)/.test(change));

const short = (share) => String(Number(share.toFixed(6)));

function network_change(times) {
  if (times === 1) return [];
  if (times === Infinity) return ["infinite_network"];
  return [times === 2 ? "network_x2" : `scale=${short(1 / times)}:class=communication`];
}

function host_change(left) {
  if (left === 1) return [];
  return [left === 0 ? "host_free" : `scale=${short(left)}:host`];
}

/** The changes that these controls stand for. @param {Setup} setup @returns {string[]} */
export function write_changes(setup) {
  const { balanced } = setup;
  return [
    ...(balanced ? [balanced === "all" ? "balanced" : `balanced=${balanced}`] : []),
    ...network_change(setup.network), ...host_change(setup.host),
    ...(setup.profiler ? [NO_PROFILER] : []),
    ...(setup.data ? ["data_ready"] : []), ...(setup.copies ? ["no_copies"] : []),
    ...(setup.recompute ? ["no_recompute"] : []),
    ...(setup.overlap ? ["perfect_overlap"] : []), ...(setup.gemm ? ["gemm_roofline"] : []),
    ...setup.kernels.map(({ name, factor }) => `scale=${short(factor)}:kernel=${name}`),
    ...setup.others,
  ];
}

const MOST_CONTROLS = 16; // in a graph

/**
 * Splits changes for a replay in the page: what sliders scale, and all the rest.
 * @param {string[]} changes
 * @returns {{fixed: string[], controls: string[], factors: number[]}} factors: what each control
 *   leaves of it
 */
export function live_parts(changes) {
  const setup = read_changes(changes);
  const kernels = setup.kernels.slice(0, MOST_CONTROLS - 2);
  return {
    fixed: write_changes({ ...setup, network: 1, host: 1,
      kernels: setup.kernels.slice(kernels.length) }),
    controls: ["class=communication", "host", ...kernels.map(({ name }) => `kernel=${name}`)],
    factors: [1 / setup.network, setup.host, ...kernels.map(({ factor }) => factor)],
  };
}

/** A ready-made change added, or taken away if it is there. @param {string[]} changes */
export function toggle_change(changes, change) {
  if (changes.includes(change)) return changes.filter((one) => one !== change);
  if (!Object.hasOwn(NAMED, change)) return [...changes, change];
  return write_changes({ ...read_changes(changes), ...NAMED[change] });
}

/**
 * "Of the ready-made changes, Free host helps most: a step would take 575 ms instead of 1,076 ms,
 * 46.6 % less."
 * @param {{base: {step_ns: number}, changes: any[]}} reply its changes, the most useful first
 * @param {boolean} [whole] no step is marked, so that it is about the recording
 */
export function whatif_lead({ base, changes: [first] }, whole = false) {
  if (!first) return "";
  if (first.gain_share < LEAST_GAIN) {
    return `No ready-made change makes the ${whole ? "recording" : "step"} of ${
      time_text(base.step_ns)} any shorter.`;
  }
  return `Of the ready-made changes, “${first.title}” helps most: ${
    whole ? "the recording" : "a step"} would take ${
    time_text(base.step_ns - first.gain_ns)} instead of ${time_text(base.step_ns)}, ${
    percent(first.gain_share)} less.`;
}

/**
 * What the changes bring together, in a sentence; of changes that leave out the profiler also what
 * is left of the gain where nobody records: what findings promise.
 * @param {{step_ns: number}} base @param {{step_ns: number, gain_ns: number, gain_share: number}}
 *   then @param {{change: string, gain_ns: number}[]} alone each of them by itself
 * @param {boolean} [whole] no step is marked
 */
export function answer_text(base, then, alone, whole = false) {
  const gain = then.gain_ns;
  if (Math.abs(then.gain_share) < LEAST_GAIN) return "These changes make no difference: " +
    `${whole ? "the recording" : "a step"} still takes ${time_text(base.step_ns)}.`;
  const said = `${whole ? "The recording" : "A step"} would take ${
    time_text(then.step_ns)} instead of ${time_text(base.step_ns)}, ${
    percent(Math.abs(then.gain_share))} ${gain > 0 ? "less" : "more"}.`;
  const profiler = alone.find(({ change }) => change === NO_PROFILER);
  if (!profiler?.gain_ns || alone.length < 2) return said;
  return `${said} Without the profiler, which takes ${
    time_text(profiler.gain_ns)} of ${
    whole ? "the recording" : "the recorded step"}, the gain is ${
    time_text(gain - profiler.gain_ns)}.`;
}

/** The name of a kernel in a change. @param {string} name */
export function kernel_pattern(name) {
  if (name.length <= LONGEST_NAME) return name;
  return `${name.slice(0, LONGEST_NAME / 2)}*${name.slice(-LONGEST_NAME / 2)}`;
}

/**
 * What would be left of a kernel's time at its roofline, from the rows of that table; null if its
 * work is not known.
 * @param {{kernel: string|null, busy_ns: number, lost_ns: number|null}[]} rows
 */
export function roofline_factor(rows, name) {
  const own = rows.filter(({ kernel, lost_ns }) => kernel === name && lost_ns !== null);
  const busy = own.reduce((sum, { busy_ns }) => sum + busy_ns, 0);
  const lost = own.reduce((sum, { lost_ns }) => sum + Number(lost_ns), 0);
  return busy > 0 && lost >= 0 && lost <= busy ? Math.round(100 * (1 - lost / busy)) / 100 : null;
}

/** A critical path per step, in ns. @param {Record<string, number>} path @param {number} steps */
export function path_rows(path, steps) {
  return PATH_PARTS.map((part) => ({ ...part, ns: path[`${part.key}_ns`] / Math.max(1, steps) }));
}

const path_ns = ({ own_ns, delay_ns }) => own_ns + delay_ns;
const path_sum = (ranks, of) => ranks.reduce((sum, rank) => sum + of(rank), 0);

/**
 * A critical path through all ranks: the ranks with most of it, all others in one row, and what
 * belongs to no rank. Sums to the steps.
 * @param {{path_ranks: {rank: number, own_ns: number, delay_ns: number}[], path_joint_ns: number,
 *          critical_path: Record<string, number>}} base
 * @param {number} most ranks with a row
 */
export function rank_rows(base, most) {
  const ranks = [...base.path_ranks].sort((a, b) => path_ns(b) - path_ns(a));
  const others = ranks.slice(most);
  const of_none = (label, ns) => ({ rank: null, label, ns, own_ns: null, delay_ns: null });
  return [
    ...ranks.slice(0, most).map((rank) => ({ ...rank, label: `rank ${rank.rank}`,
      ns: path_ns(rank) })),
    ...(others.length > 0 ? [{ rank: null, label: "other ranks", ns: path_sum(others, path_ns),
      own_ns: path_sum(others, ({ own_ns }) => own_ns),
      delay_ns: path_sum(others, ({ delay_ns }) => delay_ns) }] : []),
    of_none("transfers of ranks together", base.path_joint_ns),
    of_none("replay error", base.critical_path.replay_error_ns),
  ];
}
