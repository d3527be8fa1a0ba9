// SPDX-License-Identifier: Apache-2.0
// What some ranks of a run have in common: nodes, a stage, a process group.
#include "analysis/run/findings_run.h"

#include "analysis/report/tables.h"

enum { MOST_NODES = 4 }; // that are named

// The ranks of a node, and how many of them are in question.
struct node {
    struct str name;
    size_t all, some;
};

static bool count_nodes(const struct table *ranks, const struct run_late *some, struct node *nodes,
                        struct groups *numbers, struct err *err)
{
    for (size_t i = 0; i < ranks->row_count; i++) {
        struct str name = table_text(ranks, i, RUN_RANKS_NODE);
        uint32_t n;
        if (!groups_index(numbers, hash_bytes(name.at, name.len), name.len, &n, err))
            return false;
        nodes[n].name = name;
        nodes[n].all++;
        nodes[n].some += run_late_has(some, table_cell(ranks, i, RUN_RANKS_RANK)->i);
    }
    return true;
}

// " (node b)" or " (nodes a, b)" if the ranks are exactly those of some nodes; "" otherwise.
static const char *name_nodes(const struct node *nodes, size_t count, struct arena *arena,
                              struct err *err)
{
    size_t whole = 0;
    const char *list = "";
    for (size_t n = 0; list && n < count; n++) {
        if (nodes[n].some == 0)
            continue;
        if (nodes[n].some < nodes[n].all || nodes[n].name.len == 0 || ++whole > MOST_NODES)
            return "";
        list = arena_printf(arena, err, "%s%s%.*s", list, whole > 1 ? ", " : "",
                            (int)nodes[n].name.len, nodes[n].name.at);
    }
    if (!list || whole == 0)
        return list;
    return arena_printf(arena, err, " (node%s %s)", whole > 1 ? "s" : "", list);
}

static bool find_nodes(const struct run_case *the_case, const struct run_late *some,
                       const char **place, struct err *err)
{
    const struct table *ranks = report_find(the_case->report, "ranks");
    struct groups numbers;
    struct node *nodes =
        arena_array(the_case->arena, ranks ? ranks->row_count : 0, sizeof *nodes, err);
    if (!nodes)
        return false;
    groups_init(&numbers, the_case->budget);
    bool ok = !ranks || count_nodes(ranks, some, nodes, &numbers, err);
    if (ok)
        *place = numbers.count > 1 ? name_nodes(nodes, numbers.count, the_case->arena, err) : "";
    groups_free(&numbers);
    return ok && *place;
}

// The row with exactly that list of ranks; the row count if there is none.
static size_t row_of_list(const struct table *table, unsigned column, const char *list)
{
    size_t row = 0;
    while (table && row < table->row_count && !table_is(table, row, column, str_of(list)))
        row++;
    return row;
}

bool run_common_place(const struct run_case *the_case, const struct run_late *some,
                      const char **place, struct err *err)
{
    const struct table *pipeline = report_find(the_case->report, "pipeline");
    const struct table *waits = report_find(the_case->report, "comm_waits");
    if (!find_nodes(the_case, some, place, err))
        return false;
    if (**place || some->count < 2)
        return true;
    size_t stage = row_of_list(pipeline, RUN_PIPELINE_RANKS, some->list),
           group = row_of_list(waits, RUN_COMM_WAITS_RANKS, some->list);
    if (pipeline && stage < pipeline->row_count)
        *place = arena_printf(the_case->arena, err, " (stage %lld)",
                              (long long)table_i64(pipeline, stage, RUN_PIPELINE_STAGE, -1));
    else if (waits && group < waits->row_count &&
             !table_cell(waits, group, RUN_COMM_WAITS_DIMENSION)->null)
        *place = arena_printf(the_case->arena, err, " (a group of %s parallelism)",
                              table_cell(waits, group, RUN_COMM_WAITS_DIMENSION)->s.at);
    return *place != NULL;
}
