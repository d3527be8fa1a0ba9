// SPDX-License-Identifier: Apache-2.0
// The multipart reader returns the same parts however the body is split, and refuses anything else.
#include "server/uploads/multipart.h"

#include "ingest/base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

// A body delivered in steps; with `split`, in two pieces.
struct feed {
    struct str body;
    size_t step, split, at;
};

static bool feed_read(void *ctx, void *bytes, size_t cap, size_t *got, struct err *err)
{
    (void)err;
    struct feed *feed = ctx;
    size_t end = feed->body.len;
    if (feed->at < feed->split)
        end = feed->split;
    size_t len = end - feed->at;
    if (feed->step && len > feed->step)
        len = feed->step;
    if (len > cap)
        len = cap;
    memcpy(bytes, feed->body.at + feed->at, len);
    feed->at += len;
    *got = len;
    return true;
}

// "name|filename|content;" of every part, then "end" or the error's message.
static void read_parts(struct multipart *m, struct buf *out)
{
    struct err err = {0};
    struct multipart_part part;
    bool found = false;
    bool ok = true;
    while ((ok = multipart_next(m, &part, &found, &err)) && found) {
        buf_printf(out, "%s|%s|", part.name, part.is_file ? part.filename : "-");
        struct str bytes;
        while ((ok = multipart_read(m, &bytes, &err)) && bytes.len)
            buf_add_str(out, bytes);
        if (!ok)
            break;
        buf_puts(out, ";");
    }
    buf_puts(out, ok ? "end" : err.msg);
}

static void parse(struct feed feed, struct buf *out)
{
    struct err err = {0};
    struct multipart *m = multipart_open("XyZ", (struct multipart_source){feed_read, &feed}, &err);
    assert_non_null(m);
    buf_clear(out);
    read_parts(m, out);
    multipart_close(m);
}

static void assert_parses(struct str body, const char *expected)
{
    struct buf out = {0};
    parse((struct feed){.body = body}, &out);
    assert_string_equal(out.at, expected);
    buf_free(&out);
}

// Parts, a delimiter that is not one, line ends at every edge, and an empty part.
static const char sample[] =
    "preamble\r\n--XyZ\r\nContent-Disposition: form-data; name=\"run\"\r\n\r\nllama\r\n--XyZ\r\n"
    "content-disposition: form-data; name=trace; filename=\"C:\\dir\\a\\\"b.json\"\r\n"
    "Content-Type: application/json\r\n\r\n\r\n--XyZ-not\r\n--Xy\r\r\n{}\r\n\r\n--XyZ\r\n"
    "Content-Disposition: form-data; name=\"empty\"\r\n\r\n\r\n--XyZ--\r\nepilogue";
static const char sample_parts[] =
    "run|-|llama;trace|C:\\dir\\a\"b.json|\r\n--XyZ-not\r\n--Xy\r\r\n{}\r\n;empty|-|;end";

static void parts_are_read_as_they_stand(void **state)
{
    (void)state;
    assert_parses(str_of(sample), sample_parts);
    assert_parses(STR("--XyZ--"), "end");
}

static void blanks_behind_a_delimiter_are_none_of_its_part(void **state)
{
    (void)state;
    static const char body[] =
        "--XyZ \t \r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--XyZ  x\r\n--XyZ \r\n"
        "Content-Disposition: form-data; name=b\r\n\r\n2\r\n--XyZ--  \r\n";
    struct buf out = {0};
    for (size_t split = 0; split < sizeof body; split++) {
        parse((struct feed){.body = str_of(body), .split = split}, &out);
        assert_string_equal(out.at, "a|-|1\r\n--XyZ  x;b|-|2;end");
    }
    buf_free(&out);
}

static void every_split_and_step_gives_the_same_parts(void **state)
{
    (void)state;
    struct buf out = {0};
    for (size_t split = 0; split <= sizeof(sample) - 1; split++) {
        parse((struct feed){.body = str_of(sample), .split = split}, &out);
        assert_string_equal(out.at, sample_parts);
    }
    for (size_t step = 1; step <= 64; step++) {
        parse((struct feed){.body = str_of(sample), .step = step}, &out);
        assert_string_equal(out.at, sample_parts);
    }
    buf_free(&out);
}

static void a_body_cut_anywhere_before_its_last_delimiter_fails(void **state)
{
    (void)state;
    struct buf out = {0};
    size_t whole = sizeof(sample) - 1 - strlen("\r\nepilogue");
    for (size_t len = 0; len < whole; len++) {
        parse((struct feed){.body = {sample, len}}, &out);
        assert_non_null(strstr(out.at, "expected a closing delimiter"));
    }
    buf_free(&out);
}

static void contents_larger_than_the_buffer_come_whole(void **state)
{
    (void)state;
    struct buf body = {0};
    struct buf expected = {0};
    buf_puts(&body, "--XyZ\r\nContent-Disposition: form-data; name=\"t\"\r\n\r\n");
    buf_puts(&expected, "t|-|");
    for (int i = 0; i < 100000; i++) {
        buf_printf(&body, "%d\r\n--Xy", i);
        buf_printf(&expected, "%d\r\n--Xy", i);
    }
    buf_puts(&body, "\r\n--XyZ--");
    buf_puts(&expected, ";end");
    assert_true(body.len > 3 * MULTIPART_BUFFER_BYTES);
    struct buf out = {0};
    parse((struct feed){.body = {body.at, body.len}, .step = 4099}, &out);
    assert_int_equal(out.len, expected.len);
    assert_memory_equal(out.at, expected.at, out.len);
    buf_free(&out);
    buf_free(&expected);
    buf_free(&body);
}

#define HEADER "--XyZ\r\nContent-Disposition: form-data; name=\"a\"\r\n"

static void bodies_that_are_none_are_refused(void **state)
{
    (void)state;
    const char *const end = "multipart body: found its end, expected a closing delimiter";
    assert_parses(STR(""), end);
    assert_parses(STR("--XyZ\n--XyZ--"), end);
    assert_parses(STR(" --XyZ--"), end);
    assert_parses(STR("--XyZ\r\n\r\nx\r\n--XyZ--"),
                  "multipart body: found a part without Content-Disposition");
    assert_parses(STR("--XyZ\r\nContent-Disposition: form-data; nam=a\r\n\r\n\r\n--XyZ--"),
                  "multipart body: found a part without a name");
    assert_parses(STR("--XyZ\r\nContent-Disposition: attachment; name=a\r\n\r\n\r\n--XyZ--"),
                  "multipart body: found a part that is not form-data with a name");
    assert_parses(STR("--XyZ\r\nno colon\r\n\r\n\r\n--XyZ--"),
                  "multipart body: found a header line without a colon");
    assert_parses(STR(HEADER "X: \0\r\n\r\n\r\n--XyZ--"),
                  "multipart body: found a NUL in the header of a part");
    assert_parses(STR(HEADER "Content-Transfer-Encoding: base64\r\n\r\n\r\n--XyZ--"),
                  "multipart body: found a Content-Transfer-Encoding, expected plain bytes");
}

// A body of `count` times `text` between begin and end.
static void assert_repeated(const char *begin, const char *text, size_t count, const char *expected)
{
    struct buf body = {0};
    buf_puts(&body, begin);
    for (size_t i = 0; i < count; i++)
        buf_puts(&body, text);
    struct buf out = {0};
    for (size_t step = 0; step <= 1; step++) {
        parse((struct feed){.body = {body.at, body.len}, .step = step}, &out);
        assert_non_null(strstr(out.at, expected));
    }
    buf_free(&out);
    buf_free(&body);
}

static void limits_hold(void **state)
{
    (void)state;
    assert_repeated("", "x", MULTIPART_MARGIN_BYTES + 100, "found no delimiter near its start");
    assert_repeated("--XyZ--", "x", MULTIPART_MARGIN_BYTES, "end");
    assert_repeated("--XyZ--", "x", MULTIPART_MARGIN_BYTES + 1, "found more than 4 KiB after");
    assert_repeated(HEADER "A:", "x", MULTIPART_HEADER_BYTES, "header of more than 8 KiB");
    assert_repeated("", HEADER "\r\n\r\n", MULTIPART_MAX_PARTS + 1, "found more than 128 parts");
}

static bool boundary_is(const char *type, const char *expected)
{
    char boundary[MULTIPART_BOUNDARY_MAX + 1];
    struct err err = {0};
    bool ok = multipart_boundary(str_of(type), boundary, &err);
    return expected ? ok && strcmp(boundary, expected) == 0 : !ok && err.code == ERR_USAGE;
}

static void boundaries_are_read_with_quotes_and_other_parameters(void **state)
{
    (void)state;
    assert_true(boundary_is("multipart/form-data; boundary=abc", "abc"));
    assert_true(boundary_is("Multipart/Form-Data;charset=utf-8; Boundary=\"a b?c\"", "a b?c"));
    assert_true(boundary_is("multipart/form-data; boundary=abc; charset=utf-8", "abc"));
    assert_true(boundary_is("multipart/form-data", NULL));
    assert_true(boundary_is("multipart/form-data; boundary=", NULL));
    assert_true(boundary_is("multipart/form-data; boundary=\"abc", NULL));
    assert_true(boundary_is("multipart/form-data; boundary=a@b", NULL));
    assert_true(boundary_is("application/x-www-form-urlencoded", NULL));
    assert_true(boundary_is("", NULL));
    char longest[128] = "multipart/form-data; boundary=";
    memset(longest + strlen(longest), 'x', MULTIPART_BOUNDARY_MAX);
    assert_true(boundary_is(longest, strchr(longest, '=') + 1));
    longest[strlen(longest)] = 'x';
    assert_true(boundary_is(longest, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_read_as_they_stand),
        cmocka_unit_test(blanks_behind_a_delimiter_are_none_of_its_part),
        cmocka_unit_test(every_split_and_step_gives_the_same_parts),
        cmocka_unit_test(a_body_cut_anywhere_before_its_last_delimiter_fails),
        cmocka_unit_test(contents_larger_than_the_buffer_come_whole),
        cmocka_unit_test(bodies_that_are_none_are_refused),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(boundaries_are_read_with_quotes_and_other_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
