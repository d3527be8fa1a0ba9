// SPDX-License-Identifier: Apache-2.0
// What a page without a server lacks: jobs, and formats whose libraries are not in the module.
#include "server/exports/export.h"
#include "server/jobs/jobs.h"

bool jobs_progress(struct jobs *jobs, struct str trace_id, double *share)
{
    (void)jobs, (void)trace_id, (void)share;
    return false;
}

static bool refuse_table(struct export_view *view, struct err *err)
{
    (void)view;
    return err_set(err, ERR_UNSUPPORTED, "a page without a server writes no spreadsheets");
}

static void close_nothing(void *state)
{
    (void)state;
}

const struct table_export export_xlsx = {
    .word = "xlsx", .type = "text/plain", .open = refuse_table, .close = close_nothing};
