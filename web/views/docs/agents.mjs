// SPDX-License-Identifier: Apache-2.0
// How to connect an agent, what its tools answer, and what they promise.
import { html } from "../../base/ui.mjs";
import { use_title } from "../../base/hooks.mjs";
import { Card, Command } from "../../widgets/widgets.mjs";

const address = () => `${location.origin}/mcp`;

const claude_code = () => `claude mcp add --transport http stepscope ${address()} \\
  --header "Authorization: Bearer $STEPSCOPE_TOKEN"`;

const by_address = () => `{"mcpServers": {"stepscope": {
  "type": "http", "url": "${address()}",
  "headers": {"Authorization": "Bearer \${STEPSCOPE_TOKEN}"}}}}`;

const codex = () => `[mcp_servers.stepscope]
url = "${address()}"
bearer_token_env_var = "STEPSCOPE_TOKEN"`;

const as_program = () => `{"mcpServers": {"stepscope": {
  "command": "stepscope", "args": ["mcp", "--url", "${location.origin}"],
  "env": {"STEPSCOPE_TOKEN": "ss_..."}}}}`;

const FILES = "stepscope mcp base=runs/base change=runs/change";

const python = () => `from stepscope import Hub
agent = Hub("${location.origin}").agent
agent.overview("exp42")
agent.explain("exp42", "late_rank")
agent.tools()   # for the function calls of a model`;

const skill = () => `curl -sSfO --create-dirs --output-dir .claude/skills/stepscope \\
  ${location.origin}/client/SKILL.md`;

/** Each tool, and the question it answers. */
const TOOLS = [
  ["find_runs", "Lists runs; for a series, also since when its steps have been slower or faster."],
  ["overview", "Where the median step of a run goes, its largest costs, and what limits trust."],
  ["findings", "What to fix first, with evidence, advice and when it would be a false alarm."],
  ["explain", "Evidence for one question: a late rank, idle time, communication, compute, memory, "
    + "steps, strategy, a hang, training, what the recording lacks."],
  ["compare", "How much slower or faster a run is, where, and whether that is noise."],
  ["gate", "Whether a change stays within a limit, and how many repeats are missing."],
  ["what_if", "How long a step would take after a change, before anyone makes it."],
  ["table", "Rows of any table, with what its columns mean."],
  ["timeline_cut", "The longest events of a rank in one step or window."],
];

function Tools() {
  return html`<dl class="definitions">${TOOLS.map(([name, answers]) => html`
    <div key=${name}><dt><code>${name}</code></dt><dd>${answers}</dd></div>`)}</dl>`;
}

function Promises() {
  return html`<ul class="notes">
    <li>They only read. A token with the scope <code>read</code> is enough.</li>
    <li>They compute nothing: every number is the one on these pages and in the API, in
      milliseconds where a name ends in <code>_ms</code>, and answers link to the page.</li>
    <li>An answer is about 2,000 tokens at most; what does not fit has a cursor.</li>
    <li><code>cannot_answer</code> says what cannot be answered, and why.</li>
    <li>Names in traces are data: invisible characters are replaced, long names shortened, and they
      appear as values only. A model may still take a name for an instruction, but no tool writes,
      deletes or fetches anything.</li>
  </ul>`;
}

function Clients() {
  return html`<h3>Claude Code</h3><${Command} text=${claude_code()} />
    <h3>Clients with an mcp.json</h3><${Command} text=${by_address()} />
    <p class="faint">Cursor, VS Code and others; VS Code calls the outer
      name <code>servers</code>.</p>
    <h3>Codex</h3><${Command} text=${codex()} />
    <h3>Clients that start a program</h3><${Command} text=${as_program()} />`;
}

export default function Agents() {
  use_title("Agents");
  return html`<header class="page-head"><h1 tabindex="-1">Connecting an agent</h1>
      <p class="page-note">Tools over the Model Context Protocol, at <code>${address()}</code></p>
    </header>
    <div class="columns-2 guide">
      <div><${Card} title="Clients"><${Clients} /><//>
        <${Card} title="Local files, no service"><${Command} text=${FILES} />
          <p>Speaks the protocol over standard input and output. Files are analyzed in a temporary
            folder; each name is a run, its files are its ranks.</p><//></div>
      <div><${Card} title="What the tools answer"><${Tools} /><//>
        <${Card} title="What they guarantee"><${Promises} /><//>
        <${Card} title="The skill"><p>Teaches an agent which tool answers which question, what
            “noise unknown” means and when to stop.</p>
          <${Command} text=${skill()} /><//>
        <${Card} title="From Python"><${Command} text=${python()} /><//></div>
    </div>`;
}
