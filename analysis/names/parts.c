// SPDX-License-Identifier: Apache-2.0
// Sums and rows of parts, and rounding that keeps sums exact.
#include "analysis/names/parts.h"
#include "analysis/report/tables.h"

#include <assert.h>
#include <stdlib.h>

int64_t parts_window_ns(const struct parts *parts)
{
    int64_t sum = 0;
    for (int b = 0; b < BAR_COUNT; b++)
        sum += parts->bar_ns[b];
    return sum;
}

int64_t parts_compute_ns(const struct parts *parts)
{
    return parts->bar_ns[BAR_GEMM] + parts->bar_ns[BAR_ATTENTION] +
           parts->bar_ns[BAR_OTHER_COMPUTE];
}

int64_t parts_idle_ns(const struct parts *parts)
{
    return parts->bar_ns[BAR_IDLE_HOST_WAIT] + parts->bar_ns[BAR_IDLE_OTHER] +
           parts->bar_ns[BAR_UNRECORDED];
}

int64_t parts_busy_ns(const struct parts *parts)
{
    return parts_window_ns(parts) - parts_idle_ns(parts);
}

int64_t parts_recorded_ns(const struct parts *parts)
{
    return parts_window_ns(parts) - parts->bar_ns[BAR_UNRECORDED];
}

void parts_row(struct row *row, unsigned column, const struct parts *parts)
{
    int64_t hidden_ns = parts->total_comm_ns - parts->bar_ns[BAR_EXPOSED_COMM];
    row_i64(row, column + TIMES_WINDOW_NS, parts_window_ns(parts));
    row_i64(row, column + TIMES_COMPUTE_NS, parts_compute_ns(parts));
    row_i64(row, column + TIMES_EXPOSED_COMM_NS, parts->bar_ns[BAR_EXPOSED_COMM]);
    row_i64(row, column + TIMES_EXPOSED_MEMORY_NS, parts->bar_ns[BAR_EXPOSED_MEMORY]);
    row_i64(row, column + TIMES_IDLE_NS, parts_idle_ns(parts));
    row_i64(row, column + TIMES_BUSY_NS, parts_busy_ns(parts));
    row_i64(row, column + TIMES_TOTAL_COMM_NS, parts->total_comm_ns);
    row_i64(row, column + TIMES_TOTAL_MEMORY_NS, parts->total_memory_ns);
    row_share(row, column + TIMES_OVERLAP_SHARE, hidden_ns,
              parts->waits_only ? 0 : parts->total_comm_ns);
    row_i64(row, column + TIMES_GEMM_NS, parts->bar_ns[BAR_GEMM]);
    row_i64(row, column + TIMES_ATTENTION_NS, parts->bar_ns[BAR_ATTENTION]);
    row_i64(row, column + TIMES_OTHER_COMPUTE_NS, parts->bar_ns[BAR_OTHER_COMPUTE]);
    row_i64(row, column + TIMES_IDLE_HOST_WAIT_NS, parts->bar_ns[BAR_IDLE_HOST_WAIT]);
    row_i64(row, column + TIMES_IDLE_OTHER_NS, parts->bar_ns[BAR_IDLE_OTHER]);
    row_i64(row, column + TIMES_UNRECORDED_NS, parts->bar_ns[BAR_UNRECORDED]);
}

struct parts parts_read(const struct table *table, size_t row, unsigned times)
{
    static const unsigned columns[BAR_COUNT] = {
        [BAR_GEMM] = TIMES_GEMM_NS,
        [BAR_ATTENTION] = TIMES_ATTENTION_NS,
        [BAR_OTHER_COMPUTE] = TIMES_OTHER_COMPUTE_NS,
        [BAR_EXPOSED_COMM] = TIMES_EXPOSED_COMM_NS,
        [BAR_EXPOSED_MEMORY] = TIMES_EXPOSED_MEMORY_NS,
        [BAR_IDLE_HOST_WAIT] = TIMES_IDLE_HOST_WAIT_NS,
        [BAR_IDLE_OTHER] = TIMES_IDLE_OTHER_NS,
        [BAR_UNRECORDED] = TIMES_UNRECORDED_NS,
    };
    struct parts parts = {0};
    for (int b = 0; b < BAR_COUNT; b++)
        parts.bar_ns[b] = table_cell(table, row, times + columns[b])->i;
    parts.total_comm_ns = table_cell(table, row, times + TIMES_TOTAL_COMM_NS)->i;
    parts.total_memory_ns = table_cell(table, row, times + TIMES_TOTAL_MEMORY_NS)->i;
    parts.waits_only =
        parts.total_comm_ns > 0 && table_cell(table, row, times + TIMES_OVERLAP_SHARE)->null;
    return parts;
}

// Rounded quotient of numbers that are not negative; 0 for others, which only damaged tables
// contain.
static int64_t per_step(int64_t total, int64_t steps)
{
    if (total < 0 || steps <= 0)
        return 0;
    return total / steps + (total % steps >= steps - total % steps);
}

// What is left of weight after its whole units, in units of 1 / sum; and whose it is.
struct remainder {
    uint64_t left;
    size_t index;
};

static int compare_remainders(const void *a, const void *b)
{
    const struct remainder *x = a, *y = b;
    if (x->left != y->left)
        return x->left > y->left ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

// whole * weight / sum without overflow; *left is the remainder.
static int64_t scale(int64_t whole, int64_t weight, int64_t sum, uint64_t *left)
{
    __extension__ typedef unsigned __int128 u128;
    u128 product = (u128)(uint64_t)whole * (uint64_t)weight;
    *left = (uint64_t)(product % (uint64_t)sum);
    return (int64_t)(product / (uint64_t)sum);
}

static void share_out(int64_t whole, const int64_t *weights, int64_t *out,
                      struct remainder *remainders, size_t count)
{
    int64_t sum = 0, given = 0;
    for (size_t i = 0; i < count; i++)
        sum += weights[i];
    for (size_t i = 0; i < count; i++) {
        remainders[i] = (struct remainder){0, i};
        out[i] = sum ? scale(whole, weights[i], sum, &remainders[i].left) : 0;
        given += out[i];
    }
    qsort(remainders, count, sizeof *remainders, compare_remainders);
    // There are fewer units left than parts with a remainder.
    for (size_t i = 0; sum && given < whole && i < count; i++, given++)
        out[remainders[i].index]++;
    if (count && !sum)
        out[0] = given = whole;
    assert(count == 0 || given == whole);
}

bool parts_share_out(int64_t whole, const int64_t *weights, int64_t *out, size_t count,
                     struct err *err)
{
    struct remainder *remainders = calloc(count ? count : 1, sizeof *remainders);
    if (!remainders)
        return err_set(err, ERR_MEMORY, "out of memory for %zu parts", count);
    share_out(whole, weights, out, remainders, count);
    free(remainders);
    return true;
}

unsigned parts_unsound(const struct parts *parts)
{
    int64_t left = PARTS_MOST_NS;
    unsigned b = 0;
    for (; b < BAR_COUNT && parts->bar_ns[b] >= 0 && parts->bar_ns[b] <= left; b++)
        left -= parts->bar_ns[b];
    return b;
}

struct parts parts_per_step(const struct parts *parts, int64_t steps)
{
    if (parts_unsound(parts) < BAR_COUNT)
        return (struct parts){0};
    struct parts mean = {
        .total_comm_ns = per_step(parts->total_comm_ns, steps),
        .total_memory_ns = per_step(parts->total_memory_ns, steps),
        .waits_only = parts->waits_only,
    };
    struct remainder remainders[BAR_COUNT];
    share_out(per_step(parts_window_ns(parts), steps), parts->bar_ns, mean.bar_ns, remainders,
              BAR_COUNT);
    return mean;
}
