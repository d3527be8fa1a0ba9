// SPDX-License-Identifier: Apache-2.0
// Reports as text for a terminal.
#ifndef SERVER_PRINT_REPORT_H
#define SERVER_PRINT_REPORT_H

#include "analysis/report/report.h"

#include <stdio.h>

// One trace: what it is, where the time went, steps, kernels, collectives, findings, trust.
void print_trace_report(const struct report *report, const char *file, int64_t rank, FILE *out);

// Parts of it that runs have, too.
void print_findings(const struct report *report, FILE *out);
void print_trust_row(const struct table *trust, size_t row, FILE *out);

// What only the ranks together show: their steps, how they wait for each other and why, the
// parallel strategy (print_run.c).
void print_run_report(const struct report *report, FILE *out);

#endif
