// SPDX-License-Identifier: Apache-2.0
#include "ingest/sqlite/table_reader.h"

#define ROWS_BETWEEN 1024 // reports of progress

bool table_reader_open(struct table_reader *reader, const struct format_input *input,
                       struct err *err)
{
    *reader = (struct table_reader){.input = input, .builder = input->builder};
    reader->database =
        database_open(input->source, input->progress ? &input->progress->cancel : NULL, err);
    return reader->database;
}

void table_reader_close(struct table_reader *reader)
{
    database_close(reader->database);
}

struct walk {
    struct table_reader *reader;
    rows_take *take;
    void *context;
};

static bool take_event(void *context, const struct rows *rows, struct err *err)
{
    const struct walk *walk = context;
    struct table_reader *reader = walk->reader;
    return (++reader->rows % ROWS_BETWEEN ||
            progress_report(reader->input->progress, database_taken(reader->database), err)) &&
           walk->take(walk->context, rows, err);
}

bool table_reader_each(struct table_reader *reader, const char *table, const char *columns,
                       rows_take *take, void *context, struct err *err)
{
    struct walk walk = {reader, take, context};
    return rows_each(reader->database, table, columns, take_event, &walk, err);
}

bool table_reader_counted(const struct table_reader *reader, struct err *err)
{
    struct database_state state = database_state(reader->database);
    if (!state.cut && !state.damaged)
        return true;
    return err_set(err, ERR_FORMAT,
                   "the database %s: rows are missing from these figures; send it again, whole",
                   state.cut ? "ends early" : "is damaged");
}

bool table_reader_finish(struct table_reader *reader, const char *advice, struct err *err)
{
    uint64_t size = 0;
    struct database_state state = database_state(reader->database);
    if (state.cut)
        trace_builder_repair(reader->builder, REPAIR_TRUNCATED, ERR_NO_POS);
    else if (state.damaged)
        trace_builder_repair(reader->builder, REPAIR_DAMAGED, ERR_NO_POS);
    if (state.has_log)
        trace_builder_repair(reader->builder, REPAIR_LOG, ERR_NO_POS);
    (void)source_size(reader->input->source, &size);
    trace_builder_count_input(reader->builder, reader->rows, size);
    return reader->rows ||
           err_set(err, ERR_FORMAT,
                   state.cut || state.damaged
                       ? "found a database that ends early or is damaged, and none of its "
                         "events can be read: send it again, whole"
                       : "found no events in the database: %s",
                   advice);
}
