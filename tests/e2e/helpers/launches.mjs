// SPDX-License-Identifier: Apache-2.0
// An independent calculation of launches, queues and idle streams: plain code over a list of device
// events.

function group_by(items, key) {
  const groups = {};
  for (const item of items) (groups[key(item)] ??= []).push(item);
  return groups;
}

/** The lower median, or any quantile by nearest rank. */
const quantile = (values, q) =>
  [...values].sort((a, b) => a - b)[Math.max(0, Math.ceil(q * values.length) - 1)];

/** The calls that launched something, each with its first device event. */
function launches_of(events) {
  const calls = new Map();
  for (const event of events.filter(({ call }) => call)) {
    const key = `${event.call} ${event.call_begin_ns}`;
    const first = calls.get(key);
    if (!first || event.begin_ns < first.begin_ns) calls.set(key, event);
  }
  return [...calls.values()];
}

/** Launch delays by their definition, from the truth's list of events. */
export function launch_delays_of(events) {
  const delays = {};
  for (const [call, group] of Object.entries(group_by(launches_of(events), ({ call }) => call))) {
    const calls = group.map((event) => event.call_end_ns - event.call_begin_ns);
    const waits = group.map((event) => Math.max(0, event.begin_ns - event.call_end_ns));
    const starts = group.map((event) => event.begin_ns - event.call_begin_ns);
    delays[call] = {
      launches: group.length,
      call_median_ns: quantile(calls, 0.5), call_p95_ns: quantile(calls, 0.95),
      delay_median_ns: quantile(waits, 0.5), delay_p95_ns: quantile(waits, 0.95),
      start_median_ns: quantile(starts, 0.5),
      slow_calls: calls.filter((ns) => ns > 50_000).length,
      long_delays: waits.filter((ns) => ns > 100_000).length,
    };
  }
  return delays;
}

/** Gaps between the events of each stream, in the three categories of Holistic Trace Analysis. */
export function stream_idle_of(events) {
  const idle = {};
  for (const [stream, group] of Object.entries(group_by(events, (event) => event.stream))) {
    group.sort((a, b) => a.begin_ns - b.begin_ns);
    for (let i = 1; i < group.length; i++) {
      const gap_ns = group[i].begin_ns - group[i - 1].end_ns;
      if (gap_ns <= 0) continue;
      const late = group[i].call && group[i].call_begin_ns > group[i - 1].end_ns;
      const category = late ? "host_wait" : gap_ns < 30_000 ? "kernel_wait" : "other";
      const sums = (idle[`${stream} ${category}`] ??= { gaps: 0, idle_ns: 0 });
      sums.gaps++;
      sums.idle_ns += gap_ns;
    }
  }
  return idle;
}

/** The queue of each stream: launched but not started; the mean is over the trace's window. */
export function queues_of(events) {
  const [from_ns, to_ns] = [Math.min(...events.map(({ begin_ns }) => begin_ns)),
    Math.max(...events.map(({ end_ns }) => end_ns))];
  const queues = {};
  for (const [stream, group] of Object.entries(group_by(events, (event) => event.stream))) {
    const linked = launches_of(group);
    const edges = linked.flatMap((event) => [[event.call_begin_ns, 1], [event.begin_ns, -1]]);
    let [length, max] = [0, 0];
    for (const [, change] of [...edges].sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
      length += change;
      max = Math.max(max, length);
    }
    const queued_ns = linked.map((event) =>
      event.begin_ns - Math.max(event.call_begin_ns, from_ns)).filter((ns) => ns > 0);
    const mean = queued_ns.reduce((total, ns) => total + ns, 0) / (to_ns - from_ns);
    queues[stream] = { launches: linked.length, max, mean };
  }
  return queues;
}
