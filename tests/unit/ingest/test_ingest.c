// SPDX-License-Identifier: Apache-2.0
// From files and compressed streams to sealed traces.
// labels: threads
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "ingest/ingest.h"
#include "tests/golden/trace_dump.h"
#include "tests/unit/compress.h"

static void fill_trace(struct buf *text, int events)
{
    buf_puts(text, "{\"schemaVersion\": 1, \"traceEvents\": [\n");
    for (int i = 0; i < events; i++)
        buf_printf(
            text,
            "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"kernel %d\", \"pid\": 0, \"tid\": 7, "
            "\"ts\": %d.125, \"dur\": 1.5, \"args\": {\"correlation\": %d}},\n",
            i % 100, i * 2, i);
    buf_puts(text, "], \"traceName\": \"t\"}\n");
}

static struct trace *ingest(struct str bytes, struct budget *budget, struct progress *progress,
                            struct err *err)
{
    struct source *source = source_mem_open(bytes.at, bytes.len, 0, err);
    assert_non_null(source);
    return ingest_source(source, budget, progress, err);
}

static void plain_and_compressed_traces_give_the_same(void **state)
{
    (void)state;
    struct buf text = {0}, bytes[3] = {{0}, {0}, {0}}, expected = {0}, found = {0};
    struct budget budget = {0};
    struct err err = {0};
    fill_trace(&text, 20000);
    dump_bytes(&expected, compress_text(&text), 0, &budget);
    buf_add_str(&bytes[0], compress_text(&text));
    add_gzip(&bytes[1], compress_text(&text), 6);
    add_zstd(&bytes[2], compress_text(&text));
    for (int i = 0; i < 3; i++) {
        struct progress progress = {0};
        struct trace *trace = ingest(compress_text(&bytes[i]), &budget, &progress, &err);
        assert_non_null(trace);
        buf_clear(&found);
        dump_trace(&found, trace);
        assert_true(str_equal(compress_text(&found), compress_text(&expected)));
        assert_in_range(progress.done_bytes, 1, bytes[i].len);
        trace_free(trace);
        assert_int_equal(budget.used, 0);
        buf_free(&bytes[i]);
    }
    buf_free(&text);
    buf_free(&expected);
    buf_free(&found);
}

static void a_cut_compressed_trace_keeps_what_came_before(void **state)
{
    (void)state;
    struct buf text = {0}, gzip = {0};
    struct budget budget = {0};
    struct err err = {0};
    fill_trace(&text, 5000);
    add_gzip(&gzip, compress_text(&text), 6);
    for (size_t cut = 0; cut < gzip.len; cut += gzip.len / 60) {
        err = (struct err){0};
        struct trace *trace = ingest((struct str){gzip.at, cut}, &budget, NULL, &err);
        if (trace) {
            // A cut in the gzip trailer leaves the text whole.
            assert_int_equal(trace->repairs[REPAIR_TRUNCATED].count, trace->event_count < 5000);
            assert_int_equal(trace->repairs[REPAIR_COMPRESSION].count, 1);
            trace_free(trace);
        } else {
            assert_int_equal(err.code, ERR_FORMAT);
        }
        assert_true(cut < gzip.len / 2 || trace);
        assert_int_equal(budget.used, 0);
    }
    buf_free(&text);
    buf_free(&gzip);
}

static void a_wrong_checksum_is_a_repair(void **state)
{
    (void)state;
    struct buf text = {0}, gzip = {0};
    struct budget budget = {0};
    struct err err = {0};
    fill_trace(&text, 500);
    add_gzip(&gzip, compress_text(&text), 6);
    gzip.at[gzip.len - 6] ^= 1;
    struct trace *trace = ingest(compress_text(&gzip), &budget, NULL, &err);
    assert_non_null(trace);
    assert_int_equal(trace->event_count, 500);
    assert_int_equal(trace->repairs[REPAIR_COMPRESSION].count, 1);
    trace_free(trace);
    buf_free(&text);
    buf_free(&gzip);
}

static void a_cancelled_job_stops(void **state)
{
    (void)state;
    struct buf text = {0};
    struct budget budget = {0};
    struct err err = {0};
    struct progress progress = {.cancel = true};
    fill_trace(&text, 20000);
    assert_null(ingest(compress_text(&text), &budget, &progress, &err));
    assert_int_equal(err.code, ERR_CANCELLED);
    assert_int_equal(budget.used, 0);
    buf_free(&text);
}

static void a_bomb_is_stopped_by_its_ratio(void **state)
{
    (void)state;
    struct buf spaces = {0}, bomb = {0};
    struct budget budget = {0};
    struct err err = {0};
    char block[1 << 16];
    memset(block, ' ', sizeof block);
    buf_puts(&spaces, "[");
    for (int i = 0; i < 80 * 16; i++)
        buf_add(&spaces, block, sizeof block);
    add_zstd(&bomb, compress_text(&spaces));
    assert_null(ingest(compress_text(&bomb), &budget, NULL, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    assert_int_equal(budget.used, 0);
    buf_free(&spaces);
    buf_free(&bomb);
}

static void a_small_budget_fails_cleanly_with_the_reading_thread_at_work(void **state)
{
    (void)state;
    struct buf text = {0};
    fill_trace(&text, 40000);
    for (uint64_t limit = 1; limit < (uint64_t)4 << 20; limit += (uint64_t)300 << 10) {
        struct budget budget = {.limit = limit};
        struct err err = {0};
        assert_null(ingest(compress_text(&text), &budget, NULL, &err));
        assert_int_equal(err.code, ERR_LIMIT);
        assert_int_equal(budget.used, 0);
    }
    buf_free(&text);
}

static void write_file(const char *path, struct str bytes)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.at, 1, bytes.len, file), bytes.len);
    assert_int_equal(fclose(file), 0);
}

static void what_one_thread_can_read_within_a_budget_several_can(void **state)
{
    (void)state;
    char path[] = "/tmp/test_ingest.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct buf text = {0};
    struct budget alone = {0};
    struct cores cores;
    struct err err = {0};
    fill_trace(&text, 60000); // long enough to be split
    write_file(path, compress_text(&text));
    struct trace *trace = ingest_file(path, &alone, NULL, &err);
    assert_non_null(trace);
    uint32_t event_count = trace->event_count;
    trace_free(trace);
    struct budget budget = {.limit = alone.peak};
    cores_init(&cores, 4);
    struct progress progress = {.cores = &cores};
    trace = ingest_file(path, &budget, &progress, &err);
    if (!trace)
        fail_msg("%s", err.msg);
    assert_int_equal(trace->event_count, event_count);
    assert_ptr_equal(progress.cores, &cores);
    assert_int_equal(atomic_load(cores.free), 4);
    trace_free(trace);
    assert_int_equal(budget.used, 0);
    assert_int_equal(unlink(path), 0);
    buf_free(&text);
}

static void a_compressed_file_is_read_where_its_format_needs_positions(void **state)
{
    (void)state;
    static const char *const pids[] = {"[TP00] 0", "[TP01] 0"};
    char path[] = "/tmp/test_ingest.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct buf text = {0}, bytes = {0};
    struct budget budget = {0};
    struct err err = {0};
    buf_puts(&text, "{\"traceEvents\": [");
    for (int i = 0; i < 2; i++)
        buf_printf(&text,
                   "%s{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": \"%s\", "
                   "\"tid\": 7, \"ts\": 4, \"dur\": 9, \"args\": {\"device\": 0}}",
                   i ? ", " : "", pids[i]);
    buf_puts(&text, "]}");
    add_gzip(&bytes, compress_text(&text), 6);
    write_file(path, compress_text(&bytes));
    struct trace *trace = ingest_file(path, &budget, NULL, &err);
    if (!trace)
        fail_msg("%s", err.msg);
    assert_int_equal(trace->event_count, 2); // merged ranks, as one
    trace_free(trace);
    assert_int_equal(unlink(path), 0);
    buf_free(&text);
    buf_free(&bytes);
}

static void what_is_no_trace_is_named(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct err err = {0};
    assert_null(ingest(STR(""), &budget, NULL, &err));
    assert_int_equal(err.code, ERR_FORMAT);
    assert_non_null(strstr(err.msg, "empty"));
    assert_null(ingest(STR("\x89PNG\r\n"), &budget, NULL, &err));
    assert_int_equal(err.code, ERR_FORMAT);
    assert_non_null(strstr(err.msg, "PNG"));
    assert_null(ingest(STR("\xFF\xFE{\0\"\0"), &budget, NULL, &err));
    assert_non_null(strstr(err.msg, "UTF-16"));
    assert_null(ingest(STR("{\"a\": 1}"), &budget, NULL, &err));
    assert_non_null(strstr(err.msg, "a JSON object with a"));
    assert_null(ingest(STR("\x1F\x8B\x08"), &budget, NULL, &err));
    assert_int_equal(err.code, ERR_FORMAT);
    assert_null(ingest_file("/nonexistent/trace.json", &budget, NULL, &err));
    assert_int_equal(err.code, ERR_NOT_FOUND);
    assert_int_equal(budget.used, 0);
}

static int is_trace(const struct dirent *entry)
{
    return strstr(entry->d_name, ".json.gz") != NULL;
}

static void real_traces_are_read_without_a_repair_of_their_text(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); // threads are the same on any file, and here there are many large ones
#endif
    static const char folder[] = "../shared/traces";
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_trace, alphasort);
    if (count < 1)
        skip();
    for (int i = 0; i < count; i++) {
        char path[512];
        struct budget budget = {0};
        struct err err = {0};
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        struct trace *trace = ingest_file(path, &budget, NULL, &err);
        if (!trace)
            fail_msg("%s: %s", path, err.msg);
        assert_null(dump_broken_promise(trace));
        assert_int_equal(trace->repairs[REPAIR_MALFORMED].count, 0);
        assert_int_equal(trace->repairs[REPAIR_TRUNCATED].count, 0);
        assert_true(trace->event_count > 0);
        trace_free(trace);
        assert_int_equal(budget.used, 0);
        free(entries[i]);
    }
    free(entries);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_and_compressed_traces_give_the_same),
        cmocka_unit_test(a_cut_compressed_trace_keeps_what_came_before),
        cmocka_unit_test(a_wrong_checksum_is_a_repair),
        cmocka_unit_test(a_cancelled_job_stops),
        cmocka_unit_test(a_bomb_is_stopped_by_its_ratio),
        cmocka_unit_test(a_small_budget_fails_cleanly_with_the_reading_thread_at_work),
        cmocka_unit_test(what_one_thread_can_read_within_a_budget_several_can),
        cmocka_unit_test(a_compressed_file_is_read_where_its_format_needs_positions),
        cmocka_unit_test(what_is_no_trace_is_named),
        cmocka_unit_test(real_traces_are_read_without_a_repair_of_their_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
