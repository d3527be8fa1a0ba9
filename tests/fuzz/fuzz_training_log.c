// SPDX-License-Identifier: Apache-2.0
// Any bytes as a training log: the same in pieces as in one, and tables of whatever was read.
#include "analysis/evidence/evidence_report.h"
#include "analysis/report/tables.h"
#include "ingest/source/format.h"
#include "ingest/source/source.h"

#include <stdlib.h>

extern const struct format format_training_log, format_wrapped_log;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void gather(const uint8_t *data, size_t size, size_t step, struct evidence *evidence)
{
    struct err err = {0};
    struct str head = {(const char *)data, size < FORMAT_HEAD_BYTES ? size : FORMAT_HEAD_BYTES};
    struct source *source = source_mem_open(data, size, step, &err);
    if (source && format_like(&format_wrapped_log, head, STR("")) == FORMAT_SURE)
        source = format_wrapped_log.decode(source, &err);
    struct format_input input = {
        .source = source, .budget = evidence->budget, .evidence = evidence};
    if (source && !format_training_log.gather(&input, &err) && err.code == ERR_NONE)
        abort();
    source_close(source);
}

static struct buf tables_of(const uint8_t *data, size_t size, size_t step)
{
    struct budget budget = {.limit = (uint64_t)256 << 20};
    struct evidence evidence;
    struct arena arena;
    struct err err = {0};
    struct buf out = {0};
    struct report report = {.arena = &arena};
    evidence_init(&evidence, &budget);
    arena_init(&arena, &budget);
    gather(data, size, step, &evidence);
    if (!evidence_report(&evidence, STR("x.log"), &report, &err) && err.code == ERR_NONE)
        abort();
    report_json(&report, &out);
    evidence_free(&evidence);
    arena_free(&arena);
    if (budget.used)
        abort();
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf whole = tables_of(data, size, 0), pieces = tables_of(data, size, 7);
    if (whole.len != pieces.len || (whole.len && memcmp(whole.at, pieces.at, whole.len) != 0))
        abort();
    buf_free(&whole);
    buf_free(&pieces);
    return 0;
}
