// SPDX-License-Identifier: Apache-2.0
// What every kind of place for files must do.
#include "server/base/disk_fault.h"
#include "server/files/blob_store.h"
#include "tests/unit/folder.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

#define SHA256   "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define TRACE_ID "t_00aa11bb22cc"

static const struct blob_key upload_key = {BLOB_UPLOAD, SHA256}, trace_key = {BLOB_TRACE, TRACE_ID};

struct fixture {
    char folder[64];
    struct disk_fault fault;
    struct blob_store *store;
    struct err err;
};

static void make_folder(char folder[64])
{
    snprintf(folder, 64, "/tmp/test_blob_store_XXXXXX");
    assert_non_null(mkdtemp(folder));
}

static void check(struct fixture *f, bool ok)
{
    if (!ok)
        fail_msg("%s", f->err.msg);
}

// A place of a kind, empty.
static void open_kind(struct fixture *f, const struct blob_kind *kind)
{
    *f = (struct fixture){0};
    char place[256];
    const char *bucket = getenv("STEPSCOPE_TEST_S3");
    make_folder(f->folder);
    snprintf(place, sizeof place, "%s", f->folder);
    if (kind == &blob_s3)
        snprintf(place, sizeof place, "%s&cache=%s/cache", bucket, f->folder);
    f->store = blob_store_open(place, &f->fault, &f->err);
    check(f, f->store != NULL);
    assert_ptr_equal(f->store->kind, kind);
}

static void close_kind(struct fixture *f)
{
    blob_store_close(f->store);
    folder_remove(f->folder);
}

static void put(struct fixture *f, struct blob_key key, const char *text)
{
    struct blob_part part = {.name = "new.part"};
    part.dir_fd = open(f->folder, O_RDONLY | O_DIRECTORY);
    part.fd = openat(part.dir_fd, part.name, O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_true(part.fd >= 0);
    assert_int_equal(write(part.fd, text, strlen(text)), (int)strlen(text));
    check(f, blob_store_put(f->store, key, &part, &f->err));
    assert_int_equal(faccessat(part.dir_fd, part.name, F_OK, 0), -1);
    close(part.fd);
    close(part.dir_fd);
}

static void assert_holds(struct fixture *f, struct blob_store *store, struct blob_key key,
                         const char *text)
{
    char got[64];
    uint64_t bytes, size;
    int fd;
    check(f, blob_store_read(store, key, &fd, &bytes, &f->err));
    check(f, blob_store_size(store, key, &size, &f->err));
    assert_int_equal(bytes, strlen(text));
    assert_int_equal(size, bytes);
    assert_int_equal(pread(fd, got, sizeof got, 0), (int)bytes);
    assert_memory_equal(got, text, bytes);
    close(fd);
}

static void assert_none(struct fixture *f, struct blob_key key)
{
    uint64_t bytes;
    int fd;
    assert_false(blob_store_read(f->store, key, &fd, &bytes, &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
    assert_int_equal(fd, -1);
    assert_false(blob_store_size(f->store, key, &bytes, &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
}

static void for_each_kind(void (*test)(struct fixture *f))
{
    for (size_t i = 0; blob_kinds[i]; i++) {
        struct fixture f;
        if (blob_kinds[i] == &blob_s3 && !getenv("STEPSCOPE_TEST_S3")) {
            print_message("SKIPPED on s3: set STEPSCOPE_TEST_S3=s3://BUCKET/NEW?endpoint=URL\n");
            continue;
        }
        open_kind(&f, blob_kinds[i]);
        test(&f);
        close_kind(&f);
    }
}

// --- tests --------------------------------------------------------------------------------------

static void put_and_read(struct fixture *f)
{
    assert_none(f, upload_key);
    if (f->store->kind == &blob_local) // S3 takes no bytes of another hash
        put(f, upload_key, "damaged");
    put(f, upload_key, "abc");
    put(f, trace_key, "a trace");
    assert_holds(f, f->store, upload_key, "abc");
    assert_holds(f, f->store, trace_key, "a trace");
    check(f, blob_store_probe(f->store, &f->err));
}

static void what_is_put_is_read(void **state)
{
    (void)state;
    for_each_kind(put_and_read);
}

static void remove_while_open(struct fixture *f)
{
    char got[8];
    uint64_t bytes;
    int fd;
    put(f, upload_key, "abc");
    check(f, blob_store_read(f->store, upload_key, &fd, &bytes, &f->err));
    check(f, blob_store_remove(f->store, upload_key, &f->err));
    check(f, blob_store_remove(f->store, upload_key, &f->err));
    assert_none(f, upload_key);
    assert_int_equal(pread(fd, got, sizeof got, 0), 3);
    close(fd);
}

static void a_removed_file_is_gone_but_for_its_readers(void **state)
{
    (void)state;
    for_each_kind(remove_while_open);
}

struct seen {
    struct fixture *f;
    unsigned blobs, traces;
};

static bool see_blob(void *ctx, const char *sha256, uint64_t bytes, struct err *err)
{
    struct seen *seen = ctx;
    assert_string_equal(sha256, SHA256);
    assert_int_equal(bytes, 3);
    seen->blobs++;
    return blob_store_remove(seen->f->store, upload_key, err);
}

static bool see_trace(void *ctx, const char *trace_id, uint64_t bytes, struct err *err)
{
    struct seen *seen = ctx;
    assert_string_equal(trace_id, TRACE_ID);
    assert_int_equal(bytes, 7);
    seen->traces++;
    return err_set(err, ERR_CANCELLED, "enough");
}

static void visit(struct fixture *f)
{
    if (f->store->kind != &blob_local)
        return; // leaves out what is young
    struct seen seen = {.f = f};
    struct blob_visitor all = {.blob = see_blob, .trace = see_trace, .ctx = &seen};
    check(f, blob_store_each(f->store, &all, &f->err));
    assert_int_equal(seen.blobs + seen.traces, 0);
    put(f, upload_key, "abc");
    put(f, trace_key, "a trace");
    assert_false(blob_store_each(f->store, &all, &f->err));
    assert_int_equal(f->err.code, ERR_CANCELLED);
    assert_int_equal(seen.blobs, 1);
    assert_int_equal(seen.traces, 1);
    struct blob_visitor uploads = {.blob = see_blob, .ctx = &seen};
    check(f, blob_store_each(f->store, &uploads, &f->err));
    assert_int_equal(seen.blobs, 1);
}

static void each_file_is_visited_with_its_size(void **state)
{
    (void)state;
    for_each_kind(visit);
}

static void copy(struct fixture *f)
{
    char folder[64];
    put(f, upload_key, "abc");
    put(f, trace_key, "a trace");
    make_folder(folder);
    struct blob_store *copies = blob_store_open(folder, NULL, &f->err);
    check(f, copies != NULL);
    check(f, blob_store_copy(f->store, upload_key, folder, &f->err));
    check(f, blob_store_copy(f->store, trace_key, folder, &f->err));
    assert_holds(f, copies, upload_key, "abc");
    assert_holds(f, copies, trace_key, "a trace");
    check(f, blob_store_remove(f->store, upload_key, &f->err));
    assert_false(blob_store_copy(f->store, upload_key, folder, &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
    assert_holds(f, copies, upload_key, "abc");
    blob_store_close(copies);
    folder_remove(folder);
}

static void a_copy_has_the_layout_of_a_data_folder(void **state)
{
    (void)state;
    for_each_kind(copy);
}

static void a_place_of_no_kind_is_refused(void **state)
{
    struct err err;
    (void)state;
    assert_null(blob_store_open("nowhere://bucket", NULL, &err));
    assert_int_equal(err.code, ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_is_read),
        cmocka_unit_test(a_removed_file_is_gone_but_for_its_readers),
        cmocka_unit_test(each_file_is_visited_with_its_size),
        cmocka_unit_test(a_copy_has_the_layout_of_a_data_folder),
        cmocka_unit_test(a_place_of_no_kind_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
