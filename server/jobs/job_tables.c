// SPDX-License-Identifier: Apache-2.0
// Checks every row once; the parts are then stored unchanged and not checked again.
#include "server/jobs/job_tables.h"

#include "analysis/report/trust.h"
#include "analysis/report/report_parts.h"
#include "ingest/base/clock.h"

// Parts are untrusted; a valid one takes less.
#define PART_MEMORY (4 * (uint64_t)REPORT_PART_MOST_BYTES)

static bool is_joined(const struct table_desc *desc)
{
    return run_rank_tables[table_place(run_rank_tables, desc)] ||
           evidence_tables[table_place(evidence_tables, desc)];
}

static bool add_secrets(const struct report *rows, struct job_tables *tables, struct err *err)
{
    int64_t count = trust_count(rows, TRUST_SECRETS);
    if (count < 0 || count > INT64_MAX - tables->secrets)
        return err_set(err, ERR_FORMAT, "its trust report counts %lld secrets", (long long)count);
    tables->secrets += count;
    return true;
}

static bool add_part(const struct report_part *part, struct job_tables *tables, struct err *err)
{
    struct budget budget = {.limit = PART_MEMORY};
    struct arena arena;
    arena_init(&arena, &budget);
    struct report rows = {.arena = &arena};
    bool ok = report_part_load(part, &rows, err) && add_secrets(&rows, tables, err);
    if (ok) {
        uint64_t bytes = report_bytes(&rows);
        tables->plain_bytes += bytes;
        tables->join_bytes += is_joined(part->desc) ? bytes : 0;
    }
    arena_free(&arena);
    return ok;
}

static bool may_go_on(const struct job_stop *stop, struct err *err)
{
    if (stop->progress->cancel)
        return err_set(err, ERR_CANCELLED, "cancelled");
    return clock_mono_ns() <= stop->deadline_ns ||
           err_set(err, ERR_FORMAT, "reading its tables took too long");
}

static const struct table_desc *const *tables_of(const struct job_order *order)
{
    return order->joins ? run_tables : order->gathers ? evidence_tables : trace_tables;
}

bool job_tables_check(int fd, const struct job_order *order, const struct job_stop *stop,
                      struct job_tables *tables, struct err *err)
{
    struct report_parts parts;
    bool found = true, ok = true;
    *tables = (struct job_tables){0};
    report_parts_open(&parts, fd, tables_of(order));
    while (ok && (ok = report_parts_next(&parts, &found, err)) && found)
        ok = may_go_on(stop, err) && add_part(&parts.part, tables, err) &&
             (!order->tables_bytes || tables->plain_bytes <= order->tables_bytes ||
              err_set(err, ERR_FORMAT, "its tables exceed the limit"));
    report_parts_close(&parts);
    return ok;
}
