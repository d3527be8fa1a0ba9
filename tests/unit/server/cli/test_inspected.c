// SPDX-License-Identifier: Apache-2.0
// Files and archive members are named by what they are, each with its own figures or reason.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "server/cli/inspected.h"
#include "tests/unit/archive_bytes.h"
#include "tests/unit/foreign_database.h"

#include <unistd.h>

#define TRACE                                                                             \
    "{\"distributedInfo\": {\"rank\": 3, \"world_size\": 8}, \"traceEvents\": [{\"ph\": " \
    "\"X\", \"name\": \"a\", \"ts\": 1, \"dur\": 1}]}"

// A file with these bytes, inspected.
static struct inspected look(const struct buf *bytes, struct arena *arena)
{
    struct inspected seen;
    struct err err = {0};
    char path[] = "/tmp/stepscope-inspected-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes->at, bytes->len), bytes->len);
    close(fd);
    assert_true(inspected_file(path, (uint64_t)1 << 30, arena, &seen, &err));
    unlink(path);
    return seen;
}

static int64_t figure_of(const struct inspected *seen, const char *path)
{
    for (size_t i = 0; i < seen->figures.count; i++)
        if (strcmp(seen->figures.at[i].path, path) == 0)
            return seen->figures.at[i].count;
    return -1;
}

static const struct inspected *assert_next(const struct inspected *seen, const char *name,
                                           const char *format, const char *problem)
{
    assert_non_null(seen);
    assert_string_equal(seen->name, name);
    assert_string_equal(seen->format ? seen->format->name : "nothing", format);
    assert_string_equal(seen->problem.code == ERR_NONE ? "" : seen->problem.msg, problem);
    return seen->next;
}

static void each_member_has_a_fate_of_its_own(void **state)
{
    (void)state;
    struct arena arena;
    struct buf tar = {0}, gzip = {0}, inner = {0}, whole = {0};
    arena_init(&arena, NULL);
    add_gzip(&gzip, STR(TRACE), 6);
    put_tar_file(&inner, "rank0.json", TRACE);
    put_tar(&tar, "rank3.json.gz", '0', compress_text(&gzip));
    put_tar_file(&tar, "train.log", "step 1, loss 2.3\n");
    put_tar_file(&tar, "metrics.json", "[{\"step\": 1}]");
    put_tar(&tar, "inner.tar", '0', compress_text(&inner));
    put_tar(&tar, "link", '2', STR(""));
    put_tar_file(&tar, "rank4.json", TRACE);
    put_tar_end(&tar);
    add_zstd(&whole, compress_text(&tar));
    struct inspected seen = look(&whole, &arena);
    assert_false(seen.failed);
    assert_string_equal(seen.format->name, "tar");
    assert_string_equal(seen.layers[0]->name, "zstd");
    assert_int_equal(figure_of(&seen, "members"), 6);
    assert_int_equal(figure_of(&seen, "traces"), 2);
    const struct inspected *at = seen.members;
    assert_int_equal(figure_of(at, "rank"), 3);
    assert_int_equal(figure_of(at, "world_size"), 8);
    assert_int_equal(figure_of(at, "events"), 1);
    at = assert_next(at, "rank3.json.gz", "kineto", "");
    at = assert_next(at, "train.log", "training-log",
                     "found text without a training step in it, expected the log of a training "
                     "job: where the log of a program is not read, send its metrics, as "
                     "events.out.tfevents.* or as JSON lines with a step");
    assert_string_equal(at->format->name, "json");
    assert_non_null(strstr(at->problem.msg, "perhaps metrics, with step"));
    at = assert_next(at->next, "inner.tar", "tar",
                     "a tar archive within an archive, expected files: unpack it and give those");
    at = assert_next(at, "link", "nothing", "a symbolic link");
    at = assert_next(at, "rank4.json", "kineto", "");
    assert_null(at);
    arena_free(&arena);
    buf_free(&tar);
    buf_free(&gzip);
    buf_free(&inner);
    buf_free(&whole);
}

static void a_damaged_member_is_a_failure_of_its_archive(void **state)
{
    (void)state;
    struct buf gzip = {0};
    add_gzip(&gzip, STR(TRACE), 6);
    const struct {
        struct str bytes;
        enum err_code code;
    } members[] = {{STR(TRACE), ERR_NONE},
                   {STR("[]"), ERR_NONE}, // unrelated JSON
                   {{gzip.at, gzip.len / 2}, ERR_FORMAT},
                   {STR("{\"traceEvents\": [{\"ph\""), ERR_FORMAT},
                   {{TRACE, sizeof TRACE - 3}, ERR_FORMAT}};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        struct arena arena;
        struct buf tar = {0};
        arena_init(&arena, NULL);
        put_tar_file(&tar, "rank0.json", TRACE);
        put_tar(&tar, "rank1.json", '0', members[i].bytes);
        put_tar_end(&tar);
        struct inspected seen = look(&tar, &arena);
        assert_false(seen.failed);
        assert_int_equal(inspected_failure(&seen), members[i].code);
        arena_free(&arena);
        buf_free(&tar);
    }
    buf_free(&gzip);
}

#define KERNELS                                                                            \
    "CREATE TABLE META_DATA_EXPORT(name, value); CREATE TABLE OSRT_API(start, end);"       \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, shortName);"  \
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) "      \
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 10, i * 10 + 5, 0, 7, 'k' FROM n; " \
    "INSERT INTO OSRT_API VALUES(1, 2), (3, 4)"

static void look_at_damaged(struct buf *bytes, const char *problem)
{
    struct arena arena;
    arena_init(&arena, NULL);
    struct inspected seen = look(bytes, &arena);
    assert_string_equal(seen.format->name, "nsys-sqlite");
    if (!str_starts_with(str_of(seen.problem.msg), str_of(problem)))
        fail_msg("expected %s, found %s", problem, seen.problem.msg);
    assert_int_equal(inspected_failure(&seen), ERR_FORMAT);
    assert_in_range(figure_of(&seen, "kernels"), 1, 2999);
    arena_free(&arena);
}

static void figures_of_a_damaged_database_say_that_rows_are_missing(void **state)
{
    (void)state;
    enum { PAGE = 4096 };
    struct arena arena;
    struct buf bytes = {0};
    foreign_database(&bytes, KERNELS);
    arena_init(&arena, NULL);
    struct inspected seen = look(&bytes, &arena);
    assert_int_equal(inspected_failure(&seen), ERR_NONE);
    assert_int_equal(figure_of(&seen, "kernels"), 3000);
    assert_int_equal(figure_of(&seen, "processes_with_gpu_work"), 1);
    arena_free(&arena);
    size_t whole = bytes.len;
    bytes.len = whole * 3 / 4;
    look_at_damaged(&bytes, "the database ends early");
    bytes.len = whole;
    memset(bytes.at + whole / PAGE / 2 * PAGE, 0, PAGE);
    look_at_damaged(&bytes, "pages of the database that cannot be read");
    buf_free(&bytes);
}

static void a_process_without_device_events_has_no_gpu_work(void **state)
{
    (void)state;
    struct arena arena;
    struct buf bytes = {0};
    foreign_database(&bytes, "CREATE TABLE META_DATA_EXPORT(name, value);"
                             "CREATE TABLE OSRT_API(start, end, globalTid, nameId);"
                             "INSERT INTO OSRT_API VALUES(1, 2000000, 7, 1)");
    arena_init(&arena, NULL);
    struct inspected seen = look(&bytes, &arena);
    assert_int_equal(figure_of(&seen, "osrt_calls"), 1);
    assert_int_equal(figure_of(&seen, "processes_with_gpu_work"), 0);
    arena_free(&arena);
    buf_free(&bytes);
}

static void times_that_are_none_are_no_work(void **state)
{
    (void)state;
    struct arena arena;
    struct buf text = {0};
    arena_init(&arena, NULL);
    buf_puts(&text, "Dispatch_ID,GPU_ID,Queue_ID,Kernel_Name,Start_Timestamp,End_Timestamp\n"
                    "1,4,1,\"k(char*)\",0,140469300947216\n");
    struct inspected seen = look(&text, &arena);
    assert_int_equal(figure_of(&seen, "kernels"), 1);
    assert_int_equal(figure_of(&seen, "kernel_total_ns"), 0);
    assert_int_equal(figure_of(&seen, "devices" IN "0" IN "activities"), 1);
    assert_int_equal(figure_of(&seen, "devices" IN "0" IN "busy_union_ns"), 0);
    buf_free(&text);
    arena_free(&arena);
}

static void files_that_are_no_trace_are_no_failure(void **state)
{
    (void)state;
    const struct {
        struct str bytes;
        const char *format;
        bool failed;
    } files[] = {
        {STR("{\"pg_config\": {}}"), "flight-recorder", false},
        {STR("SQLite format 3\0"), "sqlite", false},
        {STR("\0\0\0\0"), "nothing", false},
        {STR("{\"traceEvents\": []}"), "kineto", true},
        {STR("PK\x03\x04"), "zip", true},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct arena arena;
        struct buf bytes = {0};
        arena_init(&arena, NULL);
        buf_add_str(&bytes, files[i].bytes);
        struct inspected seen = look(&bytes, &arena);
        assert_string_equal(seen.format ? seen.format->name : "nothing", files[i].format);
        assert_int_equal(seen.failed, files[i].failed);
        bool is_dump = i == 0;
        assert_int_equal(inspected_failure(&seen), is_dump ? ERR_NONE : ERR_FORMAT);
        arena_free(&arena);
        buf_free(&bytes);
    }
}

// A single dump is not diagnosed, nor are dumps beside traces.
static void dumps_in_an_archive_are_diagnosed_together(void **state)
{
    (void)state;
    static const char waiting[] =
        "{\"pg_config\": {\"0\": {\"ranks\": \"[0, 1, 2]\"}}, \"entries\": [{\"process_group\": "
        "[\"0\", \"\"], \"collective_seq_id\": 3, \"state\": \"scheduled\"}]}";
    for (int traces = 0; traces < 2; traces++) {
        struct arena arena;
        struct buf tar = {0};
        arena_init(&arena, NULL);
        put_tar_file(&tar, "dumps/_dump_0", waiting);
        put_tar_file(&tar, "dumps/_dump_1", "{\"pg_config\": {}}");
        put_tar_file(&tar, "dumps/_dump_2", waiting);
        if (traces)
            put_tar_file(&tar, "rank0.json", TRACE);
        put_tar_end(&tar);
        struct inspected seen = look(&tar, &arena);
        assert_string_equal(seen.format->name, "tar");
        assert_int_equal(seen.verdict == NULL, traces);
        if (seen.verdict)
            assert_non_null(strstr(seen.verdict, "Look at the host of rank 1"));
        arena_free(&arena);
        buf_free(&tar);
    }
}

static void a_file_that_is_not_there_is_a_failure(void **state)
{
    (void)state;
    struct arena arena;
    struct inspected seen;
    struct err err = {0};
    arena_init(&arena, NULL);
    assert_true(inspected_file("/nonexistent/rank0.json", 1 << 20, &arena, &seen, &err));
    assert_true(seen.failed);
    assert_int_equal(seen.problem.code, ERR_NOT_FOUND);
    arena_free(&arena);
}

static void a_cut_database_is_a_failure(void **state)
{
    (void)state;
    struct arena arena;
    struct buf bytes = {0};
    arena_init(&arena, NULL);
    foreign_database(&bytes, "CREATE TABLE other (a INT);");
    struct inspected seen = look(&bytes, &arena);
    assert_false(seen.failed); // it merely says nothing
    assert_int_equal(inspected_failure(&seen), ERR_FORMAT);
    bytes.len--;
    seen = look(&bytes, &arena);
    assert_true(seen.failed);
    assert_int_equal(inspected_failure(&seen), ERR_FORMAT);
    assert_non_null(strstr(seen.problem.msg, "truncated or damaged"));
    arena_free(&arena);
    buf_free(&bytes);
}

static void an_empty_file_is_a_failure_if_it_was_to_be_a_trace(void **state)
{
    (void)state;
    struct arena arena;
    struct buf tar = {0};
    arena_init(&arena, NULL);
    put_tar_file(&tar, "done", "");
    put_tar_file(&tar, "4711_results.db", "");
    put_tar_end(&tar);
    struct inspected seen = look(&tar, &arena);
    const struct inspected *at = seen.members;
    assert_false(at->failed);
    at = assert_next(at, "done", "nothing", "the file is empty");
    assert_true(at->failed);
    assert_null(assert_next(at, "4711_results.db", "nothing", "the file is empty"));
    arena_free(&arena);
    buf_free(&tar);
}

static void names_of_a_trace_are_no_failure(void **state)
{
    (void)state;
    struct arena arena;
    struct buf tar = {0};
    arena_init(&arena, NULL);
    put_tar_file(&tar, "t.pcf", "DEFAULT_OPTIONS\n");
    put_tar_file(&tar, "t.row", "LEVEL THREAD SIZE 1\nTHREAD 1.1.1\n");
    put_tar_file(&tar, "9_agent_info.csv", "Node_Id,Agent_Type\n4,GPU\n");
    put_tar_end(&tar);
    struct inspected seen = look(&tar, &arena);
    assert_int_equal(inspected_failure(&seen), ERR_NONE);
    assert_string_equal(seen.members->format->name, "prv");
    assert_string_equal(seen.members->next->format->name, "prv");
    assert_string_equal(seen.members->next->next->format->name, "rocprofv3-csv");
    tar.len -= 2 * TAR_BLOCK;
    put_tar_file(&tar, "u.prv", "#Paraver (x):9_ns:0:1:1(1:1)\n");
    put_tar_end(&tar);
    seen = look(&tar, &arena);
    assert_int_equal(inspected_failure(&seen), ERR_FORMAT);
    arena_free(&arena);
    buf_free(&tar);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_member_has_a_fate_of_its_own),
        cmocka_unit_test(a_damaged_member_is_a_failure_of_its_archive),
        cmocka_unit_test(figures_of_a_damaged_database_say_that_rows_are_missing),
        cmocka_unit_test(a_process_without_device_events_has_no_gpu_work),
        cmocka_unit_test(times_that_are_none_are_no_work),
        cmocka_unit_test(files_that_are_no_trace_are_no_failure),
        cmocka_unit_test(dumps_in_an_archive_are_diagnosed_together),
        cmocka_unit_test(a_file_that_is_not_there_is_a_failure),
        cmocka_unit_test(names_of_a_trace_are_no_failure),
        cmocka_unit_test(a_cut_database_is_a_failure),
        cmocka_unit_test(an_empty_file_is_a_failure_if_it_was_to_be_a_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
