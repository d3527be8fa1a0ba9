// SPDX-License-Identifier: Apache-2.0
// Events as rows of a table, in the table formats that take batches.
#include "server/exports/event_walk.h"
#include "server/exports/export.h"

#include <stdlib.h>

enum {
    EVENT_RANK,
    EVENT_LANE,
    EVENT_ON_DEVICE,
    EVENT_CATEGORY,
    EVENT_NAME,
    EVENT_BEGIN,
    EVENT_DUR,
    EVENT_LAUNCH,
    EVENT_GROUP,
    EVENT_BYTES,
    EVENT_MATCH,
    EVENT_WAIT,
    EVENT_COLUMNS
};

static const struct column event_columns[EVENT_COLUMNS] = {
    [EVENT_RANK] = {"rank", COLUMN_I64, "", "The rank."},
    [EVENT_LANE] = {"lane", COLUMN_TEXT, "", "Its stream or thread; waits have one of their own."},
    [EVENT_ON_DEVICE] = {"on_device", COLUMN_BOOL, "", "Whether it ran on the device."},
    [EVENT_CATEGORY] = {"category", COLUMN_TEXT, "",
                        "Of the device: compute, communication, memory; of the host: its kind; or "
                        "wait."},
    [EVENT_NAME] = {"name", COLUMN_TEXT, "", "Its name in the trace; of a wait, for which rank."},
    [EVENT_BEGIN] = {"begin_ns", COLUMN_I64, "ns",
                     "Start on the clock that ranks share, since the first event of those "
                     "exported."},
    [EVENT_DUR] = {"dur_ns", COLUMN_I64, "ns", "Its duration."},
    [EVENT_LAUNCH] = {"launch", COLUMN_I64, "", "The same of a call and of what it launched."},
    [EVENT_GROUP] = {"process_group", COLUMN_TEXT, "", "Of a collective: its process group."},
    [EVENT_BYTES] = {"bytes", COLUMN_I64, "bytes", "Of a collective: its message size."},
    [EVENT_MATCH] = {"collective", COLUMN_I64, "", "The same of all ranks' parts of a collective."},
    [EVENT_WAIT] = {"wait_ns", COLUMN_I64, "ns",
                    "Of a collective: how long it waited for the last rank."},
};

static const struct table_desc table_events = {"events", "Events of the trace: a row for each.",
                                               event_columns, EVENT_COLUMNS, 0};

enum { BATCH_ROWS = 1 << 15, KNOWN_NAMES = 1 << 12 };
#define BATCH_TEXT_BYTES ((size_t)4 << 20)    // as written: each row repeats its texts
#define HELD_BYTES       ((uint64_t)40 << 20) // rows, their texts, and a batch as it is written

struct known_name {
    str_id id;
    struct str text;
};

struct event_rows {
    struct event_walk walk;
    const struct table_export *export;
    struct export_view view;
    unsigned columns[EVENT_COLUMNS];
    struct table batch;
    struct arena texts;                   // of the batch, each once
    size_t text_bytes;                    // of its rows
    struct known_name names[KNOWN_NAMES]; // of them
    struct str lane;                      // in texts; at NULL: not yet
    struct buf lane_name;
    uint64_t written;
    struct err err; // of a callback
};

// --- batches ------------------------------------------------------------------------------------

static void start_batch(struct event_rows *rows)
{
    arena_free(&rows->texts);
    arena_init(&rows->texts, NULL);
    memset(rows->names, 0, sizeof rows->names);
    rows->lane = (struct str){0};
    rows->batch.row_count = 0;
    rows->text_bytes = 0;
}

static void flush(struct event_rows *rows, struct buf *out)
{
    if (rows->batch.row_count && rows->export->rows)
        rows->export->rows(&rows->view, &rows->batch, rows->written, out);
    rows->written += rows->batch.row_count;
    start_batch(rows);
}

static struct cell text_cell(struct event_rows *rows, struct str text)
{
    struct cell cell = {.s = text};
    cell.s.at = arena_strdup(&rows->texts, text, &rows->err);
    if (!cell.s.at)
        cell = (struct cell){.s = STR("")};
    return cell;
}

static struct cell name_cell(struct event_rows *rows, const struct walk_slice *slice)
{
    struct known_name *known = &rows->names[slice->name % KNOWN_NAMES];
    if (slice->name && known->id == slice->name)
        return (struct cell){.s = known->text};
    struct cell cell = text_cell(rows, slice->text);
    if (slice->name)
        *known = (struct known_name){slice->name, cell.s};
    return cell;
}

static struct cell lane_cell(struct event_rows *rows)
{
    if (!rows->lane.at) {
        struct str name = {rows->lane_name.at, rows->lane_name.len};
        rows->lane = text_cell(rows, name).s;
    }
    return (struct cell){.s = rows->lane};
}

// --- rows ---------------------------------------------------------------------------------------

static void put_call(const struct event_walk *walk, const struct comm_event *call,
                     struct cell *cells)
{
    const struct run_comm *comm = walk->source->comm;
    const struct comm_op *op = &comm->ops[call->op];
    if (comm->groups[op->group].name.len) // lasts as long as the source
        cells[EVENT_GROUP] = (struct cell){.s = comm->groups[op->group].name};
    if (op->bytes >= 0)
        cells[EVENT_BYTES] = cell_i64(op->bytes);
    if (call->match == RUN_NONE)
        return;
    cells[EVENT_MATCH] = cell_i64(call->match);
    cells[EVENT_WAIT] = cell_i64(call->wait_ns);
}

static void put_slice(struct event_walk *walk, const struct walk_slice *slice, struct buf *out)
{
    struct event_rows *rows = walk->context;
    struct cell *cells = &rows->batch.cells[rows->batch.row_count * EVENT_COLUMNS];
    for (unsigned i = EVENT_LAUNCH; i < EVENT_COLUMNS; i++)
        cells[i] = (struct cell){.null = true};
    cells[EVENT_RANK] = cell_i64(event_walk_rank(walk));
    cells[EVENT_LANE] = lane_cell(rows);
    cells[EVENT_ON_DEVICE] = cell_i64(event_kind_is_device(slice->kind));
    cells[EVENT_CATEGORY] = (struct cell){.s = str_of(slice->category)};
    cells[EVENT_NAME] = name_cell(rows, slice);
    cells[EVENT_BEGIN] = cell_i64(slice->begin_ns);
    cells[EVENT_DUR] = cell_i64(slice->end_ns - slice->begin_ns);
    if (slice->launch)
        cells[EVENT_LAUNCH] = cell_i64((int64_t)(slice->launch >> 1));
    if (slice->call)
        put_call(walk, slice->call, cells);
    rows->batch.row_count++;
    for (unsigned i = 0; i < EVENT_COLUMNS; i++)
        if (event_columns[i].type == COLUMN_TEXT && !cells[i].null)
            rows->text_bytes += cells[i].s.len;
    if (rows->batch.row_count == BATCH_ROWS || rows->text_bytes > BATCH_TEXT_BYTES)
        flush(rows, out);
}

static void put_row(struct event_walk *walk, uint32_t row, struct buf *out)
{
    struct event_rows *rows = walk->context;
    (void)out;
    if (row) // still the same lane
        return;
    buf_clear(&rows->lane_name);
    event_walk_name_lane(walk, &rows->lane_name);
    rows->lane = (struct str){0};
}

// Ids of names are those of a trace.
static void put_rank(struct event_walk *walk, struct buf *out)
{
    struct event_rows *rows = walk->context;
    (void)out;
    memset(rows->names, 0, sizeof rows->names);
}

static void put_head(struct event_walk *walk, struct buf *out)
{
    struct event_rows *rows = walk->context;
    export_head(rows->export, &rows->view, out);
}

static void put_tail(struct event_walk *walk, struct buf *out)
{
    struct event_rows *rows = walk->context;
    flush(rows, out);
    struct export_end end = {.rows = rows->written, .total = rows->written};
    export_tail(rows->export, &rows->view, &end, out);
}

static const struct walk_writer writer = {
    .head = put_head, .rank = put_rank, .row = put_row, .slice = put_slice, .tail = put_tail};

// --- the export ---------------------------------------------------------------------------------

static bool open_export(const struct event_source *source, const struct table_export *export,
                        void **state, struct err *err)
{
    struct event_rows *rows = calloc(1, sizeof *rows);
    if (!rows)
        return err_set(err, ERR_MEMORY, "out of memory");
    *state = rows;
    rows->export = export;
    rows->err.pos = ERR_NO_POS;
    rows->view = export_view_of(&table_events, rows->columns);
    rows->batch.desc = &table_events;
    arena_init(&rows->texts, NULL);
    event_walk_open(&rows->walk, source, &writer, rows);
    rows->batch.cells = calloc((size_t)BATCH_ROWS * EVENT_COLUMNS, sizeof *rows->batch.cells);
    if (!rows->batch.cells)
        return err_set(err, ERR_MEMORY, "out of memory");
    return export_open(export, &rows->view, err);
}

static bool open_arrow(const struct event_source *source, void **state, struct err *err)
{
    return open_export(source, &export_arrow, state, err);
}

static bool open_parquet(const struct event_source *source, void **state, struct err *err)
{
    return open_export(source, &export_parquet, state, err);
}

static bool next_piece(void *state, struct buf *out, bool *more, struct err *err)
{
    struct event_rows *rows = state;
    if (!event_walk_next(&rows->walk, out, more, err) || !buf_ok(&rows->lane_name, err))
        return false;
    if (rows->err.code == ERR_NONE)
        return true;
    *err = rows->err;
    return false;
}

static void close_export(void *state)
{
    struct event_rows *rows = state;
    event_walk_close(&rows->walk);
    export_close(rows->export, &rows->view);
    arena_free(&rows->texts);
    buf_free(&rows->lane_name);
    free(rows->batch.cells);
    free(rows);
}

const struct event_export export_arrow_events = {.word = "arrow",
                                                 .accept = "application/vnd.apache.arrow.stream",
                                                 .type = "application/vnd.apache.arrow.stream",
                                                 .suffix = "arrows",
                                                 .help = "a row per event, an Arrow IPC stream",
                                                 .held_bytes = HELD_BYTES,
                                                 .open = open_arrow,
                                                 .next = next_piece,
                                                 .close = close_export};

const struct event_export export_parquet_events = {.word = "parquet",
                                                   .accept = "application/vnd.apache.parquet",
                                                   .type = "application/vnd.apache.parquet",
                                                   .suffix = "parquet",
                                                   .help = "a row per event, Apache Parquet",
                                                   .held_bytes = HELD_BYTES,
                                                   .open = open_parquet,
                                                   .next = next_piece,
                                                   .close = close_export};
