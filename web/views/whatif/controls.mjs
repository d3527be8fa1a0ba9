// SPDX-License-Identifier: Apache-2.0
// The controls that compose changes: sliders with few stops, switches, and kernels.
import { html, useEffect, useId, useRef, useState } from "../../base/ui.mjs";
import { percent } from "../../base/format.mjs";
import { KernelText } from "../../widgets/kernel_text.mjs";
import { HOSTS, kernel_pattern, NETWORKS, roofline_factor } from "./whatif_model.mjs";

const SLIDER_WAIT_MS = 120;

/** A slider that reports when it moves, and when it rests; stops are places in a list of values. */
function Slider({ label, help, stops, value, write, onmove, onchange }) {
  const id = useId();
  const place = Math.max(0, stops.indexOf(value));
  const [at, set_at] = useState(place);
  const report = useRef(onchange); // the newest, which knows of changes made meanwhile
  report.current = onchange;
  const reported = useRef([]); // places that come back as `value`, maybe after a further move
  useEffect(() => {
    const i = reported.current.indexOf(place);
    reported.current = i < 0 ? [] : reported.current.slice(i + 1);
    if (i < 0) set_at(place);
  }, [place]);
  useEffect(() => {
    if (at === place) return undefined;
    const timer = setTimeout(() => {
      reported.current.push(at);
      report.current(stops[at]);
    }, SLIDER_WAIT_MS);
    return () => clearTimeout(timer);
  }, [at, place]);
  return html`<div class="whatif-control"><label for=${id}>${label}</label>
    <output for=${id}>${write(stops[at])}</output>
    <input id=${id} type="range" min="0" max=${stops.length - 1} step="1" value=${at}
      aria-valuetext=${write(stops[at])} aria-describedby=${`${id}-help`}
      onInput=${(event) => {
        const next = Number(event.target.value);
        set_at(next);
        onmove(stops[next]);
      }} />
    <p class="whatif-help" id=${`${id}-help`}>${help}</p></div>`;
}

function Switch({ label, help, value, onchange }) {
  const id = useId();
  return html`<div class="whatif-control"><label class="check"><input type="checkbox"
      checked=${value} aria-describedby=${id} onChange=${(event) =>
        onchange(event.target.checked)} />${label}</label>
    <p class="whatif-help" id=${id}>${help}</p></div>`;
}

function Straggler({ ranks, value, onchange }) {
  const id = useId();
  return html`<div class="whatif-control"><label for=${id}>Straggler</label>
    <select id=${id} value=${value} aria-describedby=${`${id}-help`}
        onChange=${(event) => onchange(event.target.value)}>
      <option value="">as recorded</option>
      <option value="all">no rank has more to do than its peers</option>
      ${ranks.map((rank) => html`<option key=${rank} value=${String(rank)}>rank ${rank} has no more
        to do than its peers</option>`)}</select>
    <p class="whatif-help" id=${`${id}-help`}>Compute, copies and host time of a rank come down to
      the median of the ranks with about as many kernels.</p></div>`;
}

const PERCENTS = Array.from({ length: 21 }, (_, i) => (20 - i) / 20);

/** Stops of a kernel's slider, with the one it has, such as its roofline. */
const stops_with = (factor) =>
  (PERCENTS.includes(factor) ? PERCENTS : [...PERCENTS, factor].sort((a, b) => b - a));

function Kernel({ kernel, known, roofline, onmove, onchange, onremove }) {
  const { name, factor } = kernel;
  const full = known.find((one) => kernel_pattern(one) === name) ?? name;
  const best = roofline_factor(roofline, full);
  return html`<li><p class="whatif-kernel"><${KernelText} name=${full} />
      ${best !== null && html`<button type="button" class="small" aria-pressed=${factor === best}
        title="The time that the GPU's peaks allow for the same work"
        onClick=${() => onchange(best)}>At its roofline</button>`}
      <button type="button" class="icon" aria-label="Remove this kernel"
        onClick=${onremove}>×</button></p>
    <${Slider} label="Time left" help="What remains of each call of the kernel."
      stops=${stops_with(factor)} value=${factor} write=${percent} onmove=${onmove}
      onchange=${onchange} /></li>`;
}

function Kernels({ kernels, known, roofline, onmove, onchange }) {
  const id = useId();
  const set = (i, factor) => kernels.map((one, at) => (at === i ? { ...one, factor } : one));
  const add = (name) => name && onchange([...kernels,
    { name: kernel_pattern(name), factor: roofline_factor(roofline, name) ?? 0.5 }]);
  const left = known.filter((name) =>
    !kernels.some((kernel) => kernel.name === kernel_pattern(name)));
  return html`<div class="whatif-control whatif-kernels"><label for=${id}>Kernels</label>
    <select id=${id} value="" aria-describedby=${`${id}-help`}
        onChange=${(event) => { add(event.target.value); event.target.value = ""; }}>
      <option value="">add a kernel…</option>
      ${left.map((name) => html`<option key=${name} value=${name}>${name.slice(0, 90)}</option>`)}
    </select>
    <p class="whatif-help" id=${`${id}-help`}>Sets how much of a kernel's time is left: at
      first what its roofline allows if its work is known, else half.</p>
    <ul>${kernels.map((kernel, i) => html`<${Kernel} key=${kernel.name} kernel=${kernel}
      known=${known} roofline=${roofline} onmove=${(factor) => onmove(set(i, factor))}
      onchange=${(factor) => onchange(set(i, factor))}
      onremove=${() => onchange(kernels.filter((_, at) => at !== i))} />`)}</ul></div>`;
}

function Others({ changes, onchange }) {
  const id = useId();
  const [text, set_text] = useState("");
  const add = (event) => {
    event.preventDefault();
    if (text.trim()) onchange([...changes, text.trim()]);
    set_text("");
  };
  return html`<form class="whatif-control" onSubmit=${add}>
    <label for=${id}>Any other change</label>
    <span class="whatif-other"><input id=${id} value=${text} maxlength="400" spellcheck=${false}
      placeholder="scale=0.5:op=aten::mm" aria-describedby=${`${id}-help`}
      onInput=${(event) => set_text(event.target.value)} />
      <button type="submit">Add</button></span>
    <p class="whatif-help" id=${`${id}-help`}>An action (scale=, set=, add=, roofline, overlap,
      counterpart, remove, drop), then kernel=, op=, category=, group=, link= or host= and a
      name, where * is any text. scale=0.5:link=inter-node doubles the bandwidth between nodes,
      add=-5us:group=dp takes 5 µs off a group's latency.</p>
    <ul>${changes.map((change, i) => html`<li key=${change} class="whatif-kernel"><code>${
      change}</code><button type="button" class="icon" aria-label=${`Remove ${change}`}
      onClick=${() => onchange(changes.filter((_, at) => at !== i))}>×</button></li>`)}</ul>
  </form>`;
}

const network_text = (times) =>
  (times === 1 ? "as recorded" : times === Infinity ? "takes no time" : `${times} times as fast`);
const host_text = (left) =>
  (left === 1 ? "as recorded" : left === 0 ? "takes no time" : `${percent(left)} of its time`);

/**
 * @param {{setup: import("./whatif_model.mjs").Setup, ranks: number[], kernels: string[],
 *          roofline: any[], onreach: () => void, onmove: (patch: object) => void,
 *          onchange: (patch: object) => void}} props
 */
export function Controls({ setup, ranks, kernels, roofline, onreach, onmove, onchange }) {
  const setting = (key) => ({ value: setup[key], onmove: (value) => onmove({ [key]: value }),
    onchange: (value) => onchange({ [key]: value }) });
  return html`<div class="whatif-controls" onPointerEnter=${onreach} onFocusIn=${onreach}>
    ${ranks.length > 1 && html`<${Straggler} ranks=${ranks} ...${setting("balanced")} />`}
    <${Slider} label="Network" stops=${NETWORKS} write=${network_text} ...${setting("network")}
      help=${ranks.length > 1 ? "Transfers get shorter; waiting for late ranks stays."
        : "Communication gets shorter, here with its waits for other ranks."} />
    <${Slider} label="Host" stops=${HOSTS} write=${host_text} ...${setting("host")}
      help="The host's time between calls. With none left, the step runs like a captured graph." />
    <${Switch} label="Without the profiler" ...${setting("profiler")}
      help="The host takes 3.3 µs less for each operator that PyTorch recorded." />
    <${Switch} label="Data is ready" ...${setting("data")}
      help="The host never waits for the data loader." />
    <${Switch} label="No copies" ...${setting("copies")}
      help="Copies and memsets on the device take no time." />
    <${Switch} label="No recomputation" ...${setting("recompute")}
      help="Activations are kept, so that nothing is computed twice." />
    <${Switch} label="Communication fully overlapped" ...${setting("overlap")}
      help="Compute and the host never wait for it; it has one more step to finish." />
    <${Switch} label="Matrix products at their roofline" ...${setting("gemm")}
      help="Each takes what the peaks of the GPU allow for its shape." />
    <${Kernels} kernels=${setup.kernels} known=${kernels} roofline=${roofline}
      onmove=${(list) => onmove({ kernels: list })}
      onchange=${(list) => onchange({ kernels: list })} />
    <${Others} changes=${setup.others} onchange=${(list) => onchange({ others: list })} />
  </div>`;
}
