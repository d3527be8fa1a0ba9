// SPDX-License-Identifier: Apache-2.0
// Any database reads as a trace that keeps its promises, or fails cleanly; in bounded time and
// memory.
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "ingest/file_parts.h"
#include "ingest/ingest.h"
#include "tests/golden/trace_dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MEMORY = 64 << 20 };

static void check(const struct trace *trace)
{
    struct buf out = {0};
    if (dump_broken_promise(trace))
        abort();
    dump_trace(&out, trace);
    buf_free(&out);
}

static void read_part(struct file_part *part, struct figures *figures)
{
    struct budget budget = {.limit = MEMORY};
    struct err err = {0};
    part->found.figures = figures;
    struct trace *trace = ingest_opened(part->source, &part->found, &budget, NULL, &err);
    if ((trace == NULL) == (err.code == ERR_NONE))
        abort();
    if (trace)
        check(trace);
    trace_free(trace);
    if (budget.used)
        abort();
}

static void count_file(const struct file_part *part, struct figures *figures)
{
    struct budget budget = {.limit = MEMORY};
    struct err err = {0};
    struct format_input input = {.source = part->source, .budget = &budget, .figures = figures};
    if (!part->found.format->count(&input, &err) && err.code == ERR_NONE)
        abort();
    if (budget.used)
        abort();
}

static bool take(void *context, struct file_part *part, struct err *err)
{
    (void)err;
    const struct format *format = part->source ? part->found.format : NULL;
    if (format && format->tables && format->count && part->process == 0)
        count_file(part, context);
    if (format && format->tables && format->read)
        read_part(part, context);
    else
        source_close(part->source);
    return part->process < 4;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    // Others have their own targets.
    if (!str_starts_with((struct str){(const char *)data, size}, STR("SQLite format 3\0")))
        return 0;
    struct err err = {0};
    struct budget budget = {0};
    struct arena arena;
    arena_init(&arena, &budget);
    struct figures figures = {.arena = &arena};
    struct buf json = {0};
    struct file_parts parts = {.source = source_mem_open(data, size, 0, &err),
                               .hint = {STR("job.sqlite"), SCRATCH_NONE},
                               .limits = &unpack_limits};
    if (parts.source && !file_parts_each(&parts, take, &figures, &err) && err.code == ERR_NONE &&
        parts.count < 5)
        abort();
    figures_json(&figures, &json);
    buf_free(&json);
    arena_free(&arena);
    return 0;
}
