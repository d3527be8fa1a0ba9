// SPDX-License-Identifier: Apache-2.0
#include "ingest/monitor/monitor_figures.h"

#include <stdio.h>
#include <stdlib.h>

// A file may have any number of devices: figures of the first are enough to see what it holds.
enum { MOST_LISTED = 128, LABEL_BYTES = 64 };

// Its index, or what else is known of it. Bytes that are no part of a figure's path become "_".
static void label_of(const struct sample_set *set, size_t device, char label[LABEL_BYTES])
{
    const struct sample_identity *is = &set->devices[device].is;
    const struct str texts[] = {is->uuid, is->bus_id, is->part, is->name};
    size_t len = 0, i = 0;
    if (is->index >= 0 && set->joined_nodes) {
        snprintf(label, LABEL_BYTES, "%.*s:%lld", (int)is->host.len, is->host.at,
                 (long long)is->index);
        return;
    }
    if (is->index >= 0) {
        snprintf(label, LABEL_BYTES, "%lld", (long long)is->index);
        return;
    }
    while (i + 1 < sizeof texts / sizeof *texts && !texts[i].len)
        i++;
    for (; len < texts[i].len && len < LABEL_BYTES - 1; len++)
        label[len] = texts[i].at[len] > 0x20 && texts[i].at[len] < 0x7F ? texts[i].at[len] : '_';
    label[len] = '\0';
}

struct sums {
    uint64_t count, missing;
    double sum, most;
};

static void add_series(struct sums *sums, const struct sample_series *series, double unit)
{
    sums->missing += series->missing;
    for (size_t i = 0; i < series->count; i++) {
        double value = series->at[i].value / unit;
        sums->sum += value;
        sums->most = sums->count == 0 || value > sums->most ? value : sums->most;
        sums->count++;
    }
}

static double mean_of(const struct sums *sums)
{
    return sums->sum / (double)sums->count;
}

static double unit_of(const struct sample_set *set, enum sample_metric metric)
{
    return set->columns[metric].name.len ? set->columns[metric].unit : 1;
}

// Calls with each device that has the metric, and its sums.
static void each_device(const struct sample_set *set, const struct monitor_figure *figure,
                        void (*put)(struct figures *figures, const char *path,
                                    const struct sums *sums),
                        struct figures *figures)
{
    char label[LABEL_BYTES], path[2 * LABEL_BYTES];
    for (uint32_t i = 0; i < set->device_count && i < MOST_LISTED; i++) {
        const struct sample_series *series = samples_of(set, i, figure->metric);
        struct sums sums = {0};
        if (!series)
            continue;
        figures_add(figures, 0, "%s" IN, figure->name); // indexes make no list
        add_series(&sums, series, unit_of(set, figure->metric));
        label_of(set, i, label);
        snprintf(path, sizeof path, "%s" IN "%s", figure->name, label);
        put(figures, path, &sums);
    }
}

static void put_sums(struct figures *figures, const char *path, const struct sums *sums)
{
    figures_add(figures, (int64_t)sums->count, "%s" IN "n", path);
    if (sums->count) {
        figures_real(figures, mean_of(sums), "%s" IN "mean", path);
        figures_real(figures, sums->most, "%s" IN "max", path);
    }
    figures_add(figures, (int64_t)sums->missing, "%s" IN "absent", path);
}

static void put_mean(struct figures *figures, const char *path, const struct sums *sums)
{
    if (sums->count)
        figures_real(figures, mean_of(sums), "%s", path);
}

void monitor_report_device_sums(const struct sample_set *set, const struct monitor_figure *figure,
                                struct figures *figures)
{
    each_device(set, figure, put_sums, figures);
}

void monitor_report_device_means(const struct sample_set *set, const struct monitor_figure *figure,
                                 struct figures *figures)
{
    each_device(set, figure, put_mean, figures);
}

void monitor_report_means(const struct sample_set *set, struct figures *figures)
{
    struct sums sums[SAMPLE_METRICS] = {0};
    for (size_t i = 0; i < set->series_count; i++) {
        const struct sample_series *series = &set->series[i];
        add_series(&sums[series->metric], series, unit_of(set, series->metric));
    }
    figures_add(figures, 0, "means" IN);
    for (size_t i = 0; i < SAMPLE_METRICS; i++) {
        struct str name = set->columns[i].name;
        if (sums[i].count && name.len)
            figures_real(figures, mean_of(&sums[i]), "means" IN "%.*s", (int)name.len, name.at);
    }
}

void monitor_report_rows(const struct sample_set *set, struct figures *figures)
{
    figures_add(figures, (int64_t)set->rows, "rows");
    if (set->bad_rows)
        figures_add(figures, (int64_t)set->bad_rows, "bad_rows");
    monitor_report_means(set, figures);
}

static int by_label(const void *left, const void *right)
{
    return strcmp(left, right);
}

void monitor_report_devices(const struct sample_set *set, const char *list, const char *prefix,
                            struct figures *figures)
{
    char labels[MOST_LISTED][LABEL_BYTES];
    size_t count = set->device_count < MOST_LISTED ? set->device_count : MOST_LISTED;
    for (size_t i = 0; i < count; i++)
        label_of(set, i, labels[i]);
    qsort(labels, count, sizeof *labels, by_label);
    figures_list(figures, "%s" IN, list);
    for (size_t i = 0, listed = 0; i < count; i++) {
        char text[2 * LABEL_BYTES];
        if (i > 0 && strcmp(labels[i], labels[i - 1]) == 0)
            continue; // on another host
        snprintf(text, sizeof text, "%s%s", prefix, labels[i]);
        figures_text(figures, str_of(text), "%s" IN "%zu", list, listed++);
    }
}

static void report_count(struct figures *figures, uint64_t count, const char *name)
{
    if (count)
        figures_add(figures, (int64_t)count, "%s", name);
}

// What times are, what was left out, and rows that could not be read.
static void report_notes(const struct sample_set *set, struct figures *figures)
{
    static const char *const clocks[] = {[SAMPLE_NO_CLOCK] = "none",
                                         [SAMPLE_CLOCK_RELATIVE] = "relative",
                                         [SAMPLE_CLOCK_LOCAL] = "local",
                                         [SAMPLE_CLOCK_UTC] = "utc"};
    figures_text(figures, str_of(clocks[set->clock]), "clock");
    figures_add(figures, (int64_t)set->device_count, "device_count");
    figures_add(figures, (int64_t)set->series_count, "series");
    for (size_t i = 0; i < set->left_out_count; i++)
        figures_text(figures, set->left_out[i], "left_out" IN "%zu", i);
    report_count(figures, set->left_out_more, "left_out_more");
    report_count(figures, set->lost_rows, "rows_of_too_many_devices");
    report_count(figures, set->backward, "times_that_go_back");
    report_count(figures, set->joined_nodes, "joined_nodes");
}

bool monitor_count(const struct format_input *input, const struct format *format,
                   void (*report)(const struct sample_set *set, struct figures *figures),
                   struct err *err)
{
    struct evidence evidence;
    struct format_input own = *input;
    evidence_init(&evidence, input->budget);
    own.evidence = &evidence;
    bool ok = format->gather(&own, err);
    if (ok) {
        report(&evidence.samples, input->figures);
        report_notes(&evidence.samples, input->figures);
    }
    evidence_free(&evidence);
    return ok;
}
