// SPDX-License-Identifier: Apache-2.0
// Reads every row once: what is stored is handed on as it came, and is not looked at again.
#include "server/jobs/job_tables.h"

#include "analysis/report/quality.h"
#include "analysis/report/report_parts.h"

static bool is_joined(const struct table_desc *desc)
{
    const struct table_desc *const *at = run_rank_tables;
    while (*at && *at != desc)
        at++;
    return *at != NULL;
}

static bool add_part(const struct report_part *part, struct job_tables *tables, struct err *err)
{
    struct arena arena;
    arena_init(&arena, NULL);
    struct report rows = {.arena = &arena};
    bool ok = report_part_load(part, &rows, err);
    if (ok) {
        uint64_t bytes = report_bytes(&rows);
        tables->plain_bytes += bytes;
        tables->join_bytes += is_joined(part->desc) ? bytes : 0;
        tables->secrets += quality_count(&rows, QUALITY_SECRETS);
    }
    arena_free(&arena);
    return ok;
}

bool job_tables_check(int fd, const struct job_order *order, struct job_tables *tables,
                      struct err *err)
{
    struct report_parts parts;
    bool found = true, ok = true;
    *tables = (struct job_tables){0};
    report_parts_open(&parts, fd, order->joins ? run_tables : trace_tables);
    while (ok && (ok = report_parts_next(&parts, &found, err)) && found)
        ok = add_part(&parts.part, tables, err) &&
             (!order->tables_bytes || tables->plain_bytes <= order->tables_bytes ||
              err_set(err, ERR_FORMAT, "its tables are larger than they may be"));
    report_parts_close(&parts);
    return ok;
}
