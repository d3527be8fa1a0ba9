// SPDX-License-Identifier: Apache-2.0
// How fast both sides did the work of a part, from the rows of their rooflines with its operators
// and shapes.
#include "analysis/compare/reasons.h"
#include "analysis/names/op_alias.h"
#include "analysis/report/tables.h"

#include <math.h>
#include <stdlib.h>

// An operator with one of its shapes; all shapes if dims are empty.
struct work_key {
    struct str op, dims;
    int64_t ns[SIDES]; // in the waterfall
    bool has_flops[SIDES];
};

struct work_keys {
    struct work_key *at;
    size_t count;
};

// Sums over the rows of a side.
struct work_sum {
    double flops, bytes, busy_ns, roofline_ns, limited_ns, memory_ns;
    double product_ns; // of rows with operations
    double peak_tflops, peak_tbps;
};

static int compare_keys(const void *a, const void *b)
{
    const struct work_key *x = a, *y = b;
    int order = str_compare(x->op, y->op);
    return order ? order : str_compare(x->dims, y->dims);
}

// The row whose parts count: of one shape, only that.
static void reason_span(const struct reason *reason, size_t *first, size_t *end)
{
    bool one = reason->shape != REASON_NONE;
    *first = one ? reason->shape : reason->row;
    *end = one ? reason->shape + 1 : reason->end;
}

static bool read_keys(const struct pair *pair, const struct table *waterfall,
                      const struct reason *reason, struct work_keys *keys, struct err *err)
{
    size_t first, end;
    reason_span(reason, &first, &end);
    keys->count = 0;
    keys->at = arena_array(pair->scratch, end - first + 1, sizeof *keys->at, err);
    if (!keys->at)
        return false;
    for (size_t row = first; row < end; row++) {
        struct work_key key = {.op = table_text(waterfall, row, COMPARE_WATERFALL_OP),
                               .dims = table_text(waterfall, row, COMPARE_WATERFALL_DIMS)};
        for (unsigned side = 0; side < SIDES; side++)
            key.ns[side] = table_i64(waterfall, row, COMPARE_WATERFALL_BASE_NS + side, 0);
        if (table_is(waterfall, row, COMPARE_WATERFALL_LEVEL, STR("shape")) && key.op.len)
            keys->at[keys->count++] = key;
    }
    if (keys->count)
        qsort(keys->at, keys->count, sizeof *keys->at, compare_keys);
    return true;
}

static struct work_key *find_key(const struct work_keys *keys, struct str op, struct str dims)
{
    struct work_key with = {.op = op, .dims = dims}, without = {.op = op};
    if (!keys->count)
        return NULL;
    struct work_key *found = bsearch(&with, keys->at, keys->count, sizeof with, compare_keys);
    return found ? found : bsearch(&without, keys->at, keys->count, sizeof without, compare_keys);
}

static void take_row(const struct table *roofline, size_t row, struct work_sum *sum)
{
    double calls = (double)table_i64(roofline, row, ROOFLINE_CALLS, 0);
    double flops = (double)table_i64(roofline, row, ROOFLINE_FLOPS, 0) * calls;
    double busy_ns = (double)table_i64(roofline, row, ROOFLINE_BUSY_NS, 0);
    struct str bound = table_text(roofline, row, ROOFLINE_BOUND);
    sum->flops += flops;
    sum->bytes += (double)table_i64(roofline, row, ROOFLINE_BYTES, 0) * calls;
    sum->busy_ns += busy_ns;
    sum->product_ns += flops > 0 ? busy_ns : 0;
    if (!bound.len)
        return;
    sum->roofline_ns += (double)table_i64(roofline, row, ROOFLINE_ROOFLINE_NS, 0);
    sum->limited_ns += busy_ns;
    sum->memory_ns += str_equal(bound, STR("memory")) ? busy_ns : 0;
    sum->peak_tflops = fmax(sum->peak_tflops, table_f64(roofline, row, ROOFLINE_PEAK_TFLOPS, 0));
    sum->peak_tbps = fmax(sum->peak_tbps, table_f64(roofline, row, ROOFLINE_PEAK_TBPS, 0));
}

static struct work_sum sum_side(const struct pair *pair, int side, const struct work_keys *keys)
{
    const struct compare_side *from = pair->sides[side]->side;
    struct work_sum sum = {.flops = 0};
    for (size_t r = 0; r < from->run_count; r++) {
        const struct table *roofline = report_find(from->runs[r].rank, table_roofline.name);
        for (size_t row = 0; roofline && row < roofline->row_count; row++) {
            struct work_key *key =
                find_key(keys, op_alias_name(table_text(roofline, row, ROOFLINE_OP)),
                         table_text(roofline, row, ROOFLINE_DIMS));
            if (!key)
                continue;
            take_row(roofline, row, &sum);
            key->has_flops[side] |= table_i64(roofline, row, ROOFLINE_FLOPS, 0) > 0;
        }
    }
    return sum;
}

static double ratio(double part, double whole)
{
    return part > 0 && whole > 0 ? part / whole : NAN;
}

static struct reason_rate rate_of(const struct work_sum *sum)
{
    return (struct reason_rate){.tflops = ratio(sum->flops, sum->product_ns) / 1e3,
                                .tbps = ratio(sum->bytes, sum->busy_ns) / 1e3,
                                .efficiency = ratio(sum->roofline_ns, sum->limited_ns),
                                .peak_tflops = sum->peak_tflops > 0 ? sum->peak_tflops : NAN,
                                .peak_tbps = sum->peak_tbps > 0 ? sum->peak_tbps : NAN,
                                .memory_share =
                                    sum->limited_ns > 0 ? sum->memory_ns / sum->limited_ns : NAN};
}

// Attention's own operations are those of its products, whatever else composes it; only peak
// operations limit it, as a fused kernel keeps the scores on chip.
static void rate_attention(const struct work_keys *keys, int side, struct reason_rate *rate)
{
    double product_ns = 0, all_ns = 0;
    for (size_t i = 0; i < keys->count; i++) {
        all_ns += (double)keys->at[i].ns[side];
        product_ns += keys->at[i].has_flops[side] ? (double)keys->at[i].ns[side] : 0;
    }
    rate->tflops *= ratio(product_ns, all_ns);
    rate->efficiency = rate->tflops / rate->peak_tflops;
    rate->tbps = NAN;
    rate->memory_share = 0;
}

bool reason_rates(const struct pair *pair, const struct reason *reason,
                  struct reason_rate rates[SIDES], struct err *err)
{
    const struct table *waterfall = report_find(pair->report, table_compare_waterfall.name);
    struct work_keys keys;
    if (!read_keys(pair, waterfall, reason, &keys, err))
        return false;
    for (int side = 0; side < SIDES; side++) {
        struct work_sum sum = sum_side(pair, side, &keys);
        rates[side] = rate_of(&sum);
        if (reason->kind == REASON_ATTENTION)
            rate_attention(&keys, side, &rates[side]);
    }
    return true;
}
