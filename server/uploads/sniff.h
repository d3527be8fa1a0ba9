// SPDX-License-Identifier: Apache-2.0
// Tells from its first bytes that a file can be neither a trace nor an archive, so that nobody
// waits for that answer.
#ifndef SERVER_SNIFF_H
#define SERVER_SNIFF_H

#include "ingest/base/err.h"
#include "ingest/base/str.h"
#include "ingest/source/format.h"

// How many are looked at: as many as where a file is read, so that both find the same.
#define SNIFF_BYTES FORMAT_HEAD_BYTES

// head: the first SNIFF_BYTES, or the whole of a shorter file. True for JSON, for the compressed
// forms that are read, and for archives; ERR_FORMAT saying what was found otherwise. *archive: the
// format word of what is to be unpacked, "" for a trace. Compressed files count as archives unless
// named like a trace; the job that unpacks them finds out.
MUST_CHECK bool sniff_upload(struct str head, struct str filename, struct str *archive,
                             struct err *err);

// Whether a file of that archive format could also be one trace: a database, or any compressed file
// that is not named like an archive.
bool sniff_may_be_trace(struct str archive, struct str filename);

// The same as sniff_upload for a file that must be a trace.
MUST_CHECK bool sniff_trace(struct str head, struct err *err);

// Whether the first bytes are of that Content-Encoding: "gzip", "x-gzip" or "zstd".
bool sniff_is_coded(struct str head, struct str coding);

#endif
