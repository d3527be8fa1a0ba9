// SPDX-License-Identifier: Apache-2.0
// A replay in the page: the graph of what waited for what, as the service packs it
// (analysis/replay/replay_pack.c), and its steps with some of its work scaled. Pure.

const VERSION = 2;
const MILLION = 1e6;

/** Numbers in LEB128, one after another. */
class Reader {
  /** @param {ArrayBuffer} buffer */
  constructor(buffer) {
    this.bytes = new Uint8Array(buffer);
    this.at = 0;
  }

  number() {
    const { bytes } = this;
    let byte = bytes[this.at++];
    let value = byte & 0x7f;
    for (let unit = 128; byte > 0x7f; unit *= 128) {
      byte = bytes[this.at++];
      value += (byte & 0x7f) * unit;
    }
    return value;
  }

  signed() {
    const value = this.number();
    return value % 2 ? -(value + 1) / 2 : value / 2;
  }
}

const read_border = (reader) => ({ node: reader.number() - 1, at_start: reader.number() > 0,
  after_ns: reader.signed() });

const read_step = (reader) => ({ measured_ns: reader.signed(), base_ns: reader.signed(),
  begin: read_border(reader), end: read_border(reader) });

function read_nodes(reader, nodes, edges) {
  const dur = new Float64Array(nodes), mask = new Uint16Array(nodes);
  const first = new Uint32Array(nodes + 1), from = new Uint32Array(edges);
  const lag = new Int32Array(edges);
  let edge = 0;
  for (let node = 0; node < nodes; node++) {
    dur[node] = reader.signed();
    mask[node] = reader.number();
    for (let left = reader.number(); left > 0; left--) {
      from[edge] = node - reader.number();
      lag[edge++] = reader.signed();
    }
    first[node + 1] = edge;
  }
  return { dur, mask, first, from, lag, end: new Float64Array(nodes),
    scaled: new Float64Array(nodes) };
}

/** @param {ArrayBuffer} buffer @returns {any} the graph, or null for a form of another version */
export function read_graph(buffer) {
  const reader = new Reader(buffer);
  if (reader.number() !== VERSION) return null;
  const [nodes, edges, steps] = [reader.number(), reader.number(), reader.number()];
  const error_ns = reader.number();
  const doubt = reader.number() / MILLION, spread = reader.number() / MILLION;
  const waits = reader.number();
  return { error_ns, doubt, spread, waits,
    steps: Array.from({ length: steps }, () => read_step(reader)),
    ...read_nodes(reader, nodes, edges) };
}

/** What is left of a node's time, by the controls that scale it. */
function factors_by_mask(factors) {
  const table = new Float64Array(1 << factors.length).fill(1);
  for (let mask = 1; mask < table.length; mask++)
    for (let i = 0; i < factors.length; i++) if (mask & (1 << i)) table[mask] *= factors[i];
  return table;
}

/** Fills the end of every node: each starts as soon as all that it waits for has ended. */
function replay({ dur, mask, first, from, lag, end, scaled }, left) {
  for (let node = 0, edge = 0; node < dur.length; node++) {
    const stop = first[node + 1];
    let start = edge === stop ? 0 : -Infinity;
    for (; edge < stop; edge++) {
      const at = end[from[edge]] + lag[edge];
      if (at > start) start = at;
    }
    const factor = left[mask[node]];
    scaled[node] = factor === 1 ? dur[node] : Math.round(dur[node] * factor);
    end[node] = start + scaled[node];
  }
}

const time_of = ({ end, scaled }, { node, at_start, after_ns }) =>
  (node < 0 ? 0 : end[node] - (at_start ? scaled[node] : 0)) + after_ns;

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** How far from the mean of these further values may be, as far as so few show. */
function half_range(values, spread) {
  const middle = mean(values);
  const squares = values.reduce((sum, one) => sum + (one - middle) ** 2, 0);
  return spread * Math.sqrt(squares / (values.length - 1));
}

/** Whether waits for absent ranks are among what gets shorter, so that it may bring nothing. */
const hides_waits = ({ waits }, factors) => Boolean(waits & 1) ||
  factors.some((factor, i) => factor !== 1 && waits & (2 << i));

/** The intervals of an answer, as analysis/replay/whatif.c has them. */
function intervals({ error_ns, doubt, spread, steps }, gains, measured_ns, hides) {
  if (steps.length < 2)
    return { low_ns: null, high_ns: null, gain_low_ns: null, gain_high_ns: null };
  const gain_ns = mean(gains);
  const off = error_ns + doubt * Math.abs(gain_ns);
  const own = half_range(gains, spread) + off;
  const half = half_range(steps.map((step, i) => step.measured_ns - gains[i]), spread) + off;
  const unchanged = half_range(steps.map((step) => step.measured_ns), spread) + off;
  return { low_ns: Math.max(0, measured_ns - gain_ns - half),
    high_ns: measured_ns + (hides ? Math.max(unchanged, half - gain_ns) : half - gain_ns),
    gain_low_ns: hides ? Math.min(gain_ns - own, 0) : gain_ns - own,
    gain_high_ns: Math.min(gain_ns + own, measured_ns) };
}

/**
 * What a step takes when each control leaves such a share of what it scales.
 * @param {any} graph of read_graph @param {number[]} factors one for each control
 * @returns {{step_ns: number, gain_ns: number, gain_share: number, low_ns: number|null,
 *            high_ns: number|null, gain_low_ns: number|null, gain_high_ns: number|null}}
 */
export function replay_steps(graph, factors) {
  replay(graph, factors_by_mask(factors));
  const gains = graph.steps.map(({ base_ns, begin, end }) =>
    base_ns - (time_of(graph, end) - time_of(graph, begin)));
  const measured_ns = mean(graph.steps.map((step) => step.measured_ns));
  const gain_ns = mean(gains);
  return { step_ns: measured_ns - gain_ns, gain_ns, gain_share: gain_ns / measured_ns,
    ...intervals(graph, gains, measured_ns, hides_waits(graph, factors)) };
}
