// SPDX-License-Identifier: Apache-2.0
// Tells from its first bytes that a file cannot be a trace, so that nobody waits for that answer.
#ifndef SERVER_SNIFF_H
#define SERVER_SNIFF_H

#include "ingest/base/err.h"
#include "ingest/base/str.h"

#define SNIFF_BYTES 64 // how many are looked at

// head: the first SNIFF_BYTES, or the whole of a shorter file. True for JSON and for the compressed
// forms that are read; ERR_FORMAT saying what was found otherwise.
MUST_CHECK bool sniff_trace(struct str head, struct err *err);

// Whether the first bytes are of that Content-Encoding: "gzip", "x-gzip" or "zstd".
bool sniff_is_coded(struct str head, struct str coding);

#endif
