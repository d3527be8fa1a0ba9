// SPDX-License-Identifier: Apache-2.0
// A trace read in pieces on several cores equals the trace read in one go, whatever it contains.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>

#include "ingest/base/buf.h"
#include "ingest/kineto/format_kineto.h"
#include "ingest/source/source.h"
#include "tests/unit/same_trace.h"

struct reading {
    struct budget budget;
    struct trace *trace;
    struct err err;
};

static struct str load(const char *path)
{
    struct err err;
    struct source *source = source_file_open(path, &err);
    assert_non_null(source = format_open(source, NULL, &(struct format_found){0}, &err));
    size_t cap = (size_t)1 << 20, len = 0, got = 1;
    char *text = malloc(cap);
    while (text && source_read(source, text + len, cap - len, &got, &err) && got > 0) {
        len += got;
        if (len == cap)
            text = realloc(text, cap *= 2);
    }
    source_close(source);
    assert_non_null(text);
    return (struct str){text, len};
}

// pieces 0: in one go.
static void read_trace(struct reading *reading, struct str text, size_t pieces, unsigned cores)
{
    struct err *err = &reading->err;
    struct cores free_cores;
    cores_init(&free_cores, cores);
    struct progress progress = {.cores = &free_cores};
    struct source *source = source_mem_open(text.at, text.len, 0, err);
    struct trace_builder *builder = trace_builder_new(&reading->budget, err);
    assert_non_null(source);
    assert_non_null(builder);
    *err = (struct err){.code = ERR_NONE};
    struct format_input input = {.source = source,
                                 .head = text,
                                 .builder = builder,
                                 .budget = &reading->budget,
                                 .progress = pieces ? &progress : NULL};
    bool ok = pieces ? kineto_read_pieces(pieces, &input, err) : format_kineto.read(&input, err);
    reading->trace = ok ? trace_builder_seal(builder, err) : NULL;
    if (!ok)
        trace_builder_free(builder);
    source_close(source);
    assert_int_equal(atomic_load(free_cores.free), cores);
}

static void check_one(const char *what, struct str text, const struct reading *whole, size_t pieces,
                      unsigned cores)
{
    struct reading split = {0};
    read_trace(&split, text, pieces, cores);
    if (!whole->trace != !split.trace || whole->err.code != split.err.code ||
        whole->err.pos != split.err.pos)
        fail_msg("%s in %zu bytes on %u more cores: %s, but in one go %s", what, pieces, cores,
                 split.err.msg, whole->err.msg);
    const char *difference = whole->trace ? trace_difference(whole->trace, split.trace) : NULL;
    if (difference)
        fail_msg("%s in %zu bytes on %u more cores: %s differs", what, pieces, cores, difference);
    trace_free(split.trace);
    assert_int_equal(split.budget.used, 0);
}

// Bytes of a piece, ended by 0, and steps in the number of further cores, up to 4.
struct ways {
    const size_t *pieces;
    unsigned core_step;
};

static void check(const char *what, struct str text, struct ways ways)
{
    struct reading whole = {0};
    read_trace(&whole, text, 0, 0);
    for (; *ways.pieces; ways.pieces++)
        for (unsigned cores = 0; cores < 5; cores += ways.core_step)
            check_one(what, text, &whole, *ways.pieces, cores);
    trace_free(whole.trace);
}

static int is_trace(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void check_folder(const char *folder, const char *ending, struct ways ways)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_trace, alphasort);
    if (count < 1) {
        print_message("no traces: %s is absent\n", folder);
        skip();
    }
    for (int i = 0; i < count; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (strstr(path, ending)) {
            struct str text = load(path);
            check(path, text, ways);
            free((void *)(uintptr_t)text.at);
        }
        free(entries[i]);
    }
    free(entries);
}

static void every_golden_input_reads_the_same_in_pieces_of_any_size(void **state)
{
    (void)state;
    static const size_t pieces[] = {1, 7, 64, 200, 333, 1000, 4096, 0};
    check_folder("tests/golden/inputs", ".", (struct ways){pieces, 1});
}

static void every_real_trace_reads_the_same_in_pieces(void **state)
{
    (void)state;
    static const size_t pieces[] = {3000, (size_t)100 << 10, (size_t)1 << 20, 0};
    check_folder("../shared/traces", ".json.gz", (struct ways){pieces, 2});
}

// An item, with its number in place of the first #.
static void put_item(struct buf *text, const char *comma, const char *item, size_t i)
{
    const char *number = strchr(item, '#');
    int head = number ? (int)(number - item) : (int)strlen(item);
    buf_printf(text, "%s%.*s", comma, head, item);
    if (number)
        buf_printf(text, "%zu%s", i, number + 1);
}

// Texts that look like events, lists in arguments, pairs, garbage and missing commas.
static void what_a_piece_cannot_know_is_left_to_the_reader(void **state)
{
    (void)state;
    static const char *const items[] = {
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":#,\"dur\":3}",
        "{\"ph\":\"B\",\"name\":\"b\",\"pid\":1,\"tid\":2,\"ts\":#}",
        "{\"ph\":\"E\",\"name\":\"b\",\"pid\":1,\"tid\":2,\"ts\":#}",
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"},{\\\"ph\\\"\",\"pid\":1,\"tid\":2,\"ts\":#,"
        "\"dur\":1}",
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"o\",\"pid\":1,\"tid\":2,\"ts\":#,\"dur\":9,"
        "\"args\":{\"x\":[{\"name\":1},{\"name\":2},{\"name\":3}],\"Module Hierarchy\":\"m\"}}",
        "17",
        "{\"ph\":\"X\" rubbish #}",
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"n\",\"pid\":1,\"tid\":2,\"ts\":nan#}",
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2,\"args\":{\"name\":\"t#\"}}",
    };
    static const size_t count = sizeof items / sizeof *items;
    static const size_t pieces[] = {50, 100, 250, 700, 2000, 9000, 0};
    for (size_t rare = 1; rare < 200; rare = rare * 2 + 1) {
        struct buf text = {0};
        buf_puts(&text, "{\"schemaVersion\":1,\"traceEvents\":[");
        for (size_t i = 0; i < 1500; i++) {
            const char *item = items[i % rare ? 0 : i / rare % count];
            const char *comma = i == 0 ? "" : i % 301 == 300 ? "," : " , ";
            put_item(&text, i % 97 == 96 && rare > 20 ? "\n" : comma, item, i);
        }
        buf_puts(&text, "],\"traceName\":\"x\",\"list\":[{\"a\":1},{\"name\":2},"
                        "{\"name\":3}]} trailing");
        check("a trace with oddities", (struct str){text.at, text.len}, (struct ways){pieces, 1});
        check("a trace cut off", (struct str){text.at, text.len - 3000}, (struct ways){pieces, 1});
        buf_free(&text);
    }
}

static void a_cancelled_reading_ends(void **state)
{
    (void)state;
    struct buf list = {0};
    for (size_t i = 0; i < 40000; i++)
        buf_printf(&list, "%s{\"ph\":\"X\",\"name\":\"k\",\"ts\":%zu,\"dur\":1}", i ? "," : "[", i);
    struct budget budget = {0};
    struct err err;
    struct cores cores;
    cores_init(&cores, 3);
    struct progress progress = {.cores = &cores, .cancel = true};
    struct source *source = source_mem_open(list.at, list.len, 0, &err);
    struct trace_builder *builder = trace_builder_new(&budget, &err);
    struct format_input input = {.source = source,
                                 .head = STR(""),
                                 .builder = builder,
                                 .budget = &budget,
                                 .progress = &progress};
    assert_false(kineto_read_pieces(10000, &input, &err));
    assert_int_equal(err.code, ERR_CANCELLED);
    source_close(source);
    trace_builder_free(builder);
    assert_int_equal(budget.used, 0);
    assert_int_equal(atomic_load(cores.free), 3);
    buf_free(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_golden_input_reads_the_same_in_pieces_of_any_size),
        cmocka_unit_test(what_a_piece_cannot_know_is_left_to_the_reader),
        cmocka_unit_test(a_cancelled_reading_ends),
        cmocka_unit_test(every_real_trace_reads_the_same_in_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
