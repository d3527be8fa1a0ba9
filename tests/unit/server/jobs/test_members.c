// SPDX-License-Identifier: Apache-2.0
// An archive is taken apart into traces, attachments and what is skipped, and a list that lies is
// refused.
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ingest/base/arena.h"
#include "server/jobs/members.h"
#include "tests/unit/archive_bytes.h"
#include "tests/unit/foreign_database.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRACE \
    "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1,\"dur\":2}]}"

struct fixture {
    int input, bytes, list;
    struct arena arena;
    struct member_list members;
    struct err err;
};

static int file_of(const void *bytes, size_t size)
{
    int fd = memfd_create("test", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, size, 0), (ssize_t)size);
    return fd;
}

static uint64_t size_of(int fd)
{
    struct stat info;
    assert_int_equal(fstat(fd, &info), 0);
    return (uint64_t)info.st_size;
}

static struct fixture take_apart(const struct buf *archive, uint64_t max_bytes)
{
    struct fixture f = {.input = file_of(archive->at, archive->len),
                        .bytes = file_of("", 0),
                        .list = file_of("", 0)};
    struct members_work work = {
        .input = f.input, .bytes = f.bytes, .list = f.list, .max_bytes = max_bytes};
    arena_init(&f.arena, NULL);
    if (!members_write(&work, &f.err) ||
        !member_list_read(f.list, size_of(f.bytes), &f.arena, &f.members, &f.err))
        fail_msg("%s", f.err.msg);
    return f;
}

static void let_go(struct fixture *f)
{
    arena_free(&f->arena);
    close(f->input);
    close(f->bytes);
    close(f->list);
}

// "name kind [failed] [reason]" of each member.
static char *list(struct fixture *f)
{
    static const char *const words[] = {"trace", "attachment", "skipped"};
    struct buf text = {0};
    for (size_t i = 0; i < f->members.count; i++) {
        const struct member *member = &f->members.at[i];
        buf_printf(&text, "%.*s %s%s%s%.*s\n", (int)member->name.len, member->name.at,
                   words[member->kind], member->failed ? " failed" : "",
                   member->reason.len ? ": " : "", (int)member->reason.len, member->reason.at);
    }
    char *copy = arena_strdup(&f->arena, (struct str){text.at ? text.at : "", text.len}, &f->err);
    buf_free(&text);
    return copy;
}

static char *bytes_of(struct fixture *f, size_t index)
{
    const struct member *member = &f->members.at[index];
    char *text = arena_alloc(&f->arena, member->bytes + 1, &f->err);
    assert_non_null(text);
    assert_int_equal(pread(f->bytes, text, member->bytes, (off_t)member->at),
                     (ssize_t)member->bytes);
    return text;
}

static void each_member_has_its_own_fate(void **state)
{
    (void)state;
    struct buf tar = {0}, inner = {0};
    put_tar_file(&inner, "a", "b");
    put_tar_end(&inner);
    put_tar_file(&tar, "run/rank0.json", TRACE);
    put_tar_file(&tar, "run/config.json", "{\"lr\": 1e-3}");
    put_tar_file(&tar, "run/train.log", "step 1 loss 2\nHF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz\n");
    put_tar(&tar, "run/link.json", '2', STR(""));
    put_tar(&tar, "run/more.tar", '0', (struct str){inner.at, inner.len});
    put_tar_file(&tar, "run/rank1.json", "");
    put_tar_file(&tar, "run/rank2.json", "no JSON at all");
    put_tar_file(&tar, "../etc/passwd", "x");
    put_tar_end(&tar);
    struct fixture f = take_apart(&tar, 1 << 20);
    assert_string_equal(
        list(&f),
        "run/rank0.json trace\n"
        "run/config.json attachment\n"
        "run/train.log attachment\n"
        "run/link.json skipped: a symbolic link\n"
        "run/more.tar attachment: an archive within an archive: unpack it and upload its files\n"
        "run/rank1.json skipped failed: an empty file\n"
        "run/rank2.json attachment failed: found text that is not JSON, perhaps a log, expected a "
        "trace as .json, .xplane.pb, .prv, .csv, .db, .rpd or .sqlite, also as .gz or .zst, or an "
        "archive: if it is the log of a job, give it a name that ends in .log\n"
        "../etc/passwd skipped: its name leads out of the archive\n");
    assert_int_equal(f.members.end.code, ERR_NONE);
    assert_string_equal(bytes_of(&f, 0), TRACE);
    assert_string_equal(bytes_of(&f, 2), "step 1 loss 2\nHF_TOKEN=[redacted:named]\n");
    let_go(&f);
    buf_free(&tar);
    buf_free(&inner);
}

static void a_compressed_text_is_kept_as_text_without_its_secrets(void **state)
{
    (void)state;
    struct buf tar = {0}, gz = {0};
    add_gzip(&gz, STR("API_KEY=abcdefgh\n"), 6);
    put_tar(&tar, "train.log.gz", '0', (struct str){gz.at, gz.len});
    put_tar_end(&tar);
    struct fixture f = take_apart(&tar, 1 << 20);
    assert_string_equal(list(&f), "train.log attachment\n");
    assert_string_equal(bytes_of(&f, 0), "API_KEY=[redacted:named]\n");
    let_go(&f);
    buf_free(&tar);
    buf_free(&gz);
}

static void secrets_in_other_bytes_are_counted(void **state)
{
    (void)state;
    struct buf tar = {0};
    put_tar(&tar, "dump.bin", '0', STR("\0\1\2 API_KEY=abcdefgh \3"));
    put_tar_end(&tar);
    struct fixture f = take_apart(&tar, 1 << 20);
    assert_string_equal(list(&f), "dump.bin attachment\n");
    assert_int_equal(f.members.at[0].secrets, 1);
    let_go(&f);
    buf_free(&tar);
}

static void a_file_that_is_no_archive_is_a_trace_by_itself(void **state)
{
    (void)state;
    struct buf gz = {0};
    add_gzip(&gz, STR(TRACE), 6);
    struct fixture f = take_apart(&gz, 1 << 20);
    assert_string_equal(list(&f), " trace\n");
    assert_int_equal(f.members.at[0].bytes, 0);
    let_go(&f);
    buf_free(&gz);
}

static void a_cut_archive_keeps_what_came_before(void **state)
{
    (void)state;
    struct buf tar = {0};
    put_tar_file(&tar, "rank0.json", TRACE);
    put_tar_file(&tar, "rank1.json", TRACE);
    tar.len -= 600; // in the second header
    struct fixture f = take_apart(&tar, 1 << 20);
    assert_string_equal(list(&f), "rank0.json trace\n");
    assert_int_equal(f.members.end.code, ERR_FORMAT);
    let_go(&f);
    buf_free(&tar);
}

static void what_has_no_room_ends_the_list(void **state)
{
    (void)state;
    struct buf tar = {0};
    put_tar_file(&tar, "rank0.json", TRACE);
    put_tar_file(&tar, "rank1.json", TRACE);
    put_tar_end(&tar);
    struct fixture f = take_apart(&tar, sizeof TRACE + 10);
    assert_string_equal(list(&f), "rank0.json trace\n");
    assert_int_equal(f.members.end.code, ERR_SPACE);
    let_go(&f);
    buf_free(&tar);
}

// Whatever the list says, no member has bytes that are not there.
static void check_changed(struct fixture *f)
{
    struct member_list members;
    uint64_t bytes = size_of(f->bytes);
    if (!member_list_read(f->list, bytes, &f->arena, &members, &f->err)) {
        assert_int_equal(f->err.code, ERR_FORMAT);
        return;
    }
    for (size_t i = 0; i < members.count; i++)
        assert_true(members.at[i].at + members.at[i].bytes <= bytes);
}

static void a_list_that_was_changed_names_no_bytes_that_are_not_there(void **state)
{
    (void)state;
    struct buf tar = {0};
    put_tar_file(&tar, "rank0.json", TRACE);
    put_tar_file(&tar, "notes.txt", "x");
    put_tar_end(&tar);
    struct fixture f = take_apart(&tar, 1 << 20);
    uint64_t bits = 8 * size_of(f.list);
    for (uint64_t bit = 0; bit < bits; bit++) {
        unsigned char byte;
        assert_int_equal(pread(f.list, &byte, 1, (off_t)(bit / 8)), 1);
        unsigned char other = byte ^ (unsigned char)(1 << bit % 8);
        assert_int_equal(pwrite(f.list, &other, 1, (off_t)(bit / 8)), 1);
        check_changed(&f);
        assert_int_equal(pwrite(f.list, &byte, 1, (off_t)(bit / 8)), 1);
    }
    let_go(&f);
    buf_free(&tar);
}

static void a_list_without_its_end_is_refused(void **state)
{
    (void)state;
    struct buf tar = {0};
    put_tar_file(&tar, "rank0.json", TRACE);
    put_tar_end(&tar);
    struct fixture f = take_apart(&tar, 1 << 20);
    for (uint64_t size = size_of(f.list); size-- > 0;) {
        struct member_list members;
        assert_int_equal(ftruncate(f.list, (off_t)size), 0);
        assert_false(member_list_read(f.list, size_of(f.bytes), &f.arena, &members, &f.err));
        assert_int_equal(f.err.code, ERR_FORMAT);
    }
    let_go(&f);
    buf_free(&tar);
}

// The process of an export that is number `index` on its node: its globalPid.
#define NSYS_PROCESS(index) ((INT64_C(1000) + (index)) << 24)

// An export of Nsight Systems of some processes, each with a kernel on its own device.
static void put_nsys(struct buf *out, int processes)
{
    struct buf sql = {0};
    buf_puts(&sql, "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, globalPid);");
    for (int i = processes - 1; i >= 0; i--)
        buf_printf(&sql,
                   "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(1000, 6000, %d, %" PRId64 ");", i,
                   NSYS_PROCESS(i));
    foreign_database(out, sql.at);
    buf_free(&sql);
}

static void assert_processes(struct fixture *f, uint64_t bytes)
{
    for (size_t i = 0; i < f->members.count; i++) {
        const struct member *member = &f->members.at[i];
        assert_int_equal(member->process, NSYS_PROCESS((int)i));
        assert_int_equal(member->is_repeat, i > 0);
        assert_int_equal(member->bytes, bytes);
        assert_string_equal(arena_strdup(&f->arena, member->format, &f->err), "nsys-sqlite");
    }
}

static void each_process_of_a_database_is_a_trace(void **state)
{
    (void)state;
    struct buf database = {0}, zstd = {0};
    put_nsys(&database, 3);
    add_zstd(&zstd, compress_text(&database));
    const struct buf *files[] = {&database, &zstd};
    for (size_t i = 0; i < 2; i++) {
        struct fixture f = take_apart(files[i], 1 << 20);
        assert_string_equal(list(&f), "process0 trace\nprocess1 trace\nprocess2 trace\n");
        assert_processes(&f, 0); // they are the file's
        let_go(&f);
    }
    buf_free(&database);
    buf_free(&zstd);
}

static void processes_of_a_member_share_its_bytes(void **state)
{
    (void)state;
    struct buf tar = {0}, database = {0};
    put_nsys(&database, 2);
    put_tar(&tar, "job/node0.sqlite", '0', compress_text(&database));
    put_tar_end(&tar);
    struct fixture f = take_apart(&tar, 1 << 20);
    assert_string_equal(list(&f),
                        "job/node0.sqlite/process0 trace\njob/node0.sqlite/process1 trace\n");
    assert_processes(&f, database.len);
    assert_memory_equal(bytes_of(&f, 1), database.at, database.len);
    let_go(&f);
    buf_free(&tar);
    buf_free(&database);
}

static void a_database_of_one_process_is_a_trace_by_itself(void **state)
{
    (void)state;
    struct buf database = {0};
    put_nsys(&database, 1);
    struct fixture f = take_apart(&database, 1 << 20);
    assert_string_equal(list(&f), " trace\n");
    assert_int_equal(f.members.at[0].process, 0);
    let_go(&f);
    buf_free(&database);
}

// It is read from the file that its copy is written to.
static void a_long_text_is_copied_once(void **state)
{
    (void)state;
    struct buf tar = {0}, text = {0};
    for (int i = 0; i < 100000; i++)
        buf_printf(&text, "line %d of a long log\n", i);
    put_tar(&tar, "train.log", '0', (struct str){text.at, text.len});
    put_tar_end(&tar);
    struct fixture f = take_apart(&tar, 1 << 24);
    assert_string_equal(list(&f), "train.log attachment\n");
    assert_int_equal(f.members.at[0].bytes, text.len);
    assert_memory_equal(bytes_of(&f, 0), text.at, text.len);
    let_go(&f);
    buf_free(&tar);
    buf_free(&text);
}

static void a_log_by_itself_is_kept_without_its_secrets(void **state)
{
    (void)state;
    struct buf gz = {0};
    add_gzip(&gz, STR("API_KEY=abcdefgh\nstep: 1  loss: 2.5  memory: 1GiB(1%)  tps: 7\n"), 6);
    struct fixture f = take_apart(&gz, 1 << 20);
    assert_string_equal(list(&f), " attachment\n");
    assert_true(str_equal(f.members.at[0].format, STR("training-log")));
    assert_string_equal(bytes_of(&f, 0), "API_KEY=[redacted:named]\nstep: 1  loss: 2.5  memory: "
                                         "1GiB(1%)  tps: 7\n");
    let_go(&f);
    buf_free(&gz);
}

static void text_named_like_a_log_is_one_if_it_has_a_step(void **state)
{
    (void)state;
    struct buf tar = {0}, late = {0};
    for (int i = 0; i < 1000; i++)
        buf_puts(&late, "loading shards\n");
    buf_puts(&late, "step: 1  loss: 2.5  memory: 1GiB(1%)  tps: 7\n");
    put_tar(&tar, "late.log", '0', (struct str){late.at, late.len});
    put_tar_file(&tar, "notes.txt", "nothing but notes\n");
    put_tar_end(&tar);
    struct fixture f = take_apart(&tar, 1 << 20);
    assert_string_equal(list(&f), "late.log attachment\nnotes.txt attachment\n");
    assert_true(str_equal(f.members.at[0].format, STR("training-log")));
    assert_true(str_equal(f.members.at[1].format, STR("text")));
    let_go(&f);
    buf_free(&tar);
    buf_free(&late);
}

#define KERNELS                                                                         \
    "Kind,Agent_Id,Queue_Id,Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp\n" \
    "KERNEL_DISPATCH,4,1,gemm,1,100,200\n"
#define CALLS                                                                             \
    "Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp\n" \
    "HIP_RUNTIME_API,hipLaunchKernel,5,6,1,10,20\n"

static void files_of_a_set_are_one_trace(void **state)
{
    (void)state;
    struct buf tar = {0}, coded = {0}, plain = {0};
    struct err err;
    add_gzip(&coded, STR(KERNELS), 6);
    put_tar_file(&tar, "a/9_hip_api_trace.csv", CALLS);
    put_tar_file(&tar, "b/9_hip_api_trace.csv", CALLS);
    put_tar_file(&tar, "rank0.json", TRACE);
    put_tar(&tar, "a/9_kernel_trace.csv.gz", '0', compress_text(&coded));
    put_tar_end(&tar);
    struct fixture f = take_apart(&tar, 1 << 20);
    assert_string_equal(list(&f), "rank0.json trace\na/9.csv.gz trace\n"
                                  "b/9_hip_api_trace.csv trace\n");
    const struct member *set = &f.members.at[1];
    struct source *source =
        source_gzip_open(source_mem_open(bytes_of(&f, 1), set->bytes, 0, &err), &err);
    compress_drain(source, 100, &plain);
    assert_string_equal(plain.at, KERNELS "\n" CALLS);
    let_go(&f);
    buf_free(&tar);
    buf_free(&coded);
    buf_free(&plain);
}

static void a_compressed_copy_of_a_file_of_a_set_is_left_out(void **state)
{
    (void)state;
    struct buf tar = {0}, coded = {0};
    add_gzip(&coded, STR(KERNELS), 6);
    put_tar(&tar, "a/9_kernel_trace.csv.gz", '0', compress_text(&coded));
    put_tar_file(&tar, "a/9_kernel_trace.csv", KERNELS);
    put_tar_file(&tar, "a/9_hip_api_trace.csv", CALLS);
    put_tar(&tar, "b/9_kernel_trace.csv.gz", '0', compress_text(&coded));
    put_tar_end(&tar);
    struct fixture f = take_apart(&tar, 1 << 20);
    assert_string_equal(list(&f), "a/9_kernel_trace.csv.gz skipped: a compressed copy of "
                                  "9_kernel_trace.csv beside it, which is read instead\n"
                                  "a/9.csv trace\nb/9_kernel_trace.csv.gz trace\n");
    assert_memory_equal(bytes_of(&f, 1), KERNELS, sizeof KERNELS - 1);
    let_go(&f);
    buf_free(&tar);
    buf_free(&coded);
}

// There is room for everything once, and for one that comes too late.
static void files_of_a_set_need_their_room_once_and_outlive_what_does_not_fit(void **state)
{
    (void)state;
    enum { PART = 700000, ROOM = 2000000 };
    struct buf tar = {0}, calls = {0};
    buf_puts(&calls, CALLS);
    while (calls.len < PART)
        buf_puts(&calls, "HIP_RUNTIME_API,hipLaunchKernel,5,6,1,10,20\n");
    put_tar(&tar, "a/9_hip_api_trace.csv", '0', (struct str){calls.at, calls.len});
    put_tar_file(&tar, "a/9_kernel_trace.csv", KERNELS);
    put_tar(&tar, "b/9_hip_api_trace.csv", '0', (struct str){calls.at, calls.len});
    while (calls.len < ROOM)
        buf_puts(&calls, "HIP_RUNTIME_API,hipLaunchKernel,5,6,1,10,20\n");
    put_tar(&tar, "c.txt", '0', (struct str){calls.at, calls.len});
    put_tar_end(&tar);
    struct fixture f = take_apart(&tar, ROOM);
    assert_string_equal(list(&f), "a/9.csv trace\nb/9_hip_api_trace.csv trace\n");
    assert_int_equal(f.members.end.code, ERR_SPACE);
    let_go(&f);
    buf_free(&tar);
    buf_free(&calls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_member_has_its_own_fate),
        cmocka_unit_test(files_of_a_set_are_one_trace),
        cmocka_unit_test(a_compressed_copy_of_a_file_of_a_set_is_left_out),
        cmocka_unit_test(files_of_a_set_need_their_room_once_and_outlive_what_does_not_fit),
        cmocka_unit_test(a_compressed_text_is_kept_as_text_without_its_secrets),
        cmocka_unit_test(secrets_in_other_bytes_are_counted),
        cmocka_unit_test(a_file_that_is_no_archive_is_a_trace_by_itself),
        cmocka_unit_test(a_cut_archive_keeps_what_came_before),
        cmocka_unit_test(what_has_no_room_ends_the_list),
        cmocka_unit_test(a_list_that_was_changed_names_no_bytes_that_are_not_there),
        cmocka_unit_test(a_list_without_its_end_is_refused),
        cmocka_unit_test(each_process_of_a_database_is_a_trace),
        cmocka_unit_test(processes_of_a_member_share_its_bytes),
        cmocka_unit_test(a_database_of_one_process_is_a_trace_by_itself),
        cmocka_unit_test(a_long_text_is_copied_once),
        cmocka_unit_test(a_log_by_itself_is_kept_without_its_secrets),
        cmocka_unit_test(text_named_like_a_log_is_one_if_it_has_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
