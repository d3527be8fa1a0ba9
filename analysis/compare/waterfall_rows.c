// SPDX-License-Identifier: Apache-2.0
// Reads the parts of all runs of both sides, under names common to both.
#include "analysis/names/module_names.h"
#include "analysis/report/tables.h"
#include "analysis/names/op_alias.h"
#include "analysis/compare/waterfall_tree.h"

#define OTHER_SHAPES  STR("(other shapes)")
#define OTHER_KERNELS STR("(other kernels)")

// One run being read.
struct reader {
    struct fall *fall;
    const struct compare_pool *pool;
    const struct pool_run *from;
    const struct table *parts; // its own
    struct module_names modules;
    bool with_types;
    int side;
    uint32_t run;
    int64_t left_ns[BAR_COUNT]; // of the bars, not covered by a row yet
};

static bool intern(struct fall *fall, struct str text, str_id *id, struct err *err)
{
    *id = 0;
    text.len = text.len > STRTAB_MAX_LEN ? STRTAB_MAX_LEN : text.len;
    return text.len == 0 || strtab_intern(&fall->texts, text, id, err);
}

// A sum over shapes has no shape, so it matches by operator only.
static bool read_shape(struct reader *reader, size_t row, struct leaf *leaf, struct err *err)
{
    struct str dims = table_text(reader->parts, row, PARTS_DIMS);
    struct str types = table_text(reader->parts, row, PARTS_TYPES);
    str_id dims_id, types_id;
    uint32_t index;
    if (!dims.len || str_equal(dims, OTHER_SHAPES))
        return true;
    if (!intern(reader->fall, dims, &dims_id, err) ||
        !intern(reader->fall, reader->with_types ? types : STR(""), &types_id, err) ||
        !groups_index(&reader->fall->shapes, dims_id, types_id, &index, err))
        return false;
    leaf->shape = index + 1;
    return true;
}

static bool read_names(struct reader *reader, size_t row, struct leaf *leaf, struct err *err)
{
    const struct table *parts = reader->parts;
    struct str module = table_text(parts, row, PARTS_MODULE);
    struct str kernel = table_text(parts, row, PARTS_KERNEL);
    if (module.len)
        module = module_names_path(&reader->modules, module);
    if (str_equal(kernel, OTHER_KERNELS))
        kernel.len = 0; // a sum of many is not the same kernel elsewhere
    enum bar bar = category_bar_of_word(table_text(parts, row, PARTS_BAR));
    leaf->bar = bar < BAR_COUNT ? bar : BAR_IDLE_OTHER;
    return intern(reader->fall, table_text(parts, row, PARTS_CATEGORY), &leaf->category, err) &&
           intern(reader->fall, op_alias_name(table_text(parts, row, PARTS_OP)), &leaf->op, err) &&
           intern(reader->fall, module, &leaf->module, err) &&
           intern(reader->fall, kernel, &leaf->kernel, err) && read_shape(reader, row, leaf, err);
}

// Adds a row to the leaf with its names, which is created if new.
static bool add_reading(struct reader *reader, const struct leaf *names, int64_t ns, int64_t calls,
                        struct err *err)
{
    struct fall *fall = reader->fall;
    uint32_t place, index;
    if (!groups_index(&fall->places, (uint64_t)names->bar << 32 | names->category,
                      (uint64_t)names->op << 32 | names->shape, &place, err) ||
        !groups_index(&fall->keys, (uint64_t)place << 32 | names->module, names->kernel, &index,
                      err))
        return false;
    if (index == fall->leaf_count)
        fall->leaves[fall->leaf_count++] = *names;
    struct leaf *leaf = &fall->leaves[index];
    leaf->has[reader->side] = true;
    leaf->ns[reader->side] += compare_pool_weighed(reader->pool, reader->from, ns);
    leaf->calls[reader->side] += compare_pool_weighed(reader->pool, reader->from, calls);
    fall->readings[fall->reading_count++] = (struct reading){index, reader->run, ns};
    return true;
}

static bool read_row(struct reader *reader, size_t row, struct err *err)
{
    int64_t ns = table_cell(reader->parts, row, PARTS_OWNED_NS)->i;
    struct leaf leaf = {.rung = RUNG_UNMATCHED};
    if (!read_names(reader, row, &leaf, err))
        return false;
    if (ns > reader->left_ns[leaf.bar])
        return err_set(err, ERR_FORMAT,
                       "found parts of %s that sum to more than the breakdown's time",
                       category_bar_word((enum bar)leaf.bar));
    reader->left_ns[leaf.bar] -= ns;
    return add_reading(reader, &leaf, ns, table_cell(reader->parts, row, PARTS_CALLS)->i, err);
}

// What no row covers is a part, too, so that every level sums to the bars.
static bool read_rest(struct reader *reader, struct err *err)
{
    for (uint32_t b = 0; b < BAR_COUNT; b++) {
        struct leaf rest = {.bar = b, .rung = RUNG_UNMATCHED};
        if (reader->left_ns[b] > 0 && !add_reading(reader, &rest, reader->left_ns[b], 0, err))
            return false;
    }
    return true;
}

static bool read_run(struct reader *reader, const struct pool_run *run, struct err *err)
{
    memcpy(reader->left_ns, run->total.bar_ns, sizeof reader->left_ns);
    if (!module_names_make(report_find(run->from->rank, "modules"), reader->fall->pair->scratch,
                           &reader->modules, err))
        return false;
    reader->from = run;
    reader->parts = run->parts;
    for (size_t i = 0; run->parts && i < run->parts->row_count; i++)
        if (!read_row(reader, i, err))
            return err_wrap(err, "run %.*s", (int)run->from->id.len, run->from->id.at);
    return read_rest(reader, err);
}

static bool has_text(const struct table *parts, unsigned column)
{
    for (size_t i = 0; parts && i < parts->row_count; i++)
        if (table_text(parts, i, column).len)
            return true;
    return false;
}

// Nsight Systems records the shapes of operators without their types: then shapes alone match.
static bool all_have_types(const struct compare_pool *pool)
{
    for (size_t i = 0; i < pool->count; i++)
        if (has_text(pool->runs[i].parts, PARTS_DIMS) &&
            !has_text(pool->runs[i].parts, PARTS_TYPES))
            return false;
    return true;
}

static size_t count_rows(const struct compare_pool *pool)
{
    size_t count = 0;
    for (size_t i = 0; i < pool->count; i++)
        count += (pool->runs[i].parts ? pool->runs[i].parts->row_count : 0) + BAR_COUNT;
    return count;
}

bool waterfall_read(struct fall *fall, struct err *err)
{
    const struct pair *pair = fall->pair;
    size_t room = count_rows(pair->sides[BASE]) + count_rows(pair->sides[CAND]);
    fall->leaves = arena_room(pair->scratch, room, sizeof *fall->leaves, err);
    fall->readings = arena_room(pair->scratch, room, sizeof *fall->readings, err);
    if (!fall->leaves || !fall->readings)
        return false;
    struct reader reader = {.fall = fall};
    reader.with_types = all_have_types(pair->sides[BASE]) && all_have_types(pair->sides[CAND]);
    for (reader.side = 0; reader.side < SIDES; reader.side++) {
        reader.pool = pair->sides[reader.side];
        for (size_t i = 0; i < reader.pool->count; i++, reader.run++)
            if (!read_run(&reader, &reader.pool->runs[i], err))
                return false;
    }
    return true;
}
