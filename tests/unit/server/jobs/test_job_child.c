// SPDX-License-Identifier: Apache-2.0
// What a process that reads a hostile file may do, and that the service and its other jobs go on.
// The service starts this very program for it: files that begin with a word below make it
// misbehave. labels: threads
#include "tests/unit/db_raw.h"
#include "tests/unit/jobs_fixture.h"

#include "server/cli/cmd.h"
#include "server/jobs/job_check.h"
#include "server/jobs/job_child.h"
#include "server/jobs/job_tables.h"
#include "server/jobs/sandbox.h"

#include "analysis/report/report_parts.h"
#include "analysis/report/tables.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

// --- the process that reads files ---------------------------------------------------------------

// By the signal itself: a sanitizer would turn it into something else.
static void crash(void)
{
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

static void hang(void)
{
    for (;;)
        pause();
}

static void spin(void)
{
    volatile unsigned turns = 0;
    for (;;)
        turns++;
}

static void leave(void)
{
    _exit(3);
}

static void lie(void)
{
    char bytes[1000];
    memset(bytes, 0xa5, sizeof bytes);
    if (write(JOB_FD_REPLY, bytes, sizeof bytes) < 0)
        _exit(4);
    _exit(0);
}

// Asks to be called again, forever.
static void put_off(void)
{
    struct job_reply reply = {.err = {.code = ERR_BUSY, .pos = ERR_NO_POS, .msg = "later"}};
    struct buf message = {0};
    job_wire_put_reply(&reply, &message);
    bool ok = write(JOB_FD_REPLY, message.at, message.len) == (ssize_t)message.len;
    _exit(ok ? 0 : 4);
}

// Reports success along with invalid tables.
static void spoil(void)
{
    struct job_reply reply = {.ok = true};
    struct buf message = {0};
    char bytes[1000];
    memset(bytes, 0xa5, sizeof bytes);
    job_wire_put_reply(&reply, &message);
    bool ok = write(JOB_FD_TABLES, bytes, sizeof bytes) == (ssize_t)sizeof bytes &&
              write(JOB_FD_REPLY, message.at, message.len) == (ssize_t)message.len;
    _exit(ok ? 0 : 4);
}

// Closes the descriptor that the service waits on, and stays.
static void close_reply(void)
{
    close(JOB_FD_REPLY);
    hang();
}

static void make_socket(void)
{
    const struct sandbox_limits limits = {
        .cpu_seconds = 20, .file_bytes = 1 << 20, .descriptors = JOB_FD_COUNT};
    unsigned walls;
    struct err err;
    if (!sandbox_enter(&limits, &walls, &err))
        _exit(5);
    if (walls & SANDBOX_SECCOMP)
        _exit(socket(AF_INET, SOCK_STREAM, 0) < 0);
    raise(SIGSYS); // without a sandbox, acts as if there were one
}

static void chatter(void)
{
    for (int i = 0; i < 100000; i++)
        if (write(JOB_FD_LOG, "forged\nline=1 level=error\n", 26) < 0)
            _exit(6);
    _exit(7);
}

// Answers without end.
static void flood(void)
{
    static const char bytes[1 << 16];
    while (write(JOB_FD_REPLY, bytes, sizeof bytes) > 0)
        continue;
    _exit(8);
}

// Takes all cores and dies.
static void hoard(void)
{
    struct err err;
    struct cores_page *shared = shared_page_map(JOB_FD_CORES, &err);
    struct job_page *page = shared_page_map(JOB_FD_PAGE, &err);
    atomic_fetch_sub(&shared->free, 3);
    atomic_fetch_add(&page->held, 3);
    raise(SIGKILL);
}

struct misdeed {
    const char *word;
    void (*run)(void);
};
static const struct misdeed misdeeds[] = {
    {"!crash", crash}, {"!hang", hang},        {"!spin", spin},          {"!leave", leave},
    {"!lie", lie},     {"!mute", close_reply}, {"!socket", make_socket}, {"!chatter", chatter},
    {"!hoard", hoard}, {"!later", put_off},    {"!flood", flood},        {"!spoil", spoil},
};

// Reads the file from its current position to the end.
static bool read_something(void)
{
    char bytes[4096];
    return read(JOB_FD_INPUT, bytes, sizeof bytes) > 0;
}

static int be_child(void)
{
    char begin[16] = {0};
    struct err err = {0};
    if (getenv("MALLOC_TEST_CRASH") && read_something())
        crash();
    if (pread(JOB_FD_INPUT, begin, sizeof begin - 1, 0) < 0)
        return 9;
    for (size_t i = 0; i < sizeof misdeeds / sizeof *misdeeds; i++)
        if (strncmp(begin, misdeeds[i].word, strlen(misdeeds[i].word)) == 0)
            misdeeds[i].run();
    return !cmd_job(0, NULL, &err);
}

// --- the database itself ------------------------------------------------------------------------

// The number a statement returns; 0 without rows.
static int64_t ask(struct service *s, const char *sql)
{
    char path[96];
    snprintf(path, sizeof path, "%s/db", s->folder);
    return db_raw_number(path, sql);
}

static void end_lease(struct service *s)
{
    ask(s, "UPDATE job SET lease_until_ns = 1 WHERE state = 'running'");
}

static bool has_lease(struct service *s)
{
    return ask(s, "SELECT lease_until_ns > 1 FROM job WHERE state = 'running'");
}

// Between two checks for something another thread or process does.
static void wait_a_little(void)
{
    poll(NULL, 0, 2);
}

static void wait_until_works(struct service *s, const struct upload *upload)
{
    while (trace_of(s, upload).state == TRACE_QUEUED)
        wait_a_little();
}

// --- tests --------------------------------------------------------------------------------------

static struct trace_row row_after(struct service *s, const char *content)
{
    struct upload upload = take(s, content, "x.json");
    assert_true(jobs_wait_upload(s->intake.jobs, upload.id, WAIT_MS));
    return trace_of(s, &upload);
}

static void expect_failure(struct service *s, const char *content, const char *reason)
{
    struct trace_row row = row_after(s, content);
    assert_int_equal(row.state, TRACE_FAILED);
    if (!strstr(row.error.at, reason))
        fail_msg("found: %s, expected: %s", row.error.at, reason);
}

static void three_deaths_fail_a_file_with_their_reason(void **state)
{
    struct service *s = *state;
    start_jobs(s, 2);
    expect_failure(s, "!crash",
                   "reading this file crashed 3 times (SIGSEGV); it is not retried automatically");
    end_jobs(s);
}

static void a_forbidden_call_ends_the_process_and_nothing_else(void **state)
{
    struct service *s = *state;
    start_jobs(s, 2);
    expect_failure(s, "!socket", "crashed 3 times (SIGSYS, a system call that is forbidden)");
    assert_int_equal(row_after(s, good_trace).state, TRACE_DONE);
    end_jobs(s);
}

static void what_is_no_answer_is_not_believed(void **state)
{
    struct service *s = *state;
    start_jobs(s, 2);
    expect_failure(s, "!leave", "ended without a result 3 times (exit code 3)");
    expect_failure(s, "!lie", "ended without a result 3 times (its answer is cut or damaged)");
    expect_failure(s, "!later", "ended without a result 3 times (its answer is cut or damaged)");
    expect_failure(s, "!spoil", "ended without a result 3 times (its tables are cut or damaged)");
    expect_failure(s, "!flood", "ended without a result 3 times (its answer is cut or damaged)");
    expect_failure(s, "!mute", "3 times");
    expect_failure(s, "!chatter", "ended without a result 3 times (exit code 7)");
    end_jobs(s);
}

static void what_takes_too_long_is_stopped(void **state)
{
    struct service *s = *state;
    s->config.job_seconds = 1;
    start_jobs(s, 3);
    struct upload hung = take(s, "!hang", "x.json"), busy = take_as(s, "b", "!spin", "y.json");
    assert_true(jobs_wait_upload(s->intake.jobs, hung.id, WAIT_MS));
    assert_true(jobs_wait_upload(s->intake.jobs, busy.id, WAIT_MS));
    assert_non_null(
        strstr(trace_of(s, &hung).error.at, "was stopped 3 times (it took longer than 1 s)"));
    assert_int_equal(trace_of(s, &busy).state, TRACE_FAILED);
    end_jobs(s);
}

static void tables_are_read_no_longer_than_the_job_may_take(void **state)
{
    struct service *s = *state;
    struct arena arena;
    arena_init(&arena, NULL);
    struct report report = {.arena = &arena};
    const struct cell row[] = {cell_text(STR("key")), cell_text(STR("value"))};
    assert_true(report_add(&report, &table_environment, row, &s->err));
    int fd = report_parts_hold(&report, trace_tables, &s->err);
    struct progress progress = {0};
    struct job_stop stop = {&progress, INT64_MAX};
    struct job_order order = {0};
    struct job_tables tables;
    assert_true(job_tables_check(fd, &order, &stop, &tables, &s->err));
    stop.deadline_ns = 0;
    assert_false(job_tables_check(fd, &order, &stop, &tables, &s->err));
    assert_int_equal(s->err.code, ERR_FORMAT);
    progress.cancel = true;
    assert_false(job_tables_check(fd, &order, &stop, &tables, &s->err));
    assert_int_equal(s->err.code, ERR_CANCELLED);
    close(fd);
    arena_free(&arena);
}

static void other_jobs_go_on_beside_a_poisonous_one(void **state)
{
    struct service *s = *state;
    start_jobs(s, 2);
    struct upload poison = take_as(s, "poison", "!hang", "x.json");
    assert_int_equal(row_after(s, good_trace).state, TRACE_DONE);
    assert_int_equal(trace_of(s, &poison).state, TRACE_RUNNING);
    check(s, jobs_cancel_run(s->intake.jobs, poison.run_id, &s->err));
    end_jobs(s);
}

// Descriptors of this process, including the one used to look.
static size_t count_fds(void)
{
    DIR *dir = opendir("/proc/self/fd");
    size_t count = 0;
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

static void expect_no_child(void)
{
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void a_cancelled_job_leaves_no_process_and_no_descriptor(void **state)
{
    struct service *s = *state;
    start_jobs(s, 2);
    assert_int_equal(row_after(s, good_trace).state, TRACE_DONE);
    size_t before = count_fds();
    struct upload upload = take_as(s, "hung", "!hang", "x.json");
    wait_until_works(s, &upload);
    check(s, jobs_cancel_run(s->intake.jobs, upload.run_id, &s->err));
    assert_true(jobs_wait_upload(s->intake.jobs, upload.id, WAIT_MS));
    assert_string_equal(trace_of(s, &upload).error.at, "cancelled");
    end_jobs(s);
    expect_no_child();
    assert_true(count_fds() < before);
}

// Leaves the child for the service to reap.
static bool has_child(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static void wait_for_child(bool expected)
{
    for (int i = 0; i < WAIT_MS / 2 && has_child() != expected; i++)
        wait_a_little();
    assert_int_equal(has_child(), expected);
}

static void deleting_a_run_ends_the_process_that_reads_it(void **state)
{
    struct service *s = *state;
    start_jobs(s, 2);
    struct upload upload = take_as(s, "hung", "!hang", "x.json");
    wait_for_child(true);
    check(s, intake_bin_run(&s->intake, upload.run_id, STORE_ANY, STR(""), &s->err));
    wait_for_child(false);
    end_jobs(s);
}

static void a_cancelled_run_comes_back_when_it_is_analyzed_again(void **state)
{
    struct service *s = *state;
    struct upload upload = take(s, good_trace, "x.json");
    struct run run;
    start_jobs(s, 0);
    check(s, jobs_cancel_run(s->intake.jobs, upload.run_id, &s->err));
    check(s, store_find_run(s->intake.store, upload.run_id, &s->arena, &run, &s->err));
    assert_int_equal(run.status, RUN_FAILED);
    assert_string_equal(run.error.at, "cancelled");
    end_jobs(s);
    start_jobs(s, 1);
    check(s, store_reanalyze_run(s->intake.store, upload.run_id, &s->err));
    jobs_wake(s->intake.jobs);
    assert_true(jobs_wait_upload(s->intake.jobs, upload.id, WAIT_MS));
    check(s, store_find_run(s->intake.store, upload.run_id, &s->arena, &run, &s->err));
    assert_int_equal(run.status, RUN_DONE);
    assert_int_equal(run.error.len, 0);
    end_jobs(s);
}

static int file_with(const char *text)
{
    int fd = memfd_create("test", MFD_CLOEXEC);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    return fd;
}

static void a_dead_process_gives_back_its_cores(void **state)
{
    struct service *s = *state;
    struct cores cores;
    struct progress progress = {0};
    struct job_child_task task = {.order = {.service_pid = getpid(), .has_input = true},
                                  .files = {file_with("!hoard"), -1, -1},
                                  .tables = -1,
                                  .cores = &cores,
                                  .limit_ns = INT64_C(60000000000),
                                  .progress = &progress};
    struct cores_page *page = shared_page_new(&task.cores_fd, &s->err);
    cores_share(&cores, &page->free, NULL);
    cores_give(&cores, 4);
    struct job_reply reply;
    struct job_death death;
    assert_false(job_child_run(&task, &reply, &death, &s->err));
    assert_string_equal(death.verb, "crashed");
    assert_int_equal(atomic_load(&page->free), 4);
    close(task.files.input);
    shared_page_close(page, task.cores_fd);
    expect_no_child();
}

static void a_job_that_nobody_works_on_is_taken_back(void **state)
{
    struct service *s = *state;
    s->config.lease_check_ms = 10;
    start_jobs(s, 0);
    struct upload upload = take(s, good_trace, "x.json");
    struct job job;
    bool found;
    check(s, store_claim_job(s->intake.store, &s->arena, &job, &found, &s->err));
    assert_true(found);
    end_lease(s);
    while (trace_of(s, &upload).state == TRACE_RUNNING)
        wait_a_little();
    assert_int_equal(trace_of(s, &upload).state, TRACE_QUEUED);
    assert_false(store_fail_job(s->intake.store, &job, "late", &s->err)); // it is no longer his
    assert_int_equal(s->err.code, ERR_NOT_FOUND);
    end_jobs(s);
}

static void a_job_at_work_keeps_its_lease(void **state)
{
    struct service *s = *state;
    s->config.lease_check_ms = 10;
    start_jobs(s, 1);
    struct upload upload = take(s, "!hang", "x.json");
    wait_until_works(s, &upload);
    end_lease(s);
    while (!has_lease(s))
        wait_a_little();
    assert_int_equal(trace_of(s, &upload).state, TRACE_RUNNING);
    check(s, jobs_cancel_run(s->intake.jobs, upload.run_id, &s->err));
    end_jobs(s);
}

static void a_machine_that_stops_the_process_is_reported_before_any_job(void **state)
{
    (void)state;
    const struct jobs_config config = {.memory_bytes = (uint64_t)1 << 30, .cores = 1};
    struct err err = {0};
    assert_true(job_check_run(&config, &err));
    setenv("MALLOC_TEST_CRASH", "1", 1); // the process gets the same allocator settings
    assert_false(job_check_run(&config, &err));
    unsetenv("MALLOC_TEST_CRASH");
    assert_int_equal(err.code, ERR_INTERNAL);
    assert_non_null(strstr(err.msg, "crashed (SIGSEGV)"));
    expect_no_child();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "_job") == 0)
        return be_child();
    const struct CMUnitTest tests[] = {
        TEST(three_deaths_fail_a_file_with_their_reason),
        TEST(a_forbidden_call_ends_the_process_and_nothing_else),
        TEST(what_is_no_answer_is_not_believed),
        TEST(what_takes_too_long_is_stopped),
        TEST(tables_are_read_no_longer_than_the_job_may_take),
        TEST(other_jobs_go_on_beside_a_poisonous_one),
        TEST(a_cancelled_job_leaves_no_process_and_no_descriptor),
        TEST(deleting_a_run_ends_the_process_that_reads_it),
        TEST(a_cancelled_run_comes_back_when_it_is_analyzed_again),
        TEST(a_dead_process_gives_back_its_cores),
        TEST(a_job_that_nobody_works_on_is_taken_back),
        TEST(a_job_at_work_keeps_its_lease),
        TEST(a_machine_that_stops_the_process_is_reported_before_any_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
