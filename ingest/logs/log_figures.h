// SPDX-License-Identifier: Apache-2.0
// Figures of training logs and metrics for inspect.
#ifndef INGEST_LOGS_LOG_FIGURES_H
#define INGEST_LOGS_LOG_FIGURES_H

#include "ingest/base/figures.h"
#include "ingest/evidence/evidence.h"

// Of steps in each way that they are written.
MUST_CHECK bool log_report(const struct evidence *evidence, struct figures *figures,
                           struct err *err);

#endif
