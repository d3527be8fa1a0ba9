// SPDX-License-Identifier: Apache-2.0
// Ranks of processes that share files which do not say them: by the names of the files, and within
// a file in its order, which is that of devices. They are given out in the order in which the
// processes are read, so this puts them right before a run is joined.
#include "server/store/store_sql.h"

#include <stdlib.h>

struct placed {
    int64_t rank;
    struct str id, filename;
};

struct placed_list {
    struct placed *at;
    size_t count;
};

static struct str digits_at(struct str text, size_t at)
{
    size_t end = at;
    while (at < text.len && text.at[at] == '0')
        at++;
    for (end = at > end ? at : end; end < text.len && str_is_digit(text.at[end]);)
        end++;
    return (struct str){text.at + at, end - at};
}

// "node2" before "node10".
static int compare_names(struct str a, struct str b)
{
    size_t i = 0, j = 0;
    while (i < a.len && j < b.len) {
        if (str_is_digit(a.at[i]) && str_is_digit(b.at[j])) {
            struct str x = digits_at(a, i), y = digits_at(b, j);
            int by = x.len != y.len ? (x.len < y.len ? -1 : 1) : str_compare(x, y);
            if (by)
                return by;
            i = (size_t)(x.at - a.at) + x.len;
            j = (size_t)(y.at - b.at) + y.len;
        } else if (a.at[i++] != b.at[j++]) {
            return (unsigned char)a.at[i - 1] < (unsigned char)b.at[j - 1] ? -1 : 1;
        }
    }
    return a.len - i != b.len - j ? (a.len - i < b.len - j ? -1 : 1) : str_compare(a, b);
}

static int by_name(const void *left, const void *right)
{
    const struct placed *a = left, *b = right;
    int by = compare_names(a->filename, b->filename);
    return by ? by : (a->rank > b->rank) - (a->rank < b->rank);
}

bool store_processes_are_ordered(const struct rank_trace *ranks, size_t count)
{
    struct str before = STR("");
    for (size_t i = 0; i < count; i++) {
        if (!ranks[i].process_name.len)
            continue;
        if (before.len && compare_names(before, ranks[i].process_name) > 0)
            return false;
        before = ranks[i].process_name;
    }
    return true;
}

static bool list_placed(struct db *db, struct str run_id, struct arena *arena,
                        struct placed_list *list, struct err *err)
{
    struct stmt stmt =
        sql_begin(db,
                  "SELECT rank, id, filename FROM trace WHERE run_id = ? AND state = 'done' "
                  "AND process <> 0 AND rank_from = 'next' ORDER BY rank",
                  err);
    sql_bind_text(&stmt, run_id);
    while (sql_row(&stmt)) {
        list->at = arena_more(arena, list->at, list->count, sizeof *list->at, err);
        if (!list->at) {
            stmt.failed = true;
            break;
        }
        list->at[list->count++] = (struct placed){sql_i64(&stmt, 0), sql_text(&stmt, 1, arena),
                                                  sql_text(&stmt, 2, arena)};
    }
    return sql_end(&stmt);
}

// A rank is one trace's at any time, so those that move have none for a moment.
static bool set_rank(struct db *db, struct str id, int64_t rank, struct err *err)
{
    struct stmt stmt = sql_begin(db, "UPDATE trace SET rank = ?, rank_from = ? WHERE id = ?", err);
    sql_bind_i64_if(&stmt, rank >= 0, rank);
    sql_bind_text(&stmt, rank >= 0 ? STR("next") : STR("pending"));
    sql_bind_text(&stmt, id);
    return sql_run(&stmt);
}

static bool move_all(struct db *db, const struct placed_list *before,
                     const struct placed_list *after, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < after->count; i++)
        ok = after->at[i].rank == before->at[i].rank ||
             set_rank(db, after->at[i].id, STORE_NO_RANK, err);
    for (size_t i = 0; ok && i < after->count; i++)
        ok = after->at[i].rank == before->at[i].rank ||
             set_rank(db, after->at[i].id, before->at[i].rank, err);
    return ok;
}

struct ordering {
    struct str run_id;
    struct arena *arena;
};

static bool order(struct db *db, void *context, struct err *err)
{
    const struct ordering *ordering = context;
    struct placed_list before = {0}, after;
    if (!txn_has_turn(db, err) || !list_placed(db, ordering->run_id, ordering->arena, &before, err))
        return false;
    after = before;
    after.at = arena_array(ordering->arena, before.count + 1, sizeof *after.at, err);
    if (!after.at)
        return false;
    if (before.count)
        memcpy(after.at, before.at, before.count * sizeof *after.at);
    qsort(after.at, after.count, sizeof *after.at, by_name);
    return move_all(db, &before, &after, err) && sql_touch_run(db, ordering->run_id, err);
}

bool store_order_processes(struct store *store, struct str run_id, struct arena *arena,
                           struct err *err)
{
    struct ordering ordering = {run_id, arena};
    return txn_write(store, order, &ordering, err);
}
