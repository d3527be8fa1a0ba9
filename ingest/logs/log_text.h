// SPDX-License-Identifier: Apache-2.0
// Pieces of lines of logs: numbers as people print them, and what launchers put before a line.
#ifndef INGEST_LOGS_LOG_TEXT_H
#define INGEST_LOGS_LOG_TEXT_H

#include "ingest/base/str.h"

struct str log_trim(struct str text); // without white space at both ends
struct str log_from(struct str text, size_t at);

// The number at the start of a text, after white space and a quote: "7,123", "1.2E-05", "1.78K",
// "nan", "151.3GiB" (of 2^30 bytes, as is GB: that is how frameworks count), "33.2%" (as 33.2).
// False if there is none.
bool log_number(struct str text, double *number);

// The text without terminal colors, also those whose escape character was lost. It is returned
// itself if it has none, else a copy in room, which is cut at its size.
struct str log_plain(struct str text, char *room, size_t size);

// Who printed a line, by what is before its text ("[rank7]:", "3: ", "[1,3]<stdout>:",
// "worker-3: "); -1 if that does not say it.
int64_t log_rank(struct str before);

// When it was printed, as its clock shows it, in nanoseconds since 1970; LOG_NO_TIME.
int64_t log_time(struct str before);

#endif
