// SPDX-License-Identifier: Apache-2.0
// Why device work takes longer or shorter, in plain words: a table of rules, of which the first
// that applies writes the sentence.
#include "analysis/compare/reasons.h"
#include "analysis/names/op_alias.h"
#include "analysis/report/tables.h"
#include "analysis/stats/time_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// Share of the difference: a cause with less does not explain it.
#define MOST_OF     0.6
#define SHORT_NS    10000 // shorter calls reach no peak
#define ALIKE       1.1   // factors up to this are the same
#define PACE        1.02  // of all kernels: below this their pace did not change
#define PARTS_NAMED 3     // of composed attention
#define TIMES       3     // of a time: from here on a factor, not percents
#define COMPOSED    0.3   // of attention's time in softmax and batched products

static int64_t delta_of(const struct reason *reason)
{
    return reason->ns[CAND] - reason->ns[BASE];
}

struct str reason_main_kernel(const struct reason_case *the_case, const struct reason *reason,
                              int side)
{
    unsigned column = side == BASE ? COMPARE_WATERFALL_BASE_KERNEL : COMPARE_WATERFALL_CAND_KERNEL;
    size_t row = reason->shape != REASON_NONE ? reason->shape : reason->row;
    if (side == CAND && reason->joined != REASON_NONE)
        row = reason->joined;
    return reason_text(the_case, row, column);
}

// --- what runs ----------------------------------------------------------------------------------

static bool say_replaced(const struct reason_case *the_case, struct words *words)
{
    const struct reason *reason = the_case->reason;
    if (reason->joined == REASON_NONE)
        return false;
    struct str title = reason_text(the_case, reason->joined, COMPARE_WATERFALL_OP);
    if (!title.len)
        title = reason_main_kernel(the_case, reason, CAND);
    words_say(words, "%s runs %s in its place, %s%s instead of %s", the_case->names[CAND],
              reason_kernel(title).text, time_text_beside(reason->ns[CAND], reason->ns[BASE]).text,
              pair_per_step(the_case->pair),
              time_text_beside(reason->ns[BASE], reason->ns[CAND]).text);
    return true;
}

static bool say_one_side(const struct reason_case *the_case, struct words *words)
{
    const struct reason *reason = the_case->reason;
    if (reason->ns[BASE] > 0 && reason->ns[CAND] > 0)
        return false;
    int side = reason_slow_side(reason);
    struct reason whole = *reason;
    whole.shape = REASON_NONE;
    double calls = reason_calls(the_case, &whole, side);
    struct str kernel = reason_main_kernel(the_case, reason, side);
    if (table_is(the_case->waterfall, reason->row, COMPARE_WATERFALL_BAR, STR("exposed_memory")))
        words_say(words, "only %s runs %s for it", the_case->names[side],
                  reason_kernel(kernel).text);
    else
        words_say(words, "only %s runs it", the_case->names[side]);
    if (calls > 0)
        words_say(words, ", %s time%s%s", reason_count(calls).text, calls == 1 ? "" : "s",
                  pair_per_step(the_case->pair));
    return true;
}

// The inputs of an operator with the most time on a side; "" without.
struct inputs {
    struct str dims, types;
    int64_t ns;
};

static struct inputs largest_inputs(const struct reason_case *the_case, int side, struct str op)
{
    const struct compare_side *from = the_case->pair->sides[side]->side;
    struct inputs most = {.ns = -1};
    const struct table *parts = report_find(from->runs[0].rank, table_parts.name);
    for (size_t row = 0; parts && row < parts->row_count; row++) {
        int64_t ns = table_i64(parts, row, PARTS_OWNED_NS, 0);
        if (ns > most.ns && str_equal(op_alias_name(table_text(parts, row, PARTS_OP)), op))
            most = (struct inputs){table_text(parts, row, PARTS_DIMS),
                                   table_text(parts, row, PARTS_TYPES), ns};
    }
    return most;
}

// Whether most of the operator's time is in rows that match by its name only.
static bool has_other_inputs(const struct reason_case *the_case)
{
    const struct reason *reason = the_case->reason;
    int64_t rest_ns = 0;
    for (size_t row = reason->row; row < reason->end; row++)
        if (table_is(the_case->waterfall, row, COMPARE_WATERFALL_LEVEL, STR("shape")) &&
            table_is(the_case->waterfall, row, COMPARE_WATERFALL_MATCH, STR("op")))
            rest_ns += llabs(table_i64(the_case->waterfall, row, COMPARE_WATERFALL_DELTA_NS, 0));
    return (double)rest_ns >= MOST_OF * fabs((double)delta_of(reason));
}

static bool say_shapes(const struct reason_case *the_case, struct words *words)
{
    struct str op = reason_text(the_case, the_case->reason->row, COMPARE_WATERFALL_OP);
    if (!op.len || !has_other_inputs(the_case))
        return false;
    struct inputs base = largest_inputs(the_case, BASE, op);
    struct inputs cand = largest_inputs(the_case, CAND, op);
    if (!base.dims.len || !cand.dims.len || str_equal(base.dims, cand.dims))
        return false;
    struct name_text shapes[SIDES] = {reason_shapes(base.dims), reason_shapes(cand.dims)};
    if (strcmp(shapes[BASE].text, shapes[CAND].text) == 0)
        return false;
    words_say(words, "different shapes: mostly %s on %s, %s on %s", shapes[BASE].text,
              the_case->names[BASE], shapes[CAND].text, the_case->names[CAND]);
    return true;
}

// The element type of the first input: "c10::BFloat16" of ["c10::BFloat16","Scalar"].
static struct str first_type(struct str types)
{
    size_t from = str_find(types, STR("\""));
    if (from == SIZE_MAX)
        return STR("");
    struct str rest = {types.at + from + 1, types.len - from - 1};
    size_t end = str_find(rest, STR("\""));
    return (struct str){rest.at, end == SIZE_MAX ? rest.len : end};
}

static bool say_types(const struct reason_case *the_case, struct words *words)
{
    struct str op = reason_text(the_case, the_case->reason->row, COMPARE_WATERFALL_OP);
    if (!op.len || !has_other_inputs(the_case))
        return false;
    struct str base = first_type(largest_inputs(the_case, BASE, op).types);
    struct str cand = first_type(largest_inputs(the_case, CAND, op).types);
    if (!base.len || !cand.len || str_equal(base, cand))
        return false;
    words_say(words, "different types: %s on %s, %s on %s", reason_kernel(base).text,
              the_case->names[BASE], reason_kernel(cand).text, the_case->names[CAND]);
    return true;
}

static bool say_calls(const struct reason_case *the_case, struct words *words)
{
    bool is_shape = the_case->reason->kind == REASON_SHAPE;
    const struct reason *reason = is_shape ? the_case->detail : the_case->reason;
    double base = reason_calls(the_case, reason, BASE), cand = reason_calls(the_case, reason, CAND);
    if (!(base > 0 && cand > 0) || delta_of(reason) == 0)
        return false;
    double effect_ns = (cand / base - 1) * (double)reason->ns[BASE];
    double explained = effect_ns / (double)delta_of(reason);
    if (explained < MOST_OF || explained > 1 / MOST_OF)
        return false;
    reason_say_calls(the_case, base, cand, words);
    return true;
}

// --- how fast it runs ---------------------------------------------------------------------------

static const char *percent(double share, char text[16])
{
    snprintf(text, 16, share < 0.0095 ? "%.1f %%" : "%.0f %%", 100 * share);
    return text;
}

static int64_t per_call_ns(const struct reason_case *the_case, int side)
{
    double calls = reason_calls(the_case, the_case->detail, side);
    return calls > 0 ? (int64_t)((double)the_case->detail->ns[side] / calls) : 0;
}

// "MI300X has 1.6 times the memory bandwidth and reaches 31 % of it, H100 24 %".
static bool say_peaks(const struct reason_case *the_case, struct words *words)
{
    const struct reason_rate *rates = the_case->rates;
    int slow = reason_slow_side(the_case->detail), fast = 1 - slow;
    bool memory = rates[slow].memory_share >= 0.5;
    double peak_fast = memory ? rates[fast].peak_tbps : rates[fast].peak_tflops;
    double peak_slow = memory ? rates[slow].peak_tbps : rates[slow].peak_tflops;
    double peak = peak_fast / peak_slow, reached = rates[fast].efficiency / rates[slow].efficiency;
    if (per_call_ns(the_case, slow) < SHORT_NS || !(peak * reached > 1) ||
        memory != (rates[fast].memory_share >= 0.5))
        return false;
    char high[16], low[16];
    percent(rates[fast].efficiency, high);
    percent(rates[slow].efficiency, low);
    const char *what = memory ? "memory bandwidth" : "peak FLOP/s";
    if (peak > ALIKE && reached < ALIKE && reached > 1 / ALIKE)
        words_say(words, "%s has %.1f times the %s, and both reach about %s of it",
                  the_case->names[fast], peak, what, high);
    else if (peak > ALIKE)
        words_say(words, "%s has %.1f times the %s and reaches %s of it, %s %s",
                  the_case->names[fast], peak, what, high, the_case->names[slow], low);
    else if (peak < 1 / ALIKE)
        words_say(words, "%s reaches only %s of its %s, %s %s", the_case->names[slow], low, what,
                  the_case->names[fast], high);
    else
        words_say(words, "%s reaches %s of the %s, %s %s", the_case->names[fast], high, what,
                  the_case->names[slow], low);
    return true;
}

// Whether the side runs that kernel for the part, most of its time or not.
static bool runs(const struct reason_case *the_case, int side, struct str kernel)
{
    const struct reason *detail = the_case->detail;
    bool of_shape = detail->shape != REASON_NONE;
    for (size_t row = 1 + (of_shape ? detail->shape : detail->row); row < detail->end; row++) {
        if (of_shape && table_is(the_case->waterfall, row, COMPARE_WATERFALL_LEVEL, STR("shape")))
            return false;
        if (table_is(the_case->waterfall, row, COMPARE_WATERFALL_LEVEL, STR("kernel")) &&
            str_equal(reason_text(the_case, row, COMPARE_WATERFALL_BASE_KERNEL + (unsigned)side),
                      kernel))
            return true;
    }
    return false;
}

static bool say_kernel(const struct reason_case *the_case, struct words *words)
{
    int64_t base_ns = per_call_ns(the_case, BASE), cand_ns = per_call_ns(the_case, CAND);
    struct str base = reason_main_kernel(the_case, the_case->detail, BASE);
    struct str cand = reason_main_kernel(the_case, the_case->detail, CAND);
    if (!base.len || !cand.len || str_equal(base, cand) || base_ns == 0 || cand_ns == 0)
        return false;
    // Both sides run both: which of them has more time is chance.
    if (runs(the_case, BASE, cand) && runs(the_case, CAND, base))
        return false;
    struct name_text labels[SIDES] = {reason_label(base), reason_label(cand)};
    if (strcmp(labels[BASE].text, labels[CAND].text) == 0)
        return false;
    words_say(words, "%s runs %s, %s runs %s: a call takes %s instead of %s", the_case->names[BASE],
              labels[BASE].text, the_case->names[CAND], labels[CAND].text,
              time_text_beside(cand_ns, base_ns).text, time_text_beside(base_ns, cand_ns).text);
    return true;
}

// Whether other kernels changed as much at equal work.
static void say_pace(const struct reason_case *the_case, double factor, struct words *words)
{
    double pace = reason_pace(the_case, reason_main_kernel(the_case, the_case->detail, BASE));
    if (isnan(pace))
        return;
    if (fabs(log(pace)) < log(PACE))
        words_say(words, "; other kernels with equal work keep their pace");
    else if (log(pace) / log(factor) > 0.5 && log(pace) / log(factor) < 2)
        words_say(words,
                  "; other kernels with equal work also take %.2f times as long: check clocks, "
                  "power and heat",
                  pace);
}

// Whether it is a matter of one rank: the one whose step is shown computes for that much longer,
// and no other one does.
static void say_one_rank(const struct reason_case *the_case, struct words *words)
{
    const struct moved_rank *moved = &the_case->moved;
    double delta_ns = (double)delta_of(the_case->reason);
    if (moved->ranks < 2 || !moved->alone || delta_ns * moved->beyond_ns < 0 ||
        fabs(moved->beyond_ns) < MOST_OF * fabs(delta_ns))
        return;
    for (int side = 0; side < SIDES; side++)
        if (the_case->pair->sides[side]->side->runs[0].which.number != moved->own.rank)
            return;
    words_say(words, "; only on rank %lld of %zu", (long long)moved->own.rank, moved->ranks);
}

// Of communication and copies only what nothing hides is compared, which is no time of a call.
static bool say_exposed(const struct reason_case *the_case, struct words *words)
{
    size_t row = the_case->detail->row;
    int64_t base_ns = per_call_ns(the_case, BASE), cand_ns = per_call_ns(the_case, CAND);
    if (base_ns == 0 || cand_ns == 0 ||
        (!table_is(the_case->waterfall, row, COMPARE_WATERFALL_BAR, STR("exposed_comm")) &&
         !table_is(the_case->waterfall, row, COMPARE_WATERFALL_BAR, STR("exposed_memory"))))
        return false;
    bool more = cand_ns > base_ns;
    words_say(words,
              "%s of a call is exposed instead of %s: it takes %s, or compute hides %s of it",
              time_text_beside(cand_ns, base_ns).text, time_text_beside(base_ns, cand_ns).text,
              more ? "longer" : "less", more ? "less" : "more");
    return true;
}

// "97 % less", "12 % longer", or "100 times as long" where percents say little.
static void say_factor(double factor, struct words *words)
{
    if (factor >= TIMES)
        words_say(words, "%s times as long", mean_text(factor, factor < 10).text);
    else
        words_say(words, "%.*f %% %s", fabs(factor - 1) < 0.0995, 100 * fabs(factor - 1),
                  factor < 1 ? "less" : "longer");
}

static bool say_slower(const struct reason_case *the_case, struct words *words)
{
    int64_t base_ns = per_call_ns(the_case, BASE), cand_ns = per_call_ns(the_case, CAND);
    if (base_ns == 0 || cand_ns == 0)
        return false;
    double factor = (double)cand_ns / (double)base_ns;
    bool same = str_equal(reason_main_kernel(the_case, the_case->detail, BASE),
                          reason_main_kernel(the_case, the_case->detail, CAND));
    words_say(words, "a call%s takes ", same ? " of the same kernel" : "");
    say_factor(factor, words);
    words_say(words, ", %s instead of %s", time_text_beside(cand_ns, base_ns).text,
              time_text_beside(base_ns, cand_ns).text);
    say_pace(the_case, factor, words);
    say_one_rank(the_case, words);
    return true;
}

static bool say_rate(const struct reason_case *the_case, struct words *words)
{
    return !the_case->same_gpu && say_peaks(the_case, words);
}

// Another kernel, and how near the peak either comes.
static bool say_new_kernel(const struct reason_case *the_case, struct words *words)
{
    struct words peaks = {.len = 0};
    if (!say_kernel(the_case, words))
        return false;
    if (the_case->same_gpu && say_peaks(the_case, &peaks))
        words_say(words, "; %.*s", (int)peaks.len, peaks.text);
    return true;
}

// --- attention ----------------------------------------------------------------------------------

static bool is_composing(struct str op)
{
    return str_find(op, STR("softmax")) != SIZE_MAX || str_find(op, STR("bmm")) != SIZE_MAX;
}

// Whether a side composes attention of products and a softmax.
static bool is_composed(const struct reason_case *the_case, int side)
{
    const struct reason *reason = the_case->reason;
    int64_t composed_ns = 0;
    for (size_t row = reason->row; row < reason->end; row++)
        if (table_is(the_case->waterfall, row, COMPARE_WATERFALL_LEVEL, STR("shape")) &&
            is_composing(reason_text(the_case, row, COMPARE_WATERFALL_OP)))
            composed_ns +=
                table_i64(the_case->waterfall, row, COMPARE_WATERFALL_BASE_NS + (unsigned)side, 0);
    return (double)composed_ns > COMPOSED * (double)reason->ns[side];
}

// Rows come with the largest differences first.
static void say_parts(const struct reason_case *the_case, struct words *words)
{
    const struct reason *reason = the_case->reason;
    int named = 0;
    for (size_t row = reason->row; row < reason->end && named < PARTS_NAMED; row++) {
        if (!table_is(the_case->waterfall, row, COMPARE_WATERFALL_LEVEL, STR("op")))
            continue;
        int64_t delta_ns = table_i64(the_case->waterfall, row, COMPARE_WATERFALL_DELTA_NS, 0);
        struct str op = reason_text(the_case, row, COMPARE_WATERFALL_OP);
        if (!op.len || fabs((double)delta_ns) < 0.05 * fabs((double)delta_of(reason)))
            continue;
        words_say(words, "%s%s %s%s", named++ ? ", " : ": ", reason_kernel(op).text,
                  delta_ns > 0 ? "+" : "", time_text(delta_ns).text);
    }
}

// A kernel built for an older GPU, or one that reads element by element.
static bool say_kernel_kind(const struct reason_case *the_case, struct words *words)
{
    struct words peaks = {.len = 0};
    if (!reason_say_kind(the_case, words))
        return false;
    if (say_peaks(the_case, &peaks))
        words_say(words, "; %.*s", (int)peaks.len, peaks.text);
    return true;
}

static bool say_how_fast(const struct reason_case *the_case, struct words *words)
{
    return say_kernel_kind(the_case, words) || say_rate(the_case, words) ||
           say_new_kernel(the_case, words) || say_slower(the_case, words);
}

static bool say_attention(const struct reason_case *the_case, struct words *words)
{
    const struct reason *reason = the_case->reason;
    bool composed[SIDES] = {is_composed(the_case, BASE), is_composed(the_case, CAND)};
    if (reason->kind != REASON_ATTENTION || (!composed[BASE] && !composed[CAND]))
        return false;
    if (composed[BASE] && composed[CAND]) {
        words_say(words, "not fused on either side, so all scores go through memory");
        say_parts(the_case, words);
        struct str op = reason_text(the_case, the_case->detail->row, COMPARE_WATERFALL_OP);
        struct words fast = {.len = 0};
        if (say_how_fast(the_case, &fast))
            words_say(words, ". In %s, %.*s", reason_kernel(op).text, (int)fast.len, fast.text);
        return true;
    }
    int side = composed[BASE] ? BASE : CAND;
    words_say(words,
              "fused on %s only: %s builds it from batched products and a softmax, and all scores "
              "go through memory",
              the_case->names[1 - side], the_case->names[side]);
    return true;
}

// --- the table ----------------------------------------------------------------------------------

static const struct {
    const char *word;
    bool (*say)(const struct reason_case *the_case, struct words *words);
} rules[] = {
    {"replaced", say_replaced}, {"one_side", say_one_side},       {"attention", say_attention},
    {"calls", say_calls},       {"shapes", say_shapes},           {"types", say_types},
    {"exposed", say_exposed},   {"kernel_kind", say_kernel_kind}, {"peaks", say_rate},
    {"kernel", say_new_kernel}, {"slower", say_slower},
};

const char *reason_say_work(const struct reason_case *the_case, struct words *words)
{
    const struct reason *reason = the_case->reason;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].say(the_case, words))
            return rules[i].word;
    words_say(words, "it takes %s%s instead of %s",
              time_text_beside(reason->ns[CAND], reason->ns[BASE]).text,
              pair_per_step(the_case->pair),
              time_text_beside(reason->ns[BASE], reason->ns[CAND]).text);
    return "none";
}
