// SPDX-License-Identifier: Apache-2.0
// Files, memory, decompression, detection and limits.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/tracegen/splitmix.h"
#include "tests/unit/compress.h"

// Text that compresses, but not to nothing; long enough for several blocks.
static void fill_text(struct buf *text, size_t lines)
{
    struct splitmix random = {1};
    for (size_t i = 0; i < lines; i++)
        buf_printf(text, "{\"ph\": \"X\", \"ts\": %u},\n", (unsigned)splitmix_next(&random));
}

static void assert_reads(struct str bytes, struct str expected)
{
    static const size_t steps[] = {0, 1, 2, 3, 7, 64, 4095};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct buf out = {0};
        assert_int_equal(compress_read(bytes, steps[i], &out), ERR_NONE);
        assert_int_equal(out.len, expected.len);
        assert_memory_equal(out.len ? out.at : "", expected.at, expected.len);
        buf_free(&out);
    }
}

static void plain_bytes_pass_through(void **state)
{
    (void)state;
    assert_reads(STR(""), STR(""));
    assert_reads(STR("x"), STR("x"));
    assert_reads(STR("{\"traceEvents\": []}"), STR("{\"traceEvents\": []}"));
}

static void members_and_frames_one_behind_the_other_are_one_stream(void **state)
{
    (void)state;
    struct buf text = {0}, gzip = {0}, zstd = {0}, thrice = {0};
    fill_text(&text, 2000);
    for (int i = 0; i < 3; i++) {
        add_gzip(&gzip, compress_text(&text), i * 4);
        add_gzip(&gzip, STR(""), 6);
        add_zstd(&zstd, compress_text(&text));
        add_zstd(&zstd, STR(""));
        buf_add(&zstd, "\x50\x2a\x4d\x18\x04\0\0\0skip", 12);
        buf_add_str(&thrice, compress_text(&text));
    }
    assert_reads(compress_text(&gzip), compress_text(&thrice));
    assert_reads(compress_text(&zstd), compress_text(&thrice));
    buf_free(&text);
    buf_free(&gzip);
    buf_free(&zstd);
    buf_free(&thrice);
}

static void bytes_behind_the_last_gzip_member_are_ignored(void **state)
{
    (void)state;
    struct buf gzip = {0};
    add_gzip(&gzip, STR("a trace"), 6);
    buf_add(&gzip, "\0\0\0garbage", 10);
    assert_reads(compress_text(&gzip), STR("a trace"));
    buf_free(&gzip);
}

static void a_gzip_header_with_name_comment_and_extra_field_is_passed_over(void **state)
{
    (void)state;
    struct buf gzip = {0}, named = {0};
    add_gzip(&gzip, STR("a trace"), 6);
    for (int member = 0; member < 2; member++) {
        buf_add(&named, "\x1F\x8B\x08\x1C\0\0\0\0\0\x03\x05\0extraname.json\0comment\0", 35);
        buf_add(&named, gzip.at + 10, gzip.len - 10);
    }
    assert_reads(compress_text(&named), STR("a tracea trace"));
    buf_free(&gzip);
    buf_free(&named);
}

static void two_layers_are_taken_off(void **state)
{
    (void)state;
    struct buf one = {0}, two = {0}, three = {0}, out = {0};
    add_gzip(&one, STR("text in gzip"), 6);
    add_zstd(&two, compress_text(&one));
    assert_reads(compress_text(&two), STR("text in gzip"));
    add_gzip(&three, compress_text(&two), 6);
    assert_int_equal(compress_read(compress_text(&three), 0, &out), ERR_NONE);
    assert_true(str_equal(compress_text(&out), compress_text(&one)));
    buf_free(&one);
    buf_free(&two);
    buf_free(&three);
    buf_free(&out);
}

// Every cut yields a prefix and then fails, however the bytes arrive.
static void cut_everywhere(struct str bytes, struct str text)
{
    size_t longest = 0;
    for (size_t cut = 1; cut < bytes.len; cut++) {
        struct buf out = {0};
        struct err err = {0};
        struct source *source = source_mem_open(bytes.at, cut, 1 + cut % 5, &err);
        source =
            bytes.at[0] == '\x1F' ? source_gzip_open(source, &err) : source_zstd_open(source, &err);
        assert_int_equal(compress_drain(source, 100, &out), ERR_FORMAT);
        assert_true(out.len <= text.len);
        assert_memory_equal(out.len ? out.at : "", text.at, out.len);
        longest = out.len > longest ? out.len : longest;
        buf_free(&out);
    }
    assert_true(longest > text.len / 2);
}

static void a_cut_stream_yields_what_came_before_and_then_fails(void **state)
{
    (void)state;
    struct buf text = {0}, gzip = {0}, zstd = {0};
    fill_text(&text, 60);
    add_gzip(&gzip, compress_text(&text), 6);
    cut_everywhere(compress_text(&gzip), compress_text(&text));
    add_zstd(&zstd, compress_text(&text)); // both frames are whole blocks
    size_t first = zstd.len;
    struct buf twice = {0};
    buf_add_str(&twice, compress_text(&text));
    buf_add_str(&twice, compress_text(&text));
    add_zstd(&zstd, compress_text(&text));
    struct buf out = {0};
    assert_int_equal(compress_read((struct str){zstd.at, first + 40}, 3, &out), ERR_FORMAT);
    assert_true(str_equal(compress_text(&out), compress_text(&text)));
    buf_free(&text);
    buf_free(&twice);
    buf_free(&gzip);
    buf_free(&zstd);
    buf_free(&out);
}

static void a_cut_below_another_decompressor_loses_nothing(void **state)
{
    (void)state;
    struct buf text = {0}, zstd = {0}, gzip = {0}, out = {0};
    fill_text(&text, 20000);
    add_zstd(&zstd, compress_text(&text));
    add_gzip(&gzip, compress_text(&zstd), 1);
    assert_int_equal(compress_read((struct str){gzip.at, gzip.len - 20}, 0, &out), ERR_FORMAT);
    assert_true(out.len > text.len * 3 / 4);
    assert_memory_equal(out.at, text.at, out.len);
    buf_free(&text);
    buf_free(&zstd);
    buf_free(&gzip);
    buf_free(&out);
}

static void damage_is_noticed(void **state)
{
    (void)state;
    struct buf text = {0}, bytes = {0}, out = {0};
    fill_text(&text, 100);
    for (int kind = 0; kind < 2; kind++) {
        buf_clear(&bytes);
        if (kind)
            add_zstd(&bytes, compress_text(&text));
        else
            add_gzip(&bytes, compress_text(&text), 6);
        bytes.at[bytes.len - 1 - (kind ? 0 : 4)] ^= 1; // in the checksum
        buf_clear(&out);
        assert_int_equal(compress_read(compress_text(&bytes), 0, &out), ERR_FORMAT);
        bytes.at[bytes.len - 1 - (kind ? 0 : 4)] ^= 1;
        for (size_t at = 12; at < bytes.len; at++) {
            bytes.at[at] ^= 0x10;
            buf_clear(&out);
            // Padding bits may change without changing the text.
            bool whole = compress_read(compress_text(&bytes), 0, &out) == ERR_NONE;
            if (whole && !str_equal(compress_text(&out), compress_text(&text)))
                fail_msg("kind %d, byte %zu of %zu: damage went unnoticed", kind, at, bytes.len);
            bytes.at[at] ^= 0x10;
        }
    }
    buf_free(&text);
    buf_free(&bytes);
    buf_free(&out);
}

static void a_frame_that_asks_for_too_much_memory_is_refused(void **state)
{
    (void)state;
    struct buf out = {0};
    // A window of 2^31 bytes: descriptor byte (31 - 10) << 3.
    assert_int_equal(compress_read(STR("\x28\xB5\x2F\xFD\x00\xA8\x01\x00\x00"), 0, &out),
                     ERR_FORMAT);
    assert_int_equal(out.len, 0);
    buf_free(&out);

    struct err err = {0};
    struct source *source = source_mem_open("\x28\xB5\x2F\xFD\x00\xA8\x01\x00\x00", 9, 0, &err);
    source = source_zstd_open(source, &err);
    char byte;
    size_t got;
    assert_false(source_read(source, &byte, 1, &got, &err));
    assert_non_null(strstr(err.msg, "--long=27"));
    source_close(source);
}

// One byte, then more empty members or frames than any tool writes.
static enum err_code read_flood(void (*add)(struct buf *out, struct str text))
{
    struct buf bytes = {0}, one = {0}, out = {0};
    add(&bytes, STR("x"));
    add(&one, STR(""));
    for (int i = 0; i < 100002; i++)
        buf_add_str(&bytes, compress_text(&one));
    enum err_code code = compress_read(compress_text(&bytes), 0, &out);
    buf_free(&bytes);
    buf_free(&one);
    buf_free(&out);
    return code;
}

static void add_gzip_6(struct buf *out, struct str text)
{
    add_gzip(out, text, 6);
}

static void a_flood_of_empty_members_or_frames_is_stopped(void **state)
{
    (void)state;
    assert_int_equal(read_flood(add_zstd), ERR_LIMIT);
    assert_int_equal(read_flood(add_gzip_6), ERR_LIMIT);
}

static enum err_code read_limited(struct str bytes, struct source_limits limits)
{
    struct err err = {0};
    struct source *source = source_mem_open(bytes.at, bytes.len, 0, &err);
    source = format_open(source, NULL, &(struct format_found){0}, &err);
    source = source_limit_open(source, limits, &err);
    struct buf out = {0};
    enum err_code code = compress_drain(source, 1 << 16, &out);
    buf_free(&out);
    return code;
}

// As bgzip writes them: blocks that say how long they are, and an empty one at the end.
static void add_blocks(struct buf *out, struct str text)
{
    for (bool more = true; more;) {
        struct buf gzip = {0};
        size_t len = text.len < 5000 ? text.len : 5000;
        add_gzip(&gzip, (struct str){text.at, len}, 6);
        size_t last = gzip.len + 8 - 1;
        const char size[] = {(char)(last & 0xFF), (char)(last >> 8)};
        buf_add(out,
                "\x1F\x8B\x08\x04\0\0\0\0\0\xFF\x06\0"
                "BC\x02\0",
                16);
        buf_add(out, size, 2);
        buf_add(out, gzip.at + 10, gzip.len - 10);
        buf_free(&gzip);
        more = len > 0;
        text = (struct str){text.at + len, text.len - len};
    }
}

// What reading gives, on so many cores.
struct outcome {
    struct buf text;
    struct err err;
};

static void read_on(unsigned core_count, struct str bytes, size_t cap, struct outcome *outcome)
{
    struct cores cores;
    struct str head;
    char block[4096];
    size_t got = 1;
    *outcome = (struct outcome){.err.pos = ERR_NO_POS};
    struct source *source = source_mem_open(bytes.at, bytes.len, 0, &outcome->err);
    source = bytes.at[0] == '\x1F' ? source_gzip_open(source, &outcome->err)
                                   : source_zstd_open(source, &outcome->err);
    source = source_peek_open(source, 100, &head, &outcome->err);
    if (!source)
        return;
    cores_init(&cores, core_count);
    cores_hold(&cores);
    source_spread(source, &cores);
    while (got && source_read(source, block, cap, &got, &outcome->err))
        buf_add(&outcome->text, block, got);
    source_close(source);
    assert_int_equal(cores_free(&cores), core_count - 1);
}

// damage: how much text comes before what is damaged.
static void assert_same_on_any_cores(struct str bytes, size_t cap, size_t damage)
{
    struct outcome alone, spread;
    read_on(1, bytes, cap, &alone);
    read_on(9, bytes, cap, &spread);
    assert_int_equal(spread.err.code, alone.err.code);
    assert_int_equal(spread.err.pos, alone.err.pos);
    assert_int_equal(spread.text.len, alone.text.len);
    // What stands where a block is damaged is up to the library.
    size_t sure = damage < alone.text.len ? damage : alone.text.len;
    assert_memory_equal(sure ? spread.text.at : "", sure ? alone.text.at : "", sure);
    buf_free(&alone.text);
    buf_free(&spread.text);
}

// The text of the whole pieces before a byte: what a cut there leaves, less the last piece.
static size_t whole_text(struct str bytes, size_t at)
{
    struct outcome cut;
    read_on(1, (struct str){bytes.at, at}, 4096, &cut);
    size_t len = cut.text.len;
    buf_free(&cut.text);
    return len > 100000 ? len - 100000 : 0;
}

static void frames_and_blocks_are_the_same_on_any_cores_however_damaged(void **state)
{
    (void)state;
    struct buf text = {0}, zstd = {0}, blocks = {0};
    fill_text(&text, 3000);
    for (int i = 0; i < 6; i++) {
        add_zstd(&zstd, compress_text(&text));
        buf_add(&zstd, "\x50\x2a\x4d\x18\x04\0\0\0skip", 12);
    }
    add_zstd(&zstd, STR(""));
    add_blocks(&blocks, compress_text(&text));
    const struct buf *both[] = {&zstd, &blocks};
    for (int b = 0; b < 2; b++) {
        struct str bytes = compress_text(both[b]);
        assert_same_on_any_cores(bytes, 4096, SIZE_MAX);
        assert_same_on_any_cores(bytes, 100, SIZE_MAX);
        for (size_t at = 1; at < bytes.len; at += bytes.len / 50) {
            size_t text_len = whole_text(bytes, at);
            assert_same_on_any_cores((struct str){bytes.at, at}, 4096, SIZE_MAX);
            both[b]->at[at] ^= 0x5A;
            assert_same_on_any_cores(bytes, 4096, text_len);
            both[b]->at[at] ^= 0x5A;
        }
    }
    buf_add_str(&blocks, STR("\0\0padding"));
    assert_same_on_any_cores(compress_text(&blocks), 4096, SIZE_MAX);
    buf_free(&text);
    buf_free(&zstd);
    buf_free(&blocks);
}

static void too_many_bytes_and_too_high_a_ratio_are_stopped(void **state)
{
    (void)state;
    struct buf zeros = {0}, bomb = {0};
    char block[1 << 16] = {0};
    for (int i = 0; i < 65 * 16; i++)
        buf_add(&zeros, block, sizeof block);
    add_zstd(&bomb, compress_text(&zeros));
    const struct source_limits fine = {.max_bytes = 65 << 20, .max_ratio = 1000000};
    const struct source_limits few = {.max_bytes = (65 << 20) - 1, .max_ratio = 1000000};
    const struct source_limits flat = {.max_bytes = 65 << 20, .max_ratio = 200};
    assert_int_equal(read_limited(compress_text(&bomb), fine), ERR_NONE);
    assert_int_equal(read_limited(compress_text(&bomb), few), ERR_LIMIT);
    assert_int_equal(read_limited(compress_text(&bomb), flat), ERR_LIMIT);
    assert_int_equal(read_limited(compress_text(&zeros), flat), ERR_NONE);
    buf_free(&zeros);
    buf_free(&bomb);
}

static void files_are_read_and_missing_ones_and_folders_named(void **state)
{
    (void)state;
    char path[] = "/tmp/stepscope-source-XXXXXX";
    struct err err = {0};
    struct buf out = {0};
    int fd = mkstemp(path);
    assert_int_equal(write(fd, "bytes", 5), 5);
    close(fd);
    struct source *source = source_file_open(path, &err);
    assert_non_null(source);
    assert_int_equal(compress_drain(source, 3, &out), ERR_NONE);
    assert_string_equal(out.at, "bytes");
    unlink(path);
    assert_null(source_file_open(path, &err));
    assert_int_equal(err.code, ERR_NOT_FOUND);
    assert_null(source_file_open("/tmp", &err));
    assert_int_equal(err.code, ERR_USAGE);
    buf_free(&out);
}

static void consumed_counts_compressed_bytes(void **state)
{
    (void)state;
    struct buf text = {0}, gzip = {0}, out = {0};
    struct err err = {0};
    fill_text(&text, 1000);
    add_gzip(&gzip, compress_text(&text), 6);
    struct source *source = source_mem_open(gzip.at, gzip.len, 0, &err);
    source = format_open(source, NULL, &(struct format_found){0}, &err);
    char block[1 << 16];
    size_t got = 1;
    while (got)
        assert_true(source_read(source, block, sizeof block, &got, &err));
    assert_int_equal(source_consumed(source), gzip.len);
    source_close(source);
    buf_free(&text);
    buf_free(&gzip);
    buf_free(&out);
}

static void assert_at(struct source *source, uint64_t offset, const char *expected)
{
    char block[4];
    size_t got;
    struct err err = {0};
    assert_true(source_read_at(source, &(struct source_place){offset, block, 4}, &got, &err));
    if (got != strlen(expected) || memcmp(block, expected, got) != 0)
        fail_msg("at %llu: expected %s, found %.*s", (unsigned long long)offset, expected, (int)got,
                 block);
}

// Reads here and there, and in between continues from the first byte.
static void assert_seeks(struct source *source, const char *text)
{
    struct str head;
    struct err err = {0};
    uint64_t size;
    char block[3];
    size_t got;
    source = source_peek_open(source, 5, &head, &err);
    assert_non_null(source);
    assert_true(source_size(source, &size));
    assert_int_equal(size, strlen(text));
    assert_at(source, 6, "6789");
    assert_true(source_fill(source, block, 3, &got, &err));
    assert_memory_equal(block, "012", 3);
    assert_at(source, 8, "89");
    assert_at(source, 10, "");
    assert_at(source, UINT64_MAX, "");
    assert_at(source, 0, "0123");
    assert_true(source_fill(source, block, 3, &got, &err));
    assert_memory_equal(block, "345", 3);
    source_close(source);
}

static void files_and_memory_are_read_anywhere(void **state)
{
    (void)state;
    struct err err = {0};
    char path[] = "/tmp/stepscope-source-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "ab0123456789", 12), 12);
    assert_int_equal(lseek(fd, 2, SEEK_SET), 2); // a source starts at its descriptor's position
    assert_seeks(source_fd_open(fd, &err), "0123456789");
    assert_seeks(source_mem_open("0123456789", 10, 2, &err), "0123456789");
    close(fd);
    unlink(path);
}

static void pipes_are_read_in_order_alone(void **state)
{
    (void)state;
    struct err err = {0};
    uint64_t size;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    struct source *source = source_fd_open(ends[0], &err);
    assert_non_null(source);
    assert_false(source_size(source, &size));
    source_close(source);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_and_memory_are_read_anywhere),
        cmocka_unit_test(pipes_are_read_in_order_alone),
        cmocka_unit_test(plain_bytes_pass_through),
        cmocka_unit_test(members_and_frames_one_behind_the_other_are_one_stream),
        cmocka_unit_test(bytes_behind_the_last_gzip_member_are_ignored),
        cmocka_unit_test(a_gzip_header_with_name_comment_and_extra_field_is_passed_over),
        cmocka_unit_test(two_layers_are_taken_off),
        cmocka_unit_test(a_cut_stream_yields_what_came_before_and_then_fails),
        cmocka_unit_test(a_cut_below_another_decompressor_loses_nothing),
        cmocka_unit_test(damage_is_noticed),
        cmocka_unit_test(a_frame_that_asks_for_too_much_memory_is_refused),
        cmocka_unit_test(a_flood_of_empty_members_or_frames_is_stopped),
        cmocka_unit_test(frames_and_blocks_are_the_same_on_any_cores_however_damaged),
        cmocka_unit_test(too_many_bytes_and_too_high_a_ratio_are_stopped),
        cmocka_unit_test(files_are_read_and_missing_ones_and_folders_named),
        cmocka_unit_test(consumed_counts_compressed_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
