// SPDX-License-Identifier: Apache-2.0
// Why the job hangs, from the Flight Recorder dumps among the files of a run.
#ifndef ANALYSIS_RUN_HANGS_H
#define ANALYSIS_RUN_HANGS_H

#include "analysis/report/rank_source.h"

// Adds the tables of hang_tables, or a doubt if the dumps are too large for the memory; nothing
// without dumps.
MUST_CHECK bool run_find_hangs(const struct rank_source *source, struct report *report,
                               struct err *err);

#endif
