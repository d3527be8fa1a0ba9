// SPDX-License-Identifier: Apache-2.0
// One trace in all the forms that the benchmark reads: in memory and as files, plain, gzip and
// zstd.
#ifndef BENCH_CORPUS_H
#define BENCH_CORPUS_H

#include "ingest/base/err.h"
#include "ingest/base/str.h"

#define CORPUS_ZSTD_LEVEL 3 // the default of the zstd tool
#define CORPUS_GZIP_LEVEL 6 // the default of the gzip tool

struct corpus {
    struct str text; // JSON, SIMDJSON_PASS_PADDING zeros behind it
    struct str zstd, gzip;
    char folder[64]; // temporary; removed by corpus_close
    char json_path[96], zstd_path[96], gzip_path[96];
    char trace_path[96]; // for the sealed trace, not made here
};

// Reads path, whatever its compression, and compresses it anew in both ways.
MUST_CHECK bool corpus_open(struct corpus *corpus, const char *path, struct err *err);
void corpus_close(struct corpus *corpus);

#endif
