// SPDX-License-Identifier: Apache-2.0
// Reports as text for a terminal.
#ifndef SERVER_PRINT_REPORT_H
#define SERVER_PRINT_REPORT_H

#include "analysis/report.h"

#include <stdio.h>

// One trace: what it is, where the time went, steps, kernels, collectives, findings, trust.
void print_trace_report(const struct report *report, const char *file, int64_t rank, FILE *out);

// What only the ranks together show.
void print_run_report(const struct report *report, FILE *out);

#endif
