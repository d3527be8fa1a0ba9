// SPDX-License-Identifier: Apache-2.0
// Comments and saved pages.
#include "server/store/store_said.h"
#include "server/store/store_sql.h"

#include "ingest/base/clock.h"

// --- checks -------------------------------------------------------------------------------------

static bool check_comment(const struct comment *comment, struct err *err)
{
    if (text_is_blank(comment->text))
        return err_set(err, ERR_USAGE, "found an empty comment, expected text");
    return text_check("comment", comment->text, STORE_NOTE_MAX_BYTES, err) &&
           text_check_line("place", comment->place, STORE_PLACE_MAX_BYTES, err) &&
           text_check_secret("place", comment->place, err) &&
           text_check_line("author", comment->author, STORE_NAME_MAX_BYTES, err);
}

// A path of this service: whoever follows the link must not end up elsewhere.
static bool check_address(struct str address, struct err *err)
{
    if (!text_check_line("address", address, STORE_ADDRESS_MAX_BYTES, err))
        return false;
    bool is_path = address.len > 0 && address.at[0] == '/' &&
                   (address.len == 1 || (address.at[1] != '/' && address.at[1] != '\\'));
    for (size_t i = 0; i < address.len; i++)
        is_path = is_path && address.at[i] > ' ' && address.at[i] < 0x7f;
    if (!is_path)
        return err_set(err, ERR_USAGE,
                       "found address '%.*s', expected the path of a page, as /trends",
                       (int)(address.len < 40 ? address.len : 40), address.at);
    return text_check_secret("address", address, err);
}

static bool check_room(struct db *db, const char *count, struct str id, size_t most,
                       const char *what, struct err *err)
{
    struct stmt stmt = sql_begin(db, count, err);
    if (id.at)
        sql_bind_text(&stmt, id);
    int64_t found = sql_row(&stmt) ? sql_i64(&stmt, 0) : 0;
    if (!sql_end(&stmt))
        return false;
    return found <= (int64_t)most ||
           err_set(err, ERR_CONFLICT, "there are already %zu %s, the limit", most, what);
}

// --- comments -----------------------------------------------------------------------------------

bool store_list_comments(struct store *store, struct str run_id, struct arena *arena,
                         struct comment **comments, size_t *count, struct err *err)
{
    struct txn txn;
    *comments = NULL;
    *count = 0;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db,
                                 "SELECT id, place, author, text, created_ns FROM comment "
                                 "WHERE run_id = ? ORDER BY created_ns, id",
                                 err);
    sql_bind_text(&stmt, run_id);
    while (sql_row(&stmt)) {
        *comments = arena_more(arena, *comments, *count, sizeof **comments, err);
        if (!*comments) {
            stmt.failed = true;
            break;
        }
        (*comments)[(*count)++] = (struct comment){
            sql_text(&stmt, 0, arena), sql_text(&stmt, 1, arena), sql_text(&stmt, 2, arena),
            sql_text(&stmt, 3, arena), sql_i64(&stmt, 4)};
    }
    return txn_end(&txn, sql_end(&stmt), err);
}

static bool add_comment(struct db *db, struct str run_id, const struct comment *comment,
                        struct err *err)
{
    char id[STORE_ID_SIZE];
    if (!sql_new_id('c', id, err))
        return false;
    struct stmt stmt = sql_begin(db, "INSERT INTO comment VALUES (?, ?, ?, ?, ?, ?)", err);
    sql_bind_text(&stmt, str_of(id));
    sql_bind_text(&stmt, run_id);
    sql_bind_text(&stmt, comment->place);
    sql_bind_clean(&stmt, comment->author);
    sql_bind_clean(&stmt, comment->text);
    sql_bind_i64(&stmt, clock_wall_ns());
    return sql_run(&stmt) && check_room(db, "SELECT count(*) FROM comment WHERE run_id = ?", run_id,
                                        STORE_MAX_COMMENTS, "comments on this run", err);
}

bool store_add_comment(struct store *store, struct str run_id, const struct comment *comment,
                       struct err *err)
{
    struct txn txn;
    if (!check_comment(comment, err) || !txn_begin(store, DB_WRITE, &txn, err))
        return false;
    return txn_end(&txn, add_comment(txn.db, run_id, comment, err), err);
}

bool store_drop_comment(struct store *store, struct str run_id, struct str id, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db, "DELETE FROM comment WHERE id = ? AND run_id = ?", err);
    sql_bind_text(&stmt, id);
    sql_bind_text(&stmt, run_id);
    bool ok = sql_run(&stmt) && (db_changes(txn.db) == 1 ||
                                 err_set(err, ERR_NOT_FOUND, "the run has no comment '%.*s'",
                                         (int)(id.len < 40 ? id.len : 40), id.at));
    return txn_end(&txn, ok, err);
}

// --- saved pages --------------------------------------------------------------------------------

#define SELECT_VIEWS "SELECT id, name, address, author, created_ns FROM saved_view "

static struct saved_view view_at(struct stmt *stmt, struct arena *arena)
{
    return (struct saved_view){sql_text(stmt, 0, arena), sql_text(stmt, 1, arena),
                               sql_text(stmt, 2, arena), sql_text(stmt, 3, arena),
                               sql_i64(stmt, 4)};
}

bool store_list_views(struct store *store, struct arena *arena, struct saved_view **views,
                      size_t *count, struct err *err)
{
    struct txn txn;
    *views = NULL;
    *count = 0;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt =
        sql_begin(txn.db, SELECT_VIEWS "WHERE name <> '' ORDER BY name, id LIMIT ?", err);
    sql_bind_u64(&stmt, STORE_MAX_LISTED_VIEWS);
    while (sql_row(&stmt)) {
        *views = arena_more(arena, *views, *count, sizeof **views, err);
        if (!*views) {
            stmt.failed = true;
            break;
        }
        (*views)[(*count)++] = view_at(&stmt, arena);
    }
    return txn_end(&txn, sql_end(&stmt), err);
}

static bool refuse_view(struct str id, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "no saved view '%.*s'", (int)(id.len < 40 ? id.len : 40),
                   id.at);
}

bool store_find_view(struct store *store, struct str id, struct arena *arena,
                     struct saved_view *view, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db, SELECT_VIEWS "WHERE id = ?", err);
    sql_bind_text(&stmt, id);
    bool found = sql_row(&stmt);
    if (found)
        *view = view_at(&stmt, arena);
    return txn_end(&txn, sql_end(&stmt) && (found || refuse_view(id, err)), err);
}

static bool find_same(struct db *db, struct arena *arena, struct saved_view *view, bool *found,
                      struct err *err)
{
    struct stmt stmt = sql_begin(db, SELECT_VIEWS "WHERE address = ? AND name = ?", err);
    sql_bind_text(&stmt, view->address);
    sql_bind_text(&stmt, view->name);
    *found = sql_row(&stmt);
    if (*found)
        *view = view_at(&stmt, arena);
    return sql_end(&stmt);
}

// Links without a name are created with a click and listed nowhere: the oldest give way to new
// ones.
static bool drop_oldest_links(struct db *db, struct err *err)
{
    struct stmt stmt = sql_begin(db,
                                 "DELETE FROM saved_view WHERE id IN (SELECT id FROM saved_view "
                                 "WHERE name = '' ORDER BY created_ns DESC, id DESC "
                                 "LIMIT ? OFFSET ?)",
                                 err);
    sql_bind_u64(&stmt, STORE_MAX_LINKS);
    sql_bind_u64(&stmt, STORE_MAX_LINKS - 1);
    return sql_run(&stmt);
}

static bool check_named(struct db *db, struct err *err)
{
    return check_room(db, "SELECT count(*) FROM saved_view WHERE name <> ''", (struct str){NULL, 0},
                      STORE_MAX_VIEWS, "saved views", err);
}

static bool save_view(struct db *db, struct arena *arena, struct saved_view *view, struct err *err)
{
    char id[STORE_ID_SIZE];
    bool found;
    if (!find_same(db, arena, view, &found, err) || found)
        return found;
    bool is_link = view->name.len == 0;
    if (!sql_new_id('v', id, err) || (is_link && !drop_oldest_links(db, err)))
        return false;
    struct stmt stmt = sql_begin(db, "INSERT INTO saved_view VALUES (?, ?, ?, ?, ?)", err);
    sql_bind_text(&stmt, str_of(id));
    sql_bind_text(&stmt, view->name);
    sql_bind_text(&stmt, view->address);
    sql_bind_clean(&stmt, view->author);
    sql_bind_i64(&stmt, clock_wall_ns());
    return sql_run(&stmt) && (is_link || check_named(db, err)) &&
           find_same(db, arena, view, &found, err);
}

bool store_save_view(struct store *store, struct arena *arena, struct saved_view *view,
                     struct err *err)
{
    struct txn txn;
    if (!text_check_line("name", view->name, STORE_NAME_MAX_BYTES, err) ||
        !text_check_secret("name", view->name, err) || !check_address(view->address, err) ||
        !text_check_line("author", view->author, STORE_NAME_MAX_BYTES, err) ||
        !txn_begin(store, DB_WRITE, &txn, err))
        return false;
    return txn_end(&txn, save_view(txn.db, arena, view, err), err);
}

bool store_drop_view(struct store *store, struct str id, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db, "DELETE FROM saved_view WHERE id = ?", err);
    sql_bind_text(&stmt, id);
    bool ok = sql_run(&stmt) && (db_changes(txn.db) == 1 || refuse_view(id, err));
    return txn_end(&txn, ok, err);
}
