// SPDX-License-Identifier: Apache-2.0
// Figures for inspect of what tests of links say.
#ifndef INGEST_LINKS_LINK_FIGURES_H
#define INGEST_LINKS_LINK_FIGURES_H

#include "ingest/source/evidence_count.h"

// The formats that share a reader's parts.
extern const struct format format_nccl_tests, format_nccl_tests_json, format_nccl_inspector,
    format_nccl_ras, format_perftest, format_topology, format_ibstat;

// Devices, lines of results, averages, the highest bus bandwidth, the first and last line.
void link_report_tests(const struct evidence *evidence, struct figures *figures);
// The same, with a list of sizes.
void link_report_sizes(const struct evidence *evidence, struct figures *figures);

// GPUs, network cards and how many paths there are of each kind, in both directions.
void link_report_topology(const struct evidence *evidence, struct figures *figures);

// Ports by their state.
void link_report_ports(const struct evidence *evidence, struct figures *figures);

// Records by operation, and communicators.
void link_report_records(const struct evidence *evidence, struct figures *figures);

// Communicators and their ranks, those that did not answer apart.
void link_report_members(const struct evidence *evidence, struct figures *figures);

#endif
