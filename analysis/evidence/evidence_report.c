// SPDX-License-Identifier: Apache-2.0
#include "analysis/evidence/evidence_report.h"

#include "analysis/evidence/job_settings.h"
#include "analysis/evidence/log_tables.h"

bool evidence_report(const struct evidence *evidence, struct str file, struct report *report,
                     struct err *err)
{
    return log_tables_add(evidence, file, report, err) &&
           job_settings_add(evidence, file, report, err);
}
