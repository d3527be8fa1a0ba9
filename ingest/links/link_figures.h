// SPDX-License-Identifier: Apache-2.0
// Figures for inspect of what tests of links say.
#ifndef INGEST_LINKS_LINK_FIGURES_H
#define INGEST_LINKS_LINK_FIGURES_H

#include "ingest/evidence/evidence.h"
#include "ingest/format.h"

// The formats that share a reader's parts.
extern const struct format format_nccl_tests;

// Devices, lines of results, averages, the highest bus bandwidth, the first and last line.
void link_report_tests(const struct link_tests *links, struct figures *figures);

#endif
