// SPDX-License-Identifier: Apache-2.0
// Runs of one side that are copies of each other: an upload that was sent twice, under two names.
#ifndef SERVER_SAME_FILES_H
#define SERVER_SAME_FILES_H

#include "server/compare/compare_sides.h"

// Leaves out each run of a side whose files are byte by byte those of another: its traces, of a run
// without any its other files. They would count one measurement as several.
MUST_CHECK bool same_files_leave_out(struct request *request, struct compared *compared,
                                     struct err *err);

#endif
