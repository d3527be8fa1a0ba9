// SPDX-License-Identifier: Apache-2.0
// Keeps the passes of each rank in absolute times.
#include "analysis/ranks/run_passes.h"

#include "analysis/report/tables.h"
#include "ingest/base/search.h"

// On either side of 1970, so that clocks can be shifted without overflow.
#define MAX_TIME_NS (INT64_C(1) << 61)

bool run_passes_open(struct run_passes *passes, size_t ranks, struct budget *budget,
                     struct err *err)
{
    *passes = (struct run_passes){.cap = (uint32_t)ranks};
    arena_init(&passes->arena, budget);
    passes->ranks = arena_array(&passes->arena, ranks, sizeof *passes->ranks, err);
    return passes->ranks != NULL;
}

void run_passes_close(struct run_passes *passes)
{
    arena_free(&passes->arena);
    *passes = (struct run_passes){0};
}

static bool is_plausible(int64_t time_ns)
{
    return time_ns > -MAX_TIME_NS && time_ns < MAX_TIME_NS;
}

// Unreasonable times count as none: they come from damaged files.
static struct pass_times times_of(const struct table *table, size_t row, const unsigned columns[3],
                                  int64_t window_ns)
{
    struct pass_times times = {0};
    if (table_cell(table, row, columns[0])->null ||
        __builtin_add_overflow(window_ns, table_i64(table, row, columns[0], 0), &times.begin_ns) ||
        __builtin_add_overflow(window_ns, table_i64(table, row, columns[1], 0), &times.end_ns))
        return (struct pass_times){0};
    if (!is_plausible(times.begin_ns) || !is_plausible(times.end_ns))
        return (struct pass_times){0};
    times.compute_ns = table_i64(table, row, columns[2], 0);
    return times;
}

static struct step_times step_of(const struct table *table, size_t row, int64_t window_ns)
{
    static const unsigned passes[] = {PASSES_BEGIN_NS, PASSES_END_NS, PASSES_COMPUTE_NS};
    static const unsigned optimizer[] = {PASSES_OPTIMIZER_BEGIN_NS, PASSES_OPTIMIZER_END_NS,
                                         PASSES_OPTIMIZER_COMPUTE_NS};
    return (struct step_times){
        .number = table_i64(table, row, PASSES_STEP, 0),
        .steady = table_i64(table, row, PASSES_STEADY, 0),
        .passes = times_of(table, row, passes, window_ns),
        .optimizer = times_of(table, row, optimizer, window_ns),
        .micro_batches = table_i64(table, row, PASSES_MICRO_BATCHES, 0),
    };
}

// Inside a replayed graph no launch separates the passes, but kernel names show what they are.
static bool optimizes(const struct table *categories)
{
    for (size_t row = 0; categories && row < categories->row_count; row++) {
        const struct cell *category = table_cell(categories, row, CATEGORIES_CATEGORY);
        if (!category->null && str_equal(category->s, STR("optimizer")))
            return true;
    }
    return false;
}

// If a compiler generated the optimizer, its kernels have meaningless names, but those of a
// backward do not. Only the gradient of the data counts nothing: a transposed convolution computes
// the same in its forward.
static bool runs_backward(const struct table *kernels)
{
    static const char *const parts[] = {"backward", "grad_input", "wgrad", "flash_bwd", "fmha_bwd"};
    for (size_t row = 0; kernels && row < kernels->row_count; row++) {
        const struct cell *name = table_cell(kernels, row, KERNELS_NAME);
        for (size_t i = 0; !name->null && i < sizeof parts / sizeof *parts; i++)
            if (str_contains_nocase(name->s, str_of(parts[i])))
                return true;
    }
    return false;
}

bool run_passes_add(struct run_passes *passes, const struct report *report, struct err *err)
{
    const struct table *table = report_find(report, "passes");
    const struct table *summary = report_find(report, "summary");
    struct rank_times *rank = &passes->ranks[passes->count++];
    passes->trains = passes->trains || optimizes(report_find(report, "categories")) ||
                     runs_backward(report_find(report, "kernels"));
    if (!table || !summary || !summary->row_count)
        return true;
    int64_t window_ns = table_i64(summary, 0, SUMMARY_WINDOW_BEGIN_NS, 0);
    rank->steps = arena_room(&passes->arena, table->row_count, sizeof *rank->steps, err);
    if (!rank->steps)
        return false;
    for (size_t row = 0; row < table->row_count; row++) {
        struct step_times step = step_of(table, row, window_ns);
        if (rank->count == 0 || step.number > rank->steps[rank->count - 1].number)
            rank->steps[rank->count++] = step;
    }
    return true;
}

const struct step_times *rank_times_find(const struct rank_times *rank, int64_t number)
{
    uint32_t at =
        count_below_i64(FIRST_OF(rank->steps, number), rank->count, sizeof *rank->steps, number);
    return at < rank->count && rank->steps[at].number == number ? &rank->steps[at] : NULL;
}
