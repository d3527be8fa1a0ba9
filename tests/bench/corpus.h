// SPDX-License-Identifier: Apache-2.0
// One trace in every form that the benchmark reads: in memory and as files, plain, gzip and zstd.
#ifndef BENCH_CORPUS_H
#define BENCH_CORPUS_H

#include "ingest/base/err.h"
#include "ingest/base/str.h"
#include "ingest/source/source.h"

#define CORPUS_ZSTD_LEVEL 3 // the default of the zstd tool
#define CORPUS_GZIP_LEVEL 6 // the default of the gzip tool

struct corpus {
    struct str text; // JSON followed by SIMDJSON_PASS_PADDING zeros; empty when opened packed
    struct str zstd, gzip;
    char folder[64]; // temporary; removed by corpus_close
    char json_path[96], gzip_path[96];
    char zstd_path[512];
    bool is_borrowed;    // the file at zstd_path is not ours to delete
    char trace_path[96]; // for the sealed trace, not made here
};

// Reads path, whatever its compression, and recompresses it both ways unless only the text is
// wanted.
MUST_CHECK bool corpus_open(struct corpus *corpus, const char *path, bool only_text,
                            struct err *err);

// Only the compressed file at path: for traces whose text does not fit in memory.
MUST_CHECK bool corpus_open_packed(struct corpus *corpus, const char *path, struct err *err);

// The text, from memory if it is there, otherwise decompressed. The caller closes the source.
MUST_CHECK struct source *corpus_read(const struct corpus *corpus, struct err *err);
MUST_CHECK struct source *corpus_unpack(struct str packed, struct err *err);

void corpus_close(struct corpus *corpus);

#endif
