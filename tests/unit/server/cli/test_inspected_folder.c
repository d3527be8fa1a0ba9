// SPDX-License-Identifier: Apache-2.0
// Folders for stepscope inspect: their files, and Flight Recorder dumps together.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/cli/inspected_folder.h"
#include "tests/unit/folder.h"

#include <stdlib.h>
#include <sys/stat.h>

#define GROUPS "\"pg_config\": {\"0\": {\"desc\": \"all\", \"ranks\": \"[0, 1, 2]\"}}"
#define WAITING                                                                                   \
    "{" GROUPS ", \"entries\": [{\"process_group\": [\"0\", \"all\"], \"collective_seq_id\": 3, " \
    "\"profiling_name\": \"nccl:all_reduce\", \"state\": \"scheduled\"}]}"

struct hand {
    char path[64];
    struct arena arena;
    struct inspected seen;
};

static void make(struct hand *hand)
{
    snprintf(hand->path, sizeof hand->path, "/tmp/inspected-folder-XXXXXX");
    assert_non_null(mkdtemp(hand->path));
    arena_init(&hand->arena, NULL);
}

static void look(struct hand *hand)
{
    struct err err = {0};
    assert_true(inspected_path(hand->path, 64 << 20, &hand->arena, &hand->seen, &err));
}

static void end(struct hand *hand)
{
    folder_remove(hand->path);
    arena_free(&hand->arena);
}

static void assert_figures(const struct hand *hand, const char *expected)
{
    struct buf out = {0};
    figures_json(&hand->seen.figures, &out);
    assert_string_equal(out.at, expected);
    buf_free(&out);
}

static void dumps_of_several_ranks_are_diagnosed_together(void **state)
{
    (void)state;
    struct hand hand;
    make(&hand);
    folder_write(hand.path, "_dump_10", "{" GROUPS "}"); // of no group: nobody waits for it
    folder_write(hand.path, "_dump_0", WAITING);
    folder_write(hand.path, "_dump_1", "{" GROUPS "}");
    folder_write(hand.path, "_dump_2", WAITING);
    folder_write(hand.path, "notes.txt", "a line\n");
    folder_write(hand.path, ".stepscope-sent", "{}\n"); // of push
    look(&hand);
    assert_string_equal(hand.seen.format->name, "flight-recorder-job");
    assert_string_equal(hand.seen.verdict,
                        "Look at the host of rank 1: nothing is queued there, while ranks 0,2 wait "
                        "in all_reduce number 3 of all.");
    assert_non_null(strstr(hand.seen.tables, "\"hang_verdict\""));
    assert_figures(&hand, "{\"suspects\":[1],\"ranks\":[0,1,2,10],"
                          "\"ranks_without_entries\":[1,10],\"members\":5}");
    end(&hand);
}

static void a_damaged_dump_is_a_failure_and_its_rank_has_none(void **state)
{
    (void)state;
    struct hand hand;
    make(&hand);
    folder_write(hand.path, "_dump_0", WAITING);
    folder_write(hand.path, "_dump_1", "{" GROUPS ", \"entries\": [{\"is");
    folder_write(hand.path, "_dump_2", WAITING);
    look(&hand);
    assert_int_equal(inspected_failure(&hand.seen), ERR_FORMAT);
    assert_string_equal(hand.seen.verdict,
                        "Look at the process of rank 1: no dump of it was found, while ranks 0,2 "
                        "wait in all_reduce number 3 of all.");
    end(&hand);
}

static void dumps_that_cannot_be_placed_are_left_out(void **state)
{
    (void)state;
    struct hand hand;
    make(&hand);
    folder_write(hand.path, "_dump_0", WAITING);
    folder_write(hand.path, "_dump_0.json", "{" GROUPS "}");
    folder_write(hand.path, "dump", "{" GROUPS "}");
    look(&hand);
    assert_figures(&hand, "{\"suspects\":[],\"ranks\":[0],\"ranks_without_entries\":[],"
                          "\"members\":3}");
    const struct inspected *second = hand.seen.members->next;
    assert_string_equal(second->problem.msg, "another dump of its rank comes first");
    assert_string_equal(second->next->problem.msg, "its name does not end in the number of its "
                                                   "rank");
    end(&hand);
}

static void other_folders_name_their_files_in_order(void **state)
{
    (void)state;
    struct hand hand;
    char path[128];
    make(&hand);
    folder_write(hand.path, "b.json",
                 "{\"traceEvents\": [{\"ph\": \"X\", \"name\": \"k\", "
                 "\"ts\": 1, \"dur\": 1, \"pid\": 0, \"tid\": 0}]}");
    folder_write(hand.path, "a.json", "{\"weight_map\": {}}");
    snprintf(path, sizeof path, "%s/c", hand.path);
    assert_int_equal(mkdir(path, 0700), 0);
    folder_write(path, "a.json", "{\"weight_map\": {}}");
    snprintf(path, sizeof path, "%s/d", hand.path);
    assert_int_equal(symlink("a.json", path), 0);
    snprintf(path, sizeof path, "%s/e", hand.path);
    assert_int_equal(mkfifo(path, 0600), 0);
    look(&hand);
    assert_string_equal(hand.seen.format->name, "folder");
    assert_null(hand.seen.verdict);
    static const struct {
        const char *name, *format, *problem;
    } expected[] = {{"a.json", "weight-index", ""},
                    {"b.json", "kineto", ""},
                    {"c/a.json", "weight-index", ""},
                    {"d", NULL, "a symbolic link"},
                    {"e", NULL, "no regular file"}};
    const struct inspected *member = hand.seen.members;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++, member = member->next) {
        assert_non_null(member);
        assert_string_equal(member->name, expected[i].name);
        assert_true(!member->format == !expected[i].format);
        if (member->format)
            assert_string_equal(member->format->name, expected[i].format);
        assert_non_null(strstr(member->problem.msg, expected[i].problem));
        assert_false(member->failed);
    }
    assert_null(member);
    end(&hand);
}

// As a job's hosts gather them, and as an archive of the folder is read.
static void dumps_of_folders_within_are_judged_together(void **state)
{
    (void)state;
    struct hand hand;
    char path[160];
    make(&hand);
    for (int host = 0; host < 2; host++) {
        snprintf(path, sizeof path, "%s/host%d", hand.path, host);
        assert_int_equal(mkdir(path, 0700), 0);
        folder_write(path, host ? "_dump_1" : "_dump_0", host ? "{" GROUPS "}" : WAITING);
    }
    folder_write(path, "_dump_2", WAITING);
    look(&hand);
    assert_string_equal(hand.seen.format->name, "flight-recorder-job");
    assert_figures(&hand, "{\"suspects\":[1],\"ranks\":[0,1,2],"
                          "\"ranks_without_entries\":[1],\"members\":3}");
    assert_string_equal(hand.seen.members->name, "host0/_dump_0");
    end(&hand);
}

// Paraver's names are in files of the same name.
static void names_beside_a_trace_are_read_with_it(void **state)
{
    (void)state;
    struct hand hand;
    char path[160];
    struct err err = {0};
    make(&hand);
    folder_write(hand.path, "t.prv",
                 "#Paraver (x):100_ns:0:1:1(1:1)\n2:0:1:1:1:5:77:1\n"
                 "2:0:1:1:1:95:77:0\n");
    folder_write(hand.path, "t.pcf",
                 "DEFAULT_OPTIONS\n\nEVENT_TYPE\n0 77 CUDA kernel\nVALUES\n0 End\n1 gemm\n\n");
    folder_write(hand.path, "t.row", "LEVEL THREAD SIZE 1\nCUDA-D1.S1\n");
    folder_write(hand.path, "u.row", "LEVEL THREAD SIZE 1\nCUDA-D1.S1\n");
    snprintf(path, sizeof path, "%s/t.prv", hand.path);
    assert_true(inspected_path(path, 64 << 20, &hand.arena, &hand.seen, &err));
    assert_int_equal(inspected_failure(&hand.seen), ERR_NONE);
    look(&hand);
    static const struct {
        const char *name, *figures;
    } expected[] = {{"t.pcf", "\"read_with\":\"t.prv\""},
                    {"t.prv", "\"kernels\":1,\"kernel_total_ns\":90"},
                    {"t.row", "\"read_with\":\"t.prv\""},
                    {"u.row", "{}"}};
    const struct inspected *member = hand.seen.members;
    for (size_t i = 0; i < 4; i++, member = member->next) {
        struct buf figures = {0};
        figures_json(&member->figures, &figures);
        assert_string_equal(member->name, expected[i].name);
        assert_string_equal(member->format->name, "prv");
        assert_int_equal(member->problem.code, i == 3 ? ERR_FORMAT : ERR_NONE);
        assert_true(i == 3 || strstr(figures.at, expected[i].figures));
        buf_free(&figures);
    }
    end(&hand);
}

static void what_is_no_folder_is_a_file(void **state)
{
    (void)state;
    struct hand hand;
    char path[128];
    struct err err = {0};
    make(&hand);
    folder_write(hand.path, "_dump_7", WAITING);
    snprintf(path, sizeof path, "%s/_dump_7", hand.path);
    assert_true(inspected_path(path, 1 << 20, &hand.arena, &hand.seen, &err));
    assert_string_equal(hand.seen.format->name, "flight-recorder");
    assert_null(hand.seen.verdict);
    assert_true(inspected_path("/nonexistent", 1 << 20, &hand.arena, &hand.seen, &err));
    assert_int_equal(hand.seen.problem.code, ERR_NOT_FOUND);
    end(&hand);
}

// --- real jobs ----------------------------------------------------------------------------------

// "Fault ranks: [12, 14]" of the log of the injection becomes {"suspects":[12,14].
static bool read_truth(const char *path, char expected[256])
{
    char line[128] = "", *from = NULL, *to = expected;
    FILE *log = fopen(path, "r");
    bool ok = log && fgets(line, sizeof line, log) && (from = strchr(line, '['));
    if (log)
        fclose(log);
    to += snprintf(expected, 256, "{\"suspects\":");
    for (; ok && from && *from && *from != '\n'; from++)
        if (*from != ' ')
            *to++ = *from;
    *to = '\0';
    return ok;
}

static void injected_faults_are_found_in_real_jobs(void **state)
{
    (void)state;
    static const char *const folders[] = {"../shared/samples/torch/fr_gpu_error_1st",
                                          "../shared/samples/torch/fr_lock_gil_1st"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char path[128], expected[256];
        struct hand hand;
        struct buf out = {0};
        snprintf(path, sizeof path, "%s/fault_injection.log", folders[i]);
        if (!read_truth(path, expected)) {
            print_message("no real dumps: %s is absent\n", folders[i]);
            skip();
        }
        arena_init(&hand.arena, NULL);
        snprintf(hand.path, sizeof hand.path, "%s", folders[i]);
        look(&hand);
        figures_json(&hand.seen.figures, &out);
        if (strncmp(out.at, expected, strlen(expected)) != 0)
            fail_msg("%s: found %s, expected %s", folders[i], out.at, expected);
        buf_free(&out);
        arena_free(&hand.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dumps_of_several_ranks_are_diagnosed_together),
        cmocka_unit_test(a_damaged_dump_is_a_failure_and_its_rank_has_none),
        cmocka_unit_test(dumps_that_cannot_be_placed_are_left_out),
        cmocka_unit_test(other_folders_name_their_files_in_order),
        cmocka_unit_test(dumps_of_folders_within_are_judged_together),
        cmocka_unit_test(names_beside_a_trace_are_read_with_it),
        cmocka_unit_test(what_is_no_folder_is_a_file),
        cmocka_unit_test(injected_faults_are_found_in_real_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
