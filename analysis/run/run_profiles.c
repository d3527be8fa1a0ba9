// SPDX-License-Identifier: Apache-2.0
#include "analysis/run/run_profiles.h"

#include "analysis/kernel_names/kernel_text.h"
#include "analysis/report/tables.h"
#include "analysis/stats/sort.h"
#include "analysis/stats/stats.h"
#include "ingest/base/hash.h"
#include "ingest/base/search.h"

#include <math.h>

#define NO_ROW UINT32_MAX

// How names are compared, the most exact first: profilers print them with or without types,
// parameters and template arguments.
enum name_form { NAME_PRINTED, NAME_BARE, NAME_BASE, NAME_FORMS };

struct forms {
    struct str names[NAME_FORMS];
};

// Rows of a table by a hash of their key.
struct index {
    struct keyed *items;
    uint32_t count;
};

struct joining {
    struct arena *arena;
    const struct table *shapes; // kernel_shapes of the headline rank
    struct table *profiles, *kernels;
    struct forms *shape_names, *profile_names;         // per row
    struct index exact[NAME_FORMS], named[NAME_FORMS]; // of shapes: with grid and block, without
    struct index kernel;                               // of kernels, by name
    uint32_t *total, *seen; // per row of shapes: launches in the file that fit several rows, of
                            // which this is the first
    uint32_t *found;        // per row of profiles: of shapes, or NO_ROW
    bool *is_exact;         // same
};

// --- keys ---------------------------------------------------------------------------------------

static bool read_forms(struct str name, struct arena *arena, struct forms *forms, struct err *err)
{
    struct kernel_text text;
    kernel_text_read(name, &text);
    const char *bare = arena_strdup(arena, text.name, err);
    const char *base = bare ? arena_strdup(arena, text.base, err) : NULL;
    if (!base)
        return false;
    *forms = (struct forms){{name, {bare, text.name.len}, {base, text.base.len}}};
    return true;
}

static struct forms *read_names(const struct table *table, unsigned column, struct arena *arena,
                                struct err *err)
{
    struct forms *forms = arena_array(arena, table->row_count + 1, sizeof *forms, err);
    for (size_t row = 0; forms && row < table->row_count; row++)
        if (!read_forms(table_text(table, row, column), arena, &forms[row], err))
            return NULL;
    return forms;
}

struct launch_key {
    struct str name, grid, block; // grid and block empty: any
};

static int64_t hash_of(const struct launch_key *key)
{
    uint64_t grid = hash_bytes(key->grid.at, key->grid.len);
    uint64_t block = hash_bytes(key->block.at, key->block.len);
    return (int64_t)hash_mix(hash_bytes(key->name.at, key->name.len) ^ grid, block | 1);
}

static bool same_key(const struct launch_key *a, const struct launch_key *b)
{
    return str_equal(a->name, b->name) && str_equal(a->grid, b->grid) &&
           str_equal(a->block, b->block);
}

static struct launch_key key_of_shape(const struct joining *all, uint32_t row, enum name_form form,
                                      bool exact)
{
    struct launch_key key = {all->shape_names[row].names[form], STR(""), STR("")};
    if (exact) {
        key.grid = table_text(all->shapes, row, KERNEL_SHAPES_GRID);
        key.block = table_text(all->shapes, row, KERNEL_SHAPES_BLOCK);
    }
    return key;
}

static struct launch_key key_of_profile(const struct joining *all, size_t row, enum name_form form,
                                        bool exact)
{
    struct launch_key key = {all->profile_names[row].names[form], STR(""), STR("")};
    if (exact) {
        key.grid = table_text(all->profiles, row, KERNEL_PROFILES_GRID);
        key.block = table_text(all->profiles, row, KERNEL_PROFILES_BLOCK);
    }
    return key;
}

static bool make_index(struct joining *all, struct index *index, uint32_t count, struct err *err)
{
    index->count = count;
    index->items = arena_array(all->arena, 2 * (size_t)count + 1, sizeof *index->items, err);
    return index->items;
}

static bool index_shapes(struct joining *all, enum name_form form, bool exact, struct err *err)
{
    struct index *index = exact ? &all->exact[form] : &all->named[form];
    if (!make_index(all, index, (uint32_t)all->shapes->row_count, err))
        return false;
    for (uint32_t i = 0; i < index->count; i++) {
        struct launch_key key = key_of_shape(all, i, form, exact);
        index->items[i] = (struct keyed){hash_of(&key), i, 0};
    }
    sort_keyed(index->items, index->items + index->count, index->count);
    return true;
}

static bool index_kernels(struct joining *all, struct err *err)
{
    if (!make_index(all, &all->kernel, (uint32_t)all->kernels->row_count, err))
        return false;
    for (uint32_t i = 0; i < all->kernel.count; i++) {
        struct launch_key key = {
            table_text(all->kernels, i, RUN_KERNELS_KERNEL_NAME + KERNEL_NAME_NAME), STR(""),
            STR("")};
        all->kernel.items[i] = (struct keyed){hash_of(&key), i, 0};
    }
    sort_keyed(all->kernel.items, all->kernel.items + all->kernel.count, all->kernel.count);
    return true;
}

// The first item of a hash, or the count.
static uint32_t first_of(const struct index *index, int64_t hash)
{
    return count_below_i64(&index->items->key, index->count, sizeof *index->items, hash);
}

// --- finding ------------------------------------------------------------------------------------

enum { MOST_CANDIDATES = 64 };

// Rows of shapes that a launch may be, the heaviest first.
struct candidates {
    uint32_t rows[MOST_CANDIDATES];
    uint32_t count;
};

static void find_form(const struct joining *all, size_t row, enum name_form form, bool exact,
                      struct candidates *found)
{
    const struct index *index = exact ? &all->exact[form] : &all->named[form];
    struct launch_key key = key_of_profile(all, row, form, exact);
    int64_t hash = hash_of(&key);
    found->count = 0;
    for (uint32_t i = first_of(index, hash);
         i < index->count && index->items[i].key == hash && found->count < MOST_CANDIDATES; i++) {
        struct launch_key own = key_of_shape(all, index->items[i].a, form, exact);
        if (same_key(&own, &key))
            found->rows[found->count++] = index->items[i].a;
    }
}

// By name, grid and block, else by name; each in the most exact form that finds any.
static bool find(const struct joining *all, size_t row, struct candidates *found)
{
    bool has_grid = table_text(all->profiles, row, KERNEL_PROFILES_GRID).len > 0;
    for (int f = 0; f < NAME_FORMS && has_grid; f++) {
        find_form(all, row, (enum name_form)f, true, found);
        if (found->count)
            return true;
    }
    for (int f = 0; f < NAME_FORMS; f++) {
        find_form(all, row, (enum name_form)f, false, found);
        if (found->count)
            return false;
    }
    return false;
}

static uint32_t in_order(const struct joining *all, const struct candidates *found, uint32_t place)
{
    struct keyed order[2 * MOST_CANDIDATES];
    for (uint32_t i = 0; i < found->count; i++)
        order[i] = (struct keyed){table_i64(all->shapes, found->rows[i], KERNEL_SHAPES_FIRST_NS, 0),
                                  found->rows[i], 0};
    sort_keyed(order, order + MOST_CANDIDATES, found->count);
    return order[place % found->count].a;
}

// Several kernels that fit were launched in some order, in the file as in the trace; that is known
// if the file has as many launches of each. Otherwise the heaviest is the best guess.
static void choose(struct joining *all, size_t row)
{
    struct candidates found;
    all->is_exact[row] = find(all, row, &found);
    all->found[row] = found.count ? found.rows[0] : NO_ROW;
    if (found.count < 2 || !all->is_exact[row])
        return;
    uint32_t place = all->seen[found.rows[0]]++;
    if (all->total[found.rows[0]] % found.count == 0)
        all->found[row] = in_order(all, &found, place);
}

static void count_launch(struct joining *all, size_t row)
{
    struct candidates found;
    if (find(all, row, &found) && found.count > 1)
        all->total[found.rows[0]]++;
}

// Launches are counted per file.
static void find_all(struct joining *all)
{
    size_t count = all->profiles->row_count, bytes = all->shapes->row_count * sizeof *all->total;
    for (size_t from = 0, to; from < count; from = to) {
        struct str file = table_text(all->profiles, from, KERNEL_PROFILES_FILE);
        memset(all->total, 0, bytes);
        memset(all->seen, 0, bytes);
        for (to = from;
             to < count && str_equal(table_text(all->profiles, to, KERNEL_PROFILES_FILE), file);
             to++)
            count_launch(all, to);
        for (size_t i = from; i < to; i++)
            choose(all, i);
    }
}

// --- what is filled -----------------------------------------------------------------------------

static void put(struct table *table, size_t row, unsigned column, struct cell cell)
{
    table->cells[row * table->desc->column_count + column_place(table->desc, column)] = cell;
}

static void put_match(const struct joining *all, size_t i)
{
    uint32_t shape = all->found[i];
    if (shape == NO_ROW)
        return;
    put(all->profiles, i, KERNEL_PROFILES_MATCHED,
        cell_text(all->is_exact[i] ? STR("name and grid") : STR("name only")));
    put(all->profiles, i, KERNEL_PROFILES_TRACE_KERNEL,
        *table_cell(all->shapes, shape, KERNEL_SHAPES_NAME));
    if (!all->is_exact[i])
        return;
    put(all->profiles, i, KERNEL_PROFILES_TRACE_CALLS,
        *table_cell(all->shapes, shape, KERNEL_SHAPES_CALLS));
    put(all->profiles, i, KERNEL_PROFILES_TRACE_MEDIAN_NS,
        *table_cell(all->shapes, shape, KERNEL_SHAPES_MEDIAN_NS));
}

static uint32_t kernel_of(const struct joining *all, uint32_t shape)
{
    struct launch_key key = {table_text(all->shapes, shape, KERNEL_SHAPES_NAME), STR(""), STR("")};
    int64_t hash = hash_of(&key);
    for (uint32_t i = first_of(&all->kernel, hash);
         i < all->kernel.count && all->kernel.items[i].key == hash; i++) {
        uint32_t row = all->kernel.items[i].a;
        if (str_equal(table_text(all->kernels, row, RUN_KERNELS_KERNEL_NAME + KERNEL_NAME_NAME),
                      key.name))
            return row;
    }
    return NO_ROW;
}

// Mean of a share over the launches, weighted by their time; NAN without any.
static double mean_of(const struct joining *all, const struct keyed *launches, size_t count,
                      unsigned column)
{
    double sum = 0, weight = 0;
    for (size_t i = 0; i < count; i++) {
        double value = table_f64(all->profiles, launches[i].a, column, NAN);
        int64_t ns = table_i64(all->profiles, launches[i].a, KERNEL_PROFILES_DURATION_NS, 1);
        sum += isnan(value) ? 0 : value * (double)ns;
        weight += isnan(value) ? 0 : (double)ns;
    }
    return weight > 0 ? sum / weight : NAN;
}

static void put_mean(const struct joining *all, const struct keyed *launches, size_t count,
                     const unsigned columns[2])
{
    double mean = mean_of(all, launches, count, columns[0]);
    if (!isnan(mean))
        put(all->kernels, (size_t)launches[0].key, RUN_KERNELS_PROFILED + columns[1],
            cell_f64(mean));
}

static bool put_times(const struct joining *all, const struct keyed *launches, size_t count,
                      struct err *err)
{
    size_t known = 0, longest = 0, row = (size_t)launches[0].key;
    int64_t *ns = arena_array(all->arena, 2 * count, sizeof *ns, err);
    for (size_t i = 0; ns && i < count; i++) {
        int64_t own = table_i64(all->profiles, launches[i].a, KERNEL_PROFILES_DURATION_NS, -1);
        if (own >= 0)
            ns[known++] = own;
        if (own > table_i64(all->profiles, launches[longest].a, KERNEL_PROFILES_DURATION_NS, -1))
            longest = i;
    }
    if (!ns)
        return false;
    sort_i64(ns, ns + count, known);
    if (known)
        put(all->kernels, row, RUN_KERNELS_PROFILED + PROFILED_PROFILED_NS,
            cell_i64(stats_median(ns, known)));
    put(all->kernels, row, RUN_KERNELS_PROFILED + PROFILED_PROFILED_LAUNCHES,
        cell_i64((int64_t)count));
    put(all->kernels, row, RUN_KERNELS_PROFILED + PROFILED_STALLS,
        *table_cell(all->profiles, launches[longest].a, KERNEL_PROFILES_STALLS));
    return true;
}

// The launches of one kernel, those of the same grid as in the trace first.
static bool put_kernel(const struct joining *all, const struct keyed *launches, size_t count,
                       struct err *err)
{
    static const unsigned means[][2] = {
        {KERNEL_PROFILES_ACHIEVED_OCCUPANCY_PERCENT, PROFILED_ACHIEVED_OCCUPANCY_PERCENT},
        {KERNEL_PROFILES_SM_PERCENT, PROFILED_SM_PERCENT},
        {KERNEL_PROFILES_DRAM_PERCENT, PROFILED_DRAM_PERCENT},
        {KERNEL_PROFILES_TENSOR_PERCENT, PROFILED_TENSOR_PERCENT},
    };
    size_t exact = 0;
    while (exact < count && launches[exact].b)
        exact++;
    size_t used = exact ? exact : count;
    for (size_t i = 0; i < sizeof means / sizeof *means; i++)
        put_mean(all, launches, used, means[i]);
    struct str file = table_text(all->profiles, launches[0].a, KERNEL_PROFILES_FILE);
    const char *basis = arena_printf(all->arena, err, "%.*s: %s", (int)file.len, file.at,
                                     exact ? "name and grid" : "name only");
    if (!basis)
        return false;
    put(all->kernels, (size_t)launches[0].key, RUN_KERNELS_PROFILED + PROFILED_PROFILE_BASIS,
        cell_text(str_of(basis)));
    return put_times(all, launches, used, err);
}

// Launches by kernel, those that are the same launch as in the trace before the others.
static size_t list_launches(const struct joining *all, struct keyed *launches)
{
    size_t count = 0;
    for (int exact = 1; exact >= 0; exact--)
        for (uint32_t i = 0; i < all->profiles->row_count; i++) {
            if (all->found[i] == NO_ROW || all->is_exact[i] != (bool)exact)
                continue;
            uint32_t kernel = kernel_of(all, all->found[i]);
            if (kernel != NO_ROW)
                launches[count++] = (struct keyed){kernel, i, (uint32_t)exact};
        }
    return count;
}

static bool put_kernels(const struct joining *all, struct err *err)
{
    size_t rows = all->profiles->row_count;
    struct keyed *launches = arena_array(all->arena, 2 * rows, sizeof *launches, err);
    if (!launches)
        return false;
    size_t count = list_launches(all, launches);
    sort_keyed(launches, launches + rows, count);
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from; to < count && launches[to].key == launches[from].key; to++)
            ;
        if (!put_kernel(all, launches + from, to - from, err))
            return false;
    }
    return true;
}

// --- joining ------------------------------------------------------------------------------------

static bool join(struct joining *all, struct err *err)
{
    size_t rows = all->profiles->row_count, shapes = all->shapes->row_count;
    all->shape_names = read_names(all->shapes, KERNEL_SHAPES_NAME, all->arena, err);
    if (!all->shape_names)
        return false;
    all->profile_names = read_names(all->profiles, KERNEL_PROFILES_KERNEL, all->arena, err);
    if (!all->profile_names)
        return false;
    for (int f = 0; f < NAME_FORMS; f++)
        if (!index_shapes(all, (enum name_form)f, true, err) ||
            !index_shapes(all, (enum name_form)f, false, err))
            return false;
    all->total = arena_array(all->arena, shapes, sizeof *all->total, err);
    all->seen = arena_array(all->arena, shapes, sizeof *all->seen, err);
    all->found = arena_array(all->arena, rows, sizeof *all->found, err);
    all->is_exact = arena_array(all->arena, rows, sizeof *all->is_exact, err);
    if (!all->total || !all->seen || !all->found || !all->is_exact || !index_kernels(all, err))
        return false;
    find_all(all);
    for (size_t i = 0; i < rows; i++)
        put_match(all, i);
    return put_kernels(all, err);
}

static size_t headline_of(const struct rank_source *source, const struct report *report)
{
    const struct table *summary = report_find(report, "summary");
    size_t i = 0;
    if (!summary || summary->desc != &table_run_summary)
        return source->count;
    while (i < source->count &&
           source->ranks[i] != table_i64(summary, 0, RUN_SUMMARY_HEADLINE_RANK, -1))
        i++;
    return i;
}

bool run_join_profiles(const struct rank_source *source, struct report *report, struct err *err)
{
    static const struct table_desc *const known[] = {&table_kernel_shapes, NULL};
    struct report loaded = {.arena = report->arena};
    struct joining all = {
        .arena = report->arena,
        .profiles = report_table(report, &table_kernel_profiles),
        .kernels = report_table(report, &table_run_kernels),
    };
    size_t headline = headline_of(source, report);
    if (!all.profiles || !all.kernels || headline == source->count)
        return true;
    if (!source->load(source->context, headline, known, &loaded, err))
        return false;
    all.shapes = report_find(&loaded, "kernel_shapes");
    return !all.shapes || join(&all, err);
}
