// SPDX-License-Identifier: Apache-2.0
// Rows of the ranks' tables, joined as they come: sums at once, and of each row no more than what
// medians over the ranks need.
#include "analysis/run_merge.h"

#include "analysis/ranked.h"
#include "analysis/sort.h"
#include "analysis/stats.h"
#include "ingest/trace/strtab.h"

#include <assert.h>
#include <math.h>

enum { MAX_MERGES = 8, SPREAD_WIDTH = 5, FEWEST = 64 };

// One column of a joined row: a number, the number's bits, or a text's id.
struct slot {
    bool known;
    int64_t value;
};

// One joined row; its slots stand beside it.
struct joined {
    int64_t weight, heaviest; // sum, and largest of a row
    uint32_t heaviest_rank, last_rank, ranks;
    bool headline; // the headline rank's row came
};

// One table on its way.
struct merging {
    const struct merge_table *what;
    unsigned width;              // columns
    int from[TABLE_MAX_COLUMNS]; // their index in the ranks' table
    int kept[TABLE_MAX_COLUMNS]; // where rows keep their value, -1: nowhere
    unsigned kept_count;
    struct strtab keys, texts;
    struct joined *joined; // by number of the key
    struct slot *slots;    // width per key
    struct keyed *rows;    // key, rank and number
    int64_t *values;       // kept_count + 1 per row: a bit for each that is known, then they
    size_t joined_cap, slots_cap, rows_cap, values_cap;
    size_t key_count, row_count;
};

struct run_merge {
    const struct run *run;
    struct buf key;
    struct merging merges[MAX_MERGES];
    size_t count;
};

// --- begin and end ------------------------------------------------------------------------------

static void choose_columns(struct merging *merging)
{
    const struct merge_table *what = merging->what;
    unsigned to = 0;
    for (; to < what->to->column_count; merging->width++) {
        const struct merge_column *column = &what->columns[merging->width];
        const char *name = column->from ? column->from : what->to->columns[to].name;
        bool spreads = column->rule == MERGE_SPREAD;
        merging->from[merging->width] = table_column(what->from, name);
        assert(merging->from[merging->width] >= 0);
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

// The block, with room for at least `count` items of size bytes. NULL with ERR_LIMIT: it is as it
// was.
static void *with_room(struct budget *budget, void *block, size_t *cap, size_t count, size_t size,
                       struct err *err)
{
    if (count <= *cap)
        return block;
    size_t more = *cap * 2 > FEWEST ? *cap * 2 : FEWEST;
    more = more > count ? more : count;
    void *grown = budget_realloc(budget, block, *cap * size, more * size, err);
    if (grown)
        *cap = more;
    return grown;
}

static bool add_key(struct merging *merging, struct budget *budget, struct err *err)
{
    size_t count = merging->key_count + 1;
    struct joined *joined =
        with_room(budget, merging->joined, &merging->joined_cap, count, sizeof *joined, err);
    if (!joined)
        return false;
    merging->joined = joined;
    struct slot *slots = with_room(budget, merging->slots, &merging->slots_cap,
                                   count * merging->width, sizeof *slots, err);
    if (!slots)
        return false;
    merging->slots = slots;
    joined[merging->key_count] = (struct joined){0};
    memset(slots + merging->key_count * merging->width, 0, merging->width * sizeof *slots);
    merging->key_count = count;
    return true;
}

// The key of a row as text. A key longer than the string table takes is cut; rows that differ only
// behind the cut are joined.
static void write_key(const struct merge_table *what, const struct table *table, size_t row,
                      struct buf *key)
{
    buf_clear(key);
    for (const char *const *name = what->keys; *name; name++) {
        const struct cell *cell = table_cell(table, row, *name);
        buf_putc(key, cell->null ? '-' : '+');
        if (cell->null)
            continue;
        if (what->from->columns[table_column(what->from, *name)].type == COLUMN_TEXT)
            buf_add_str(key, cell->s);
        else
            buf_i64(key, cell->i);
        buf_putc(key, '\x1f');
    }
    if (key->len > STRTAB_MAX_LEN)
        key->len = STRTAB_MAX_LEN;
}

// Number of the row's key, which is new when it is the number of those before.
static bool find_key(struct run_merge *merge, struct merging *merging, const struct table *table,
                     size_t row, size_t *number, struct err *err)
{
    str_id id;
    write_key(merging->what, table, row, &merge->key);
    if (!buf_ok(&merge->key, err) ||
        !strtab_intern(&merging->keys, (struct str){merge->key.at, merge->key.len}, &id, err))
        return false;
    *number = id - 1; // 0 is the empty text, which no key is
    return *number < merging->key_count || add_key(merging, merge->run->budget, err);
}

// Numbers with a fraction as whole ones of the same order, and back.
static int64_t ordered_bits(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? (int64_t)((uint64_t)bits ^ INT64_MAX) : bits;
}

static double from_ordered_bits(int64_t bits)
{
    double value;
    bits = bits < 0 ? (int64_t)((uint64_t)bits ^ INT64_MAX) : bits;
    memcpy(&value, &bits, sizeof value);
    return value;
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

// What is known of a row while it is joined.
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
    case MERGE_HEADLINE:
    case MERGE_PER_STEP: return taking->headline;
    default: return true;
    }
}

static void fold(struct slot *slot, enum merge_rule rule, int64_t value)
{
    switch (rule) {
    case MERGE_SUM:
    case MERGE_WINDOW_SHARE:
    case MERGE_BUSY_SHARE:
    case MERGE_WEIGHT_SHARE: put_sum(slot, value); break;
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
    if (!is_kept_from(taking, rule) || rule == MERGE_RANKS)
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
        with_room(budget, merging->rows, &merging->rows_cap, count, sizeof *rows, err);
    if (!rows)
        return false;
    merging->rows = rows;
    int64_t *values = with_room(budget, merging->values, &merging->values_cap, count * width,
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

// Counts a row to its key, and tells what it is to it.
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
    const char *column = merging->what->weight;
    const struct cell *weight = column ? table_cell(table, row, column) : NULL;
    struct taking taking = count_row(merging, key, rank, weight && !weight->null ? weight->i : 0,
                                     rank == merge->run->headline);
    taking.cells = table->cells + row * table->desc->column_count;
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

// --- writing ------------------------------------------------------------------------------------

// The joined rows of one table, and room for the figures of one of them.
struct writing {
    const struct run *run;
    const struct merging *merging;
    const struct joined *joined;
    const struct keyed *rows; // of the key
    size_t count;
    int64_t *values; // room for twice as many as there are rows
};

// What the rows keep of a column, ascending; nulls are left out.
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
    size_t count = values_of(writing, writing->merging->kept[c]);
    struct stats stats = stats_of(writing->values, count);
    row_i64(row, stats.min);
    row_i64(row, stats.median);
    row_i64(row, stats.max);
    row_f64(row, stats.mean > 0 ? stats.stddev / stats.mean : NAN);
    row_i64(row, writing->run->ranks[writing->joined->heaviest_rank]);
}

static void add_per_step(struct row *row, const struct writing *writing, const struct slot *slot)
{
    int64_t steps = run_summary_i64(writing->run, writing->run->headline, "step_count", 0);
    bool known = steps > 0 && slot->known;
    row_f64_if(row, known, (double)slot->value / (double)(known ? steps : 1));
}

static void add_column(struct row *row, const struct writing *writing, unsigned c)
{
    const struct merging *merging = writing->merging;
    const struct slot *slot =
        &merging->slots[(size_t)(writing->joined - merging->joined) * merging->width + c];
    switch (merging->what->columns[c].rule) {
    case MERGE_SUM:
    case MERGE_MIN:
    case MERGE_MAX: row_i64(row, slot->value); break;
    case MERGE_MEDIAN: row_cell(row, median_of(writing, c)); break;
    case MERGE_SPREAD: add_spread(row, writing, c); break;
    case MERGE_RANKS: row_i64(row, writing->joined->ranks); break;
    case MERGE_PER_STEP: add_per_step(row, writing, slot); break;
    case MERGE_WINDOW_SHARE: row_share(row, slot->value, writing->run->window_ns); break;
    case MERGE_BUSY_SHARE: row_share(row, slot->value, writing->run->busy_ns); break;
    case MERGE_WEIGHT_SHARE: row_share(row, slot->value, writing->joined->weight); break;
    case MERGE_FIRST:
    case MERGE_HEAVIEST:
    case MERGE_HEADLINE: row_cell(row, cell_of(merging, c, slot)); break;
    }
}

static bool write_row(const struct writing *writing, struct err *err)
{
    struct row row = {0};
    for (unsigned c = 0; c < writing->merging->width; c++)
        add_column(&row, writing, c);
    return row_end(&row, writing->merging->what->to, writing->run->report, err);
}

// The keys in the order of the table: the heaviest first, then by name. Their index is that of
// their first row.
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
