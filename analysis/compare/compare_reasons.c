// SPDX-License-Identifier: Apache-2.0
// The largest gains and losses between two sides, each with its figures and a sentence.
#include "analysis/compare/reasons.h"
#include "analysis/names/category.h"
#include "analysis/report/tables.h"

#include <ctype.h>
#include <math.h>

enum { MOST_ROWS = 8 }; // of gains, and of losses

// The times of the row that calls and rates belong to.
static void take_times(const struct reason_case *the_case, size_t row, struct reason *detail)
{
    for (unsigned side = 0; side < SIDES; side++)
        detail->ns[side] = table_i64(the_case->waterfall, row, COMPARE_WATERFALL_BASE_NS + side, 0);
}

// For attention, the operator that changed most: rows come with the largest differences first. For
// an operator with one shape that explains it, that shape.
static struct reason detail_of(const struct reason_case *the_case, const struct reason *reason)
{
    struct reason detail = *reason;
    if (reason->kind == REASON_SHAPE && reason->joined == REASON_NONE)
        take_times(the_case, reason->shape, &detail);
    if (reason->kind != REASON_ATTENTION || reason->row + 1 >= reason->end)
        return detail;
    detail.kind = REASON_OPERATOR;
    detail.row = reason->row + 1;
    for (detail.end = detail.row + 1; detail.end < reason->end; detail.end++)
        if (table_is(the_case->waterfall, detail.end, COMPARE_WATERFALL_LEVEL, STR("op")))
            break;
    take_times(the_case, detail.row, &detail);
    return detail;
}

static const char *kind_word(enum reason_kind kind)
{
    static const char *const words[] = {
        [REASON_OPERATOR] = "operator",   [REASON_SHAPE] = "shape",
        [REASON_ATTENTION] = "attention", [REASON_COLLECTIVE] = "collective",
        [REASON_WORK] = "work",           [REASON_CAUSE] = "cause"};
    return words[kind];
}

// Whether it is made of operators and kernels that have names.
static bool is_work(const struct reason *reason)
{
    return reason->kind < REASON_COLLECTIVE;
}

static bool is_sum(const struct reason *reason)
{
    return reason->kind == REASON_COLLECTIVE || reason->kind == REASON_WORK;
}

static void add_names(struct row *row, const struct reason_case *the_case)
{
    const struct reason *reason = the_case->reason;
    size_t shown = reason->shape != REASON_NONE ? reason->shape : reason->row;
    bool named = is_work(reason);
    struct str dims = reason_text(the_case, shown, COMPARE_WATERFALL_DIMS);
    row_i64(row, COMPARE_REASONS_WATERFALL,
            table_i64(the_case->waterfall, shown, COMPARE_WATERFALL_ID, 0));
    row_word(row, COMPARE_REASONS_KIND, kind_word(reason->kind));
    row_text(row, COMPARE_REASONS_TITLE, reason->title);
    row_text(row, COMPARE_REASONS_BAR, reason_text(the_case, shown, COMPARE_WATERFALL_BAR));
    struct str category = reason_text(the_case, shown, COMPARE_WATERFALL_CATEGORY);
    row_text_if(row, COMPARE_REASONS_CATEGORY, category.len != 0, category);
    row_text_if(row, COMPARE_REASONS_DIMS, named && dims.len, dims);
    for (unsigned side = 0; side < SIDES; side++) {
        bool joined = side == CAND && reason->joined != REASON_NONE;
        struct str kernel = reason_text(the_case, joined ? reason->joined : shown,
                                        COMPARE_WATERFALL_BASE_KERNEL + side);
        row_text_if(row, COMPARE_REASONS_BASE_KERNEL + side, named && kernel.len, kernel);
        row_f64_if(row, COMPARE_REASONS_BASE_CALLS + side, named,
                   reason_calls(the_case, reason, (int)side));
    }
    struct str verdict = reason_text(the_case, shown, COMPARE_WATERFALL_VERDICT);
    row_text_if(row, COMPARE_REASONS_VERDICT, !is_sum(reason) && verdict.len, verdict);
}

static void add_times(struct row *row, const struct reasons *reasons, const struct reason *reason,
                      int64_t whole_ns)
{
    int64_t delta_ns = reason->ns[CAND] - reason->ns[BASE];
    int64_t gross_ns = delta_ns > 0 ? reasons->losses_ns : reasons->gains_ns;
    row_i64(row, COMPARE_REASONS_BASE_NS, reason->ns[BASE]);
    row_i64(row, COMPARE_REASONS_CAND_NS, reason->ns[CAND]);
    row_i64(row, COMPARE_REASONS_DELTA_NS, delta_ns);
    row_i64(row, COMPARE_REASONS_GROSS_NS, gross_ns);
    row_share(row, COMPARE_REASONS_GROSS_SHARE, delta_ns, gross_ns);
    row_share(row, COMPARE_REASONS_DELTA_SHARE, delta_ns, whole_ns);
}

static const char *bound_of(const struct reason_rate rates[SIDES])
{
    double base = rates[BASE].memory_share, cand = rates[CAND].memory_share;
    if (isnan(base) && isnan(cand))
        return NULL;
    bool base_memory = isnan(base) ? cand >= 0.5 : base >= 0.5;
    bool cand_memory = isnan(cand) ? base >= 0.5 : cand >= 0.5;
    return base_memory != cand_memory ? NULL : base_memory ? "memory" : "compute";
}

static void add_work(struct row *row, const struct reason_rate rates[SIDES])
{
    for (unsigned side = 0; side < SIDES; side++) {
        row_f64(row, COMPARE_REASONS_BASE_TFLOPS + side, rates[side].tflops);
        row_f64(row, COMPARE_REASONS_BASE_GBPS + side, 1e3 * rates[side].tbps);
        row_f64(row, COMPARE_REASONS_BASE_PEAK_SHARE + side, rates[side].efficiency);
    }
    row_word(row, COMPARE_REASONS_BOUND, bound_of(rates));
}

static void add_bandwidth(struct row *row, const struct reason_case *the_case)
{
    const struct table *sizes = report_find(the_case->pair->report, table_compare_collectives.name);
    const struct reason *reason = the_case->reason;
    if (reason->size_count > 1 || // of several sizes none speaks for all
        table_text(sizes, reason->sizes, COMPARE_COLLECTIVES_SIZE_CLASS).len == 0)
        return;
    for (unsigned side = 0; side < SIDES; side++)
        row_f64(row, COMPARE_REASONS_BASE_GBPS + side,
                table_f64(sizes, reason->sizes, COMPARE_COLLECTIVES_BASE_BUS_GBPS + side, NAN));
}

static const char *say(const struct reason_case *the_case, struct words *words)
{
    enum reason_kind kind = the_case->reason->kind;
    const char *rule = kind == REASON_COLLECTIVE ? reason_say_collective(the_case, words)
                       : kind == REASON_CAUSE    ? reason_say_cause(the_case, words)
                       : kind == REASON_WORK     ? reason_say_graphs(the_case, words)
                                                 : reason_say_work(the_case, words);
    words->text[0] = (char)toupper((unsigned char)words->text[0]);
    return rule;
}

static bool add_reason(struct reason_case *the_case, const struct reasons *reasons,
                       const struct reason *reason, struct err *err)
{
    const struct pair *pair = the_case->pair;
    struct reason detail = detail_of(the_case, reason);
    struct reason_rate rates[SIDES];
    struct words words = {.len = 0};
    struct row row = {.desc = &table_compare_reasons};
    the_case->reason = reason;
    the_case->detail = &detail;
    row_i64(&row, COMPARE_REASONS_CAND, pair->number);
    add_names(&row, the_case);
    add_times(&row, reasons, reason, pair->sides[CAND]->mean_ns - pair->sides[BASE]->mean_ns);
    if (is_work(reason)) {
        if (!reason_rates(pair, reason, rates, err) ||
            !reason_rates(pair, &detail, the_case->rates, err))
            return false;
        add_work(&row, rates);
    } else if (reason->kind == REASON_COLLECTIVE) {
        add_bandwidth(&row, the_case);
    }
    row_word(&row, COMPARE_REASONS_RULE, say(the_case, &words));
    row_text(&row, COMPARE_REASONS_WHY, words_str(&words));
    return row_end(&row, pair->report, err);
}

bool compare_reasons_write(const struct pair *pair, struct err *err)
{
    struct reasons reasons;
    struct reason_case the_case;
    size_t counts[2] = {0, 0};
    if (!reasons_gather(pair, &reasons, err) || !reason_case_make(pair, &the_case, err))
        return false;
    for (size_t i = 0; i < reasons.count; i++) {
        const struct reason *reason = &reasons.at[i];
        bool loss = reason->ns[CAND] > reason->ns[BASE];
        if (counts[loss]++ < MOST_ROWS && !add_reason(&the_case, &reasons, reason, err))
            return false;
    }
    return true;
}
