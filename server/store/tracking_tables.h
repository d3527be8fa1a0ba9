// SPDX-License-Identifier: Apache-2.0
// The tables of runs over time as the API shows them.
#ifndef SERVER_TRACKING_TABLES_H
#define SERVER_TRACKING_TABLES_H

#include "analysis/report/report.h"

extern const struct table_desc table_baselines;
extern const struct table_desc table_series;
extern const struct table_desc table_series_points;
extern const struct table_desc table_series_changes;
extern const struct table_desc table_alerts;
extern const struct table_desc *const tracking_tables[]; // all of them, NULL-terminated

#endif
