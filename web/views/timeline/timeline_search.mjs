// SPDX-License-Identifier: Apache-2.0
// Search on the timeline: from one event with a text in its name to the next or previous.
import { html, useLayoutEffect, useRef, useState } from "../../base/ui.mjs";
import { announce } from "../../base/announce.mjs";
import { api_get } from "../../base/api.mjs";
import { address } from "../../base/address.mjs";
import { count } from "../../base/format.mjs";
import { length_text } from "../../charts/timeline/timeline_text.mjs";
import { SearchBox } from "../../widgets/widgets.mjs";
import { run_api } from "../run/run_frame.mjs";

const words_of = ({ found, count: all }) => (found
  ? `${count(found.index)} of ${count(all)}` : "nothing found");

/**
 * @param {{run: string, rank: number, text: string, from_ns: number,
 *          ontext: (text: string) => void, onfound: (event: any) => void}} props
 * `from_ns` is where the first search starts
 */
export function TimelineSearch({ run, rank, text, from_ns, ontext, onfound }) {
  const [reply, set_reply] = useState(null);
  const last = useRef(null); // what was found, for which text
  const draft = useRef(text);
  const asked = useRef(new AbortController());
  // What is found late leads nowhere: another search was begun, or another rank or page is shown.
  const give_up = () => asked.current.abort();
  useLayoutEffect(() => give_up, [run, rank]);
  const go = async (dir) => {
    const q = draft.current.trim();
    if (q === "") return;
    if (q !== text) ontext(q);
    const known = last.current?.q === q ? last.current.found : null;
    const at = known ? { at_ns: known.begin_ns, at_lane: known.lane }
      : { at_ns: Math.max(-1, Math.round(from_ns) - 1), at_lane: 0 };
    give_up();
    const { signal } = asked.current = new AbortController();
    try {
      const { data } = await api_get(address(run_api(run, "find"), { q, rank, dir, ...at }),
        signal, { keeps: false });
      last.current = { q, found: data.found };
      set_reply({ ...data, q });
      announce(data.found ? `${words_of(data)}: ${data.found.name}, ${
        length_text(data.found.dur_ns)}` : words_of(data));
      if (data.found) onfound(data.found);
    } catch (problem) {
      if (!signal.aborted) set_reply({ problem: problem.message });
    }
  };
  const on_key = (event) => {
    if (event.key !== "Enter" || event.target.type !== "search") return;
    event.preventDefault();
    go(event.shiftKey ? "previous" : "next");
  };
  return html`<div class="tl-search" onKeyDown=${on_key}>
    <${SearchBox} label="Find an event" placeholder="Find by name" value=${text}
      oninput=${(next) => {
        draft.current = next;
      }} />
    <div class="segments" role="group" aria-label="Found events">
      <button type="button" class="small" title="Previous, Shift and Enter"
        aria-label="Previous match" onClick=${() => go("previous")}>▲</button>
      <button type="button" class="small" title="Next, Enter" aria-label="Next match"
        onClick=${() => go("next")}>▼</button></div>
    ${reply && html`<span class="faint tl-found">${reply.problem ?? words_of(reply)}</span>`}
  </div>`;
}
