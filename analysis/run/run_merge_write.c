// SPDX-License-Identifier: Apache-2.0
// Writes joined rows, heaviest first.
#include "analysis/run/run_merge_inner.h"

#include "analysis/report/ranked.h"
#include "analysis/stats/stats.h"

#include <math.h>

// The joined rows of one table, and room for the figures of one of them.
struct writing {
    const struct run *run;
    const struct merging *merging;
    const struct joined *joined;
    const struct keyed *rows; // of the key
    size_t count;
    int64_t *values; // room for twice as many as there are rows
};

// The values that the rows keep for a column, ascending; nulls are left out.
static size_t values_of(const struct writing *writing, int kept)
{
    const struct merging *merging = writing->merging;
    size_t count = 0, width = merging->kept_count + 1;
    for (size_t i = 0; i < writing->count; i++) {
        const int64_t *values = merging->values + writing->rows[i].b * width;
        if (values[0] >> kept & 1)
            writing->values[count++] = values[kept + 1];
    }
    sort_i64(writing->values, writing->values + writing->count, count);
    return count;
}

static struct cell cell_of(const struct merging *merging, unsigned c, const struct slot *slot)
{
    if (!slot->known)
        return cell_null();
    switch (merging->what->from->columns[merging->from[c]].type) {
    case COLUMN_TEXT: return cell_text(strtab_get(&merging->texts, (str_id)slot->value));
    case COLUMN_F64: return cell_f64(from_ordered_bits(slot->value));
    case COLUMN_I64:
    case COLUMN_BOOL: break;
    }
    return cell_i64(slot->value);
}

static struct cell median_of(const struct writing *writing, unsigned c)
{
    size_t count = values_of(writing, writing->merging->kept[c]);
    struct slot slot = {count > 0, stats_median(writing->values, count)};
    const struct merging *merging = writing->merging;
    bool fraction = merging->what->from->columns[merging->from[c]].type == COLUMN_F64;
    return slot.known || fraction ? cell_of(merging, c, &slot) : cell_i64(0);
}

static void add_spread(struct row *row, const struct writing *writing, unsigned c)
{
    unsigned column = writing->merging->what->columns[c].to;
    size_t count = values_of(writing, writing->merging->kept[c]);
    struct stats stats = stats_of(writing->values, count);
    row_i64(row, column, stats.min);
    row_i64(row, column + 1, stats.median);
    row_i64(row, column + 2, stats.max);
    row_f64(row, column + 3, stats.mean > 0 ? stats.stddev / stats.mean : NAN);
    row_i64(row, column + 4, writing->run->ranks[writing->joined->heaviest_rank]);
}

static void add_column(struct row *row, const struct writing *writing, unsigned c)
{
    const struct merging *merging = writing->merging;
    unsigned to = merging->what->columns[c].to;
    const struct slot *slot =
        &merging->slots[(size_t)(writing->joined - merging->joined) * merging->width + c];
    switch (merging->what->columns[c].rule) {
    case MERGE_SUM:
    case MERGE_MIN:
    case MERGE_MAX: row_i64(row, to, slot->value); break;
    case MERGE_MEDIAN: row_cell(row, to, median_of(writing, c)); break;
    case MERGE_SPREAD: add_spread(row, writing, c); break;
    case MERGE_RANKS: row_i64(row, to, writing->joined->ranks); break;
    case MERGE_WINDOW_SHARE: row_share(row, to, slot->value, writing->run->window_ns); break;
    case MERGE_BUSY_SHARE: row_share(row, to, slot->value, writing->run->busy_ns); break;
    case MERGE_WEIGHT_SHARE: row_share(row, to, slot->value, writing->joined->weight); break;
    case MERGE_WEIGHT_EACH: row_share(row, to, writing->joined->weight, slot->value); break;
    case MERGE_FIRST:
    case MERGE_HEAVIEST:
    case MERGE_HEADLINE: row_cell(row, to, cell_of(merging, c, slot)); break;
    case MERGE_LATER: break;
    }
}

static bool write_row(const struct writing *writing, struct err *err)
{
    struct row row = {.desc = writing->merging->what->to};
    for (unsigned c = 0; c < writing->merging->width; c++)
        add_column(&row, writing, c);
    return row_end(&row, writing->run->report, err);
}

// The keys in table order: heaviest first, then by name. Their index is that of their first row.
static struct ranked *rank_keys(const struct merging *merging, struct arena *arena, struct err *err)
{
    struct ranked *ranked = arena_array(arena, merging->key_count, sizeof *ranked, err);
    size_t key = 0;
    for (size_t row = 0; ranked && row < merging->row_count; row++)
        if (row == 0 || merging->rows[row].key != merging->rows[row - 1].key) {
            int64_t weight = merging->what->weight ? merging->joined[key].weight : 0;
            ranked[key] =
                (struct ranked){weight, strtab_get(&merging->keys, (str_id)key + 1), (uint32_t)row};
            key++;
        }
    if (ranked)
        ranked_sort(ranked, merging->key_count);
    return ranked;
}

static bool write_rows(const struct run *run, struct merging *merging, struct arena *arena,
                       struct err *err)
{
    struct keyed *scratch = arena_room(arena, merging->row_count, sizeof *scratch, err);
    struct writing writing = {.run = run, .merging = merging};
    writing.values = arena_room(arena, 2 * merging->row_count, sizeof *writing.values, err);
    if (!scratch || !writing.values)
        return false;
    sort_keyed(merging->rows, scratch, merging->row_count);
    struct ranked *ranked = rank_keys(merging, arena, err);
    for (size_t k = 0; ranked && k < merging->key_count; k++) {
        writing.rows = merging->rows + ranked[k].index;
        size_t left = merging->row_count - ranked[k].index;
        writing.count = 1;
        while (writing.count < left && writing.rows[writing.count].key == writing.rows[0].key)
            writing.count++;
        writing.joined = &merging->joined[writing.rows[0].key];
        if (!write_row(&writing, err))
            return false;
    }
    return ranked != NULL;
}

bool run_merge_write(struct run_merge *merge, struct err *err)
{
    for (size_t i = 0; i < merge->count; i++) {
        struct merging *merging = &merge->merges[i];
        struct arena arena;
        arena_init(&arena, merge->run->budget);
        bool ok = merging->row_count == 0 || write_rows(merge->run, merging, &arena, err);
        arena_free(&arena);
        if (!ok)
            return err_wrap(err, "table %s of the run", merging->what->to->name);
    }
    return true;
}
