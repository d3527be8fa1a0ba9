// SPDX-License-Identifier: Apache-2.0
// One finding: what it costs on two lines; evidence, reason and advice on demand.
import { html } from "../ui.mjs";
import { evidence_path } from "../address.mjs";
import { capital, ms_unit, percent, sentence } from "../format.mjs";

const SEVERITY = {
  high: ["▲", "High"],
  medium: ["■", "Medium"],
  low: ["▪", "Low"],
  info: ["○", "Info"],
};

/** The facts of a finding; they come as JSON text and may be damaged. */
function facts_of(evidence) {
  try {
    const facts = typeof evidence === "string" ? JSON.parse(evidence) : evidence;
    return Array.isArray(facts) ? facts : [];
  } catch {
    return [];
  }
}

function Evidence({ run, evidence }) {
  const facts = facts_of(evidence);
  if (facts.length === 0) return null;
  return html`<div><dt>Evidence</dt><dd><ul>${facts.map(({ fact, href }, i) => {
    const path = evidence_path(run, href);
    const link = path && html` <a href=${path}>show</a>`;
    return html`<li key=${i}>${capital(String(fact))}${link}</li>`;
  })}</ul></dd></div>`;
}

function Paragraph({ label, text }) {
  return text && html`<div><dt>${label}</dt><dd>${sentence(text)}</dd></div>`;
}

function cost_text(finding) {
  if (!finding.cost_ns) return "no cost of its own";
  return `up to ${ms_unit(finding.cost_ns)} per step (${percent(finding.cost_share)})`;
}

export function FindingCard({ run, finding, open }) {
  const [shape, word] = SEVERITY[finding.severity] ?? SEVERITY.info;
  const rank = finding.rank === null || finding.rank === undefined ? "" : ` · rank ${finding.rank}`;
  return html`<details class="finding finding-${finding.severity}" open=${open}>
    <summary><span class="severity"><span aria-hidden="true">${shape}</span> ${word}</span>
      <span class="finding-title">${capital(finding.title)}</span>
      <span class="finding-cost">${cost_text(finding)} · ${finding.confidence} confidence${
        rank}</span>
    </summary>
    <dl class="finding-body">
      <${Evidence} run=${run} evidence=${finding.evidence} />
      <${Paragraph} label="Why it matters" text=${finding.why} />
      <${Paragraph} label="What to do" text=${finding.advice} />
      <${Paragraph} label="How it was computed" text=${finding.method} />
      <${Paragraph} label="Known false alarms" text=${finding.false_alarms} />
    </dl>
  </details>`;
}

export function FindingList({ run, findings, open }) {
  if (findings.length === 0) {
    return html`<p class="empty-line">No rule found anything worth fixing.</p>`;
  }
  return html`<div class="findings">${findings.map((finding, i) => html`<${FindingCard} key=${i}
    run=${run} finding=${finding} open=${open} />`)}</div>`;
}
