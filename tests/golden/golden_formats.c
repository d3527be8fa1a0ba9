// SPDX-License-Identifier: Apache-2.0
// Reads a small file of each format but PyTorch's JSON (golden_ingest.c), as the traces of its
// processes or as the tables of an attachment, whole and in pieces, and compares with
// golden/formats_expected. --update rewrites those files.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>

#include "analysis/evidence/evidence_report.h"
#include "ingest/evidence/evidence.h"
#include "ingest/file_parts.h"
#include "ingest/ingest.h"
#include "tests/golden/trace_dump.h"

#define INPUTS   "tests/golden/formats"
#define EXPECTED "tests/golden/formats_expected"

static void read_file(const char *path, struct buf *bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("cannot open %s; run golden_formats --update", path);
    char part[4096];
    size_t got;
    while ((got = fread(part, 1, sizeof part, file)) > 0)
        buf_add(bytes, part, got);
    fclose(file);
}

// --- attachments --------------------------------------------------------------------------------

static void dump_cell(struct buf *out, const struct column *column, const struct cell *cell)
{
    if (cell->null)
        return;
    buf_printf(out, " %s ", column->name);
    if (column->type == COLUMN_TEXT)
        buf_json(out, cell->s);
    else if (column->type == COLUMN_F64)
        buf_printf(out, "%.9g", cell->f);
    else
        buf_i64(out, cell->i);
}

static void dump_table(struct buf *out, const struct table *table)
{
    for (size_t row = 0; row < table->row_count; row++) {
        buf_printf(out, "%s", table->desc->name);
        for (unsigned i = 0; i < table->desc->column_count; i++)
            dump_cell(out, &table->desc->columns[i],
                      &table->cells[row * table->desc->column_count + i]);
        buf_puts(out, "\n");
    }
}

static void dump_evidence(struct buf *out, struct file_part *part, struct budget *budget)
{
    struct err err = {0};
    struct arena arena;
    struct evidence evidence;
    arena_init(&arena, budget);
    evidence_init(&evidence, budget);
    struct report report = {.arena = &arena};
    struct format_input input = {.source = part->source, .budget = budget, .evidence = &evidence};
    if (!part->found.format->gather(&input, &err) ||
        !evidence_report(&evidence, STR("file"), &report, &err))
        buf_printf(out, "error %s: %s\n", err_code_word(err.code), err.msg);
    for (size_t i = 0; i < report.table_count; i++)
        dump_table(out, &report.tables[i]);
    source_close(part->source);
    evidence_free(&evidence);
    arena_free(&arena);
}

// --- a file -------------------------------------------------------------------------------------

static bool dump_part(void *context, struct file_part *part, struct err *err)
{
    (void)err;
    struct buf *out = context;
    struct budget budget = {0};
    struct err why = {0};
    if (!part->source || !part->found.format) {
        buf_printf(out, "not read: %s\n", part->problem.msg);
        source_close(part->source);
        return true;
    }
    buf_printf(out, "%s process %u of %u\n", part->found.format->name, part->process,
               part->processes);
    if (part->found.format->read) {
        struct trace *trace = ingest_opened(part->source, &part->found, &budget, NULL, &why);
        if (trace && dump_broken_promise(trace))
            fail_msg("%s: %s", part->found.format->name, dump_broken_promise(trace));
        dump_result(out, trace, &why);
    } else {
        dump_evidence(out, part, &budget);
    }
    assert_int_equal(budget.used, 0);
    return true;
}

static void dump_file(const char *name, struct str bytes, size_t step, struct buf *out)
{
    struct err err = {0};
    struct file_parts parts = {.source = source_mem_open(bytes.at, bytes.len, step, &err),
                               .hint = {str_of(name), SCRATCH_NONE},
                               .limits = &unpack_limits};
    buf_clear(out);
    if (!parts.source || !file_parts_each(&parts, dump_part, out, &err))
        fail_msg("%s: %s", name, err.msg);
    assert_false(out->failed);
}

static bool is_updated;

static void settle(const char *name, const struct buf *found)
{
    char path[512];
    struct buf expected = {0};
    snprintf(path, sizeof path, "%s/%s.txt", EXPECTED, name);
    FILE *file = is_updated ? fopen(path, "wb") : NULL;
    if (is_updated &&
        (!file || fwrite(found->at, 1, found->len, file) != found->len || fclose(file) != 0))
        fail_msg("cannot write %s", path);
    read_file(path, &expected);
    if (expected.len != found->len || memcmp(expected.at, found->at, found->len) != 0)
        fail_msg("%s: expected\n%s\nfound\n%s", name, expected.at, found->at);
    buf_free(&expected);
}

static int is_input(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void each_format_gives_its_expected_dump_also_in_pieces(void **state)
{
    (void)state;
    struct dirent **entries = NULL;
    int count = scandir(INPUTS, &entries, is_input, alphasort);
    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        char path[512];
        struct buf bytes = {0}, whole = {0}, pieces = {0};
        snprintf(path, sizeof path, "%s/%s", INPUTS, entries[i]->d_name);
        read_file(path, &bytes);
        dump_file(entries[i]->d_name, (struct str){bytes.at, bytes.len}, 0, &whole);
        settle(entries[i]->d_name, &whole);
        for (size_t step = 1; step <= 64; step += 9) {
            dump_file(entries[i]->d_name, (struct str){bytes.at, bytes.len}, step, &pieces);
            if (pieces.len != whole.len || memcmp(pieces.at, whole.at, whole.len) != 0)
                fail_msg("%s in pieces of %zu bytes:\n%s", path, step, pieces.at);
        }
        buf_free(&bytes);
        buf_free(&whole);
        buf_free(&pieces);
        free(entries[i]);
    }
    free(entries);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_format_gives_its_expected_dump_also_in_pieces),
    };
    is_updated = argc == 2 && strcmp(argv[1], "--update") == 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
