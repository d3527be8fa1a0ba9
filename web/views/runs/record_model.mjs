// SPDX-License-Identifier: Apache-2.0
// Jobs that agents can record, from the processes they know; pure.

/**
 * @typedef {{job: string, processes: number, nodes: string[], busy: number}} RunningJob
 * job "0": processes outside Slurm
 */

/** The jobs of all nodes, the largest first. @param {any} agents @returns {RunningJob[]} */
export function jobs_of(agents) {
  const jobs = new Map();
  for (const { node, processes } of agents?.nodes ?? []) {
    for (const { job, busy } of processes) {
      const found = jobs.get(job) ?? { job, processes: 0, nodes: [], busy: 0 };
      found.processes++;
      found.busy += busy ? 1 : 0;
      if (!found.nodes.includes(node)) found.nodes.push(node);
      jobs.set(job, found);
    }
  }
  return [...jobs.values()].sort((a, b) => b.processes - a.processes || (a.job < b.job ? -1 : 1));
}

/** What to call a job. @param {RunningJob} job */
export const job_name = ({ job }) => (job === "0" ? "outside Slurm" : `job ${job}`);
