// SPDX-License-Identifier: Apache-2.0
// Device time by kind of work.
#include "analysis/trace/analyses.h"
#include "analysis/stats/groups.h"
#include "analysis/report/ranked.h"
#include "analysis/report/tables.h"

struct category_sum {
    int64_t calls, total_ns, owned_ns, kernels, ops;
    bool overflow; // of total_ns: a hostile file may have long, overlapping events
    uint8_t bar;   // enum bar: the same for all events of a category
};

enum member { MEMBER_KERNEL, MEMBER_OP };

// Counts a name once per category; `seen` tracks what was counted.
static bool count_name(struct groups *seen, enum member member, enum category category, str_id name,
                       int64_t *count, struct err *err)
{
    uint32_t before = seen->count, index;
    if (!groups_index(seen, (uint64_t)member << 32 | category, name, &index, err))
        return false;
    *count += index == before;
    return true;
}

static bool sum_events(const struct facts *facts, struct groups *seen, struct category_sum *sums,
                       struct err *err)
{
    for (uint32_t i = 0; i < facts->device_count; i++) {
        const struct device_event *device = &facts->devices[i];
        enum category category = (enum category)device->category;
        struct category_sum *sum = &sums[category];
        str_id op = facts_device_op(facts, i);
        sum->bar = device->bar;
        sum->calls++;
        sum->owned_ns += device->owned_ns;
        sum->overflow |= __builtin_add_overflow(sum->total_ns, device->end_ns - device->begin_ns,
                                                &sum->total_ns);
        if (!count_name(seen, MEMBER_KERNEL, category, facts_device_name(facts, i), &sum->kernels,
                        err) ||
            (op && !count_name(seen, MEMBER_OP, category, op, &sum->ops, err)))
            return false;
    }
    return true;
}

static bool add_row(const struct facts *facts, const struct category_sum *sum,
                    enum category category, struct report *report, struct err *err)
{
    struct row row = {.desc = &table_categories};
    row_word(&row, CATEGORIES_BAR, category_bar_word((enum bar)sum->bar));
    row_word(&row, CATEGORIES_CATEGORY, category_word(category));
    row_i64(&row, CATEGORIES_CALLS, sum->calls);
    row_i64_if(&row, CATEGORIES_TOTAL_NS, !sum->overflow, sum->total_ns);
    row_i64(&row, CATEGORIES_OWNED_NS, sum->owned_ns);
    row_share(&row, CATEGORIES_BUSY_SHARE, sum->owned_ns, parts_busy_ns(&facts->whole));
    row_i64(&row, CATEGORIES_STEADY_OWNED_NS, facts->steady_category_ns[category]);
    row_i64(&row, CATEGORIES_KERNELS, sum->kernels);
    row_i64(&row, CATEGORIES_OPS, sum->ops);
    return row_end(&row, report, err);
}

static bool add_rows(const struct facts *facts, const struct category_sum *sums,
                     struct report *report, struct err *err)
{
    struct ranked ranked[CATEGORY_COUNT];
    size_t count = 0;
    for (uint32_t c = 0; c < CATEGORY_COUNT; c++)
        if (sums[c].calls)
            ranked[count++] =
                (struct ranked){sums[c].owned_ns, str_of(category_word((enum category)c)), c};
    ranked_sort(ranked, count);
    for (size_t i = 0; i < count; i++) {
        enum category category = (enum category)ranked[i].index;
        if (!add_row(facts, &sums[category], category, report, err))
            return false;
    }
    return true;
}

static bool run(const struct facts *facts, struct arena *scratch, struct report *report,
                struct err *err)
{
    (void)scratch;
    struct category_sum sums[CATEGORY_COUNT] = {0};
    struct groups seen;
    groups_init(&seen, facts->budget);
    bool ok = sum_events(facts, &seen, sums, err);
    groups_free(&seen);
    return ok && add_rows(facts, sums, report, err);
}

const struct analysis categories_analysis = {"categories", run};
