// SPDX-License-Identifier: Apache-2.0
// Which numbers of a file are what a job achieved rather than how it was set, by their names.
#ifndef INGEST_CONFIG_RESULTS_H
#define INGEST_CONFIG_RESULTS_H

#include "ingest/evidence/log_book.h"

// The unit of a result, "" if its name does not say; NULL: it is none. name: with dots between the
// names of levels, "metrics.step_time_ms.mean".
const char *config_result_unit(struct str name);

// A list with a value per step.
struct config_series {
    enum log_value value;
    double scale; // to the unit of that value
};
// False if the name is that of something else.
bool config_series_of(struct str name, struct config_series *series);

#endif
