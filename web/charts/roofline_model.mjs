// SPDX-License-Identifier: Apache-2.0
// What a roofline chart draws: points, roofs of each precision and axes in decades; pure.

const MOST_POINTS = 400;
const LEAST_SHARE = 0.001; // of the time of all points; smaller ones would only stretch the axes
const SHAPE_OF_KIND = [
  [/^gemm$/, "circle", "gemm", "GEMM"],
  [/^attention/, "diamond", "attention", "Attention"],
  [/^conv/, "square", "exposed_memory", "Convolution"],
  [/^measured$/, "plus", "measured",
    "Measured launches; Nsight Compute locks clocks and empties caches by default"],
  [/./, "up", "other_compute", "Other compute"],
];

const LEAST_DECADES = 2; // fewer would hide that the axes are logarithmic

/** How a kind of work is drawn. @param {string|null} kind */
export function mark_of(kind) {
  const [, shape, part, label] = SHAPE_OF_KIND.find(([pattern]) => pattern.test(kind || "other"));
  return { shape, part, label };
}

const is_drawn = (row) => row.intensity > 0 && row.tflops > 0 && row.busy_ns > 0;

/**
 * The rows to draw, most time first: as many as matter and can be seen.
 * @param {Record<string, any>[]} rows of the table work
 */
export function roofline_points(rows) {
  const known = rows.filter(is_drawn).sort((a, b) => b.busy_ns - a.busy_ns);
  const all_ns = known.reduce((sum, { busy_ns }) => sum + busy_ns, 0);
  const points = known.slice(0, MOST_POINTS)
    .filter(({ busy_ns }) => busy_ns >= LEAST_SHARE * all_ns);
  return { points, left_out: known.length - points.length, without: rows.length - known.length };
}

/**
 * Launches that Nsight Compute measured, whose operations and bytes of DRAM are known, as points.
 * @param {Record<string, any>[]} rows of kernel_profiles
 */
export function measured_points(rows) {
  return rows
    .map((row) => ({ op: row.trace_kernel ?? row.kernel,
      problem: row.grid ? `grid ${row.grid}` : "", kind: "measured", precision: null,
      intensity: row.intensity, tflops: row.tflops, busy_ns: row.duration_ns,
      efficiency: null, bound: null }))
    .filter(is_drawn)
    .sort((a, b) => b.busy_ns - a.busy_ns)
    .slice(0, MOST_POINTS);
}

/**
 * One roof per precision, highest first. Rows of one precision share a peak; if they differ, the
 * largest counts.
 * @param {Record<string, any>[]} rows
 * @returns {{precision: string, peak_tflops: number, peak_tbps: number, ridge: number}[]}
 */
export function roofs_of(rows) {
  const roofs = new Map();
  for (const { precision, peak_tflops, peak_tbps } of rows) {
    if (!(peak_tflops > 0) || !(peak_tbps > 0)) continue;
    const before = roofs.get(precision);
    if (before && before.peak_tflops >= peak_tflops) continue;
    roofs.set(precision, { precision, peak_tflops, peak_tbps, ridge: peak_tflops / peak_tbps });
  }
  return [...roofs.values()].sort((a, b) => b.peak_tflops - a.peak_tflops);
}

const floor10 = (value) => Math.floor(Math.log10(value));
const ceil10 = (value) => Math.ceil(Math.log10(value));

/** Whole decades around points and roofs: [low, high] as powers of ten. */
export function roofline_range(points, roofs) {
  const xs = [...points.map((p) => p.intensity), ...roofs.map((roof) => roof.ridge)];
  const ys = [...points.map((p) => p.tflops), ...roofs.map((roof) => roof.peak_tflops)];
  if (xs.length === 0) return { x: [0, 1], y: [0, 1] };
  const span = (values) => {
    const high = ceil10(Math.max(...values));
    return [Math.min(high - LEAST_DECADES, floor10(Math.min(...values))), high];
  };
  return { x: span(xs), y: span(ys) };
}

/**
 * The corners of a roof inside the range: where the slope enters, the ridge, the right end.
 * @returns {[number, number][]} intensity and TFLOP/s
 */
export function roof_line(roof, range) {
  const [low_x, high_x] = range.x.map((power) => 10 ** power);
  const low_y = 10 ** range.y[0];
  const from = Math.max(low_x, low_y / roof.peak_tbps);
  if (from >= roof.ridge) return [[low_x, roof.peak_tflops], [high_x, roof.peak_tflops]];
  return [[from, from * roof.peak_tbps], [roof.ridge, roof.peak_tflops],
    [high_x, roof.peak_tflops]];
}

/** Radius of a point whose area is proportional to its time. */
export function radius_of(busy_ns, most_ns) {
  return 3 + 11 * Math.sqrt(busy_ns / Math.max(1, most_ns));
}

/** Positions for labels at least `gap` apart, in the given order, moved down if they touch. */
export function spread(ys, gap) {
  let last = -Infinity;
  return ys.map((y) => (last = Math.max(y, last + gap)));
}
