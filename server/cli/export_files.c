// SPDX-License-Identifier: Apache-2.0
#include "server/cli/export_files.h"

#include "analysis/report/tables.h"
#include "ingest/base/scratch.h"
#include "server/exports/event_comm.h"
#include "server/exports/tar_write.h"
#include "server/exports/tracelens_sheets.h"
#include "server/exports/xlsx_book.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_PATH = 4096 };

// --- formats ------------------------------------------------------------------------------------

static const struct table_export *find_tables(struct str word)
{
    for (size_t i = 0; exports[i]; i++)
        if (exports[i]->suffix && str_equal(word, str_of(exports[i]->word)))
            return exports[i];
    return NULL;
}

static bool is_of_tables(const char *word)
{
    return find_tables(str_of(word)) != NULL;
}

void export_files_formats(struct buf *out)
{
    for (size_t i = 0; event_exports[i]; i++)
        buf_printf(out, "%s%s (%s%s)", i ? ", " : "", event_exports[i]->word,
                   is_of_tables(event_exports[i]->word) ? "with --events: " : "",
                   event_exports[i]->help);
    buf_puts(out, "; of tables, to a folder: ");
    for (size_t i = 0, shown = 0; exports[i]; i++)
        if (exports[i]->suffix)
            buf_printf(out, "%s%s", shown++ ? ", " : "", exports[i]->word);
}

bool export_files_find(struct export_files *what, struct str word, struct err *err)
{
    struct buf known = {0};
    what->tables = find_tables(word);
    what->events = !what->tables || what->wants_events ? event_export_find(word) : NULL;
    if (what->tables && what->wants_events && !what->events)
        return err_set(err, ERR_USAGE, "found --events with %s, a format for tables only",
                       what->tables->word);
    if (what->events)
        what->tables = NULL;
    if (what->events || what->tables)
        return true;
    export_files_formats(&known);
    err_set(err, ERR_USAGE, "found format '%.*s', expected %s",
            (int)(word.len < 40 ? word.len : 40), word.at, known.at ? known.at : "another");
    buf_free(&known);
    return false;
}

// --- files --------------------------------------------------------------------------------------

static FILE *create(const char *path, struct err *err)
{
    FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "wbe");
    if (!file)
        err_set_errno(err, "cannot write %s", path);
    return file;
}

static bool drain(struct buf *out, FILE *file, const char *path, struct err *err)
{
    if (!buf_ok(out, err))
        return false;
    if (out->len && fwrite(out->at, 1, out->len, file) != out->len)
        return err_set_errno(err, "cannot write %s", path);
    buf_clear(out);
    return true;
}

static bool finish(FILE *file, const char *path, bool ok, struct err *err)
{
    int rc = file == stdout ? fflush(file) : fclose(file);
    return ok && (rc == 0 || err_set_errno(err, "cannot write %s", path));
}

// Creates the folders of a path that ends with a file.
static bool make_folders(char *path, struct err *err)
{
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
        if (!made)
            err_set_errno(err, "cannot create %s", path);
        *at = '/';
        if (!made)
            return false;
    }
    return true;
}

// --- events -------------------------------------------------------------------------------------

static struct trace_file *open_rank(void *context, size_t index, struct err *err)
{
    const struct rank_files *run = context;
    return rank_files_open(run, index, err);
}

static bool load_rank(void *context, size_t index, const struct table_desc *const *known,
                      struct report *report, struct err *err)
{
    return rank_files_load(context, index, known, report, err);
}

static bool write_pieces(const struct export_files *what, const struct event_source *source,
                         FILE *file, struct err *err)
{
    struct buf out = {0};
    void *state = NULL;
    bool more = true, ok = what->events->open(source, &state, err);
    while (ok && more)
        ok = what->events->next(state, &out, &more, err) && drain(&out, file, what->out, err);
    if (state)
        what->events->close(state);
    buf_free(&out);
    return ok;
}

// Writes the files of an archive of ours to a folder.
static bool unpack(const struct export_files *what, FILE *tar, struct err *err)
{
    char head[TAR_BLOCK], block[TAR_BLOCK], path[MOST_PATH];
    for (;;) {
        if (fread(head, sizeof head, 1, tar) != 1)
            return err_set(err, ERR_IO, "the temporary file of %s ends too soon", what->out);
        if (!head[0])
            return true;
        uint64_t size = tar_size(head);
        snprintf(path, sizeof path, "%s/%.99s", what->out, head);
        FILE *file = make_folders(path, err) ? create(path, err) : NULL;
        bool ok = file;
        for (uint64_t at = 0; ok && at < size; at += sizeof block) {
            size_t len = size - at < sizeof block ? (size_t)(size - at) : sizeof block;
            ok = fread(block, sizeof block, 1, tar) == 1 && fwrite(block, len, 1, file) == 1;
            if (!ok)
                err_set_errno(err, "cannot write %s", path);
        }
        if (!file || !finish(file, path, ok, err))
            return false;
    }
}

static bool write_folder(const struct export_files *what, const struct event_source *source,
                         struct err *err)
{
    struct scratch scratch = scratch_open();
    FILE *tar = scratch.fd >= 0 ? fdopen(scratch.fd, "w+b") : NULL;
    if (!tar) {
        err_set_errno(err, "cannot write to the temporary folder");
        scratch_close(scratch);
        return false;
    }
    bool ok = write_pieces(what, source, tar, err) &&
              (fflush(tar) == 0 || err_set_errno(err, "cannot write to the temporary folder"));
    rewind(tar);
    ok = ok && unpack(what, tar, err);
    fclose(tar);
    return ok;
}

static bool write_source(const struct export_files *what, struct event_source *source,
                         struct err *err)
{
    if (!event_source_measure(source, err))
        return false;
    if (what->events->is_archive && strcmp(what->out, "-") != 0)
        return write_folder(what, source, err);
    FILE *file = create(what->out, err);
    return file && finish(file, what->out, write_pieces(what, source, file, err), err);
}

static bool write_events(const struct export_files *what, struct err *err)
{
    struct arena arena;
    struct event_comm comm = {0};
    void *run = (void *)(uintptr_t)what->run; // only read
    size_t count = what->run->count;
    arena_init(&arena, NULL);
    struct event_rank *ranks = arena_array(&arena, count, sizeof *ranks, err);
    int64_t *numbers = arena_array(&arena, count, sizeof *numbers, err);
    bool ok = ranks && numbers;
    for (size_t i = 0; ok && i < count; i++)
        ranks[i].rank = numbers[i] = what->run->at[i].rank;
    struct rank_source tables = {
        .ranks = numbers, .count = count, .context = run, .load = load_rank};
    struct event_source source = {.ranks = ranks,
                                  .count = count,
                                  .open = open_rank,
                                  .context = run,
                                  .title = what->name,
                                  .from_ns = what->from_ns,
                                  .to_ns = what->to_ns,
                                  .device_only = what->device_only};
    ok = ok && event_comm_load(&comm, &tables, err);
    if (ok && !comm.known)
        fprintf(stderr, "stepscope export: too many collectives to match: without flows, waits and "
                        "a common clock\n");
    source.comm = comm.known ? &comm.comm : NULL;
    ok = ok && write_source(what, &source, err);
    event_comm_free(&comm);
    arena_free(&arena);
    return ok;
}

// --- tables -------------------------------------------------------------------------------------

static bool write_table(const struct export_files *what, const struct table *table,
                        const char *file_name, struct err *err)
{
    char path[MOST_PATH];
    unsigned columns[TABLE_MAX_COLUMNS];
    struct export_view view = export_view_of(table->desc, columns);
    struct buf out = {0};
    int len = snprintf(path, sizeof path, "%s/%s/run=%.*s/%s.%s", what->out, table->desc->name,
                       (int)what->name.len, what->name.at, file_name, what->tables->suffix);
    if (len >= MOST_PATH)
        return err_set(err, ERR_USAGE, "found a path of %d bytes, expected at most %d", len,
                       MOST_PATH);
    FILE *file = make_folders(path, err) ? create(path, err) : NULL;
    if (!file)
        return false;
    struct export_end end = {.rows = table->row_count, .total = table->row_count};
    bool ok =
        export_table(what->tables, &view, table, &end, &out, err) && drain(&out, file, path, err);
    buf_free(&out);
    return finish(file, path, ok, err);
}

// The table with the rank as its first column, for queries over many files.
static const struct table *with_rank(const struct table *table, int64_t rank, struct arena *arena,
                                     struct err *err)
{
    const struct table_desc *desc = table->desc;
    unsigned count = desc->column_count;
    if (count == TABLE_MAX_COLUMNS || table_column(desc, STR("rank")) >= 0)
        return table;
    struct column *columns = arena_array(arena, count + 1, sizeof *columns, err);
    struct table_desc *wider = arena_alloc(arena, sizeof *wider, err);
    struct table *copy = arena_alloc(arena, sizeof *copy, err);
    struct cell *cells = arena_array(arena, table->row_count + 1, (count + 1) * sizeof *cells, err);
    if (!columns || !wider || !copy || !cells)
        return NULL;
    columns[0] = (struct column){"rank", COLUMN_I64, "", "The rank."};
    memcpy(columns + 1, desc->columns, count * sizeof *columns);
    *wider = (struct table_desc){desc->name, desc->help, columns, count + 1, 0};
    *copy = *table;
    copy->desc = wider;
    copy->cells = cells;
    for (size_t row = 0; row < table->row_count; row++) {
        cells[row * (count + 1)] = cell_i64(rank);
        memcpy(&cells[row * (count + 1) + 1], &table->cells[row * count], count * sizeof *cells);
    }
    return copy;
}

static bool suits(const struct export_files *what, const struct table_desc *desc)
{
    return !what->tables->suits || what->tables->suits(desc);
}

static bool write_report(const struct export_files *what, const struct report *report, int64_t rank,
                         struct err *err)
{
    char file_name[32];
    snprintf(file_name, sizeof file_name, "rank=%lld", (long long)rank);
    for (size_t i = 0; i < report->table_count; i++) {
        if (!suits(what, report->tables[i].desc) || report->tables[i].desc == &table_range_rows)
            continue;
        const struct table *table = with_rank(&report->tables[i], rank, report->arena, err);
        if (!table || !write_table(what, table, file_name, err))
            return false;
    }
    return true;
}

static bool write_rank(const struct export_files *what, size_t index, struct err *err)
{
    struct arena arena;
    arena_init(&arena, NULL);
    struct report report = {.arena = &arena};
    bool ok = rank_files_load(what->run, index, trace_tables, &report, err) &&
              write_report(what, &report, what->run->at[index].rank, err);
    arena_free(&arena);
    return ok;
}

static bool has_ranks(const struct table_desc *desc)
{
    for (size_t i = 0; trace_tables[i]; i++)
        if (strcmp(trace_tables[i]->name, desc->name) == 0)
            return true;
    return false;
}

static bool write_tables(const struct export_files *what, struct err *err)
{
    for (size_t i = 0; i < what->run->count; i++)
        if (!write_rank(what, i, err))
            return false;
    const struct report *report = &what->run->report;
    for (size_t i = 0; i < report->table_count; i++)
        if (!has_ranks(report->tables[i].desc) && suits(what, report->tables[i].desc) &&
            !write_table(what, &report->tables[i], "run", err))
            return false;
    return true;
}

// --- a workbook ---------------------------------------------------------------------------------

static void add_sheets(struct xlsx_book *book, const struct report *report,
                       const struct report *others)
{
    for (size_t i = 0; i < report->table_count; i++)
        if (!others || !report_find(others, report->tables[i].desc->name))
            xlsx_book_table(book, &report->tables[i]);
}

// Tables that only a rank has are those of the headline rank.
static bool fill_book(const struct export_files *what, struct xlsx_book *book, struct err *err)
{
    const struct report *run = &what->run->report;
    const struct table *summary = report_find(run, table_run_summary.name);
    int64_t headline = summary ? table_i64(summary, 0, RUN_SUMMARY_HEADLINE_RANK, -1) : -1;
    struct arena arena;
    bool ok = true;
    arena_init(&arena, NULL);
    struct report rank = {.arena = &arena};
    add_sheets(book, run, NULL);
    for (size_t i = 0; ok && i < what->run->count; i++)
        if (what->run->at[i].rank == headline)
            ok = rank_files_load(what->run, i, trace_tables, &rank, err);
    if (ok) {
        add_sheets(book, &rank, run);
        tracelens_add_timeline(book, report_find(run, table_run_breakdown.name), headline);
    }
    ok = ok && tracelens_add_ops(book, report_find(&rank, table_operators.name), err);
    arena_free(&arena);
    return ok;
}

static bool write_book(const struct export_files *what, struct err *err)
{
    struct buf out = {0};
    bool more = true;
    struct xlsx_book *book = xlsx_book_open(err);
    FILE *file = book && fill_book(what, book, err) && xlsx_book_finish(book, err)
                     ? create(what->out, err)
                     : NULL;
    bool ok = file;
    while (ok && more)
        ok = xlsx_book_read(book, &out, &more, err) && drain(&out, file, what->out, err);
    buf_free(&out);
    xlsx_book_close(book);
    return file && finish(file, what->out, ok, err);
}

bool export_files_write(const struct export_files *what, struct err *err)
{
    if (what->events)
        return write_events(what, err);
    return what->tables == &export_xlsx ? write_book(what, err) : write_tables(what, err);
}
