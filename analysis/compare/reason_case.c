// SPDX-License-Identifier: Apache-2.0
// What sentences about a difference have in common: names of the sides and of kernels, and whether
// all kernels became slower at equal work.
#include "analysis/compare/reasons.h"
#include "analysis/kernel_names/kernel_decoded.h"
#include "analysis/kernel_names/kernel_text.h"
#include "analysis/names/gpu_name.h"
#include "analysis/report/tables.h"
#include "ingest/base/orders.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEAST_ALIKE = 5, MOST_PACES = 1000, NAME_BYTES = 40, MOST_TENSORS = 2 };

// --- names --------------------------------------------------------------------------------------

struct name_text reason_shown(struct str name)
{
    struct name_text text;
    if (name.len <= NAME_BYTES) {
        snprintf(text.text, sizeof text.text, "%.*s", (int)name.len, name.at);
        return text;
    }
    size_t head = NAME_BYTES - 12, tail = 9;
    head = str_valid_utf8((struct str){name.at, head});
    while (tail && ((unsigned char)name.at[name.len - tail] & 0xc0) == 0x80)
        tail--;
    snprintf(text.text, sizeof text.text, "%.*s...%.*s", (int)head, name.at, (int)tail,
             name.at + name.len - tail);
    return text;
}

struct name_text reason_kernel(struct str name)
{
    struct kernel_text text;
    if (str_starts_with(name, STR("Mem"))) // "Memcpy HtoD (Pinned -> Device)"
        return reason_shown(name);
    kernel_text_read(name, &text);
    return reason_shown(text.base.len ? text.base : name);
}

struct name_text reason_label(struct str kernel)
{
    struct kernel_decoded decoded;
    struct name_text text;
    kernel_decode(kernel, &decoded);
    size_t len = strlen(decoded.label);
    if (!decoded.op || (decoded.doubts & DOUBT_OP) || len >= sizeof text.text)
        return reason_kernel(kernel);
    memcpy(text.text, decoded.label, len + 1);
    return text;
}

struct count_text reason_count(double count)
{
    bool whole = fabs(count - nearbyint(count)) < 0.005;
    return mean_text(count, whole ? 0 : 1);
}

void reason_say_calls(const struct reason_case *the_case, double base, double cand,
                      struct words *words)
{
    struct count_text now = reason_count(cand);
    words_say(words, "%s call%s%s instead of %s", now.text, strcmp(now.text, "1") == 0 ? "" : "s",
              pair_per_step(the_case->pair), reason_count(base).text);
}

// Copies the numbers of one list; returns how many bytes it read.
static size_t add_list(struct str dims, struct words *words)
{
    const char *cross = words->len ? ", " : "";
    size_t i = 0;
    while (i < dims.len && dims.at[i] != ']') {
        size_t from = i;
        i = str_digits_end(dims, i);
        if (i > from) {
            words_say(words, "%s%.*s", cross, (int)(i - from), dims.at + from);
            cross = "x";
        } else {
            i++;
        }
    }
    return i;
}

struct name_text reason_shapes(struct str dims)
{
    struct words words = {.len = 0};
    int tensors = 0;
    for (size_t i = 0; i < dims.len && tensors < MOST_TENSORS; i++) {
        size_t before = words.len;
        if (dims.at[i] == '[')
            i += add_list((struct str){dims.at + i + 1, dims.len - i - 1}, &words);
        tensors += words.len > before;
    }
    return reason_shown(words_str(&words));
}

double reason_calls(const struct reason_case *the_case, const struct reason *reason, int side)
{
    unsigned calls = side == BASE ? COMPARE_WATERFALL_BASE_CALLS : COMPARE_WATERFALL_CAND_CALLS;
    unsigned steps = side == BASE ? COMPARE_WATERFALL_BASE_STEPS : COMPARE_WATERFALL_CAND_STEPS;
    size_t row = side == CAND && reason->joined != REASON_NONE ? reason->joined
                 : reason->shape != REASON_NONE                ? reason->shape
                                                               : reason->row;
    int64_t count = table_i64(the_case->waterfall, row, calls, 0);
    int64_t per = table_i64(the_case->waterfall, row, steps, 0);
    double factor = compare_pool_factor(the_case->pair->sides[side]);
    return per > 0 ? (double)count / (double)per * factor : 0;
}

struct str reason_text(const struct reason_case *the_case, size_t row, unsigned column)
{
    return table_text(the_case->waterfall, row, column);
}

// --- pace ---------------------------------------------------------------------------------------

// Calls of one kernel with equal work.
struct pace_row {
    struct str kernel;
    int64_t work;
    double total_ns, calls;
};

static int compare_work(const void *a, const void *b)
{
    const struct pace_row *x = a, *y = b;
    int order = str_compare(x->kernel, y->kernel);
    return order ? order : (x->work > y->work) - (x->work < y->work);
}

static const struct table *rates_of(const struct pair *pair, int side)
{
    return report_find(pair->sides[side]->side->runs[0].rank, table_kernel_rates.name);
}

// Rows with evidence of equal work, sorted.
static bool read_rates(const struct table *rates, struct arena *arena, struct pace_row **rows,
                       size_t *count, struct err *err)
{
    *count = 0;
    *rows = arena_array(arena, (rates ? rates->row_count : 0) + 1, sizeof **rows, err);
    for (size_t i = 0; *rows && rates && i < rates->row_count; i++) {
        struct pace_row row = {table_text(rates, i, KERNEL_RATES_KERNEL),
                               table_i64(rates, i, KERNEL_RATES_WORK, 0),
                               (double)table_i64(rates, i, KERNEL_RATES_TOTAL_NS, 0),
                               (double)table_i64(rates, i, KERNEL_RATES_CALLS, 0)};
        bool alike = table_is(rates, i, KERNEL_RATES_BASIS, STR("shapes")) ||
                     table_is(rates, i, KERNEL_RATES_BASIS, STR("grid"));
        if (alike && row.calls > 0 && row.total_ns > 0)
            (*rows)[(*count)++] = row;
    }
    if (*rows && *count)
        qsort(*rows, *count, sizeof **rows, compare_work);
    return *rows != NULL;
}

// Adds the base's work as the candidate would take for it.
static void take_work(struct reason_case *the_case, const struct pace_row *base,
                      const struct pace_row *cand)
{
    struct kernel_pace *last = the_case->paces + the_case->pace_count - 1;
    if (!the_case->pace_count || !str_equal(last->kernel, base->kernel)) {
        last = the_case->paces + the_case->pace_count++;
        *last = (struct kernel_pace){.kernel = base->kernel};
    }
    last->base_ns += base->total_ns;
    last->cand_ns += cand->total_ns / cand->calls * base->calls;
}

static bool find_paces(const struct pair *pair, struct reason_case *the_case, struct err *err)
{
    struct pace_row *rows[SIDES];
    size_t counts[SIDES];
    for (int side = 0; side < SIDES; side++)
        if (!read_rates(rates_of(pair, side), pair->scratch, &rows[side], &counts[side], err))
            return false;
    the_case->paces = arena_array(pair->scratch, counts[BASE] + 1, sizeof *the_case->paces, err);
    if (!the_case->paces)
        return false;
    for (size_t i = 0; i < counts[BASE] && counts[CAND]; i++) {
        const struct pace_row *base = &rows[BASE][i];
        const struct pace_row *cand =
            bsearch(base, rows[CAND], counts[CAND], sizeof *base, compare_work);
        if (cand)
            take_work(the_case, base, cand);
    }
    return true;
}

double reason_pace(const struct reason_case *the_case, struct str kernel)
{
    double factors[MOST_PACES];
    size_t count = 0;
    for (size_t i = 0; i < the_case->pace_count && count < MOST_PACES; i++)
        if (!str_equal(the_case->paces[i].kernel, kernel))
            factors[count++] = the_case->paces[i].cand_ns / the_case->paces[i].base_ns;
    if (count < LEAST_ALIKE)
        return NAN;
    qsort(factors, count, sizeof *factors, order_doubles);
    return factors[(count - 1) / 2];
}

// --- ranks --------------------------------------------------------------------------------------

static double change_of(const struct rank_change *rank)
{
    return rank->ns[CAND] - rank->ns[BASE];
}

static int compare_changes(const void *a, const void *b)
{
    double x = change_of(a), y = change_of(b);
    return (x > y) - (x < y);
}

static bool read_changes(const struct pair *pair, struct rank_change **changes, size_t *count,
                         struct err *err)
{
    const struct table *ranks = report_find(pair->report, table_compare_ranks.name);
    size_t rows = ranks ? ranks->row_count : 0;
    *count = 0;
    *changes = arena_array(pair->scratch, rows + 1, sizeof **changes, err);
    for (size_t row = 0; *changes && row < rows; row++) {
        struct rank_change rank = {.rank = table_i64(ranks, row, COMPARE_RANKS_RANK, -1)};
        if (table_i64(ranks, row, COMPARE_RANKS_CAND, 0) != pair->number || rank.rank < 0)
            continue;
        for (unsigned side = 0; side < SIDES; side++)
            rank.ns[side] = (double)table_i64(ranks, row, COMPARE_RANKS_BASE_COMPUTE_NS + side, 0);
        (*changes)[(*count)++] = rank;
    }
    return *changes != NULL;
}

static bool find_moved(const struct pair *pair, struct moved_rank *moved, struct err *err)
{
    struct rank_change *changes;
    size_t count;
    if (!read_changes(pair, &changes, &count, err))
        return false;
    if (count < 2)
        return true;
    qsort(changes, count, sizeof *changes, compare_changes);
    double median = change_of(&changes[(count - 1) / 2]);
    bool first = median - change_of(changes) > change_of(&changes[count - 1]) - median;
    double next = change_of(&changes[first ? 1 : count - 2]);
    moved->own = changes[first ? 0 : count - 1];
    moved->beyond_ns = change_of(&moved->own) - median;
    moved->alone = fabs(next - median) < fabs(moved->beyond_ns) / 2;
    moved->ranks = count;
    return true;
}

// --- the case -----------------------------------------------------------------------------------

static void name_sides(const struct pair *pair, struct reason_case *the_case)
{
    static const char *const roles[SIDES] = {"the base", "the candidate"};
    struct str *gpus = the_case->gpus;
    for (int side = 0; side < SIDES; side++)
        gpus[side] =
            gpu_name_short(compare_pool_setting(&pair->sides[side]->side->runs[0], STR("gpu")));
    the_case->same_gpu = !gpus[BASE].len || !gpus[CAND].len || str_equal(gpus[BASE], gpus[CAND]);
    for (int side = 0; side < SIDES; side++) {
        struct str name = the_case->same_gpu ? str_of(roles[side]) : gpus[side];
        snprintf(the_case->names[side], sizeof the_case->names[side], "%.*s", (int)name.len,
                 name.at);
    }
}

bool reason_case_make(const struct pair *pair, struct reason_case *the_case, struct err *err)
{
    *the_case = (struct reason_case){.pair = pair};
    the_case->waterfall = report_find(pair->report, table_compare_waterfall.name);
    name_sides(pair, the_case);
    return find_moved(pair, &the_case->moved, err) &&
           (!the_case->same_gpu || find_paces(pair, the_case, err));
}
