// SPDX-License-Identifier: Apache-2.0
// What markers (roctx) say: the event of each has it as JSON, {"message": "..."}.
#include "ingest/rocm/rocpd.h"

#include "ingest/json/json_number.h"

#include <stdio.h>
#include <stdlib.h>

#define METADATA "rocpd_metadata"

struct each_process {
    database_take *take;
    void *context;
};

static bool take_table(void *context, const char *table)
{
    const struct each_process *each = context;
    size_t start = sizeof METADATA - 1;
    bool is = strncmp(table, METADATA, start) == 0 && (!table[start] || table[start] == '_');
    return !is || each->take(each->context, table + start);
}

void rocpd_each_process(const struct database *database, database_take *take, void *context)
{
    database_tables(database, take_table, &(struct each_process){take, context});
}

// --- messages -----------------------------------------------------------------------------------

// Where the value of a member starts.
static bool find_member(struct str json, struct str key, size_t *at)
{
    *at = str_find(json, key);
    if (*at == SIZE_MAX)
        return false;
    for (*at += key.len; *at < json.len && memchr(": \t", json.at[*at], 3); ++*at)
        continue;
    return *at < json.len;
}

int64_t rocpd_number_in(struct str json, struct str key)
{
    int64_t number;
    size_t from, to;
    if (!find_member(json, key, &from))
        return VALUE_ABSENT;
    for (to = from; to < json.len && str_is_digit(json.at[to]); to++)
        continue;
    return str_to_i64((struct str){json.at + from, to - from}, &number) ? number : VALUE_ABSENT;
}

// The raw text of the message, with its escapes.
static bool find_message(struct str note, struct str *message)
{
    size_t at;
    if (!find_member(note, STR("\"message\""), &at) || note.at[at] != '"')
        return false;
    size_t from = ++at;
    while (at < note.len && note.at[at] != '"')
        at += 1 + (note.at[at] == '\\');
    *message = (struct str){note.at + from, (at < note.len ? at : note.len) - from};
    return true;
}

static bool add_note(struct text_table *notes, int64_t id, struct str message, struct err *err)
{
    struct buf text = {0};
    if (json_text_is_plain(message))
        return text_table_add(notes, id, message, err);
    (void)json_text_decode(message, &text);
    bool ok = buf_ok(&text, err) && text_table_add(notes, id, (struct str){text.at, text.len}, err);
    buf_free(&text);
    return ok;
}

// Every kernel and call has an event with an empty note.
static bool take_note(void *context, const struct rows *rows, struct err *err)
{
    struct rocpd *rocpd = context;
    struct str note, message;
    int64_t id;
    return !rows_i64(rows, 0, &id) || !rows_text(rows, 1, &note) || !find_message(note, &message) ||
           add_note(&rocpd->notes, id, message, err);
}

// Numbers the texts: processes use the same ids.
static bool take_text(void *context, const struct rows *rows, struct err *err)
{
    struct rocpd *rocpd = context;
    struct str note, message;
    return !rows_text(rows, 1, &note) || !find_message(note, &message) ||
           add_note(&rocpd->notes, (int64_t)rocpd->notes.ids.count, message, err);
}

static bool load_notes(struct rocpd *rocpd, rows_take *take, struct err *err)
{
    char table[ROCPD_NAME_BYTES];
    rocpd->notes.ids.budget = rocpd->tables.input->budget;
    return rows_each(rocpd->tables.database, rocpd_table_of(rocpd, "event", table), "id extdata",
                     take, rocpd, err);
}

bool rocpd_load_notes(struct rocpd *rocpd, struct err *err)
{
    bool ok = load_notes(rocpd, take_note, err);
    text_table_sort(&rocpd->notes);
    return ok;
}

// --- figures ------------------------------------------------------------------------------------

static int by_text(const void *left, const void *right)
{
    return str_compare(*(const struct str *)left, *(const struct str *)right);
}

static bool report_markers(const struct rocpd *rocpd, struct err *err)
{
    enum { MOST_LISTED = 1000 };
    size_t count = 0;
    struct str *texts = calloc(rocpd->notes.ids.count + 1, sizeof *texts);
    if (!texts)
        return err_set(err, ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < rocpd->notes.ids.count; i++)
        count += text_table_find(&rocpd->notes, (int64_t)i, &texts[count]);
    qsort(texts, count, sizeof *texts, by_text);
    figures_list(rocpd->figures, "markers" IN);
    for (size_t i = 0, n = 0; i < count && n < MOST_LISTED; i++)
        if (i == 0 || !str_equal(texts[i - 1], texts[i]))
            figures_text(rocpd->figures, texts[i], "markers" IN "%zu", n++);
    free(texts);
    return true;
}

struct counting {
    struct rocpd *rocpd;
    struct err *err;
    bool ok;
};

static bool add_process(void *context, const char *suffix)
{
    struct counting *counting = context;
    snprintf(counting->rocpd->suffix, ROCPD_SUFFIX_BYTES, "%s", suffix);
    counting->ok = load_notes(counting->rocpd, take_text, counting->err);
    return counting->ok;
}

bool rocpd_count(const struct format_input *input, struct err *err)
{
    struct rocpd *rocpd = budget_zalloc(input->budget, sizeof *rocpd, err);
    if (!rocpd)
        return false;
    struct counting counting = {rocpd, err, true};
    rocpd->figures = input->figures;
    bool ok = table_reader_open(&rocpd->tables, input, err);
    if (ok)
        rocpd_each_process(rocpd->tables.database, add_process, &counting);
    text_table_sort(&rocpd->notes);
    ok = ok && counting.ok && report_markers(rocpd, err) &&
         table_reader_counted(&rocpd->tables, err);
    text_table_free(&rocpd->notes);
    table_reader_close(&rocpd->tables);
    budget_free(input->budget, rocpd, sizeof *rocpd);
    return ok;
}
