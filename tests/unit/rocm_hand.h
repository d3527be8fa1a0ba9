// SPDX-License-Identifier: Apache-2.0
// Reads texts as files of AMD's profilers.
#ifndef TESTS_UNIT_ROCM_HAND_H
#define TESTS_UNIT_ROCM_HAND_H

#include "ingest/ingest.h"
#include "ingest/source/source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct budget budget;

static inline struct trace *read_text(struct str text, struct err *err)
{
    *err = (struct err){0};
    struct source *source = source_mem_open(text.at, text.len, 0, err);
    return ingest_source(source, &budget, NULL, err);
}

static inline struct trace *read_good(struct str text)
{
    struct err err;
    struct trace *trace = read_text(text, &err);
    if (!trace)
        fail_msg("%s", err.msg);
    return trace;
}

#endif
