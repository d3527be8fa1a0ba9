// SPDX-License-Identifier: Apache-2.0
#include "server/store/run_facets.h"

enum { MOST_FACETS = 1000 };

// Word for word as in the index run_by_facet.
#define FACET                                                                     \
    "(status || ' ' || "                                                          \
    "coalesce(CAST(coalesce(world_size, traced_world_size) AS TEXT), '') || ' ' " \
    "|| coalesce(trust_severity, '') || ' ' || coalesce(gpu, ''))"

// Runs that tie in all sort keys, whatever their facets.
struct group {
    struct str *facets;
    size_t count;
};

// --- which there are ----------------------------------------------------------------------------

// From one facet to the next.
#define KNOWN                                                                                     \
    "WITH RECURSIVE known (facet, number) AS (SELECT (SELECT " FACET " FROM run WHERE " FACET     \
    " > '' ORDER BY " FACET " LIMIT 1), 1 UNION ALL SELECT (SELECT " FACET                        \
    " FROM run WHERE " FACET " > known.facet ORDER BY " FACET " LIMIT 1), number + 1 FROM known " \
    "WHERE known.facet IS NOT NULL AND number <= ?) "

// In the order of the list, by the newest run of each; facets that tie have one rank.
static void write_facets(struct writing *to, const struct run_filters *filters, run_order put_order)
{
    writing_put_i64(to, KNOWN "SELECT facet, dense_rank() OVER (ORDER BY ", MOST_FACETS);
    put_order(to, filters->query, 0);
    writing_put(to, "1), (SELECT count(facet) FROM known) FROM known CROSS JOIN run ON run.id = "
                    "(SELECT id FROM run WHERE " FACET " = known.facet "
                    "ORDER BY created_ns DESC, id LIMIT 1) WHERE TRUE");
    run_filters_put_facet_checks(to, filters, true);
    writing_put(to, " ORDER BY 2");
}

struct facets {
    struct group *groups;
    size_t count;
    bool are_too_many;
};

static bool add_facet(struct stmt *stmt, struct facets *all, int64_t *last, struct arena *arena)
{
    int64_t rank = sql_i64(stmt, 1);
    if (rank != *last) {
        all->groups = arena_more(arena, all->groups, all->count, sizeof *all->groups, stmt->err);
        if (!all->groups)
            return false;
        all->groups[all->count++] = (struct group){0};
    }
    *last = rank;
    struct group *group = &all->groups[all->count - 1];
    group->facets =
        arena_more(arena, group->facets, group->count, sizeof *group->facets, stmt->err);
    if (!group->facets)
        return false;
    group->facets[group->count++] = sql_text(stmt, 0, arena);
    return true;
}

static bool read_facets(struct run_filters *filters, run_order put_order, struct facets *all,
                        struct err *err)
{
    struct writing sql = run_filters_begin(filters);
    int64_t last = 0;
    write_facets(&sql, filters, put_order);
    bool ok = buf_ok(&sql.sql, err);
    if (ok) {
        struct stmt stmt = writing_begin(filters->db, &sql, err);
        while (sql_row(&stmt)) {
            all->are_too_many = sql_i64(&stmt, 2) > MOST_FACETS;
            stmt.failed |= !add_facet(&stmt, all, &last, filters->arena);
            if (stmt.failed)
                break;
        }
        ok = sql_end(&stmt);
    }
    buf_free(&sql.sql);
    return ok;
}

// --- pages --------------------------------------------------------------------------------------

static void put_facets(struct writing *to, const struct group *group)
{
    writing_put(to, "(VALUES ");
    for (size_t i = 0; i < group->count; i++)
        writing_put_text(to, i ? ", (?)" : "(?)", group->facets[i]);
    writing_put(to, ") AS named");
}

// Of each facet only as many as a page may need: at most these are sorted.
static void put_newest(struct writing *to, const struct run_filters *filters,
                       const struct group *group, uint64_t most)
{
    writing_put(to, "WITH known AS MATERIALIZED (SELECT column1 AS facet, coalesce("
                    "(SELECT created_ns FROM run WHERE " FACET " = column1");
    run_filters_put_facet_checks(to, filters, false);
    writing_put_i64(to,
                    " ORDER BY created_ns DESC LIMIT 1 OFFSET ?), -9223372036854775807) "
                    "AS from_ns FROM ",
                    most < INT64_MAX ? (int64_t)most : INT64_MAX);
    put_facets(to, group);
    writing_put(to, "), found AS MATERIALIZED (SELECT id, created_ns FROM known CROSS JOIN run "
                    "ON " FACET " = known.facet AND created_ns >= from_ns WHERE TRUE");
    run_filters_put_facet_checks(to, filters, false);
    writing_put(to, ") SELECT id FROM found ORDER BY created_ns DESC, id");
}

static bool count_group(struct run_filters *filters, const struct group *group, uint64_t *runs,
                        struct err *err)
{
    struct writing count = run_filters_begin(filters);
    writing_put(&count, "SELECT count(*) FROM ");
    put_facets(&count, group);
    writing_put(&count, " CROSS JOIN run ON " FACET " = column1 WHERE TRUE");
    run_filters_put_facet_checks(&count, filters, false);
    return writing_read_numbers(filters->db, &count, runs, 1, err);
}

// Adds what the page has of a group; *skip: the runs that come before it.
static bool list_group(struct run_filters *filters, const struct group *group, uint64_t limit,
                       uint64_t *skip, struct run_list *list, struct err *err)
{
    struct writing page = run_filters_begin(filters);
    uint64_t runs = 0, room = limit - list->count, before = list->count;
    put_newest(&page, filters, group, *skip < UINT64_MAX - room ? *skip + room : UINT64_MAX);
    run_filters_put_page(&page, room, *skip);
    if (!run_filters_read_ids(filters, &page, list, err))
        return false;
    if (list->count == before && *skip && !count_group(filters, group, &runs, err))
        return false;
    *skip = list->count > before ? 0 : *skip - (runs < *skip ? runs : *skip);
    return true;
}

bool run_facets_list(struct run_filters *filters, run_order put_order, uint64_t limit,
                     struct run_list *list, bool *done, struct err *err)
{
    struct facets all = {0};
    uint64_t skip = filters->query->offset;
    if (!read_facets(filters, put_order, &all, err))
        return false;
    *done = !all.are_too_many;
    bool ok = true;
    for (size_t i = 0; ok && *done && i < all.count && list->count < limit; i++)
        ok = list_group(filters, &all.groups[i], limit, &skip, list, err);
    return ok;
}
