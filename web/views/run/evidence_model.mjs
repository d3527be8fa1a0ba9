// SPDX-License-Identifier: Apache-2.0
// Which pages show what a run's files other than traces say; pure.

// By the format of a file; what is in none of these speaks of the job.
const PAGES = [
  { key: "collectives", label: "Communication", formats: ["nccl-tests", "nccl-tests-json",
    "rccl-tests-json", "rccl-tests-csv", "nccl-inspector", "nccl-ras-json", "nvidia-smi-topo",
    "ibstat", "perftest", "perftest-json", "nvbandwidth", "nvbandwidth-json"] },
  { key: "memory", label: "Memory", formats: ["memory-snapshot"] },
  { key: "kernels", label: "Kernels", formats: ["ncu-csv", "rocprof-csv"] },
];
const JOB = { key: "training", label: "Training" };
const DATA = { key: "data", label: "Data" };
/** The query of the files of a run, as evidence_pages needs them. */
export const FILES = { fields: "kind,format,status", limit: "all" };

const UNREAD = new Set(["", "json", "text"]); // kept, but none of its figures shown

const page_of = ({ format }) => PAGES.find(({ formats }) => formats.includes(format)) ?? JOB;

/**
 * The pages that have something, the job's first; that of the files themselves where no file could
 * be read.
 * @param {{kind: string, format: string|null, status: string}[]} inputs
 */
export function evidence_pages(inputs) {
  const read = inputs.filter(({ kind, format, status }) => kind === "attachment"
    && status === "done" && !UNREAD.has(format ?? ""));
  const found = new Set(read.map(page_of));
  return found.size === 0 ? [DATA] : [JOB, ...PAGES].filter((page) => found.has(page));
}
