// SPDX-License-Identifier: Apache-2.0
#include "analysis/evidence/evidence_report.h"

#include "analysis/evidence/flight_tables.h"
#include "analysis/evidence/host_phases.h"
#include "analysis/evidence/job_settings.h"
#include "analysis/evidence/link_tables.h"
#include "analysis/evidence/log_tables.h"
#include "analysis/evidence/monitor_tables.h"
#include "analysis/evidence/profile_tables.h"
#include "analysis/evidence/snapshot_tables.h"
#include "analysis/report/trust.h"

// A file that was read and fills no table would look as if nothing had been uploaded.
static bool doubt_silence(struct str file, struct report *report, struct err *err)
{
    if (report->table_count)
        return true;
    const char *detail = arena_printf(report->arena, err, "%.*s has nothing to show on a page",
                                      (int)file.len, file.at);
    return detail &&
           doubt_add(report,
                     &(struct doubt){.item = "file_without_rows",
                                     .severity = "warning",
                                     .count = 1,
                                     .detail = detail,
                                     .effect = "it was read, but adds nothing to the run"},
                     err);
}

bool evidence_report(const struct evidence *evidence, struct str file, struct report *report,
                     struct err *err)
{
    return log_tables_add(evidence, file, report, err) &&
           host_phases_add(evidence, file, report, err) &&
           link_tables_add(evidence, file, report, err) &&
           monitor_tables_add(evidence, file, report, err) &&
           snapshot_tables_add(evidence, file, report, err) &&
           profile_tables_add(evidence, file, report, err) &&
           flight_tables_add(evidence, file, report, err) &&
           job_settings_add(evidence, file, report, err) &&
           job_results_add(evidence, file, report, err) && doubt_silence(file, report, err);
}
