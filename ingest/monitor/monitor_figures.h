// SPDX-License-Identifier: Apache-2.0
// Figures for inspect of what monitors recorded.
#ifndef INGEST_MONITOR_MONITOR_FIGURES_H
#define INGEST_MONITOR_MONITOR_FIGURES_H

#include "ingest/evidence/evidence.h"
#include "ingest/source/format.h"

// Figures of one metric, under the name that they have for people of that tool.
struct monitor_figure {
    const char *name;
    enum sample_metric metric;
};

// Per device, in the unit of the file: how many, their mean and the largest, how many are missing.
void monitor_report_device_sums(const struct sample_set *set, const struct monitor_figure *figure,
                                struct figures *figures);
// Per device, the mean alone.
void monitor_report_device_means(const struct sample_set *set, const struct monitor_figure *figure,
                                 struct figures *figures);
// Over all devices, the mean of each column of the file, by its name.
void monitor_report_means(const struct sample_set *set, struct figures *figures);
// Rows and those means.
void monitor_report_rows(const struct sample_set *set, struct figures *figures);
// A list of devices, in the order of their names: a prefix, and the index.
void monitor_report_devices(const struct sample_set *set, const char *list, const char *prefix,
                            struct figures *figures);

// Gathers the file as `format` does, and reports what is in it.
MUST_CHECK bool monitor_count(const struct format_input *input, const struct format *format,
                              void (*report)(const struct sample_set *set, struct figures *figures),
                              struct err *err);

#endif
