// SPDX-License-Identifier: Apache-2.0
// Recordings whose device work is in rows that are not read, and what to send instead.
#ifndef ANALYSIS_UNREAD_DEVICES_H
#define ANALYSIS_UNREAD_DEVICES_H

#include "ingest/trace/trace.h"

struct unread_devices {
    const char *what;   // the file is, in a sentence
    const char *advice; // what to do
};

// What a trace without device events is by the names of its rows; NULL: nothing known.
const struct unread_devices *unread_devices_of(const struct trace *trace);

#endif
