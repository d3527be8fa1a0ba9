// SPDX-License-Identifier: Apache-2.0
#include "ingest/evidence/evidence.h"

// Series come in the same order at each step: the next one is most often the right one.
static struct metric_series *find(struct metric_book *metrics, struct str name)
{
    for (size_t i = 1; i <= metrics->series_count; i++) {
        size_t at = (metrics->series_at + i) % metrics->series_count;
        if (str_equal(metrics->series[at].name, name)) {
            metrics->series_at = at;
            return &metrics->series[at];
        }
    }
    return NULL;
}

static struct metric_series *append(struct evidence *evidence, const struct metric_value *value,
                                    struct str name, struct err *err)
{
    struct metric_book *metrics = &evidence->metrics;
    struct metric_series *grown =
        budget_room(evidence->budget, metrics->series, &metrics->series_cap,
                    metrics->series_count + 1, sizeof *grown, err);
    if (!grown)
        return NULL;
    metrics->series = grown;
    metrics->series_at = metrics->series_count++;
    struct metric_series *series = &metrics->series[metrics->series_at];
    *series = (struct metric_series){
        .name = name, .kind = value->kind, .first_step = value->step, .last_step = value->step};
    return series;
}

bool metric_book_add(struct evidence *evidence, const struct metric_value *value, struct err *err)
{
    struct metric_book *metrics = &evidence->metrics;
    struct str name;
    struct metric_series *series = find(metrics, value->name);
    if (!series) { // it may be stored under another name, without a secret
        if (metrics->series_count >= METRIC_MOST_SERIES)
            return true;
        if (!evidence_text(evidence, value->name, &name, err))
            return false;
        series = find(metrics, name);
        series = series ? series : append(evidence, value, name, err);
    }
    if (!series)
        return false;
    series->count++;
    series->last_step = value->step;
    series->last = value->number;
    return true;
}

bool metric_book_add_span(struct evidence *evidence, const struct metric_span *span,
                          struct err *err)
{
    struct metric_book *metrics = &evidence->metrics;
    struct metric_span *grown = budget_room(evidence->budget, metrics->spans, &metrics->span_cap,
                                            metrics->span_count + 1, sizeof *grown, err);
    if (!grown)
        return false;
    metrics->spans = grown;
    metrics->spans[metrics->span_count++] = *span;
    return true;
}

void metric_book_free(struct metric_book *metrics, struct budget *budget)
{
    budget_free(budget, metrics->series, metrics->series_cap * sizeof *metrics->series);
    budget_free(budget, metrics->spans, metrics->span_cap * sizeof *metrics->spans);
}
