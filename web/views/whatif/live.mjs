// SPDX-License-Identifier: Apache-2.0
// Answers while a slider moves: the page replays the graph by itself, without a request. When the
// slider rests, the service's answer replaces them.
import { useEffect, useRef, useState } from "../../base/ui.mjs";
import { api_bytes } from "../../base/api.mjs";
import { address } from "../../base/address.mjs";
import { run_api } from "../run/run_frame.mjs";
import { read_graph, replay_steps } from "./graph.mjs";
import { live_parts, read_changes, write_changes } from "./whatif_model.mjs";

/** The graph with all that no slider scales; fetched when a pointer or a key reaches them. */
function use_graph(path, wanted) {
  const known = useRef({ path: "", graph: null });
  useEffect(() => {
    if (!wanted || known.current.path === path) return undefined;
    let left = false;
    api_bytes(path).then((bytes) => {
      if (!left) known.current = { path, graph: read_graph(bytes) };
    }, () => null); // without it, numbers move when the service has answered
    return () => { left = true; };
  }, [path, wanted]);
  return known;
}

/**
 * @param {string} run @param {{rank: string, counterpart: string}} query
 * @param {string[]} changes @param {any} answered the service's answer to them, null until known
 * @returns {{live: any, reach: () => void, move: (patch: object) => void}} live: what a step takes
 *   where the sliders are now; null once the service has answered
 */
export function use_live(run, { rank, counterpart }, changes, answered) {
  const [wanted, set_wanted] = useState(false);
  const [live, set_live] = useState(null);
  const { fixed, controls } = live_parts(changes);
  const path = address(run_api(run, "whatif/graph"),
    { change: fixed, control: controls, rank, counterpart });
  const known = use_graph(path, wanted);
  const none = changes.length === 0;
  useEffect(() => { if (answered || none) set_live(null); }, [answered, none]);
  const move = (patch) => {
    if (known.current.path !== path || !known.current.graph) return;
    const moved = write_changes({ ...read_changes(changes), ...patch });
    const is_said = (answered || none) && moved.join(";") === changes.join(";");
    set_live(is_said ? null : replay_steps(known.current.graph, live_parts(moved).factors));
  };
  return { live, reach: () => set_wanted(true), move };
}
