// SPDX-License-Identifier: Apache-2.0
#include "analysis/evidence/evidence_report.h"

#include "analysis/evidence/log_tables.h"
#include "analysis/report/row.h"
#include "analysis/report/tables.h"

static bool add_settings(const struct evidence *evidence, struct str file, struct report *report,
                         struct err *err)
{
    for (size_t i = 0; i < evidence->setting_count; i++) {
        struct row row = {.desc = &table_job_settings};
        row_text(&row, JOB_SETTINGS_FILE, file);
        row_text(&row, JOB_SETTINGS_NAME, evidence->settings[i].name);
        row_text(&row, JOB_SETTINGS_VALUE, evidence->settings[i].value);
        if (!row_end(&row, report, err))
            return false;
    }
    return true;
}

bool evidence_report(const struct evidence *evidence, struct str file, struct report *report,
                     struct err *err)
{
    return log_tables_add(evidence, file, report, err) && add_settings(evidence, file, report, err);
}
