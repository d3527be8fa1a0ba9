// SPDX-License-Identifier: Apache-2.0
// Time per call of each kernel by the work of a call, so that the ranks of a run can be compared at
// equal work.
#include "analysis/trace/analyses.h"
#include "analysis/facts/grouping.h"
#include "analysis/facts/op_calls.h"
#include "analysis/report/ranked.h"
#include "analysis/report/tables.h"

#include <ctype.h>
#include <string.h>

#define MAX_ROWS   1000                     // those with the most time
#define WORK_MASK  (((int64_t)1 << 52) - 1) // what a number with a fraction holds exactly
#define FEW_BLOCKS 608                      // at most: 2 per compute unit of the largest devices
#define STEP_SHARE 0.25                     // of a step's compute that must show how fast it ran

// Calls that do equal work, in the steady steps; in the whole trace if there are none.
struct kind {
    int64_t total_ns;
    uint32_t calls, device; // one of its events
};

struct rates {
    const struct facts *facts;
    struct grouping groups; // compute kernels by name, launch shape and inputs of their operator
    struct kind *kinds;
};

static const struct device_args *args_of(const struct facts *facts, uint32_t device)
{
    uint32_t args = facts->trace->args[facts->devices[device].event];
    return args == ARGS_NONE ? NULL : &facts->trace->device_args[args];
}

// The inputs of the operator that launched it; nothing if not recorded.
static struct op_inputs inputs_of(const struct facts *facts, uint32_t device)
{
    uint32_t launch = facts->devices[device].launch;
    uint32_t op = launch == FACTS_NONE ? FACTS_NONE : facts->launches[launch].op;
    uint32_t inputs = op == FACTS_NONE ? ARGS_NONE : op_calls_inputs(facts->trace, op);
    return inputs == ARGS_NONE ? (struct op_inputs){0} : facts->trace->op_inputs[inputs];
}

static bool kind_key(const struct facts *facts, uint32_t device, struct group_key *key)
{
    if (facts->devices[device].class != CLASS_COMPUTE)
        return false;
    const struct device_args *args = args_of(facts, device);
    struct op_inputs inputs = inputs_of(facts, device);
    *key = (struct group_key){(uint64_t)inputs.dims << 32 | facts_device_name(facts, device),
                              (uint64_t)inputs.types << 32 | (args ? args->shape : FACTS_NONE)};
    return true;
}

static bool counts(const struct facts *facts, const struct device_event *device)
{
    bool steady = device->step != FACTS_NONE && facts->steps[device->step].steady;
    return steady || facts->steady_count == 0;
}

static bool sum(struct rates *rates, struct arena *arena, struct err *err)
{
    const struct facts *facts = rates->facts;
    rates->kinds = arena_array(arena, rates->groups.groups.count, sizeof *rates->kinds, err);
    if (!rates->kinds)
        return false;
    for (uint32_t d = 0; d < facts->device_count; d++) {
        const struct device_event *device = &facts->devices[d];
        if (rates->groups.group_of[d] == FACTS_NONE || !counts(facts, device))
            continue;
        struct kind *kind = &rates->kinds[rates->groups.group_of[d]];
        kind->device = d;
        kind->calls++;
        kind->total_ns += device->end_ns - device->begin_ns;
    }
    return true;
}

// Whether the text holds the word, in any case.
static bool holds(struct str text, struct str word)
{
    for (size_t at = 0; at + word.len <= text.len; at++) {
        size_t i = 0;
        while (i < word.len && tolower((unsigned char)text.at[at + i]) == word.at[i])
            i++;
        if (i == word.len)
            return true;
    }
    return false;
}

// Whether its time also depends on its input values: which rows of a table, how many tokens for
// each expert, where the sequences of a batch end.
static bool depends_on_values(const struct facts *facts, uint32_t device)
{
    enum category category = (enum category)facts->devices[device].category;
    str_id texts[] = {facts_device_name(facts, device), facts_device_op(facts, device)};
    bool depends = category == CATEGORY_EMBEDDING || category == CATEGORY_MOE ||
                   category == CATEGORY_ATTENTION;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        depends = depends || (texts[i] && holds(trace_text(facts->trace, texts[i]), STR("group")));
    return depends;
}

// What is known about the work of a call. If the grid does no more than fill the device, the kernel
// may be one that splits any amount of work over that many blocks.
static const char *basis_of(const struct facts *facts, uint32_t device)
{
    const struct launch_shape shape = facts_launch_shape(facts, device);
    const int32_t *grid = shape.grid;
    if (depends_on_values(facts, device))
        return "values";
    if (inputs_of(facts, device).dims)
        return "shapes";
    if (grid[0] == 0)
        return NULL;
    double blocks = (double)grid[0] * (double)grid[1] * (double)grid[2];
    return blocks > FEW_BLOCKS ? "grid" : "few_blocks";
}

static uint64_t hash_text(uint64_t seed, struct str text)
{
    return hash_mix(seed ^ 0x9E3779B97F4A7C15u, hash_bytes(text.at, text.len) | 1);
}

// A number that identifies the launch shape and the operator's shapes and types.
static int64_t work_of(const struct facts *facts, uint32_t device)
{
    const struct launch_shape shape = facts_launch_shape(facts, device);
    struct op_inputs inputs = inputs_of(facts, device);
    uint64_t work = hash_text(1, trace_text(facts->trace, inputs.dims));
    work = hash_text(work, trace_text(facts->trace, inputs.types));
    for (int i = 0; i < 3; i++) {
        uint64_t both = (uint64_t)(uint32_t)shape.grid[i] << 32 | (uint32_t)shape.block[i];
        work = hash_mix(work ^ 0xE7037ED1A0B428DBu, both + 0x9E3779B97F4A7C15u);
    }
    return (int64_t)work & WORK_MASK;
}

static bool add_row(const struct facts *facts, const struct kind *kind, struct report *report,
                    struct err *err)
{
    struct row row = {.desc = &table_kernel_rates};
    row_text(&row, KERNEL_RATES_KERNEL,
             op_calls_name(facts, facts_device_name(facts, kind->device)));
    row_word(&row, KERNEL_RATES_BASIS, basis_of(facts, kind->device));
    row_i64(&row, KERNEL_RATES_WORK, work_of(facts, kind->device));
    row_i64(&row, KERNEL_RATES_CALLS, kind->calls);
    row_i64(&row, KERNEL_RATES_TOTAL_NS, kind->total_ns);
    return row_end(&row, report, err);
}

static bool add_rows(const struct rates *rates, struct arena *arena, struct report *report,
                     struct err *err)
{
    uint32_t kinds = rates->groups.groups.count, count = 0;
    struct ranked *ranked = arena_array(arena, kinds, sizeof *ranked, err);
    if (!ranked)
        return false;
    for (uint32_t k = 0; k < kinds; k++) {
        const struct kind *kind = &rates->kinds[k];
        if (kind->calls == 0)
            continue;
        struct str name =
            trace_text(rates->facts->trace, facts_device_name(rates->facts, kind->device));
        ranked[count++] = (struct ranked){kind->total_ns, name, k};
    }
    ranked_sort(ranked, count);
    for (uint32_t i = 0; i < count && i < MAX_ROWS; i++)
        if (!add_row(rates->facts, &rates->kinds[ranked[i].index], report, err))
            return false;
    return true;
}

// --- steps --------------------------------------------------------------------------------------

struct step_time {
    int64_t compute_ns;
    int64_t known_ns;  // of kernels whose calls do equal work
    double usually_ns; // their average
};

// Whether calls of a kind do equal work, as far as recorded, and some counted.
static bool compares(const struct facts *facts, const struct kind *kind)
{
    const char *basis = kind->calls ? basis_of(facts, kind->device) : NULL;
    return basis && (strcmp(basis, "shapes") == 0 || strcmp(basis, "grid") == 0);
}

static bool sum_steps(const struct rates *rates, struct step_time *times, struct arena *arena,
                      struct err *err)
{
    const struct facts *facts = rates->facts;
    uint32_t kinds = rates->groups.groups.count;
    double *usually_ns = arena_array(arena, kinds, sizeof *usually_ns, err);
    if (!usually_ns)
        return false;
    for (uint32_t k = 0; k < kinds; k++)
        if (compares(facts, &rates->kinds[k]))
            usually_ns[k] = (double)rates->kinds[k].total_ns / rates->kinds[k].calls;
    for (uint32_t d = 0; d < facts->device_count; d++) {
        const struct device_event *device = &facts->devices[d];
        uint32_t kind = rates->groups.group_of[d];
        if (kind == FACTS_NONE || device->step == FACTS_NONE)
            continue;
        struct step_time *time = &times[device->step];
        bool known = usually_ns[kind] > 0;
        time->compute_ns += device->end_ns - device->begin_ns;
        time->known_ns += known ? device->end_ns - device->begin_ns : 0;
        time->usually_ns += usually_ns[kind];
    }
    return true;
}

static bool add_steps(const struct rates *rates, struct arena *arena, struct report *report,
                      struct err *err)
{
    const struct facts *facts = rates->facts;
    struct step_time *times = arena_array(arena, facts->step_count, sizeof *times, err);
    if (!times || !sum_steps(rates, times, arena, err))
        return false;
    for (uint32_t s = 0; s < facts->step_count; s++) {
        const struct step_time *time = &times[s];
        bool known =
            time->usually_ns > 0 && (double)time->known_ns >= STEP_SHARE * (double)time->compute_ns;
        struct row row = {.desc = &table_step_rates};
        row_i64(&row, STEP_RATES_STEP, facts->steps[s].number);
        row_f64_if(&row, STEP_RATES_RATIO, known,
                   known ? (double)time->known_ns / time->usually_ns : 0);
        if (!row_end(&row, report, err))
            return false;
    }
    return true;
}

static bool run(const struct facts *facts, struct arena *scratch, struct report *report,
                struct err *err)
{
    struct rates rates = {.facts = facts};
    bool ok = grouping_make(facts, kind_key, scratch, &rates.groups, err) &&
              sum(&rates, scratch, err) && add_rows(&rates, scratch, report, err) &&
              add_steps(&rates, scratch, report, err);
    grouping_free(&rates.groups);
    return ok;
}

const struct analysis kernel_rates_analysis = {"kernel_rates", run};
