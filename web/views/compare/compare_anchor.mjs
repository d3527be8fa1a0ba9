// SPDX-License-Identifier: Apache-2.0
// Where a run has what two timelines are aligned at: a step, the first event of a name in it, or
// the device work of a module's call.
import { useEffect, useState } from "../../base/ui.mjs";
import { api_get } from "../../base/api.mjs";
import { address } from "../../base/address.mjs";
import { is_in_step, is_of_device, module_in } from "../../charts/timeline/timeline_align.mjs";
import { pack } from "../../charts/timeline/timeline_model.mjs";
import { run_api } from "../run/run_frame.mjs";

const MODULE_PX = 8192;

/** @typedef {{from: number, to: number}} Span */

const span_of_event = ({ begin_ns, dur_ns }) => ({ from: begin_ns, to: begin_ns + dur_ns });

async function ask(run, endpoint, params, signal) {
  const { data } = await api_get(address(run_api(run, endpoint), params), signal);
  return data;
}

/** The device work that an event's calls launched, else the event's own time. */
async function device_span(run, rank, event, signal) {
  if (is_of_device(event)) return span_of_event(event);
  const { begin_ns, dur_ns, lane } = event;
  const { launched } = await ask(run, "event", { rank, lane, begin_ns, dur_ns }, signal);
  return launched ? { from: launched.begin_ns, to: launched.end_ns } : span_of_event(event);
}

/** The step on the host, which starts before its device work. */
async function host_step(run, rank, step, signal) {
  const { found } = await ask(run, "find", { rank, name: `ProfilerStep#${step.number}` }, signal);
  return found ? span_of_event(found) : { from: step.begin_ns, to: step.end_ns };
}

/** @returns {Promise<Span|null>} */
async function find_module(run, rank, step, path, signal) {
  let within = await host_step(run, rank, step, signal);
  for (const part of path.split("/")) {
    const window = pack(await ask(run, "timeline", { rank, from_ns: within.from,
      to_ns: within.to, px: MODULE_PX, rows: 64 }, signal));
    within = module_in(window, part, within);
    if (!within) return null;
    within.name = part;
  }
  const { found } = await ask(run, "find", { rank, at_ns: within.from - 1,
    q: `nn.Module: ${within.name.replace(/\d+$/, "")}` }, signal);
  return found?.begin_ns === within.from ? device_span(run, rank, found, signal) : within;
}

/** The first event of a name in the step: /find goes on to later steps, and from the start. */
async function find_name(run, rank, step, name, signal) {
  const host = await host_step(run, rank, step, signal);
  const device = { from: step.begin_ns, to: step.end_ns };
  // From the host's start, device work of the step before may come first.
  for (const { from } of [host, device]) {
    const { found } = await ask(run, "find", { rank, name, at_ns: Math.max(-1, from - 1) }, signal);
    if (is_in_step(found, { host, device })) return device_span(run, rank, found, signal);
  }
  return null;
}

/**
 * The place of what is compared. @param {{run: string, rank: number, step: any, name: string,
 * module: string}} what step: null if the run has none
 * @returns {{span: Span|null, missing: boolean, loading: boolean, problem: any,
 *   retry: () => void}} problem: why it is not known whether the step has it
 */
export function use_anchor({ run, rank, step, name, module }) {
  const [tries, set_tries] = useState(0);
  const key = [run, rank, step?.number, name, module, tries].join("\n");
  const [state, set_state] = useState({ key: "", span: null, problem: null });
  const wanted = step && (name || module);
  useEffect(() => {
    if (!wanted) return undefined;
    const stop = new AbortController();
    const find = module ? find_module(run, rank, step, module, stop.signal)
      : find_name(run, rank, step, name, stop.signal);
    find.then((span) => set_state({ key, span, problem: null }),
      (problem) => stop.signal.aborted || set_state({ key, span: null, problem }));
    return () => stop.abort();
  }, [key, Boolean(wanted)]);
  const whole = step ? { from: step.begin_ns, to: step.end_ns } : null;
  const retry = () => set_tries((n) => n + 1);
  if (!wanted) return { span: whole, missing: false, loading: false, problem: null, retry };
  const is_there = state.key === key;
  return { span: is_there ? (state.span ?? whole) : null, loading: !is_there, retry,
    missing: is_there && !state.span && !state.problem, problem: is_there ? state.problem : null };
}
