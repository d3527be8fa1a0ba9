// SPDX-License-Identifier: Apache-2.0
#include "analysis/evidence/host_phases.h"

#include "analysis/report/row.h"
#include "analysis/report/tables.h"
#include "analysis/stats/stats.h"

enum { MOST_PHASES = 300 }; // readers keep fewer names

struct phase {
    struct str name;
    size_t count, first; // of those that ended, and where their times are
    int64_t total_ns, longest_ns, longest_step;
    int64_t unfinished, unfinished_step;
};

struct phases {
    const struct metric_book *metrics;
    struct phase all[MOST_PHASES];
    size_t count;
    int64_t *times, *scratch;
};

// Spans follow one another in the same order, step after step. *at: the place of the one before.
static struct phase *find(struct phases *phases, struct str name, size_t *at)
{
    for (size_t i = 0; i < phases->count; i++) {
        size_t next = (*at + 1 + i) % phases->count;
        if (str_equal(phases->all[next].name, name)) {
            *at = next;
            return &phases->all[next];
        }
    }
    if (phases->count == MOST_PHASES)
        return NULL;
    *at = phases->count++;
    phases->all[*at] = (struct phase){.name = name, .longest_ns = -1};
    return &phases->all[*at];
}

static void add_span(struct phase *phase, const struct metric_span *span)
{
    if (span->dur_ns < 0) {
        phase->unfinished++;
        phase->unfinished_step = span->step;
        return;
    }
    phase->count++;
    if (__builtin_add_overflow(phase->total_ns, span->dur_ns, &phase->total_ns))
        phase->total_ns = INT64_MAX;
    if (span->dur_ns > phase->longest_ns) {
        phase->longest_ns = span->dur_ns;
        phase->longest_step = span->step;
    }
}

static void gather(struct phases *phases)
{
    size_t at = 0, first = 0;
    for (size_t i = 0; i < phases->metrics->span_count; i++) {
        struct phase *phase = find(phases, phases->metrics->spans[i].name, &at);
        if (phase)
            add_span(phase, &phases->metrics->spans[i]);
    }
    for (size_t i = 0; i < phases->count; i++) {
        phases->all[i].first = first;
        first += phases->all[i].count;
        phases->all[i].count = 0;
    }
    at = 0;
    for (size_t i = 0; i < phases->metrics->span_count; i++) {
        const struct metric_span *span = &phases->metrics->spans[i];
        struct phase *phase = find(phases, span->name, &at);
        if (phase && span->dur_ns >= 0)
            phases->times[phase->first + phase->count++] = span->dur_ns;
    }
}

static bool add_row(const struct phases *phases, const struct phase *phase, struct str file,
                    struct report *report, struct err *err)
{
    struct row row = {.desc = &table_host_phases};
    struct quantiles times = {0};
    bool ended = phase->count > 0;
    if (ended)
        times = stats_quantiles(phases->times + phase->first, phases->scratch, phase->count);
    row_text(&row, HOST_PHASES_FILE, file);
    row_i64_if(&row, HOST_PHASES_RANK, phases->metrics->rank >= 0, phases->metrics->rank);
    row_text(&row, HOST_PHASES_PHASE, phase->name);
    row_i64(&row, HOST_PHASES_CALLS, (int64_t)phase->count);
    row_i64(&row, HOST_PHASES_TOTAL_NS, phase->total_ns);
    row_i64_if(&row, HOST_PHASES_MEDIAN_NS, ended, times.median);
    row_i64_if(&row, HOST_PHASES_P95_NS, ended, times.p95);
    row_i64_if(&row, HOST_PHASES_MAX_NS, ended, phase->longest_ns);
    row_i64_if(&row, HOST_PHASES_MAX_STEP, ended && phase->longest_step != INT64_MIN,
               phase->longest_step);
    row_i64(&row, HOST_PHASES_UNFINISHED, phase->unfinished);
    row_i64_if(&row, HOST_PHASES_UNFINISHED_STEP,
               phase->unfinished && phase->unfinished_step != INT64_MIN, phase->unfinished_step);
    return row_end(&row, report, err);
}

bool host_phases_add(const struct evidence *evidence, struct str file, struct report *report,
                     struct err *err)
{
    struct arena scratch;
    size_t room = evidence->metrics.span_count;
    if (room == 0)
        return true;
    arena_init(&scratch, report->arena->budget);
    struct phases *phases = arena_array(&scratch, 1, sizeof *phases, err);
    bool ok = phases;
    if (ok) {
        phases->metrics = &evidence->metrics;
        phases->count = 0;
        phases->times = arena_array(&scratch, room, sizeof(int64_t), err);
        phases->scratch = phases->times ? arena_array(&scratch, room, sizeof(int64_t), err) : NULL;
        ok = phases->scratch;
    }
    if (ok)
        gather(phases);
    for (size_t i = 0; ok && i < phases->count; i++)
        ok = add_row(phases, &phases->all[i], file, report, err);
    arena_free(&scratch);
    return ok;
}
