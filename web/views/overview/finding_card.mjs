// SPDX-License-Identifier: Apache-2.0
// One finding: what it costs on two lines; evidence, reason and advice on demand.
import { html } from "../../base/ui.mjs";
import { address, evidence_path, has_server, kernel_path, run_path } from "../../base/address.mjs";
import { use_all_labels } from "../../base/kernel_labels.mjs";
import { KernelLabels, OpLink } from "../../widgets/kernel_text.mjs";
import { capital, plural, sentence, typeset } from "../../base/format.mjs";
import { Comments, use_comments } from "../said/comments.mjs";
import { Dismiss, Dismissed } from "./dismissals.mjs";
import { affected_text, cost_text, excess_text, facts_of, gain_text, kernel_of_evidence, op_pieces,
  overlap_text, own_cost, trial_of }
  from "./finding_model.mjs";

const SEVERITY = {
  high: ["▲", "High"],
  medium: ["■", "Medium"],
  low: ["▪", "Low"],
  info: ["○", "Info"],
};

/** A fact whose operators lead to their pages. */
const FactText = ({ run, text }) => op_pieces(text).map(({ op, text: piece }, i) => (op
  ? html`<${OpLink} key=${i} run=${run} name=${op} />` : piece));

function Evidence({ run, evidence }) {
  const facts = facts_of(evidence);
  const labels = use_all_labels();
  if (facts.length === 0) return null;
  return html`<div><dt>Evidence</dt><dd><ul>${facts.map(({ fact, href }, i) => {
    const kernel = kernel_of_evidence(href, labels);
    const path = kernel ? kernel_path(run, kernel) : evidence_path(run, href);
    const link = path && html` <a href=${path}>${kernel ? "its page" : "show"}</a>`;
    const text = capital(typeset(String(fact)));
    return html`<li key=${i}><${FactText} run=${run} text=${text} />${link}</li>`;
  })}</ul></dd></div>`;
}

function Paragraph({ label, text }) {
  return text && html`<div><dt>${label}</dt><dd>${sentence(typeset(text))}</dd></div>`;
}

/**
 * The cost relative to the largest one: solid for its own, hatched for what others explain, too.
 */
function CostBar({ finding, scale_ns }) {
  const own = own_cost(finding);
  const shared = Math.max(0, (finding.cost_ns ?? 0) - own);
  if (own + shared === 0) return null;
  const width = (ns) => ({ width: `${(100 * ns) / (scale_ns || 1)}%` });
  return html`<span class="cost-bar" aria-hidden="true">
    <span class="cost-own" style=${width(own)}></span>
    <span class="cost-shared" style=${width(shared)}></span></span>`;
}

const NO_GAIN = "A replay without it ends no earlier: other work takes just as long.";

/** What fixing it would bring, and where to try that. */
function Trial({ run, finding, whole }) {
  const gain = gain_text({ ...finding, cost_ns: null });
  if (!gain) return null;
  return html`<div><dt>What if</dt><dd>${finding.gain_ns === 0 ? NO_GAIN
    : `${capital(gain)}${whole ? "" : " per step"}. ${excess_text(finding)}`}${
    has_server && finding.change && html` <a
    href=${address(run_path(run, "whatif"), trial_of(finding))}>Try the change</a>`}</dd></div>`;
}

/**
 * @param {{run: string, finding: any, all: any[], scale_ns: number, open?: boolean,
 *          can_dismiss?: boolean, whole?: boolean, comments: any[]}} props `all` are the findings
 *   that may explain the same time, `comments` those on the run, `whole`: no step is marked
 */
function FindingCard({ run, finding, all, scale_ns, open, can_dismiss, whole, comments }) {
  const place = `findings/${finding.id}`;
  const said = comments.filter((comment) => comment.place === place).length;
  const [shape, word] = SEVERITY[finding.severity] ?? SEVERITY.info;
  const overlap = overlap_text(finding, all);
  const more = [cost_text(finding, whole), gain_text(finding), affected_text(finding),
    `${finding.confidence} confidence`, said > 0 && plural(said, "comment")]
    .filter(Boolean).join(" · ");
  return html`<div class="finding finding-${finding.severity}"><details open=${open}>
    <summary><span class="severity"><span aria-hidden="true">${shape}</span> ${word}</span>
      <span class="finding-title">${capital(typeset(finding.title))}</span>
      <span class="finding-cost">${more}<${CostBar} finding=${finding}
        scale_ns=${scale_ns} /></span>
      ${overlap && html`<span class="finding-cost finding-overlap">${capital(overlap)}</span>`}
    </summary>
    <dl class="finding-body">
      <${Evidence} run=${run} evidence=${finding.evidence} />
      <${Paragraph} label="Why it matters" text=${finding.why} />
      <${Paragraph} label="What to do" text=${finding.advice} />
      <${Paragraph} label="How it was computed" text=${finding.method} />
      <${Paragraph} label="Known false alarms" text=${finding.false_alarms} />
      <${Trial} run=${run} finding=${finding} whole=${whole} />
    </dl>
    <div class="finding-foot">${finding.id && html`<${Comments} run=${run} comments=${comments}
      place=${place} label="Comment on: ${finding.title}" folded=${true} />`}${
      can_dismiss && !finding.dismissal && html`<${Dismiss} run=${run} finding=${finding} />`}</div>
  </details>
  ${finding.dismissal && html`<div class="finding-foot"><${Dismissed} run=${run}
    finding=${finding} /></div>`}</div>`;
}

const NOTHING = "No rule found anything worth fixing in this recording.";

/**
 * @param {{run: string, findings: any[], all?: any[], open_first?: boolean,
 *          can_dismiss?: boolean, whole?: boolean, nothing?: string}} props
 */
export function FindingList({ run, findings, all = findings, open_first, can_dismiss, whole,
  nothing = NOTHING }) {
  const comments = use_comments(run);
  if (findings.length === 0) return html`<p class="empty-line">${nothing}</p>`;
  const scale_ns = Math.max(...all.map(({ cost_ns }) => cost_ns ?? 0));
  const names_kernels = findings.some(({ evidence }) =>
    JSON.stringify(evidence ?? "").includes("kernels?q="));
  return html`${names_kernels && html`<${KernelLabels} runs=${[run]} />`}
    <div class="findings">${findings.map((finding, i) => html`<${FindingCard}
    key=${finding.id ?? i} run=${run} finding=${finding} all=${all} scale_ns=${scale_ns}
    open=${open_first && i === 0} can_dismiss=${can_dismiss} whole=${whole}
    comments=${comments} />`)}</div>`;
}
