// SPDX-License-Identifier: Apache-2.0
// Tests and records of links beside the run's own collectives; nothing of it without such files.
import { html, useMemo } from "../../base/ui.mjs";
import { use_query } from "../../base/router.mjs";
import { count } from "../../base/format.mjs";
import { Scatter } from "../../charts/scatter.mjs";
import { Topology } from "../../charts/topology.mjs";
import { Card, ExportLinks, Lead } from "../../widgets/widgets.mjs";
import { Pick } from "../../widgets/pick.mjs";
import { RunTableCard } from "../run/rank_table.mjs";
import { awaited, use_table } from "../run/run_table.mjs";
import { by_use, communicators_note, curve_sentence, curves_of, hosts_of, links_lead, matrix_of,
  own_of, ports_note, share_sentences, topology_sentence, without_sentence }
  from "./link_model.mjs";

const TESTS = {
  id: "tests",
  caption: "Link tests",
  sort: "-bus_gbps",
  search: ["operation", "file"],
  limit: 6,
  columns: [
    { key: "operation", label: "Test", width_px: 150 },
    { key: "bytes", label: "Size" },
    { key: "ranks", label: "Ranks", priority: 2 },
    { key: "nodes", label: "Nodes", sparse: true, priority: 3 },
    { key: "dtype", label: "Type", sparse: true, priority: 4 },
    { key: "in_place", label: "In place", priority: 4 },
    { key: "time_ns", label: "Time", sparse: true, priority: 2 },
    { key: "p99_ns", label: "p99", sparse: true, priority: 5 },
    { key: "algo_gbps", label: "Algo", sparse: true, priority: 3 },
    { key: "bus_gbps", label: "Bus", sparse: true },
    { key: "wrong", label: "Wrong", sparse: true, priority: 3 },
    { key: "file", label: "File", className: "clip", width_px: 200, priority: 4 },
  ],
};

const PORTS = {
  id: "ports",
  caption: "Network ports",
  sort: "-state",
  limit: 16,
  columns: [
    { key: "device", label: "Card", className: "mono" },
    { key: "port", label: "Port", priority: 3 },
    { key: "state", label: "State" },
    { key: "layer", label: "Layer", sparse: true, priority: 2 },
    { key: "rate_gbps", label: "Rate", sparse: true },
    { key: "file", label: "File", className: "clip", width_px: 220, priority: 4 },
  ],
};

const RECORDS = {
  id: "records",
  caption: "Operations by NCCL Inspector",
  sort: "-calls",
  search: ["operation", "name", "communicator"],
  limit: 15,
  columns: [
    { key: "operation", label: "Operation" },
    { key: "name", label: "Communicator", sparse: true, className: "clip", width_px: 160 },
    { key: "bytes", label: "Size" },
    { key: "ranks", label: "Ranks", priority: 3 },
    { key: "calls", label: "Records", priority: 2 },
    { key: "median_ns", label: "p50", priority: 2 },
    { key: "p95_ns", label: "p95", priority: 3 },
    { key: "bus_gbps", label: "Bus" },
    { key: "best_bus_gbps", label: "Best bus", priority: 2 },
    { key: "file", label: "File", className: "clip", width_px: 200, priority: 5 },
  ],
};

const COMMUNICATORS = {
  id: "comms",
  caption: "Communicators by NCCL RAS",
  sort: "-missing_ranks",
  limit: 15,
  columns: [
    { key: "communicator", label: "Communicator", className: "mono clip", width_px: 180 },
    { key: "ranks", label: "Ranks" },
    { key: "missing_ranks", label: "Missing" },
    { key: "missing", label: "Which", sparse: true },
    { key: "failed_ranks", label: "Failed", priority: 2 },
    { key: "aborted_ranks", label: "Aborted", priority: 3 },
    { key: "least_collectives", label: "Fewest collectives", sparse: true, priority: 3 },
    { key: "most_collectives", label: "Most", sparse: true, priority: 3 },
    { key: "behind_rank", label: "Behind", sparse: true },
    { key: "file", label: "File", className: "clip", width_px: 200, priority: 4 },
  ],
};

const point_of = (row) => ({ ...row, name: row.kind,
  where: row.process_group ? `group ${row.process_group}` : "",
  median_ns: row.transfer_median_ns ?? row.median_ns });

/** The measured curve and the run's collectives on as many ranks. */
function Curve({ curves, own }) {
  const [query, change] = use_query({ curve: "" });
  const sorted = useMemo(() => by_use(curves, own), [curves, own]);
  const curve = sorted.find(({ key }) => key === query.curve) ?? sorted[0];
  const points = useMemo(() => own_of(curve, own).map(point_of), [curve, own]);
  const lines = useMemo(() => [{ key: curve.key, label: "Measured, the best of all tests",
    points: curve.points }], [curve]);
  const pick = html`<${Pick} label="Collective" choices=${sorted} chosen=${curve}
    onchange=${(key) => change({ curve: key })} />`;
  return html`<${Scatter} rows=${points} curves=${lines} caption=${curve_sentence(curve)}
    actions=${pick} mark_label=${`${curve.kind} of this run`} />`;
}

/** What the shares mean, the longest collectives first. */
function Shares({ own, curves }) {
  const sentences = share_sentences(own, curves);
  const without = without_sentence(own);
  return html`${sentences.length > 0 && html`<ul class="notes link-shares"
      aria-label="Share of the tested bandwidth">${sentences.map(({ key, head, text }) => html`<li
        key=${key}><b>${head}</b>${text}</li>`)}</ul>`}
    ${without && html`<p class="faint">${without}</p>`}`;
}

function Connections({ rows }) {
  const [query, change] = use_query({ topology: "" });
  const hosts = useMemo(() => hosts_of(rows), [rows]);
  const chosen = hosts.find(({ key }) => key === query.topology) ?? hosts[0];
  const matrix = useMemo(() => matrix_of(chosen.rows), [chosen]);
  return html`<${Topology} matrix=${matrix} caption=${topology_sentence(chosen.rows)}
    actions=${html`<${Pick} label="Host" choices=${hosts} chosen=${chosen}
      onchange=${(key) => change({ topology: key })} />`} />`;
}

const NAMES = ["link_curves", "link_tests", "link_topology", "link_ports", "link_records",
  "link_communicators"];

/** The tables of links; asked for only if a run has files other than traces. */
export function use_links(run, wanted) {
  const [curves, tests, topology, ports, records, communicators] = NAMES.map((name) =>
    use_table(run, name, { limit: "all" }, wanted));
  const all = [curves, tests, topology, ports, records, communicators];
  return { curves, tests, topology, ports, records, communicators,
    resource: wanted ? awaited(all) : null,
    has_any: all.some(({ rows }) => rows.length > 0) };
}

/**
 * What the links reached, and the run's collectives.
 * @param {{links: ReturnType<typeof use_links>, own: any[]}} props own: rows of comm_waits, else of
 *   collectives
 */
export function LinkTests({ links, own }) {
  const curves = useMemo(() => curves_of(links.curves.rows, links.tests.rows),
    [links.curves.rows, links.tests.rows]);
  if (curves.length === 0) return null;
  return html`<${Card} title="Link tests" note=${own.length > 0
      ? "what the links reached, and the run's collectives" : ""}>
    <${Curve} curves=${curves} own=${own} /><${Shares} own=${own} curves=${curves} /><//>`;
}

/** What link files say at a glance, where no collective of a trace says more. */
export function LinksLead({ links }) {
  const { curves, tests, topology, ports, records, communicators } = links;
  return html`<${Lead} text=${links_lead({ curves: curves_of(curves.rows, tests.rows),
    topology: topology.rows, ports: ports.rows, records: records.rows,
    communicators: communicators.rows })} />`;
}

/** The tables behind that, and all else that is known about the links. */
export function LinkDetails({ links }) {
  const { tests, topology, ports, records, communicators } = links;
  return html`<${RunTableCard} title="Results of link tests" table=${tests} view=${TESTS}
      note=${`${count(tests.rows.length)} measured`} />
    ${topology.rows.length > 0 && html`<${Card} title="Topology of a host"
        note="nvidia-smi topo -m" actions=${html`<${ExportLinks} links=${topology.links} />`}>
      <${Connections} rows=${topology.rows} /><//>`}
    <${RunTableCard} title="Network ports" table=${ports} view=${PORTS}
      note=${ports_note(ports.rows)} />
    <${RunTableCard} title="Operations that NCCL recorded" table=${records} view=${RECORDS}
      note="by NCCL Inspector, over all ranks in its files" />
    <${RunTableCard} title="Communicators" table=${communicators} view=${COMMUNICATORS}
      note=${communicators_note(communicators.rows)} />`;
}
