// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of tables in parts: each part is good or the file is refused, and every
// accepted part is within the size limits.
#include "analysis/analysis.h"
#include "analysis/report/report_parts.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool take(const struct report_part *part, struct budget *budget, struct err *err)
{
    struct arena arena;
    arena_init(&arena, budget);
    struct report rows = {.arena = &arena};
    bool ok = report_part_load(part, &rows, err);
    if (ok && rows.table_count && rows.tables[0].row_count > REPORT_PART_ROWS)
        abort();
    arena_free(&arena);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct budget budget = {.limit = (uint64_t)256 << 20};
    struct report_parts parts;
    struct err err = {0};
    bool found = true, ok = true;
    int fd = memfd_create("parts", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    report_parts_open(&parts, fd, trace_tables);
    while (ok && (ok = report_parts_next(&parts, &found, &err)) && found)
        ok = take(&parts.part, &budget, &err);
    report_parts_close(&parts);
    close(fd);
    if (budget.used || (!ok && err.code == ERR_NONE))
        abort();
    return 0;
}
