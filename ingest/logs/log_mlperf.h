// SPDX-License-Identifier: Apache-2.0
// Records of MLPerf training, lines of ":::MLLOG {json}": what frameworks add to their logs by its
// rules, and all that is left of them in published results.
#ifndef INGEST_LOGS_LOG_MLPERF_H
#define INGEST_LOGS_LOG_MLPERF_H

#include "ingest/evidence/log_book.h"

// What earlier records said.
struct log_mlperf {
    double batch;       // samples of a step; 0 unknown
    double throughput;  // of the block that ends next; 0 unknown
    int64_t eval_ns;    // when the evaluation began; LOG_NO_TIME
    bool counts_tokens; // where others count samples
    bool measures_loss; // what rules call the accuracy of an evaluation
    char text[64];      // of the last event
};

enum log_mlperf_kind { MLPERF_NOTHING, MLPERF_STEP, MLPERF_EVENT, MLPERF_SETTING };

struct log_mlperf_record {
    struct log_step step;
    struct log_event event; // its text lives until the next record
    struct str name, value; // of a setting
};

// Reads what follows the mark, without its brace. The figures of a block (`tracked_stats`) come
// before the record that says how far it went.
enum log_mlperf_kind log_mlperf_read(struct log_mlperf *mlperf, struct str text,
                                     struct log_mlperf_record *record);

#endif
