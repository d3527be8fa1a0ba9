// SPDX-License-Identifier: Apache-2.0
// What `stepscope inspect` shows of a training log.
#ifndef INGEST_LOGS_LOG_FIGURES_H
#define INGEST_LOGS_LOG_FIGURES_H

#include "ingest/base/figures.h"
#include "ingest/evidence/evidence.h"

// Figures of the steps of each framework, over all lines and ranks as they were printed.
MUST_CHECK bool log_figures_add(const struct evidence *evidence, struct figures *figures,
                                struct err *err);

#endif
