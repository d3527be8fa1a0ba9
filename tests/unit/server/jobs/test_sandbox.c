// SPDX-License-Identifier: Apache-2.0
// A sandboxed process can compute and write to what it has open. Reaching out kills it.
#include "server/jobs/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ingest/unpack.h"
#include "tests/unit/archive_bytes.h"

#define MIB ((uint64_t)1 << 20)

static const struct sandbox_limits limits = {
    .address_bytes = 600 * MIB, .cpu_seconds = 20, .file_bytes = 1 * MIB, .descriptors = 64};

// How a process ends that enters the sandbox and then does this; the act's result is its exit code.
static int status_after(int (*act)(void))
{
    int status;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        unsigned walls;
        struct err err;
        _exit(sandbox_enter(&limits, &walls, &err) ? act() : 99);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void expect_exit(int (*act)(void), int code)
{
    int status = status_after(act);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), code);
}

// Builds with sanitizers lack the restrictions these tests are about.
static void skip_without_walls(void)
{
#ifdef STEPSCOPE_SANITIZE
    print_message("skipped: this build has sanitizers, which need what the sandbox forbids\n");
    skip();
#endif
}

static void expect_death(int (*act)(void))
{
    skip_without_walls();
    int status = status_after(act);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSYS);
}

static int open_file(void)
{
    return open("/dev/null", O_RDONLY) < 0 && errno == EACCES ? 7 : 0;
}

static int make_file(void)
{
    return open("/tmp/stepscope-test", O_RDWR | O_CREAT, 0600) < 0 && errno == EACCES ? 7 : 0;
}

static int make_socket(void)
{
    return socket(AF_UNIX, SOCK_STREAM, 0) < 0;
}

static int run_program(void)
{
    execl("/bin/true", "true", (char *)NULL);
    return 1;
}

static int start_process(void)
{
    return fork() < 0;
}

static int kill_parent(void)
{
    return kill(getppid(), 0);
}

static int make_code(void)
{
    return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
           MAP_FAILED;
}

static int raise_limit(void)
{
    struct rlimit more = {RLIM_INFINITY, RLIM_INFINITY};
    return setrlimit(RLIMIT_AS, &more);
}

static int delete_file(void)
{
    return unlink("/tmp/nothing");
}

static int signal_other_thread_group(void)
{
    return tgkill(1, 1, 0);
}

static void what_reaches_out_ends_the_process(void **state)
{
    (void)state;
    expect_death(make_socket);
    expect_death(run_program);
    expect_death(start_process);
    expect_death(kill_parent);
    expect_death(make_code);
    expect_death(raise_limit);
    expect_death(delete_file);
    expect_death(signal_other_thread_group);
}

static void no_file_is_opened(void **state)
{
    (void)state;
    skip_without_walls();
    expect_exit(open_file, 7);
    expect_exit(make_file, 7);
}

// A newer C library names its memory, and makes calls that no kernel knows today.
static int try_what_is_new(void)
{
    enum { NOT_YET_A_CALL = 999 };
    bool named = prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, 0, 0, "x") == 0 || errno != ENOSYS;
    errno = 0;
    return !named && syscall(NOT_YET_A_CALL) < 0 && errno == ENOSYS ? 7 : 0;
}

static void what_the_list_does_not_know_is_refused_and_work_goes_on(void **state)
{
    (void)state;
    skip_without_walls();
    expect_exit(try_what_is_new, 7);
}

static void *work(void *context)
{
    char *bytes = malloc(3 * MIB);
    if (bytes)
        memset(bytes, 1, 3 * MIB);
    *(int *)context = bytes ? 0 : 2;
    free(bytes);
    return NULL;
}

static int compute(void)
{
    pthread_t threads[8];
    int results[8], failed = 0;
    for (int i = 0; i < 8; i++)
        failed |= pthread_create(&threads[i], NULL, work, &results[i]);
    for (int i = 0; i < 8; i++) {
        failed |= pthread_join(threads[i], NULL);
        failed |= results[i];
    }
    return failed;
}

static void threads_and_memory_work_as_before(void **state)
{
    (void)state;
    expect_exit(compute, 0);
}

static int take_memory(void)
{
    for (int i = 0; i < 1000; i++) {
        volatile char *bytes = malloc(2 * MIB);
        if (!bytes)
            return 7;
        bytes[0] = 1;
    }
    return 0;
}

static void memory_ends_at_its_limit(void **state)
{
    (void)state;
    skip_without_walls();
    expect_exit(take_memory, 7);
}

// To a file opened before: past the limit writes fail, but do not kill the process.
static int write_too_much(int fd)
{
    unsigned walls;
    struct err err;
    char bytes[4096] = {0};
    if (!sandbox_enter(&limits, &walls, &err))
        return 99;
    for (int i = 0; i < 256; i++)
        if (write(fd, bytes, sizeof bytes) != sizeof bytes)
            return 1;
    return write(fd, bytes, sizeof bytes) < 0 ? 7 : 2;
}

static void a_file_ends_at_its_limit(void **state)
{
    (void)state;
    int status, fd = memfd_create("test", MFD_CLOEXEC);
    pid_t pid = fork();
    if (pid == 0)
        _exit(write_too_much(fd));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
    close(fd);
}

static void its_time_ends_with_a_signal_that_says_so(void **state)
{
    (void)state;
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        const struct sandbox_limits second = {
            .cpu_seconds = 1, .file_bytes = 1 * MIB, .descriptors = 64};
        unsigned walls;
        struct err err;
        volatile bool forever = sandbox_enter(&second, &walls, &err);
        while (forever)
            continue;
        _exit(99);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGXCPU);
}

static int tell_walls(void)
{
    unsigned walls;
    struct err err;
    return sandbox_enter(&limits, &walls, &err) ? (int)walls : 99;
}

static void it_says_which_walls_stand(void **state)
{
    (void)state;
    skip_without_walls();
    int status;
    pid_t pid = fork();
    if (pid == 0)
        _exit(tell_walls());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_true(WEXITSTATUS(status) & SANDBOX_LIMITS);
    assert_true(WEXITSTATUS(status) & SANDBOX_SECCOMP);
}

// Reads all members of an archive; returns whether the last one has these bytes.
static bool unpacks(const struct buf *archive, const char *expected)
{
    struct err err;
    struct format_found found;
    struct buf text = {0};
    const struct unpack_member *member = NULL;
    struct source *source = source_mem_open(archive->at, archive->len, 0, &err);
    source = source ? format_open(source, NULL, &found, &err) : NULL;
    struct unpack *unpack = source ? unpack_open(source, found.format, &unpack_limits, &err) : NULL;
    while (unpack && unpack_next(unpack, &member, &err) && member) {
        buf_clear(&text);
        source = unpack_source(unpack, &err);
        if (!source || compress_drain(source, 100, &text) != ERR_NONE)
            break;
    }
    bool ok = unpack && !member && str_equal(compress_text(&text), str_of(expected));
    unpack_close(unpack);
    buf_free(&text);
    return ok;
}

// With a name that the library converts, and a time for which it looks up the time zone.
static int unpack_archives(void)
{
    static const char name[] = "19 path=r\xC3\xA4ng.json\n";
    const struct zip_member member = {.name = "a", .text = STR("zip"), .deflated = true};
    struct buf tar = {0}, gzip = {0}, zip = {0};
    put_tar(&tar, "pax", 'x', (struct str){name, sizeof name - 1});
    put_tar_file(&tar, "a", "tar");
    put_tar_end(&tar);
    add_gzip(&gzip, compress_text(&tar), 6);
    put_zip(&zip, &member, 1);
    bool ok = unpacks(&tar, "tar") && unpacks(&gzip, "tar") && unpacks(&zip, "zip");
    buf_free(&tar);
    buf_free(&gzip);
    buf_free(&zip);
    return ok ? 7 : 0;
}

static void archives_are_unpacked_within(void **state)
{
    (void)state;
    expect_exit(unpack_archives, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_reaches_out_ends_the_process),
        cmocka_unit_test(no_file_is_opened),
        cmocka_unit_test(what_the_list_does_not_know_is_refused_and_work_goes_on),
        cmocka_unit_test(threads_and_memory_work_as_before),
        cmocka_unit_test(memory_ends_at_its_limit),
        cmocka_unit_test(a_file_ends_at_its_limit),
        cmocka_unit_test(its_time_ends_with_a_signal_that_says_so),
        cmocka_unit_test(it_says_which_walls_stand),
        cmocka_unit_test(archives_are_unpacked_within),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
