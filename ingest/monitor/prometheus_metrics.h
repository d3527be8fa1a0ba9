// SPDX-License-Identifier: Apache-2.0
// Metrics of GPUs by the names and labels that dcgm-exporter and AMD's device-metrics-exporter give
// them, in whichever form Prometheus has them.
#ifndef INGEST_MONITOR_PROMETHEUS_METRICS_H
#define INGEST_MONITOR_PROMETHEUS_METRICS_H

#include "ingest/base/figures.h"
#include "ingest/monitor/monitor_table.h"

struct prometheus_metric {
    struct str name, value;
    struct str clock; // the type of one
    struct monitor_row row;
};

void prometheus_metric_start(struct prometheus_metric *metric);
void prometheus_label(struct prometheus_metric *metric, struct str label, struct str value);
// What it is; NULL unknown.
const struct monitor_column *prometheus_column(const struct prometheus_metric *metric);
// Takes its value at row.time_ns, or lists its name among those left out.
MUST_CHECK bool prometheus_take(struct monitor_table *table, const struct prometheus_metric *metric,
                                struct err *err);

void prometheus_report(const struct sample_set *set, struct figures *figures);

#endif
