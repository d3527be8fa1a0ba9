// SPDX-License-Identifier: Apache-2.0
// Tables of run reports as SQL tables run_<name>, and reports of traces as compressed parts.
// The names in statements come from descriptors alone; every value is bound.
#include "server/store/store_sql.h"

#include "analysis/report/report_parts.h"

#define REPORT_MAX_BYTES ((size_t)1 << 30) // of all tables in one, as older programs stored them

// --- writing run tables -------------------------------------------------------------------------

static bool clear_table(struct db *db, const struct table_desc *desc, struct str run_id,
                        struct err *err)
{
    struct buf sql = {0};
    buf_printf(&sql, "DELETE FROM \"run_%s\" WHERE run_id = ?", desc->name);
    bool ok = buf_ok(&sql, err);
    if (ok) {
        struct stmt stmt = sql_begin(db, sql.at, err);
        sql_bind_text(&stmt, run_id);
        ok = sql_run(&stmt);
    }
    buf_free(&sql);
    return ok;
}

// INSERT INTO "run_x" (run_id, "row", "a", "b") VALUES (?, ?, ?, ?)
static void put_insert(struct buf *sql, const struct table_desc *desc)
{
    buf_printf(sql, "INSERT INTO \"run_%s\" (run_id, \"row\"", desc->name);
    for (unsigned i = 0; i < desc->column_count; i++)
        buf_printf(sql, ", \"%s\"", desc->columns[i].name);
    buf_puts(sql, ") VALUES (?, ?");
    for (unsigned i = 0; i < desc->column_count; i++)
        buf_puts(sql, ", ?");
    buf_puts(sql, ")");
}

// A run's tables on their way into rows, one at a time.
struct filling {
    struct db *db;
    struct str run_id;
    const struct table_desc *desc; // NULL: none yet
    struct stmt insert;
    int64_t rows[REPORT_MAX_TABLES]; // so far, of each of run_tables
    int64_t bytes;                   // of all rows
};

static bool end_table(struct filling *filling)
{
    bool ok = !filling->desc || sql_end(&filling->insert);
    filling->desc = NULL;
    return ok;
}

static bool begin_table(struct filling *filling, const struct table_desc *desc, struct err *err)
{
    struct buf sql = {0};
    put_insert(&sql, desc);
    bool ok = buf_ok(&sql, err);
    if (ok) {
        filling->insert = sql_begin(filling->db, sql.at, err);
        filling->desc = desc;
    }
    buf_free(&sql);
    return ok;
}

static bool insert_rows(struct filling *filling, const struct table *table, int64_t *number)
{
    struct stmt *stmt = &filling->insert;
    unsigned width = table->desc->column_count;
    for (size_t row = 0; row < table->row_count && !stmt->failed; row++) {
        sql_bind_text(stmt, filling->run_id);
        sql_bind_i64(stmt, (*number)++);
        for (unsigned i = 0; i < width; i++)
            sql_bind_cell(stmt, &table->desc->columns[i], &table->cells[row * width + i]);
        sql_step(stmt);
    }
    return !stmt->failed;
}

static bool insert_part(struct filling *filling, const struct report_part *part, struct err *err)
{
    struct budget budget = {.limit = 4 * (uint64_t)REPORT_PART_MOST_BYTES};
    struct arena arena;
    arena_init(&arena, &budget);
    struct report rows = {.arena = &arena};
    bool ok =
        (filling->desc == part->desc ||
         (end_table(filling) && begin_table(filling, part->desc, err))) &&
        report_part_load(part, &rows, err) &&
        (!rows.table_count || insert_rows(filling, &rows.tables[0], &filling->rows[part->table]));
    filling->bytes += (int64_t)report_bytes(&rows);
    arena_free(&arena);
    return ok || err_wrap(err, "table %s", part->desc->name);
}

static bool insert_parts(struct filling *filling, int fd, struct err *err)
{
    struct report_parts parts;
    bool found = true, ok = true;
    report_parts_open(&parts, fd, run_tables);
    while (ok && (ok = report_parts_next(&parts, &found, err)) && found)
        ok = insert_part(filling, &parts.part, err);
    report_parts_close(&parts);
    return end_table(filling) && ok;
}

static bool note_run_made(struct db *db, struct str run_id, int64_t bytes, struct err *err)
{
    struct stmt stmt = sql_begin(db, "UPDATE stored_run SET made = ? WHERE id = ?", err);
    sql_bind_i64(&stmt, bytes);
    sql_bind_text(&stmt, run_id);
    return sql_run(&stmt);
}

bool tables_replace(struct db *db, struct str run_id, int tables, struct err *err)
{
    struct filling filling = {.db = db, .run_id = run_id};
    for (const struct table_desc *const *desc = run_tables; *desc; desc++)
        if (!clear_table(db, *desc, run_id, err))
            return err_wrap(err, "table %s", (*desc)->name);
    return insert_parts(&filling, tables, err) && note_run_made(db, run_id, filling.bytes, err);
}

// --- reading run tables -------------------------------------------------------------------------

static void put_columns(struct buf *sql, const struct table_desc *desc)
{
    buf_puts(sql, "SELECT ");
    for (unsigned i = 0; i < desc->column_count; i++)
        buf_printf(sql, "%s\"%s\"", i ? ", " : "", desc->columns[i].name);
}

// What a statement's parameters are, in order, behind the run's id.
struct parameters {
    const struct column *columns[TABLE_QUERY_MAX_FILTERS + TABLE_MAX_COLUMNS];
    struct cell values[TABLE_QUERY_MAX_FILTERS + TABLE_MAX_COLUMNS];
    unsigned count;
};

static void add_parameter(struct parameters *parameters, const struct column *column,
                          struct cell value)
{
    parameters->columns[parameters->count] = column;
    parameters->values[parameters->count++] = value;
}

static bool put_filter(struct buf *sql, const struct column *column, struct str text,
                       struct parameters *parameters, struct err *err)
{
    struct cell value;
    if (!table_filter_value(column, text, &value, err))
        return false;
    if (value.null) {
        buf_printf(sql, "(\"%s\" IS NULL%s", column->name, column->type == COLUMN_TEXT ? "" : ")");
        if (column->type == COLUMN_TEXT)
            buf_printf(sql, " OR \"%s\" = '')", column->name);
        return true;
    }
    buf_printf(sql, "\"%s\" = ?", column->name);
    add_parameter(parameters, column, value);
    return true;
}

// Filters on one column are joined by OR, columns by AND.
static bool put_filters(struct buf *sql, const struct table_desc *desc,
                        const struct table_query *query, struct parameters *parameters,
                        struct err *err)
{
    for (unsigned c = 0; c < desc->column_count; c++) {
        struct str name = str_of(desc->columns[c].name);
        bool is_open = false;
        for (unsigned i = 0; i < query->filter_count; i++) {
            if (!str_equal(query->filters[i].column, name))
                continue;
            buf_puts(sql, is_open ? " OR " : " AND (");
            is_open = true;
            if (!put_filter(sql, &desc->columns[c], query->filters[i].value, parameters, err))
                return false;
        }
        buf_puts(sql, is_open ? ")" : "");
    }
    return true;
}

static bool put_search(struct buf *sql, const struct table_desc *desc, struct str search,
                       struct arena *arena, struct parameters *parameters, struct err *err)
{
    struct str pattern = sql_like(arena, search, err);
    if (!pattern.at)
        return false;
    if (search.len == 0)
        return true;
    buf_puts(sql, " AND (\"row\" < 0"); // no row; a plain 0 would make SQLite scan the table
    for (unsigned i = 0; i < desc->column_count; i++) {
        if (desc->columns[i].type != COLUMN_TEXT)
            continue;
        buf_printf(sql, " OR \"%s\" LIKE ? ESCAPE '\\'", desc->columns[i].name);
        add_parameter(parameters, &desc->columns[i], cell_text(pattern));
    }
    buf_puts(sql, ")");
    return true;
}

// FROM and WHERE of a query, which the count and the page share.
static bool put_condition(struct buf *sql, const struct table_desc *desc,
                          const struct table_query *query, struct arena *arena,
                          struct parameters *parameters, struct err *err)
{
    buf_printf(sql, " FROM \"run_%s\" WHERE run_id = ?", desc->name);
    return put_filters(sql, desc, query, parameters, err) &&
           put_search(sql, desc, query->search, arena, parameters, err) && buf_ok(sql, err);
}

static void put_order(struct buf *sql, const struct table_desc *desc,
                      const struct table_query *query)
{
    buf_puts(sql, " ORDER BY ");
    for (unsigned i = 0; i < query->sort_count; i++)
        for (unsigned c = 0; c < desc->column_count; c++)
            if (str_equal(query->sorts[i].column, str_of(desc->columns[c].name)))
                buf_printf(sql, "\"%s\" %s NULLS LAST, ", desc->columns[c].name,
                           query->sorts[i].descending ? "DESC" : "ASC");
    buf_puts(sql, "\"row\" LIMIT ? OFFSET ?");
}

static void bind_condition(struct stmt *stmt, struct str run_id,
                           const struct parameters *parameters)
{
    sql_bind_text(stmt, run_id);
    for (unsigned i = 0; i < parameters->count; i++)
        sql_bind_cell(stmt, parameters->columns[i], &parameters->values[i]);
}

static bool count_rows(struct db *db, const char *condition, struct str run_id,
                       const struct parameters *parameters, uint64_t *total, struct err *err)
{
    struct buf sql = {0};
    buf_puts(&sql, "SELECT count(*)");
    buf_puts(&sql, condition);
    bool ok = buf_ok(&sql, err);
    if (ok) {
        struct stmt stmt = sql_begin(db, sql.at, err);
        bind_condition(&stmt, run_id, parameters);
        *total = sql_row(&stmt) ? (uint64_t)sql_i64(&stmt, 0) : 0;
        ok = sql_end(&stmt);
    }
    buf_free(&sql);
    return ok;
}

static bool read_row(struct stmt *stmt, struct table *table, struct arena *arena)
{
    unsigned width = table->desc->column_count;
    table->cells =
        sql_grow(arena, table->cells, table->row_count, width * sizeof *table->cells, stmt->err);
    stmt->failed = stmt->failed || !table->cells;
    if (stmt->failed)
        return false;
    struct cell *row = &table->cells[table->row_count++ * width];
    for (unsigned i = 0; i < width; i++)
        row[i] = sql_cell(stmt, (int)i, table->desc->columns[i].type, arena);
    return !stmt->failed;
}

// One SELECT on its way: its text, and what to bind.
struct selection {
    struct str run_id;
    const struct table_desc *desc;
    const struct table_query *query;
    struct parameters parameters;
};

static bool read_page(struct db *db, const struct selection *selection, const char *condition,
                      struct arena *arena, struct table *table, struct err *err)
{
    struct buf sql = {0};
    put_columns(&sql, selection->desc);
    buf_puts(&sql, condition);
    put_order(&sql, selection->desc, selection->query);
    bool ok = buf_ok(&sql, err);
    if (ok) {
        struct stmt stmt = sql_begin(db, sql.at, err);
        bind_condition(&stmt, selection->run_id, &selection->parameters);
        sql_bind_u64(&stmt, selection->query->limit);
        sql_bind_u64(&stmt, selection->query->offset);
        while (sql_row(&stmt) && read_row(&stmt, table, arena))
            continue;
        ok = sql_end(&stmt);
    }
    buf_free(&sql);
    return ok;
}

static bool select_rows(struct db *db, struct selection *selection, struct arena *arena,
                        struct table_page *page, struct err *err)
{
    *page =
        (struct table_page){.table = {.desc = selection->desc}, .offset = selection->query->offset};
    struct buf condition = {0};
    bool ok = put_condition(&condition, selection->desc, selection->query, arena,
                            &selection->parameters, err) &&
              count_rows(db, condition.at, selection->run_id, &selection->parameters, &page->total,
                         err) &&
              read_page(db, selection, condition.at, arena, &page->table, err);
    buf_free(&condition);
    return ok;
}

bool store_read_table(struct store *store, struct run_table from, const struct table_query *query,
                      struct arena *arena, struct table_page *page, struct err *err)
{
    struct txn txn;
    if (!table_query_check(query, from.desc, err) || !txn_begin(store, DB_READ, &txn, err))
        return false;
    struct selection selection = {.run_id = from.run_id, .desc = from.desc, .query = query};
    bool ok = select_rows(txn.db, &selection, arena, page, err);
    return txn_end(&txn, ok, err);
}

static bool load_table(struct db *db, struct str run_id, const struct table_desc *desc,
                       struct report *report, struct err *err)
{
    struct table_query all = {.limit = TABLE_QUERY_NO_LIMIT};
    struct selection selection = {.run_id = run_id, .desc = desc, .query = &all};
    struct table_page page;
    if (!select_rows(db, &selection, report->arena, &page, err))
        return false;
    if (page.table.row_count == 0)
        return true;
    if (report->table_count == REPORT_MAX_TABLES)
        return err_set(err, ERR_INTERNAL, "a report has more than %d tables", REPORT_MAX_TABLES);
    page.table.row_cap = page.table.row_count;
    report->tables[report->table_count++] = page.table;
    return true;
}

bool store_load_run_tables(struct store *store, struct str run_id,
                           const struct table_desc *const *known, struct report *report,
                           struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    bool ok = true;
    for (const struct table_desc *const *desc = known; ok && *desc; desc++)
        ok = load_table(txn.db, run_id, *desc, report, err);
    return txn_end(&txn, ok, err);
}

bool store_load_run_report(struct store *store, struct str run_id, struct report *report,
                           struct err *err)
{
    return store_load_run_tables(store, run_id, run_tables, report, err);
}

// --- reports of traces --------------------------------------------------------------------------

// A trace's tables on their way into rows, as they come.
struct storing {
    struct stmt first, later;
    struct str trace_id;
    int64_t bytes;
};

static bool store_part(struct storing *storing, const struct report_part *part)
{
    struct stmt *insert = part->number ? &storing->later : &storing->first;
    sql_bind_text(insert, storing->trace_id);
    sql_bind_text(insert, str_of(part->desc->name));
    if (part->number)
        sql_bind_u64(insert, part->number);
    sql_bind_bytes(insert, part->frame);
    sql_step(insert);
    storing->bytes += (int64_t)part->frame.len;
    return !insert->failed;
}

static bool insert_tables(struct db *db, struct str trace_id, int fd, int64_t *bytes,
                          struct err *err)
{
    struct storing storing = {.trace_id = trace_id};
    struct report_parts parts;
    bool found = true, ok = true;
    storing.first = sql_begin(db, "INSERT INTO trace_table VALUES (?, ?, ?)", err);
    storing.later = sql_begin(db, "INSERT INTO trace_table_part VALUES (?, ?, ?, ?)", err);
    report_parts_open(&parts, fd, trace_tables);
    while (ok && (ok = report_parts_next(&parts, &found, err)) && found)
        ok = store_part(&storing, &parts.part);
    report_parts_close(&parts);
    bool ended = sql_end(&storing.first);
    *bytes = storing.bytes;
    return sql_end(&storing.later) && ended && ok;
}

static bool forget_tables(struct db *db, struct str trace_id, struct err *err)
{
    struct stmt first = sql_begin(db, "DELETE FROM trace_table WHERE trace_id = ?", err);
    sql_bind_text(&first, trace_id);
    if (!sql_run(&first))
        return false;
    struct stmt later = sql_begin(db, "DELETE FROM trace_table_part WHERE trace_id = ?", err);
    sql_bind_text(&later, trace_id);
    return sql_run(&later);
}

bool tables_save_trace(struct db *db, struct str trace_id, int tables, int64_t *bytes,
                       struct err *err)
{
    // A row of trace_report tells that there is a report, though its tables stand by themselves.
    if (!forget_tables(db, trace_id, err))
        return false;
    struct stmt head =
        sql_begin(db, "INSERT OR REPLACE INTO trace_report VALUES (?, ?, zeroblob(0))", err);
    sql_bind_text(&head, trace_id);
    sql_bind_i64(&head, ANALYSIS_VERSION);
    return sql_run(&head) && insert_tables(db, trace_id, tables, bytes, err);
}

// What the disk spoiled is nobody's input.
static bool unpack(struct str frame, const struct table_desc *const *known, struct report *report,
                   struct err *err)
{
    if (report_unpack(frame, REPORT_MAX_BYTES, known, report, err))
        return true;
    err->code = err->code == ERR_FORMAT ? ERR_IO : err->code;
    return false;
}

// Adds the tables of the rows that a statement yields; an empty one has none.
static bool load_rows(struct stmt *stmt, struct report *report,
                      const struct table_desc *const *known, size_t *found, struct err *err)
{
    bool ok = true;
    while (ok && sql_row(stmt)) {
        struct str frame = sql_bytes(stmt, 0);
        ++*found;
        ok = frame.len == 0 || unpack(frame, known, report, err);
    }
    return sql_end(stmt) && ok;
}

// Of which tables there are first rows, and of which more.
static const char *const kept_first[] = {
    "SELECT report FROM trace_table WHERE trace_id = ? AND name IN (", ") ORDER BY rowid"};
static const char *const kept_later[] = {
    "SELECT report FROM trace_table_part WHERE trace_id = ? AND name IN (",
    ") ORDER BY name, part"};

static void put_select(struct buf *sql, const char *const text[2],
                       const struct table_desc *const *known)
{
    buf_puts(sql, text[0]);
    for (size_t i = 0; known[i]; i++)
        buf_puts(sql, i ? ", ?" : "?");
    buf_puts(sql, text[1]);
}

// Those of one place that are wanted, and how many there were.
struct kept {
    const char *const *text;
    const struct table_desc *const *known;
    size_t found;
};

static bool begin_some(struct db *db, struct str trace_id, const struct kept *kept,
                       struct stmt *stmt, struct err *err)
{
    struct buf sql = {0};
    put_select(&sql, kept->text, kept->known);
    bool ok = buf_ok(&sql, err);
    if (ok) {
        *stmt = sql_begin(db, sql.at, err);
        sql_bind_text(stmt, trace_id);
        for (size_t i = 0; kept->known[i]; i++)
            sql_bind_text(stmt, str_of(kept->known[i]->name));
    }
    buf_free(&sql);
    return ok;
}

static bool load_some(struct db *db, struct str trace_id, struct kept *kept, struct report *report,
                      struct err *err)
{
    struct stmt stmt;
    return begin_some(db, trace_id, kept, &stmt, err) &&
           load_rows(&stmt, report, kept->known, &kept->found, err);
}

// The older form, all tables in one frame, holds whatever trace_table does not.
static bool load_tables(struct db *db, struct str trace_id, const struct table_desc *const *known,
                        struct report *report, struct err *err)
{
    struct kept first = {kept_first, known, 0}, later = {kept_later, known, 0};
    if (!load_some(db, trace_id, &first, report, err) ||
        (first.found && !load_some(db, trace_id, &later, report, err)))
        return false;
    size_t found = first.found;
    if (found)
        return true;
    struct stmt stmt = sql_begin(db, "SELECT report FROM trace_report WHERE trace_id = ?", err);
    sql_bind_text(&stmt, trace_id);
    if (!load_rows(&stmt, report, known, &found, err))
        return false;
    return found || err_set(err, ERR_NOT_FOUND, "trace %.*s has no report yet", (int)trace_id.len,
                            trace_id.at);
}

bool store_load_trace_tables(struct store *store, struct str trace_id,
                             const struct table_desc *const *known, struct report *report,
                             struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    bool ok = load_tables(txn.db, trace_id, known, report, err);
    return txn_end(&txn, ok, err);
}

static const char *const copied_first[] = {
    "SELECT name, 0, report FROM trace_table WHERE trace_id = ? AND name IN (", ")"};
static const char *const copied_later[] = {
    "SELECT name, part, report FROM trace_table_part WHERE trace_id = ? AND name IN (",
    ") ORDER BY name, part"};

static bool copy_some(struct db *db, struct str trace_id, struct kept *kept, int fd,
                      struct err *err)
{
    struct stmt stmt;
    bool ok = begin_some(db, trace_id, kept, &stmt, err);
    if (!ok)
        return false;
    for (; ok && sql_row(&stmt); kept->found++) {
        struct str name = sql_bytes(&stmt, 0);
        struct report_part part = {.number = (uint64_t)sql_i64(&stmt, 1),
                                   .frame = sql_bytes(&stmt, 2)};
        while (!str_equal(str_of(kept->known[part.table]->name), name))
            part.table++;
        ok = report_part_write(&part, fd, err);
    }
    return sql_end(&stmt) && ok;
}

bool store_copy_trace_parts(struct store *store, struct str trace_id,
                            const struct table_desc *const *known, int fd, struct err *err)
{
    struct kept first = {copied_first, known, 0}, later = {copied_later, known, 0};
    struct txn txn;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    txn.db->kind->limit_time(txn.db, 0); // a disk too slow for it now will be next time, too
    bool ok = copy_some(txn.db, trace_id, &first, fd, err) &&
              copy_some(txn.db, trace_id, &later, fd, err) &&
              (first.found || err_set(err, ERR_BUSY, "trace %.*s is being analyzed again",
                                      (int)trace_id.len, trace_id.at));
    return txn_end(&txn, ok, err);
}

bool store_load_trace_report(struct store *store, struct str trace_id, struct report *report,
                             struct err *err)
{
    return store_load_trace_tables(store, trace_id, trace_tables, report, err);
}

// --- a part at a time ---------------------------------------------------------------------------

// An answer in parts is of one state of its run: who asks for the next one after a change is told.
static bool check_revision(struct db *db, const struct table_place *place, struct err *err)
{
    struct stmt stmt = sql_begin(db, "SELECT revision FROM run WHERE id = ?", err);
    sql_bind_text(&stmt, place->run_id);
    bool same = sql_row(&stmt) && sql_i64(&stmt, 0) == place->revision;
    return sql_end(&stmt) &&
           (same || err_set(err, ERR_BUSY, "the run changed while its table was read"));
}

static bool read_trace_part(struct db *db, const struct table_place *place, uint64_t *at,
                            struct report *report, bool *more, struct err *err)
{
    const struct table_desc *const known[] = {place->desc, NULL};
    uint64_t number = (*at)++;
    size_t found = 0;
    struct stmt stmt = sql_begin(
        db,
        number ? "SELECT report FROM trace_table_part WHERE trace_id = ? AND name = ? AND part = ?"
               : "SELECT report FROM trace_table WHERE trace_id = ? AND name = ?",
        err);
    sql_bind_text(&stmt, place->trace_id);
    sql_bind_text(&stmt, str_of(place->desc->name));
    if (number)
        sql_bind_u64(&stmt, number);
    if (!load_rows(&stmt, report, known, &found, err))
        return false;
    *more = found > 0;
    return found || number || load_tables(db, place->trace_id, known, report, err);
}

// No more rows than a part has, nor much more text. Whether there may be more of them.
static bool read_some_rows(struct stmt *stmt, struct table *table, struct arena *arena)
{
    size_t bytes = 0;
    while (table->row_count < REPORT_PART_ROWS && bytes < REPORT_PART_BYTES) {
        if (!sql_row(stmt) || !read_row(stmt, table, arena))
            return false;
        bytes += table_row_bytes(table, table->row_count - 1);
    }
    return true;
}

// Rows are numbered without gaps.
static bool read_run_part(struct db *db, const struct table_place *place, uint64_t *at,
                          struct report *report, bool *more, struct err *err)
{
    struct table table = {.desc = place->desc};
    struct buf sql = {0};
    put_columns(&sql, place->desc);
    buf_printf(&sql, " FROM \"run_%s\" WHERE run_id = ? AND \"row\" >= ? ORDER BY \"row\"",
               place->desc->name);
    bool ok = buf_ok(&sql, err);
    if (ok) {
        struct stmt stmt = sql_begin(db, sql.at, err);
        sql_bind_text(&stmt, place->run_id);
        sql_bind_u64(&stmt, *at);
        *more = read_some_rows(&stmt, &table, report->arena);
        ok = sql_end(&stmt);
    }
    buf_free(&sql);
    *at += table.row_count;
    table.row_cap = table.row_count;
    return ok && (table.row_count == 0 || report_append(report, &table, err));
}

bool store_read_part(struct store *store, const struct table_place *place, uint64_t *at,
                     struct report *report, bool *more, struct err *err)
{
    struct txn txn;
    *more = false;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    bool ok = check_revision(txn.db, place, err) &&
              (place->trace_id.len ? read_trace_part(txn.db, place, at, report, more, err)
                                   : read_run_part(txn.db, place, at, report, more, err));
    return txn_end(&txn, ok, err);
}
