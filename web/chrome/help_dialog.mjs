// SPDX-License-Identifier: Apache-2.0
// Help: the eight parts, how to read the pages, the keys.
import { html, useState } from "../base/ui.mjs";
import { Dialog } from "../widgets/widgets.mjs";
import { PARTS } from "../base/parts.mjs";
import { Glossary } from "./glossary.mjs";
import { set_shortcuts, shortcuts_on } from "./shortcuts.mjs";

const KEYS = [
  ["?", "this help"],
  ["/", "focus the search field"],
  ["← →", "move between the points of a chart; close and open a row of a tree"],
  ["↑ ↓", "move between the rows of a tree"],
  ["w a s d", "zoom and move in the timeline; its page lists all its keys"],
  ["Space", "select a run in a trend to compare it with another"],
  ["Enter", "break down a waterfall column"],
  ["Esc", "go back up in the waterfall, close a dialog"],
];

function ShortcutSwitch() {
  const [on, set_on] = useState(shortcuts_on());
  const change = (event) => {
    set_shortcuts(event.target.checked);
    set_on(event.target.checked);
  };
  return html`<label class="check"><input type="checkbox" checked=${on} onChange=${change} />
    Single-key shortcuts</label>`;
}

export function HelpDialog({ onclose }) {
  return html`<${Dialog} title="Help" onclose=${onclose} className="wide">
    <${Glossary} />
    <h3>The eight parts of a step</h3>
    <p>Every nanosecond of a step belongs to exactly one part, so the parts sum to the step.</p>
    <dl class="definitions">${PARTS.map((part) => html`<div key=${part.key}>
      <dt><span class="swatch bar-${part.key}"></span>${part.label}</dt><dd>${part.help}</dd>
    </div>`)}
    </dl>
    <h3>Which step, which rank</h3>
    <p>A run's figures are those of its typical rank, the one with the lower-median step time,
      over its steady steps. Warm-up steps are excluded and listed with the
      reason. Lower times are better everywhere; ▲ is slower, ▼ is faster.</p>
    <h3>Exact numbers</h3>
    <p>Times are kept as whole nanoseconds and shown in milliseconds. Hover over a figure for the
      exact value, or export a table as CSV or JSON.</p>
    <h3>Recording</h3>
    <p><a href="/docs/agents">How to connect an agent</a>.</p>
    <p><a href="/docs/recording">How to record a trace</a>, what each profiler option records and
      what it costs. A run's Data page lists what its traces lack.</p>
    <h3>Keys</h3>
    <dl class="keys-list">${KEYS.map(([key, text]) => html`<div key=${key}>
      <dt><kbd>${key}</kbd></dt><dd>${text}</dd></div>`)}</dl>
    <${ShortcutSwitch} />
  <//>`;
}
