// SPDX-License-Identifier: Apache-2.0
// What the memory chart draws: stepped outlines of memory over time; pure.

const CAPACITY_FROM = 0.4; // below this share the capacity line would flatten the curves

/**
 * The points of one device in time order.
 * @param {Record<string, any>[]} rows of the table memory_timeline
 */
export function points_of(rows, device) {
  return rows.filter((row) => row.device === device).sort((a, b) => a.time_ns - b.time_ns);
}

const largest = (points, key) => points.reduce((most, p) => Math.max(most, p[key] ?? 0), 0);

/**
 * The extent of the chart: includes the capacity only if the curves stay readable.
 * @param {any[]} points @param {number|null} capacity_bytes
 */
export function memory_extent(points, capacity_bytes) {
  const top = Math.max(largest(points, "allocated_bytes"), largest(points, "reserved_bytes"), 1);
  const shows_capacity = capacity_bytes > 0 && top >= CAPACITY_FROM * capacity_bytes;
  const begin_ns = points[0]?.time_ns ?? 0;
  return {
    begin_ns,
    end_ns: Math.max(begin_ns + 1, points.at(-1)?.time_ns ?? 0),
    top_bytes: (shows_capacity ? Math.max(top, capacity_bytes) : top) * 1.04,
    shows_capacity,
  };
}

const fixed = (value) => value.toFixed(1);

/**
 * A stepped line: a value holds until the next point. Points without the value are skipped.
 * @param {any[]} points @param {string} key @param {(ns: number) => number} x
 * @param {(bytes: number) => number} y
 */
export function step_path(points, key, x, y) {
  let path = "";
  for (const point of points) {
    if (point[key] === null || point[key] === undefined) continue;
    const [px, py] = [fixed(x(point.time_ns)), fixed(y(point[key]))];
    path += path === "" ? `M${px} ${py}` : `H${px}V${py}`;
  }
  return path;
}

/** The area below a stepped line. */
export function step_area(points, key, x, y) {
  const known = points.filter((point) => point[key] !== null && point[key] !== undefined);
  if (known.length === 0) return "";
  const floor = fixed(y(0));
  return `M${fixed(x(known[0].time_ns))} ${floor}${
    step_path(known, key, x, y).replace("M", "L")}V${floor}Z`;
}

/** Index of the point in effect at a time: the last one not after it. @param {any[]} points */
export function point_at(points, ns) {
  let low = 0;
  let high = points.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (points[middle].time_ns <= ns) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Index of the maximum allocated. @param {any[]} points */
export function peak_index(points) {
  return points.reduce((best, p, i) =>
    ((p.allocated_bytes ?? 0) > (points[best].allocated_bytes ?? 0) ? i : best), 0);
}

/**
 * Round numbers of bytes in decimal units from 0 up to the top.
 * @param {number} top_bytes @returns {number[]}
 */
export function byte_ticks(top_bytes, wanted = 4) {
  const raw = top_bytes / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999);
  return Array.from({ length: Math.floor(top_bytes / step) + 1 }, (_, i) => i * step);
}
