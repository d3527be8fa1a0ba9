// SPDX-License-Identifier: Apache-2.0
// Which files of a node are sent, and the list of those that were.
#include "server/collect/file_list.h"
#include "server/collect/folder_send.h"
#include "server/collect/found_files.h"
#include "server/collect/remote_hub.h"
#include "server/outbound/http_client.h"

#include "tests/unit/folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include <fcntl.h>

static void traces_and_settings_are_wanted_but_neither_weights_nor_unfinished_files(void **state)
{
    static const char *const wanted[] = {"rank0.json", "a.pt.trace.json.gz", "x.xplane.pb",
                                         "train.log",  "job.tar.zst",        "snapshot_0.pickle"};
    static const char *const not [] = {
        "model.safetensors", "model.pt", "rank0.json.tmp", ".hidden.json",
        "rank0.json.part",   "json",     "a.json~",        ".json"};
    (void)state;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        assert_true(found_files_wants(wanted[i], NULL));
    for (size_t i = 0; i < sizeof not / sizeof *not ; i++)
        assert_false(found_files_wants(not [i], NULL));
    assert_true(found_files_wants("rank3.bin", "*.x,rank*"));
    assert_false(found_files_wants("rank3.bin.tmp", "*.x,rank*"));
    assert_false(found_files_wants("train.log", "*.x,rank*"));
}

static void what_programs_append_to_may_change_after_it_was_sent(void **state)
{
    static const char *const grows[] = {"train.log", "sub/slurm-7.err", "steps.jsonl",
                                        "tb/events.out.tfevents.1700000000.node7.81.0"};
    static const char *const not [] = {"rank0.json", "nccl_trace_rank_0", "snapshot_0.pickle"};
    (void)state;
    for (size_t i = 0; i < sizeof grows / sizeof *grows; i++)
        assert_true(found_files_grows(grows[i]));
    for (size_t i = 0; i < sizeof not / sizeof *not ; i++)
        assert_false(found_files_grows(not [i]));
}

struct names {
    char text[512];
};

static bool note_name(void *context, const char *name, const struct stat *info, struct err *err)
{
    struct names *names = context;
    size_t len = strlen(names->text);
    (void)info;
    (void)err;
    snprintf(names->text + len, sizeof names->text - len, "%s ", name);
    return true;
}

// The start of a Flight Recorder's pickle: {'version': '2.4', 'pg_config': ...
static const char dump[] = "\x80\x02}(X\x07\0\0\0versionX\x03\0\0\0"
                           "2.4X\x09\0\0\0pg_config}";

static void a_name_without_an_ending_is_judged_by_its_content(void **state)
{
    char folder[] = "/tmp/stepscope-collect-XXXXXX", path[96], text[FILES_LEFT_BYTES];
    struct err err = {.pos = ERR_NO_POS};
    struct names names = {0};
    struct files_left left = {0};
    (void)state;
    assert_non_null(mkdtemp(folder));
    static const struct {
        const char *name, *text;
        size_t bytes;
    } files[] = {{"nccl_trace_rank_0", dump, sizeof dump - 1},
                 {"LICENSE", "Apache License\n", 15},
                 {"optimizer_0", "\x80\x02}q\0.", 6},
                 {"rank1.json.tmp", "{}", 2},
                 {"rank2.log", "", 0}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i].name);
        int fd = open(path, O_CREAT | O_WRONLY, 0600);
        assert_int_equal(write(fd, files[i].text, files[i].bytes), files[i].bytes);
        close(fd);
    }
    const struct found_files walk = {
        .folder = folder, .file = note_name, .context = &names, .left = &left};
    assert_true(found_files_walk(&walk, &err));
    assert_string_equal(names.text, "nccl_trace_rank_0 ");
    files_left_say(&left, text);
    assert_int_equal(left.counts[LEFT_UNREAD], 2);
    assert_non_null(strstr(text, "4 (2 of a kind that is not read, such as "));
    assert_non_null(
        strstr(text, "; 1 unfinished, such as rank1.json.tmp; 1 empty, such as rank2.log)"));
    folder_remove(folder);
}

static void write_at(const char *path, const char *bytes, size_t count, time_t modified)
{
    int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    const struct timespec times[2] = {{.tv_sec = modified}, {.tv_sec = modified}};
    assert_int_equal(write(fd, bytes, count), count);
    assert_int_equal(futimens(fd, times), 0);
    close(fd);
}

// The second bytes would be read, but their time is that of the first.
static void a_file_of_no_kind_is_opened_again_only_once_it_has_changed(void **state)
{
    static const char other[sizeof dump - 1] = "no record of anything at all";
    char folder[] = "/tmp/stepscope-collect-XXXXXX", path[64];
    struct err err = {.pos = ERR_NO_POS};
    struct remote_hub hub = {0};
    struct file_list list;
    const struct send_target target = {.hub = &hub};
    struct folder_send send = {.target = &target, .list = &list, .folder = folder, .notify = -1};
    (void)state;
    send.settle_ns = INT64_MAX; // nothing is sent
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/rank_0", folder);
    assert_true(file_list_open(&list, NULL, "hub run", &err));
    static const struct {
        const char *bytes;
        time_t modified;
        size_t unread, waiting;
    } passes[] = {{other, 1000, 1, 0}, {dump, 1000, 1, 0}, {dump, 1001, 0, 1}, {dump, 1001, 0, 1}};
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        write_at(path, passes[i].bytes, sizeof dump - 1, passes[i].modified);
        assert_true(folder_send_pass(&send, &err));
        assert_int_equal(send.left.counts[LEFT_UNREAD], passes[i].unread);
        assert_int_equal(send.waiting, passes[i].waiting);
    }
    file_list_free(&list);
    folder_remove(folder);
}

// The list has room for a million files, and a folder may have more.
static void one_pass_remembers_no_files_of_no_kind(void **state)
{
    char folder[] = "/tmp/stepscope-collect-XXXXXX", path[64];
    struct err err = {.pos = ERR_NO_POS};
    struct remote_hub hub = {0};
    struct file_list list;
    const struct send_target target = {.hub = &hub};
    struct folder_send send = {
        .target = &target, .list = &list, .folder = folder, .notify = -1, .retry = true};
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/shard_0", folder);
    write_at(path, "no record", strlen("no record"), 1000);
    assert_true(file_list_open(&list, NULL, "hub run", &err));
    assert_true(folder_send_pass(&send, &err));
    assert_int_equal(send.left.counts[LEFT_UNREAD], 1);
    assert_int_equal(list.count, 0);
    file_list_free(&list);
    folder_remove(folder);
}

static void a_file_that_a_process_writes_is_open(void **state)
{
    char folder[] = "/tmp/stepscope-collect-XXXXXX", path[64];
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.json", folder);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    assert_int_not_equal(found_files_is_open(path), 0);
    close(fd);
    assert_int_not_equal(found_files_is_open(path), 1);
    assert_int_equal(found_files_is_open("/tmp/none/such"), -1);
    folder_remove(folder);
}

// The entry of a file of some size; a fresh list of the folder each time.
static struct listed_file seen(const char *path, const char *target, const char *name,
                               uint64_t bytes)
{
    struct err err = {.pos = ERR_NO_POS};
    struct file_list list;
    assert_true(file_list_open(&list, path, target, &err));
    const struct listed_file now = {.name = name, .bytes = bytes, .modified_ns = 7};
    const struct listed_file *file = file_list_see(&list, &now, &err);
    assert_non_null(file);
    const struct listed_file copy = *file;
    file_list_free(&list);
    return copy;
}

static void what_was_sent_is_known_to_the_next_process_even_after_a_torn_line(void **state)
{
    char folder[] = "/tmp/stepscope-collect-XXXXXX", path[64];
    struct err err = {.pos = ERR_NO_POS};
    struct file_list list, second;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/list", folder);
    folder_write("", path, "{\"to\":\"hub run\",\"na");
    assert_true(file_list_open(&list, path, "hub run", &err));
    const struct listed_file now = {.name = "a \"quoted\" name", .bytes = 5, .modified_ns = 7};
    struct listed_file *file = file_list_see(&list, &now, &err);
    file->status = FILE_SENT;
    assert_true(file_list_record(&list, file, "u_1", &err));
    assert_false(file_list_open(&second, path, "hub run", &err));
    assert_int_equal(err.code, ERR_BUSY);
    file_list_free(&second);
    file_list_free(&list);
    assert_int_equal(seen(path, "hub run", now.name, 5).status, FILE_SENT);
    assert_int_equal(seen(path, "other run", now.name, 5).status, FILE_SEEN);
    assert_int_equal(seen(path, "hub run", now.name, 6).status, FILE_SEEN);
    assert_true(seen(path, "hub run", now.name, 6).was_sent);
    folder_remove(folder);
}

static void headers_of_an_answer_are_found_whatever_their_case(void **state)
{
    struct http_answer answer = {0};
    (void)state;
    buf_puts(&answer.headers, "HTTP/1.1 503 Busy\r\nretry-after:  30 \r\nX: a:b\r\nLast: 1");
    assert_int_equal(http_answer_retry_s(&answer, 600), 30);
    assert_int_equal(http_answer_retry_s(&answer, 20), 20);
    assert_true(str_equal(http_answer_header(&answer, "x"), STR("a:b")));
    assert_true(str_equal(http_answer_header(&answer, "LAST"), STR("1")));
    assert_null(http_answer_header(&answer, "None").at);
    http_answer_free(&answer);
}

// What an answer counts as when it is no success.
static enum err_code refused(long status, const char *media, const char *body)
{
    struct err err = {.pos = ERR_NO_POS};
    struct remote_hub hub = {.answer.status = status};
    buf_printf(&hub.answer.headers, "HTTP/1.1 %ld\r\nContent-Type: %s\r\n", status, media);
    buf_puts(&hub.answer.body, body);
    assert_false(remote_hub_refused(&hub, &err));
    assert_int_equal(remote_hub_is_busy(&hub), err.code == ERR_BUSY && status >= 300);
    http_answer_free(&hub.answer);
    return err.code;
}

static void only_a_problem_of_the_hub_is_a_refusal_of_a_file(void **state)
{
    static const char problem[] = "application/problem+json; charset=utf-8";
    static const char ours[] = "{\"type\":\"tag:stepscope,2026:problem/x\"}";
    (void)state;
    assert_int_equal(refused(409, problem, ours), ERR_FORMAT);
    assert_int_equal(refused(422, problem, ours), ERR_FORMAT);
    assert_int_equal(refused(413, "text/html", "<html>"), ERR_BUSY);
    assert_int_equal(refused(409, "application/json", ours), ERR_BUSY);
    assert_int_equal(refused(409, problem, "{\"type\":\"about:blank\"}"), ERR_BUSY);
    assert_int_equal(refused(404, "text/html", "<html>"), ERR_BUSY);
    assert_int_equal(refused(404, problem, ""), ERR_NOT_FOUND);
    assert_int_equal(refused(400, problem, ours), ERR_USAGE);
    assert_int_equal(refused(400, "text/html", "<html>"), ERR_BUSY);
    assert_int_equal(refused(301, "text/html", ""), ERR_BUSY);
    assert_int_equal(refused(405, "text/html", ""), ERR_BUSY);
    assert_int_equal(refused(200, "text/html", "<html>"), ERR_BUSY);
    assert_int_equal(refused(401, "text/html", ""), ERR_DENIED);
    assert_int_equal(refused(503, problem, ours), ERR_BUSY);
}

static void a_long_list_forgets_names_that_are_gone(void **state)
{
    enum { GONE = 70000 };
    char name[32];
    struct err err = {.pos = ERR_NO_POS};
    struct file_list list;
    (void)state;
    assert_true(file_list_open(&list, NULL, "hub run", &err));
    for (int i = 0; i < GONE; i++) {
        snprintf(name, sizeof name, "gone%05d", (int)(i * 7919LL % GONE));
        const struct listed_file now = {.name = name};
        assert_non_null(file_list_see(&list, &now, &err));
    }
    file_list_pass(&list);
    assert_int_equal(list.count, GONE);
    const struct listed_file stays = {.name = "stays", .bytes = 5};
    struct listed_file *file = file_list_see(&list, &stays, &err);
    file->status = FILE_SENT;
    file_list_pass(&list);
    assert_int_equal(list.count, 1);
    assert_int_equal(file_list_see(&list, &stays, &err)->status, FILE_SENT);
    file_list_free(&list);
}

static void a_name_too_long_for_the_list_is_said(void **state)
{
    char folder[] = "/tmp/stepscope-collect-XXXXXX", path[64], name[9000];
    struct err err = {.pos = ERR_NO_POS};
    struct file_list list;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/list", folder);
    assert_true(file_list_open(&list, path, "hub run", &err));
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    const struct listed_file now = {.name = name};
    assert_false(file_list_record(&list, &now, "", &err));
    assert_non_null(strstr(err.msg, "too long"));
    file_list_free(&list);
    folder_remove(folder);
}

// Who owns a folder may put something else in a file's place after it was listed.
static void what_was_found_is_opened_neither_through_links_nor_if_it_is_a_fifo(void **state)
{
    char folder[] = "/tmp/stepscope-links-XXXXXX", path[64], other[64];
    struct err err = {.pos = ERR_NO_POS};
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/below", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/below/a.csv", folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && close(fd) == 0);
    fd = found_files_open(path, &err);
    assert_true(fd >= 0 && close(fd) == 0);
    snprintf(other, sizeof other, "%s/b.csv", folder);
    assert_int_equal(symlink("below/a.csv", other), 0);
    assert_int_equal(found_files_open(other, &err), -1);
    snprintf(other, sizeof other, "%s/link", folder);
    assert_int_equal(symlink("below", other), 0);
    snprintf(other, sizeof other, "%s/link/a.csv", folder);
    assert_int_equal(found_files_open(other, &err), -1);
    snprintf(other, sizeof other, "%s/fifo.csv", folder);
    assert_int_equal(mkfifo(other, 0600), 0);
    assert_int_equal(found_files_open(other, &err), -1);
    assert_int_equal(err.code, ERR_FORMAT);
    folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_and_settings_are_wanted_but_neither_weights_nor_unfinished_files),
        cmocka_unit_test(what_programs_append_to_may_change_after_it_was_sent),
        cmocka_unit_test(a_name_without_an_ending_is_judged_by_its_content),
        cmocka_unit_test(a_file_of_no_kind_is_opened_again_only_once_it_has_changed),
        cmocka_unit_test(one_pass_remembers_no_files_of_no_kind),
        cmocka_unit_test(a_file_that_a_process_writes_is_open),
        cmocka_unit_test(what_was_found_is_opened_neither_through_links_nor_if_it_is_a_fifo),
        cmocka_unit_test(what_was_sent_is_known_to_the_next_process_even_after_a_torn_line),
        cmocka_unit_test(only_a_problem_of_the_hub_is_a_refusal_of_a_file),
        cmocka_unit_test(a_long_list_forgets_names_that_are_gone),
        cmocka_unit_test(a_name_too_long_for_the_list_is_said),
        cmocka_unit_test(headers_of_an_answer_are_found_whatever_their_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
