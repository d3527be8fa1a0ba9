// SPDX-License-Identifier: Apache-2.0
// The tables of runs over time as the API shows them, and how they are answered.
#ifndef SERVER_TRACKING_TABLES_H
#define SERVER_TRACKING_TABLES_H

#include "server/table_reply.h"

extern const struct table_desc table_baselines;
extern const struct table_desc table_series;
extern const struct table_desc table_series_points;
extern const struct table_desc table_series_changes;
extern const struct table_desc table_alerts;
extern const struct table_desc *const tracking_tables[]; // all of them, NULL-terminated

// Answers with the rows that were asked for, and an ETag of what they say.
MUST_CHECK bool tracking_reply(struct request *request, struct response *response,
                               const struct table_request *asked, const struct table *table,
                               struct err *err);

#endif
