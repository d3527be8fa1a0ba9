// SPDX-License-Identifier: Apache-2.0
// The traces in an archive are ranks of a run, just like separate files.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "server/cli/rank_files.h"
#include "tests/unit/archive_bytes.h"
#include "tests/unit/folder.h"

#include <sys/stat.h>
#include <unistd.h>

#define KERNEL(ts)                                                                   \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":" ts \
    ",\"dur\":5,\"args\":{\"device\":0,\"stream\":7,\"correlation\":1}}"
#define RANK_1 "{\"distributedInfo\":{\"rank\":1},\"traceEvents\":[" KERNEL("10") "]}"
#define RANK_0 "{\"traceEvents\":[" KERNEL("20") "," KERNEL("30") "]}"
#define CUT    "{\"traceEvents\":["

static void read_files(struct rank_files *files, const char *const *paths, size_t count)
{
    struct err err = {0};
    struct cores cores;
    struct progress progress = {.cores = &cores};
    rank_files_share_cores(&cores, 1);
    struct rank_files_options how = {.command = "test",
                                     .analysis = {.warmup_steps = -1, .cores = &cores},
                                     .job_memory_bytes = (uint64_t)1 << 30,
                                     .progress = &progress};
    if (!rank_files_read(files, paths, count, &how, &err))
        fail_msg("%s", err.msg);
}

static void write_file(const char *path, const void *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    fclose(file);
}

static void an_archive_is_as_good_as_its_files(void **state)
{
    (void)state;
    struct buf tar = {0}, gzip = {0}, zstd = {0}, apart = {0}, together = {0};
    struct rank_files files;
    add_gzip(&gzip, STR(RANK_1), 6);
    put_tar(&tar, "run/other.json.gz", '0', compress_text(&gzip));
    put_tar_file(&tar, "run/train.log", "step 1, loss 2.3\n");
    put_tar_file(&tar, "run/config.json", "{\"lr\": 0.1}");
    put_tar_file(&tar, "run/rank0.json", RANK_0);
    put_tar_end(&tar);
    add_zstd(&zstd, compress_text(&tar));
    char folder[] = "/tmp/stepscope-rank-files-XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    write_file("job.tar.zst", zstd.at, zstd.len);
    write_file("rank0.json", RANK_0, strlen(RANK_0));
    write_file("other.json.gz", gzip.at, gzip.len);

    read_files(&files, (const char *const[]){"other.json.gz", "rank0.json"}, 2);
    assert_int_equal(files.count, 2);
    report_json(&files.report, &apart);
    rank_files_free(&files);

    read_files(&files, (const char *const[]){"job.tar.zst"}, 1);
    assert_int_equal(files.count, 2);
    assert_int_equal(files.unread.code, ERR_NONE);
    assert_int_equal(files.at[0].rank, 0);
    assert_string_equal(files.at[0].path, "job.tar.zst/run/rank0.json");
    assert_int_equal(files.at[1].rank, 1);
    assert_string_equal(files.at[1].path, "job.tar.zst/run/other.json.gz");
    report_json(&files.report, &together);
    assert_string_equal(apart.at, together.at);
    rank_files_free(&files);

    assert_int_equal(chdir("/"), 0);
    folder_remove(folder);
    buf_free(&tar);
    buf_free(&gzip);
    buf_free(&zstd);
    buf_free(&apart);
    buf_free(&together);
}

static void a_folder_with_all_traces_is_none_of_a_rank(void **state)
{
    (void)state;
    struct rank_files files;
    char folder[] = "/tmp/stepscope-rank-files-XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(mkdir("exp_rank5", 0700), 0);
    write_file("exp_rank5/a.json", RANK_0, strlen(RANK_0));

    read_files(&files, (const char *const[]){"exp_rank5/a.json"}, 1);
    assert_int_equal(files.at[0].rank, 5);
    rank_files_free(&files);

    write_file("exp_rank5/b.json", RANK_0, strlen(RANK_0));
    read_files(&files, (const char *const[]){"exp_rank5"}, 1);
    assert_int_equal(files.count, 2);
    assert_int_equal(files.at[0].rank, 0);
    assert_string_equal(files.at[0].path, "exp_rank5/a.json");
    assert_int_equal(files.at[1].rank, 1);
    rank_files_free(&files);

    write_file("exp_rank5/report_12.json", RANK_0, strlen(RANK_0));
    read_files(&files, (const char *const[]){"exp_rank5"}, 1);
    assert_int_equal(files.at[2].rank, 12);
    rank_files_free(&files);
    assert_int_equal(chdir("/"), 0);
    folder_remove(folder);
}

// What one archive with these bytes gives: the ranks read, and the error code of what was not.
static void assert_archive(const struct buf *tar, size_t ranks, enum err_code unread)
{
    struct rank_files files;
    char path[] = "/tmp/stepscope-rank-files-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    write_file(path, tar->at, tar->len);
    read_files(&files, (const char *const[]){path}, 1);
    assert_int_equal(files.count, ranks);
    assert_int_equal(files.unread.code, unread);
    rank_files_free(&files);
    unlink(path);
}

static void a_trace_that_is_missing_from_an_archive_is_said(void **state)
{
    (void)state;
    struct buf tar = {0};
    put_tar_file(&tar, "rank0.json", RANK_0);
    put_tar(&tar, "latest", '2', STR(""));
    put_tar_file(&tar, "metrics.json", "[{\"step\": 1}]");
    assert_archive(&tar, 1, ERR_NONE);
    put_tar_file(&tar, "rank1.json", CUT);
    assert_archive(&tar, 1, ERR_FORMAT); // it was meant to be a trace
    tar.len -= 2 * TAR_BLOCK;
    put_tar(&tar, "rank1.json", '2', STR(""));
    assert_archive(&tar, 1, ERR_UNSUPPORTED);
    buf_free(&tar);
}

static void an_archive_without_a_trace_or_an_end_is_said(void **state)
{
    (void)state;
    struct buf tar = {0};
    put_tar_file(&tar, "train.log", "step 1, loss 2.3\n");
    assert_archive(&tar, 0, ERR_FORMAT);
    put_tar_file(&tar, "rank0.json", RANK_0);
    put_tar_file(&tar, "rank1.json", RANK_1);
    tar.len -= TAR_BLOCK;
    assert_archive(&tar, 1, ERR_FORMAT);
    buf_free(&tar);
}

static void make_folder(const char *root, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void write_below(const char *root, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, name);
    write_file(path, text, strlen(text));
}

static void ranks_are_found_below_a_folder_as_in_an_archive(void **state)
{
    (void)state;
    struct rank_files files;
    char folder[] = "/tmp/stepscope-rank-files-XXXXXX";
    assert_non_null(mkdtemp(folder));
    make_folder(folder, "a");
    make_folder(folder, "a/b");
    write_below(folder, "a/rank0.json", RANK_0);
    write_below(folder, "a/b/other.json", RANK_1);
    write_below(folder, "a/config.json", "{\"lr\": 0.1}");
    write_below(folder, "a/metrics.json", "[{\"step\": 1}]");
    write_below(folder, "a/.hidden.json", RANK_1);
    write_below(folder, "a/half.json.tmp", RANK_1);
    read_files(&files, (const char *const[]){folder}, 1);
    assert_int_equal(files.count, 2);
    assert_int_equal(files.unread.code, ERR_NONE);
    assert_string_equal(files.at[0].path + strlen(folder), "/a/rank0.json");
    assert_string_equal(files.at[1].path + strlen(folder), "/a/b/other.json");
    rank_files_free(&files);
    write_below(folder, "a/rank2.json", CUT);
    read_files(&files, (const char *const[]){folder}, 1);
    assert_int_equal(files.unread.code, ERR_FORMAT);
    rank_files_free(&files);
    folder_remove(folder);
}

static void of_several_recordings_the_last_is_read(void **state)
{
    (void)state;
    struct rank_files files;
    char folder[] = "/tmp/stepscope-rank-files-XXXXXX";
    assert_non_null(mkdtemp(folder));
    make_folder(folder, "iteration_100");
    make_folder(folder, "iteration_20");
    write_below(folder, "iteration_20/rank0_trace.json", RANK_0);
    write_below(folder, "iteration_100/rank0_trace.json", RANK_0);
    read_files(&files, (const char *const[]){folder}, 1);
    assert_int_equal(files.count, 1);
    assert_string_equal(files.at[0].path + strlen(folder), "/iteration_100/rank0_trace.json");
    rank_files_free(&files);
    folder_remove(folder);
}

static void a_folder_without_a_trace_is_said(void **state)
{
    (void)state;
    struct rank_files files;
    char folder[] = "/tmp/stepscope-rank-files-XXXXXX";
    assert_non_null(mkdtemp(folder));
    read_files(&files, (const char *const[]){folder}, 1);
    assert_int_equal(files.unread.code, ERR_NOT_FOUND);
    rank_files_free(&files);
    write_below(folder, "config.json", "{\"lr\": 0.1}");
    read_files(&files, (const char *const[]){folder}, 1);
    assert_int_equal(files.unread.code, ERR_FORMAT);
    rank_files_free(&files);
    folder_remove(folder);
}

static size_t rows_of(const struct rank_files *files, const char *table)
{
    static const struct table_desc *const known[] = {&table_kernels, NULL};
    struct err err = {0};
    struct arena arena;
    struct report report = {.arena = &arena};
    arena_init(&arena, NULL);
    assert_true(rank_files_load(files, 0, known, &report, &err));
    const struct table *found = report_find(&report, table);
    size_t rows = found ? found->row_count : 0;
    arena_free(&arena);
    return rows;
}

// Paraver's: without them there is no kernel.
static void names_beside_a_trace_need_not_be_given(void **state)
{
    (void)state;
    struct rank_files files;
    char folder[] = "/tmp/stepscope-rank-files-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/t.prv", folder);
    write_below(folder, "t.prv",
                "#Paraver (x):100_ns:0:1:1(1:1)\n1:0:1:1:1:0:100:1\n"
                "2:0:1:1:1:5:77:1\n2:0:1:1:1:95:77:0\n");
    for (size_t i = 0; i < 2; i++) {
        read_files(&files, (const char *const[]){path}, 1);
        assert_int_equal(files.count, 1);
        assert_int_equal(files.unread.code, ERR_NONE);
        assert_int_equal(rows_of(&files, "kernels"), i);
        rank_files_free(&files);
        write_below(folder, "t.pcf",
                    "DEFAULT_OPTIONS\n\nEVENT_TYPE\n0 77 CUDA kernel\nVALUES\n0 End\n1 gemm\n\n");
        write_below(folder, "t.row", "LEVEL THREAD SIZE 1\nCUDA-D1.S1\n");
    }
    folder_remove(folder);
}

// rocprof's tables have names of any kind.
static void a_table_with_kernels_is_found_by_its_header(void **state)
{
    (void)state;
    struct rank_files files;
    char folder[] = "/tmp/stepscope-rank-files-XXXXXX";
    assert_non_null(mkdtemp(folder));
    write_below(folder, "results.csv",
                "Index,KernelName,gpu-id,queue-id,BeginNs,EndNs\n0,\"k.kd\",0,1,10,30\n");
    write_below(folder, "results.stats.csv", "Name,Calls,TotalDurationNs\nk,1,20\n");
    write_below(folder, "prices.csv", "a,b\n1,2\n");
    write_below(folder, "results.json", "{ \"traceEvents\":[{}\n,{\"ph\":\"X\"}]}");
    read_files(&files, (const char *const[]){folder}, 1);
    assert_int_equal(files.count, 1);
    assert_int_equal(files.unread.code, ERR_NONE);
    assert_string_equal(files.at[0].path + strlen(folder), "/results.csv");
    rank_files_free(&files);
    folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_archive_is_as_good_as_its_files),
        cmocka_unit_test(a_folder_with_all_traces_is_none_of_a_rank),
        cmocka_unit_test(a_trace_that_is_missing_from_an_archive_is_said),
        cmocka_unit_test(an_archive_without_a_trace_or_an_end_is_said),
        cmocka_unit_test(ranks_are_found_below_a_folder_as_in_an_archive),
        cmocka_unit_test(names_beside_a_trace_need_not_be_given),
        cmocka_unit_test(a_table_with_kernels_is_found_by_its_header),
        cmocka_unit_test(of_several_recordings_the_last_is_read),
        cmocka_unit_test(a_folder_without_a_trace_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
