// SPDX-License-Identifier: Apache-2.0
// Members of archives are read, and damage or attacks do no harm.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ingest/file_parts.h"
#include "ingest/unpack.h"
#include "tests/unit/archive_bytes.h"

// An archive in text: a line per member, "name: its bytes" or "name (why they are not read)".
struct listing {
    struct buf text;
    enum err_code code; // of the archive
    char msg[240];
};

static void list_member(struct listing *listing, struct unpack *unpack,
                        const struct unpack_member *member)
{
    struct err err = {0};
    struct buf bytes = {0};
    buf_puts(&listing->text, member->name);
    if (member->unread) {
        buf_printf(&listing->text, " (%s)\n", member->unread);
        return;
    }
    struct source *source = unpack_source(unpack, &err);
    assert_non_null(source);
    enum err_code code = compress_drain(source, 1000, &bytes);
    buf_printf(&listing->text, ": %.*s%s%s\n", bytes.len < 100 ? (int)bytes.len : 4, bytes.at,
               code == ERR_NONE ? "" : "!", code == ERR_NONE ? "" : err_code_word(code));
    buf_free(&bytes);
}

static struct listing list_source(struct source *source, const struct unpack_limits *limits)
{
    struct listing listing = {0};
    struct err err = {0};
    struct format_found found;
    source = format_open(source, NULL, &found, &err);
    assert_non_null(source);
    assert_non_null(found.format);
    assert_int_equal(found.format->kind, FORMAT_ARCHIVE);
    struct unpack *unpack = unpack_open(source, found.format, limits, &err);
    const struct unpack_member *member;
    buf_puts(&listing.text, "");
    while (unpack && unpack_next(unpack, &member, &err) && member)
        list_member(&listing, unpack, member);
    unpack_close(unpack);
    listing.code = err.code;
    memcpy(listing.msg, err.msg, sizeof listing.msg);
    return listing;
}

static struct listing list_bytes(const struct buf *archive, size_t step)
{
    struct err err = {0};
    return list_source(source_mem_open(archive->at, archive->len, step, &err), &unpack_limits);
}

static void assert_lists(const struct buf *archive, const char *expected)
{
    struct listing listing = list_bytes(archive, 0);
    assert_int_equal(listing.code, ERR_NONE);
    assert_string_equal(listing.text.at, expected);
    buf_free(&listing.text);
}

// The same through compression, in which an archive can only be read from front to back.
static void assert_lists_compressed(const struct buf *archive, const char *expected)
{
    struct buf gzip = {0}, zstd = {0};
    add_gzip(&gzip, compress_text(archive), 6);
    add_zstd(&zstd, compress_text(archive));
    assert_lists(&gzip, expected);
    assert_lists(&zstd, expected);
    buf_free(&gzip);
    buf_free(&zstd);
}

static void members_of_a_tar_come_in_order(void **state)
{
    (void)state;
    struct buf tar = {0};
    put_tar(&tar, "run/", '5', STR(""));
    put_tar_file(&tar, "run/rank0.json", "zero");
    put_tar_file(&tar, "./run/empty", "");
    put_tar_file(&tar, "run/rank1.json", "one");
    put_tar_end(&tar);
    const char *expected = "run/rank0.json: zero\nrun/empty: \nrun/rank1.json: one\n";
    assert_lists(&tar, expected);
    assert_lists_compressed(&tar, expected);
    buf_free(&tar);
}

static void long_names_are_read_in_both_ways(void **state)
{
    (void)state;
    struct buf tar = {0}, expected = {0}, name = {0}, record = {0};
    for (int i = 0; i < 30; i++)
        buf_puts(&name, "folder/");
    buf_puts(&name, "rank7.json");
    put_tar(&tar, "././@LongLink", 'L', (struct str){name.at, name.len + 1});
    put_tar_file(&tar, "cut", "gnu");
    buf_printf(&record, "%zu path=%s\n", name.len + 10, name.at);
    put_tar(&tar, "pax", 'x', compress_text(&record));
    put_tar_file(&tar, "cut", "pax");
    put_tar_end(&tar);
    buf_printf(&expected, "%s: gnu\n%s: pax\n", name.at, name.at);
    assert_lists(&tar, expected.at);
    buf_free(&tar);
    buf_free(&expected);
    buf_free(&name);
    buf_free(&record);
}

static void only_files_within_are_read(void **state)
{
    (void)state;
    struct buf tar = {0};
    put_tar_file(&tar, "/etc/passwd", "a");
    put_tar_file(&tar, "../rank0.json", "a");
    put_tar_file(&tar, "a/..\\..\\b", "a");
    put_tar_file(&tar, "C:\\rank0.json", "a");
    put_tar(&tar, "soft", '2', STR(""));
    put_tar(&tar, "hard", '1', STR(""));
    put_tar(&tar, "tty", '3', STR(""));
    put_tar(&tar, "pipe", '6', STR(""));
    put_tar_file(&tar, "run/._rank0.json", "a");
    put_tar_file(&tar, "__MACOSX/rank0.json", "a");
    put_tar_file(&tar, "run/.stepscope-sent", "a");
    put_tar_file(&tar, "run/..rank0.json", "kept");
    put_tar_end(&tar);
    assert_lists(&tar, "/etc/passwd (its name is absolute)\n"
                       "../rank0.json (its name leads out of the archive)\n"
                       "a/..\\..\\b (its name leads out of the archive)\n"
                       "C:\\rank0.json (its name is absolute)\n"
                       "soft (a symbolic link)\n"
                       "hard (a link to another member)\n"
                       "tty (a device)\n"
                       "pipe (no regular file)\n"
                       "run/..rank0.json: kept\n");
    buf_free(&tar);
}

static void names_cannot_move_a_cursor(void **state)
{
    (void)state;
    struct buf tar = {0};
    put_tar_file(&tar, "a\033[2J\nb\x7F\xC2\x9B\xFF.json", "x");
    put_tar_end(&tar);
    assert_lists(&tar, "a\xEF\xBF\xBD[2J\xEF\xBF\xBD"
                       "b\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD.json: x\n");
    buf_free(&tar);
}

static void a_name_without_end_is_cut_and_not_read(void **state)
{
    (void)state;
    struct buf tar = {0}, name = {0};
    while (name.len < 5000)
        buf_puts(&name, "folder/");
    buf_puts(&name, "rank0.json");
    put_tar(&tar, "././@LongLink", 'L', (struct str){name.at, name.len + 1});
    put_tar_file(&tar, "cut", "x");
    put_tar_end(&tar);
    struct listing listing = list_bytes(&tar, 0);
    if (listing.code != ERR_NONE)
        fail_msg("%s", listing.msg);
    assert_non_null(strstr(listing.text.at, " (its name is too long)\n"));
    assert_true(listing.text.len < 1100);
    buf_free(&listing.text);
    buf_free(&tar);
    buf_free(&name);
}

// Whether libarchive refuses or skips it.
static void a_pax_header_of_megabytes_does_no_harm(void **state)
{
    (void)state;
    struct buf tar = {0}, record = {0};
    buf_puts(&record, "3000000 comment=");
    while (record.len < 2999999)
        buf_putc(&record, 'a');
    buf_putc(&record, '\n');
    put_tar(&tar, "pax", 'x', compress_text(&record));
    put_tar_file(&tar, "rank0.json", "x");
    put_tar_end(&tar);
    struct listing listing = list_bytes(&tar, 0);
    if (listing.code == ERR_NONE)
        assert_string_equal(listing.text.at, "rank0.json: x\n");
    else
        assert_non_null(strstr(listing.msg, "a tar archive that is damaged"));
    buf_free(&listing.text);
    buf_free(&tar);
    buf_free(&record);
}

// Wherever it is cut, members before the cut are unchanged and no others appear.
static void a_cut_tar_gives_what_came_before(void **state)
{
    (void)state;
    struct buf tar = {0};
    put_tar_file(&tar, "a", "one");
    put_tar_file(&tar, "b", "two");
    for (size_t cut = 2 * TAR_BLOCK; cut < tar.len; cut++) {
        struct buf part = {.at = tar.at, .len = cut};
        struct listing listing = list_bytes(&part, 1 + cut % 700);
        assert_true(strncmp(listing.text.at, "a: one\n", 7) == 0);
        assert_true(listing.code == ERR_NONE || listing.code == ERR_FORMAT);
        if (cut > 3 * TAR_BLOCK && cut < 3 * TAR_BLOCK + 3)
            assert_non_null(strstr(listing.text.at, "!format"));
        buf_free(&listing.text);
    }
    buf_free(&tar);
}

static void a_cut_of_the_compression_is_said(void **state)
{
    (void)state;
    struct buf tar = {0}, zstd = {0}, noise = {0};
    uint32_t seed = 1;
    for (int i = 0; i < 1 << 18; i++)
        put_le(&noise, seed = seed * 1664525 + 1013904223, 4);
    put_tar_file(&tar, "a", "one");
    put_tar(&tar, "b", '0', compress_text(&noise));
    put_tar_end(&tar);
    add_zstd(&zstd, compress_text(&tar));
    zstd.len /= 2;
    struct listing listing = list_bytes(&zstd, 0);
    assert_true(strncmp(listing.text.at, "a: one\nb: ", 10) == 0);
    assert_non_null(strstr(listing.text.at, "!format\n"));
    assert_int_equal(listing.code, ERR_FORMAT);
    assert_string_equal(listing.msg, "the zstd stream is truncated");
    buf_free(&listing.text);
    buf_free(&tar);
    buf_free(&zstd);
    buf_free(&noise);
}

// --- zip ----------------------------------------------------------------------------------------

static void members_of_a_zip_come_in_order(void **state)
{
    (void)state;
    struct buf zip = {0};
    const struct zip_member members[] = {
        {.name = "run/", .text = STR("")},
        {.name = "run/rank0.json", .text = STR("stored")},
        {.name = "run/rank1.json", .text = STR("deflated deflated deflated"), .deflated = true},
        {.name = "../rank2.json", .text = STR("out")},
    };
    put_zip(&zip, members, 4);
    assert_lists(&zip, "run/rank0.json: stored\nrun/rank1.json: deflated deflated deflated\n"
                       "../rank2.json (its name leads out of the archive)\n");
    buf_free(&zip);
}

static void what_is_wrong_with_a_member_of_a_zip_is_its_own(void **state)
{
    (void)state;
    struct buf zip = {0};
    const struct zip_member members[] = {
        {.name = "secret", .text = STR("locked"), .encrypted = true},
        {.name = "size", .text = STR("wrong"), .deflated = true, .size_off = 7},
        {.name = "sum", .text = STR("wrong"), .deflated = true, .crc_off = 1},
        {.name = "good", .text = STR("right"), .deflated = true},
    };
    put_zip(&zip, members, 4);
    struct listing listing = list_bytes(&zip, 0);
    assert_int_equal(listing.code, ERR_NONE);
    assert_non_null(strstr(listing.text.at, "secret (it is encrypted)\n"));
    assert_non_null(strstr(listing.text.at, "size: "));
    assert_non_null(strstr(listing.text.at, "!format\nsum: "));
    assert_non_null(strstr(listing.text.at, "!format\ngood: right\n"));
    buf_free(&listing.text);
    buf_free(&zip);
}

static void a_zip_without_its_end_is_named_as_cut(void **state)
{
    (void)state;
    struct buf zip = {0};
    const struct zip_member member = {.name = "a", .text = STR("bytes")};
    put_zip(&zip, &member, 1);
    for (size_t cut = 4; cut < zip.len; cut++) {
        struct buf part = {.at = zip.at, .len = cut};
        struct listing listing = list_bytes(&part, 0);
        assert_int_equal(listing.code, ERR_FORMAT);
        assert_non_null(strstr(listing.msg, "a zip archive that is damaged or cut"));
        buf_free(&listing.text);
    }
    buf_free(&zip);
}

static void a_zip_in_compression_is_refused(void **state)
{
    (void)state;
    struct buf zip = {0}, gzip = {0};
    const struct zip_member member = {.name = "a", .text = STR("bytes")};
    put_zip(&zip, &member, 1);
    add_gzip(&gzip, compress_text(&zip), 6);
    struct listing listing = list_bytes(&gzip, 0);
    assert_int_equal(listing.code, ERR_UNSUPPORTED);
    assert_string_equal(listing.msg, "found a zip archive in a pipe or in compression, expected it "
                                     "as a separate file");
    buf_free(&listing.text);
    buf_free(&zip);
    buf_free(&gzip);
}

// --- limits -------------------------------------------------------------------------------------

// The same block, endlessly.
struct endless {
    struct source source;
    char block[TAR_BLOCK];
};

static bool endless_read(struct source *source, void *bytes, size_t cap, size_t *got,
                         struct err *err)
{
    (void)err;
    for (*got = 0; *got + TAR_BLOCK <= cap; *got += TAR_BLOCK)
        memcpy((char *)bytes + *got, ((struct endless *)source)->block, TAR_BLOCK);
    return true;
}

static void endless_close(struct source *source)
{
    (void)source;
}

static uint64_t endless_consumed(const struct source *source)
{
    (void)source;
    return 1 << 20;
}

static const struct source_ops endless_ops = {
    .read = endless_read, .close = endless_close, .consumed = endless_consumed};

static void members_without_end_are_stopped(void **state)
{
    (void)state;
    struct buf header = {0};
    struct endless endless = {.source = {&endless_ops}};
    put_tar_header(&header, "a", '0', 0);
    memcpy(endless.block, header.at, TAR_BLOCK);
    struct listing listing = list_source(&endless.source, &unpack_limits);
    assert_int_equal(listing.code, ERR_LIMIT);
    assert_string_equal(listing.msg, "found more than 65536 members");
    buf_free(&listing.text);
    buf_free(&header);
}

// Many gigabytes out of 1 MiB, according to its source.
static void a_member_that_grows_beyond_reason_is_stopped(void **state)
{
    (void)state;
    struct err err = {0};
    struct endless endless = {.source = {&endless_ops}};
    struct buf header = {0};
    put_tar_header(&header, "a", '0', (uint64_t)7 << 30);
    memcpy(endless.block, header.at, TAR_BLOCK);
    struct unpack *unpack =
        unpack_open(&endless.source, format_find(compress_text(&header), (struct str){"", 0}),
                    &unpack_limits, &err);
    const struct unpack_member *member;
    struct buf out = {0};
    assert_true(unpack_next(unpack, &member, &err));
    assert_int_equal(compress_drain(unpack_source(unpack, &err), 1 << 16, &out), ERR_LIMIT);
    assert_true(out.len < (uint64_t)256 << 20);
    assert_false(unpack_next(unpack, &member, &err)); // nor can it be skipped
    assert_int_equal(err.code, ERR_LIMIT);
    assert_non_null(strstr(err.msg, "more than 200 times its size"));
    unpack_close(unpack);
    buf_free(&out);
    buf_free(&header);
}

static bool drain_part(void *context, struct file_part *part, struct err *err)
{
    (void)err;
    struct buf out = {0};
    assert_non_null(part->source);
    *(enum err_code *)context = compress_drain(part->source, 1000, &out);
    buf_free(&out);
    return true;
}

// Each by itself is within the limit.
static void what_is_decompressed_within_counts_together(void **state)
{
    (void)state;
    const struct unpack_limits limits = {.max_members = 9, .max_bytes = 1 << 20, .max_ratio = 200};
    struct buf plain = {0}, zstd = {0}, tar = {0};
    for (int i = 0; i < 600 << 10; i++)
        buf_putc(&plain, ' ');
    add_zstd(&zstd, compress_text(&plain));
    put_tar(&tar, "a", '0', compress_text(&zstd));
    put_tar(&tar, "b", '0', compress_text(&zstd));
    put_tar_end(&tar);
    struct err err = {0};
    enum err_code last = ERR_NONE;
    struct file_parts parts = {.source = source_mem_open(tar.at, tar.len, 0, &err),
                               .limits = &limits};
    assert_true(file_parts_each(&parts, drain_part, &last, &err));
    assert_int_equal(parts.count, 2);
    assert_int_equal(last, ERR_LIMIT);
    buf_free(&plain);
    buf_free(&zstd);
    buf_free(&tar);
}

// A terabyte of nothing between two bytes, in 1.5 KiB.
static void a_hole_is_not_filled_without_end(void **state)
{
    (void)state;
    struct buf tar = {0}, record = {0}, map = {0};
    buf_puts(&record, "22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n"
                      "24 GNU.sparse.name=hole\n36 GNU.sparse.realsize=1099511627776\n");
    buf_puts(&map, "1\n1099511627775\n1\n");
    put_zeros(&map, TAR_BLOCK - map.len);
    buf_putc(&map, 'x');
    put_tar(&tar, "pax", 'x', compress_text(&record));
    put_tar(&tar, "GNUSparseFile.0/hole", '0', compress_text(&map));
    put_tar_file(&tar, "next", "x");
    put_tar_end(&tar);
    struct listing listing = list_bytes(&tar, 0);
    assert_non_null(strstr(listing.text.at, "!limit\n"));
    buf_free(&listing.text);
    buf_free(&tar);
    buf_free(&record);
    buf_free(&map);
}

// --- files that are read as one -----------------------------------------------------------------

struct read_parts {
    struct buf text;
};

// "name: its bytes", or why it is not read.
static bool list_part(void *context, struct file_part *part, struct err *err)
{
    enum { MOST_SHOWN = 24 };
    struct read_parts *read = context;
    struct buf bytes = {0};
    (void)err;
    buf_puts(&read->text, part->name);
    if (!part->source) {
        buf_printf(&read->text, " (%s%s)\n", part->is_copy ? "copy: " : "", part->problem.msg);
        return true;
    }
    bool whole = compress_drain(part->source, 1000, &bytes) == ERR_NONE;
    size_t shown = bytes.len < MOST_SHOWN ? bytes.len : MOST_SHOWN;
    buf_printf(&read->text, ": %.*s%s%s\n", (int)shown, bytes.at, shown < bytes.len ? "..." : "",
               whole ? "" : " damaged");
    buf_free(&bytes);
    return true;
}

static void assert_joins(const struct buf *archive, bool has_scratch, const char *expected)
{
    struct err err = {0};
    struct read_parts read = {0};
    struct scratch scratch = has_scratch ? scratch_open() : SCRATCH_NONE;
    struct file_parts parts = {.source = source_mem_open(archive->at, archive->len, 0, &err),
                               .hint = {STR("job.tar"), scratch},
                               .limits = &unpack_limits,
                               .joins = true};
    assert_true(file_parts_each(&parts, list_part, &read, &err));
    assert_string_equal(read.text.at, expected);
    scratch_close(scratch);
    buf_free(&read.text);
}

static void members_of_a_set_are_one_part(void **state)
{
    (void)state;
    struct buf tar = {0}, gzip = {0}, text = {0};
    buf_puts(&text, "copies");
    add_gzip(&gzip, compress_text(&text), 6);
    put_tar_file(&tar, "a/9_kernel_trace.csv", "kernels\n");
    put_tar(&tar, "a/9_memory_copy_trace.csv.gz", '0', compress_text(&gzip));
    put_tar_file(&tar, "x.json", "[]");
    put_tar_file(&tar, "b/9_kernel_trace.csv", "others");
    put_tar_file(&tar, "a/9_agent_info.csv", "agents");
    put_tar(&tar, "b/9_kernel_trace.csv.gz", '0', compress_text(&gzip));
    put_tar_end(&tar);
    assert_joins(&tar, true,
                 "x.json: []\n"
                 "a/9.csv: agents\nkernels\n\ncopies\n"
                 "b/9_kernel_trace.csv: others\n"
                 "b/9_kernel_trace.csv.gz (copy: a compressed copy of 9_kernel_trace.csv beside "
                 "it, which is read instead)\n");
    assert_joins(&tar, false,
                 "a/9_kernel_trace.csv: kernels\n\na/9_memory_copy_trace.csv.gz: copies\n"
                 "x.json: []\nb/9_kernel_trace.csv: others\na/9_agent_info.csv: agents\n"
                 "b/9_kernel_trace.csv.gz: copies\n");
    buf_free(&tar);
    buf_free(&gzip);
    buf_free(&text);
}

// Longer than a block, as the sum of a member is only compared after its last byte.
static void damage_within_a_set_is_not_lost(void **state)
{
    (void)state;
    struct buf zip = {0}, text = {0};
    while (text.len < 300000)
        buf_puts(&text, "kernels\n");
    const struct str kernels = {text.at, text.len};
    const struct zip_member members[] = {
        {.name = "a_agent_info.csv", .text = STR("agents")},
        {.name = "a_kernel_trace.csv", .text = kernels, .deflated = true, .crc_off = 1},
        {.name = "b_kernel_trace.csv", .text = kernels, .deflated = true, .crc_off = 1},
        {.name = "c_kernel_trace.csv", .text = kernels, .deflated = true},
    };
    put_zip(&zip, members, 4);
    assert_joins(&zip, true,
                 "a.csv: agents\nkernels\nkernels\nk... damaged\n"
                 "b_kernel_trace.csv: kernels\nkernels\nkernels\n... damaged\n"
                 "c_kernel_trace.csv: kernels\nkernels\nkernels\n...\n");
    buf_free(&zip);
    buf_free(&text);
}

static void a_cut_archive_gives_the_sets_before_the_cut(void **state)
{
    (void)state;
    struct err err = {0};
    struct read_parts read = {0};
    struct buf tar = {0};
    put_tar_file(&tar, "t.pcf", "names");
    put_tar_file(&tar, "t.prv", "records");
    put_tar_file(&tar, "u.prv", "never");
    tar.len -= TAR_BLOCK + 100; // in the last header
    struct file_parts parts = {.source = source_mem_open(tar.at, tar.len, 0, &err),
                               .hint = {STR("job.tar"), scratch_open()},
                               .limits = &unpack_limits,
                               .joins = true};
    assert_false(file_parts_each(&parts, list_part, &read, &err));
    assert_int_equal(err.code, ERR_FORMAT);
    assert_string_equal(read.text.at, "t.prv: names\nrecords\n");
    scratch_close(parts.hint.scratch);
    buf_free(&read.text);
    buf_free(&tar);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_of_a_tar_come_in_order),
        cmocka_unit_test(long_names_are_read_in_both_ways),
        cmocka_unit_test(only_files_within_are_read),
        cmocka_unit_test(names_cannot_move_a_cursor),
        cmocka_unit_test(a_name_without_end_is_cut_and_not_read),
        cmocka_unit_test(a_pax_header_of_megabytes_does_no_harm),
        cmocka_unit_test(a_cut_tar_gives_what_came_before),
        cmocka_unit_test(a_cut_of_the_compression_is_said),
        cmocka_unit_test(members_of_a_zip_come_in_order),
        cmocka_unit_test(what_is_wrong_with_a_member_of_a_zip_is_its_own),
        cmocka_unit_test(a_zip_without_its_end_is_named_as_cut),
        cmocka_unit_test(a_zip_in_compression_is_refused),
        cmocka_unit_test(members_without_end_are_stopped),
        cmocka_unit_test(a_member_that_grows_beyond_reason_is_stopped),
        cmocka_unit_test(what_is_decompressed_within_counts_together),
        cmocka_unit_test(a_hole_is_not_filled_without_end),
        cmocka_unit_test(members_of_a_set_are_one_part),
        cmocka_unit_test(damage_within_a_set_is_not_lost),
        cmocka_unit_test(a_cut_archive_gives_the_sets_before_the_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
