// SPDX-License-Identifier: Apache-2.0
// Takes rows of the ranks' tables and joins them on arrival: sums at once, and of each row no more
// than what medians over the ranks need.
#include "analysis/run/run_merge_inner.h"

#include <assert.h>

// --- start and end -------------------------------------------------------------------------------

static void choose_columns(struct merging *merging)
{
    const struct merge_table *what = merging->what;
    unsigned to = 0;
    for (; to < what->to->column_count; merging->width++) {
        const struct merge_column *column = &what->columns[merging->width];
        assert(column_place(what->to, column->to) == to);
        bool spreads = column->rule == MERGE_SPREAD;
        merging->from[merging->width] = column_place(what->from, column->from);
        bool keeps = spreads || column->rule == MERGE_MEDIAN;
        merging->kept[merging->width] = keeps ? (int)merging->kept_count++ : -1;
        to += spreads ? SPREAD_WIDTH : 1;
    }
    assert(to == what->to->column_count && merging->kept_count < 63);
}

static bool begin(struct run_merge *merge, const struct merge_table *what, struct err *err)
{
    struct merging *merging = &merge->merges[merge->count];
    *merging = (struct merging){.what = what};
    choose_columns(merging);
    if (!strtab_init(&merging->keys, merge->run->budget, err))
        return false;
    if (!strtab_init(&merging->texts, merge->run->budget, err)) {
        strtab_free(&merging->keys);
        return false;
    }
    merge->count++;
    return true;
}

struct run_merge *run_merge_new(const struct run *run, struct err *err)
{
    struct run_merge *merge = budget_zalloc(run->budget, sizeof *merge, err);
    if (!merge)
        return NULL;
    merge->run = run;
    for (const struct merge_table *const *what = merge_tables; *what; what++)
        if (!begin(merge, *what, err)) {
            run_merge_free(merge);
            return NULL;
        }
    return merge;
}

static void end(struct merging *merging, struct budget *budget)
{
    strtab_free(&merging->keys);
    strtab_free(&merging->texts);
    budget_free(budget, merging->joined, merging->joined_cap * sizeof *merging->joined);
    budget_free(budget, merging->slots, merging->slots_cap * sizeof *merging->slots);
    budget_free(budget, merging->rows, merging->rows_cap * sizeof *merging->rows);
    budget_free(budget, merging->values, merging->values_cap * sizeof *merging->values);
}

void run_merge_free(struct run_merge *merge)
{
    if (!merge)
        return;
    for (size_t i = 0; i < merge->count; i++)
        end(&merge->merges[i], merge->run->budget);
    buf_free(&merge->key);
    budget_free(merge->run->budget, merge, sizeof *merge);
}

// --- taking -------------------------------------------------------------------------------------

static bool add_key(struct merging *merging, struct budget *budget, struct err *err)
{
    size_t count = merging->key_count + 1;
    struct joined *joined =
        budget_room(budget, merging->joined, &merging->joined_cap, count, sizeof *joined, err);
    if (!joined)
        return false;
    merging->joined = joined;
    struct slot *slots = budget_room(budget, merging->slots, &merging->slots_cap,
                                     count * merging->width, sizeof *slots, err);
    if (!slots)
        return false;
    merging->slots = slots;
    joined[merging->key_count] = (struct joined){0};
    memset(slots + merging->key_count * merging->width, 0, merging->width * sizeof *slots);
    merging->key_count = count;
    return true;
}

// The key of a row as text. A key longer than the string table allows is cut; rows that differ only
// after the cut are joined.
static void write_key(const struct merge_table *what, const struct table *table, size_t row,
                      struct buf *key)
{
    buf_clear(key);
    for (const unsigned *column = what->keys; *column; column++) {
        unsigned place = column_place(table->desc, *column);
        const struct cell *cell = &table->cells[row * table->desc->column_count + place];
        buf_putc(key, cell->null ? '-' : '+');
        if (cell->null)
            continue;
        if (what->from->columns[place].type == COLUMN_TEXT)
            buf_add_str(key, cell->s);
        else
            buf_i64(key, cell->i);
        buf_putc(key, '\x1f');
    }
    if (key->len > STRTAB_MAX_LEN)
        key->len = STRTAB_MAX_LEN;
}

// Number of the row's key; a new key's number is the previous count.
static bool find_key(struct run_merge *merge, struct merging *merging, const struct table *table,
                     size_t row, size_t *number, struct err *err)
{
    str_id id;
    write_key(merging->what, table, row, &merge->key);
    if (!buf_ok(&merge->key, err) ||
        !strtab_intern(&merging->keys, (struct str){merge->key.at, merge->key.len}, &id, err))
        return false;
    *number = id - 1; // 0 is the empty text, which is never a key
    assert(*number <= merging->key_count);
    return *number < merging->key_count || add_key(merging, merge->run->budget, err);
}

static bool number_of(struct merging *merging, enum column_type type, const struct cell *cell,
                      int64_t *value, struct err *err)
{
    str_id id = 0;
    struct str text = cell->s;
    switch (type) {
    case COLUMN_TEXT:
        text.len = text.len < STRTAB_MAX_LEN ? text.len : STRTAB_MAX_LEN;
        if (!strtab_intern(&merging->texts, text, &id, err))
            return false;
        *value = id;
        return true;
    case COLUMN_F64: *value = ordered_bits(cell->f); return true;
    case COLUMN_I64:
    case COLUMN_BOOL: break;
    }
    *value = cell->i;
    return true;
}

static void put_sum(struct slot *slot, int64_t value)
{
    if (__builtin_add_overflow(slot->value, value, &slot->value))
        slot->value = INT64_MAX;
}

// What is known about a row while it is joined.
struct taking {
    bool first, heaviest, headline; // of its key
    struct slot *slots;
    int64_t *values;
    const struct cell *cells;
};

static bool is_kept_from(const struct taking *taking, enum merge_rule rule)
{
    switch (rule) {
    case MERGE_FIRST: return taking->first;
    case MERGE_HEAVIEST: return taking->heaviest;
    case MERGE_HEADLINE: return taking->headline;
    default: return true;
    }
}

static void fold(struct slot *slot, enum merge_rule rule, int64_t value)
{
    switch (rule) {
    case MERGE_SUM:
    case MERGE_WINDOW_SHARE:
    case MERGE_BUSY_SHARE:
    case MERGE_WEIGHT_SHARE:
    case MERGE_WEIGHT_EACH: put_sum(slot, value); break;
    case MERGE_MIN: slot->value = slot->known && slot->value < value ? slot->value : value; break;
    case MERGE_MAX: slot->value = slot->known && slot->value > value ? slot->value : value; break;
    default: slot->value = value;
    }
    slot->known = true;
}

static bool take_column(struct merging *merging, unsigned c, struct taking *taking, struct err *err)
{
    enum merge_rule rule = merging->what->columns[c].rule;
    const struct cell *cell = &taking->cells[merging->from[c]];
    if (!is_kept_from(taking, rule) || rule == MERGE_RANKS || rule == MERGE_LATER)
        return true;
    if (cell->null) {
        if (rule == MERGE_FIRST || rule == MERGE_HEAVIEST)
            taking->slots[c].known = false;
        return true;
    }
    int64_t value;
    if (!number_of(merging, merging->what->from->columns[merging->from[c]].type, cell, &value, err))
        return false;
    fold(&taking->slots[c], rule, value);
    if (merging->kept[c] >= 0) {
        taking->values[0] |= (int64_t)1 << merging->kept[c];
        taking->values[merging->kept[c] + 1] = value;
    }
    return true;
}

static bool add_row(struct merging *merging, struct budget *budget, struct keyed row,
                    struct err *err)
{
    size_t count = merging->row_count + 1, width = merging->kept_count + 1;
    struct keyed *rows =
        budget_room(budget, merging->rows, &merging->rows_cap, count, sizeof *rows, err);
    if (!rows)
        return false;
    merging->rows = rows;
    int64_t *values = budget_room(budget, merging->values, &merging->values_cap, count * width,
                                  sizeof *values, err);
    if (!values)
        return false;
    merging->values = values;
    row.b = (uint32_t)merging->row_count;
    rows[merging->row_count] = row;
    memset(values + merging->row_count * width, 0, width * sizeof *values);
    merging->row_count = count;
    return true;
}

// Counts a row towards its key, and returns its role there.
static struct taking count_row(struct merging *merging, size_t key, size_t rank, int64_t weight,
                               bool headline)
{
    struct joined *joined = &merging->joined[key];
    bool first = joined->ranks == 0;
    struct taking taking = {
        .first = first,
        .heaviest = first || weight > joined->heaviest,
        .headline = headline && !joined->headline,
        .slots = merging->slots + key * merging->width,
        .values = merging->values + (merging->row_count - 1) * (merging->kept_count + 1),
    };
    joined->ranks += first || joined->last_rank != rank;
    joined->last_rank = (uint32_t)rank;
    joined->headline = joined->headline || headline;
    if (__builtin_add_overflow(joined->weight, weight, &joined->weight))
        joined->weight = INT64_MAX;
    if (taking.heaviest) {
        joined->heaviest = weight;
        joined->heaviest_rank = (uint32_t)rank;
    }
    return taking;
}

static bool take_row(struct run_merge *merge, struct merging *merging, size_t rank,
                     const struct table *table, size_t row, struct err *err)
{
    size_t key;
    if (!find_key(merge, merging, table, row, &key, err) ||
        !add_row(merging, merge->run->budget, (struct keyed){(int64_t)key, (uint32_t)rank, 0}, err))
        return false;
    unsigned by = merging->what->weight;
    const struct cell *cells = table->cells + row * table->desc->column_count;
    const struct cell *weight = by ? &cells[column_place(table->desc, by)] : NULL;
    struct taking taking = count_row(merging, key, rank, weight && !weight->null ? weight->i : 0,
                                     rank == merge->run->headline);
    taking.cells = cells;
    for (unsigned c = 0; c < merging->width; c++)
        if (!take_column(merging, c, &taking, err))
            return false;
    return true;
}

bool run_merge_take(struct run_merge *merge, size_t rank, const struct report *report,
                    struct err *err)
{
    for (size_t i = 0; i < merge->count; i++) {
        struct merging *merging = &merge->merges[i];
        const struct table *table = report_find(report, merging->what->from->name);
        for (size_t row = 0; table && row < table->row_count; row++)
            if (!take_row(merge, merging, rank, table, row, err))
                return err_wrap(err, "table %s of the run", merging->what->to->name);
    }
    return true;
}
