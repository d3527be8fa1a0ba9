// SPDX-License-Identifier: Apache-2.0
// The windows of a rank's timeline: the whole trace coarsely, then the view as finely as the screen
// shows it. Stale requests are aborted; the last picture stays until the next one is there.
import { useEffect, useMemo, useRef, useState } from "../../base/ui.mjs";
import { api_get, use_api } from "../../base/api.mjs";
import { address } from "../../base/address.mjs";
import { pack } from "../../charts/timeline/timeline_model.mjs";
import { best_window, window_for } from "../../charts/timeline/timeline_view.mjs";
import { run_api } from "../run/run_frame.mjs";

const PAUSE_MS = 90;
const REST_MS = 250;
const KEPT_WINDOWS = 10;
const WHOLE_PX = 1600;

const timeline_path = (run, params) => address(run_api(run, "timeline"), params);

/** The whole trace of a rank. @returns {{resource: any, overview: any}} */
export function use_overview(run, rank) {
  const resource = use_api(timeline_path(run, { rank, px: WHOLE_PX }));
  const overview = useMemo(() => resource.data && pack(resource.data), [resource.data]);
  return { resource, overview };
}

const window_path = ({ run, rank, view, width, overview, lanes }) => {
  const { from, to, px } = window_for(view, width, overview.bounds);
  return timeline_path(run, { rank, from_ns: from, to_ns: to, px, lanes });
};

function keep(windows, path, data) {
  windows.set(path, data);
  if (windows.size > KEPT_WINDOWS) windows.delete(windows.keys().next().value);
}

/**
 * The best window for a view; fetches a finer one if needed.
 * @param {{run: string, rank: string, overview: any, view: any, width: number,
 *          lanes?: string}} what
 * @returns {{detail: any, loading: boolean, problem: any, retry: () => void}}
 */
export function use_detail(what) {
  const { overview, view, width } = what;
  const kept = useRef({ overview: null, windows: new Map() }).current;
  const [state, set_state] = useState({ turn: 0, retries: 0, problem: null });
  if (kept.overview !== overview) Object.assign(kept, { overview, windows: new Map() });
  const best = best_window([overview, ...kept.windows.values()], view, width);
  const path = width > 0 && !best.enough
    ? window_path(what) : null;
  const wanted = path && !kept.windows.has(path) ? path : null;
  useEffect(() => {
    if (wanted === null) return undefined;
    const stop = new AbortController();
    const { windows } = kept;
    const ask = async () => {
      try {
        const { data } = await api_get(wanted, stop.signal, { keeps: false });
        keep(windows, wanted, pack(data, overview));
        set_state((was) => ({ ...was, turn: was.turn + 1, problem: null }));
      } catch (problem) {
        if (!stop.signal.aborted) set_state((was) => ({ ...was, problem }));
      }
    };
    const timer = setTimeout(ask, windows.size === 0 ? 0 : PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [wanted, kept.overview, state.retries]);
  const retry = () => set_state((was) => ({ ...was, retries: was.retries + 1, problem: null }));
  const detail = best.data === overview ? null : best.data;
  return { detail, loading: wanted !== null, problem: state.problem, retry };
}

/** Adds or removes a folded lane or an opened idle line. */
export function toggled_with(toggled, key) {
  const next = new Set(toggled);
  if (!next.delete(key)) next.add(key);
  return [...next].sort().join(",");
}

/**
 * The reply at a path that follows the view, fetched once the view rests. The last reply stays
 * until the next one is there. @param {string|null} path @param {(data: any) => any} read
 */
export function use_rested(path, read) {
  const [state, set_state] = useState({ data: null, problem: null, path: "" });
  useEffect(() => {
    if (path === null) return undefined;
    const stop = new AbortController();
    const ask = () => api_get(path, stop.signal, { keeps: false }).then(
      ({ data }) => set_state({ data: read(data), problem: null, path }),
      (problem) => !stop.signal.aborted && set_state((was) => ({ ...was, problem, path })));
    const timer = setTimeout(ask, REST_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [path]);
  return { ...state, loading: path !== null && state.path !== path };
}
