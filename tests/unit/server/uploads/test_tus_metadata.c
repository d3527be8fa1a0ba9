// SPDX-License-Identifier: Apache-2.0
// Upload-Metadata is read as defined by the tus protocol, and base64 has only one reading.
#include "server/base/base64.h"
#include "server/uploads/tus_metadata.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void assert_decodes(const char *text, const char *expected)
{
    struct arena arena;
    struct str bytes;
    struct err err = {0};
    arena_init(&arena, NULL);
    if (!base64_decode(str_of(text), &arena, &bytes, &err))
        fail_msg("%s: %s", text, err.msg);
    assert_true(str_equal(bytes, str_of(expected)));
    arena_free(&arena);
}

static void base64_is_decoded_with_and_without_padding(void **state)
{
    (void)state;
    assert_decodes("", "");
    assert_decodes("Zg==", "f");
    assert_decodes("Zg", "f");
    assert_decodes("Zm8=", "fo");
    assert_decodes("Zm8", "fo");
    assert_decodes("Zm9v", "foo");
    assert_decodes("Zm9vYmFy", "foobar");
    assert_decodes("w7/Dvg==", "\xC3\xBF\xC3\xBE");
}

static void base64_with_two_readings_is_refused(void **state)
{
    (void)state;
    const char *const bad[] = {"Z",     "Zh==",  "Zm9=",   "Zg=",       "=",     "====",    "A===",
                               "Zm9v=", "Zm 9v", "Zm9v\n", "Zm9vYmFy!", "Zm9-_", "Zg==Zg=="};
    struct arena arena;
    arena_init(&arena, NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct str bytes;
        struct err err = {0};
        if (base64_decode(str_of(bad[i]), &arena, &bytes, &err))
            fail_msg("'%s' was decoded", bad[i]);
        assert_int_equal(err.code, ERR_USAGE);
    }
    arena_free(&arena);
}

static void assert_field(const struct tus_metadata *metadata, size_t i, const char *name,
                         const char *value)
{
    assert_true(i < metadata->count);
    assert_true(str_equal(metadata->fields[i].name, str_of(name)));
    assert_true(str_equal(metadata->fields[i].value, str_of(value)));
}

static void pairs_become_fields_and_lines_become_several(void **state)
{
    (void)state;
    struct arena arena;
    struct tus_metadata metadata;
    struct err err = {0};
    arena_init(&arena, NULL);
    // run=a, tag="k=1\nl=2", is_empty without a value
    assert_true(tus_metadata_parse(STR("run YQ==, tag az0xCmw9Mg==,is_empty,note "), &arena,
                                   &metadata, &err));
    assert_int_equal(metadata.count, 5);
    assert_field(&metadata, 0, "run", "a");
    assert_field(&metadata, 1, "tag", "k=1");
    assert_field(&metadata, 2, "tag", "l=2");
    assert_field(&metadata, 3, "is_empty", "");
    assert_field(&metadata, 4, "note", "");
    assert_true(tus_metadata_parse(STR(""), &arena, &metadata, &err));
    assert_int_equal(metadata.count, 0);
    arena_free(&arena);
}

static void metadata_is_written_down_without_secrets(void **state)
{
    (void)state;
    struct arena arena;
    struct tus_metadata metadata;
    struct str header;
    struct err err = {0};
    arena_init(&arena, NULL);
    assert_true(tus_metadata_parse(STR("tag YT0xCmI9Mg==,x"), &arena, &metadata, &err));
    assert_true(tus_metadata_clean(&metadata, &arena, &header, &err));
    assert_true(str_equal(header, STR("tag YT0x,tag Yj0y,x ")));
    // meta=DB_PASSWORD=hunter2hunter2
    assert_true(tus_metadata_parse(STR("meta REJfUEFTU1dPUkQ9aHVudGVyMmh1bnRlcjI="), &arena,
                                   &metadata, &err));
    assert_true(tus_metadata_clean(&metadata, &arena, &header, &err));
    assert_true(tus_metadata_parse(header, &arena, &metadata, &err));
    assert_int_equal(metadata.count, 1);
    assert_true(str_find(metadata.fields[0].value, STR("DB_PASSWORD")) == 0);
    assert_true(str_find(metadata.fields[0].value, STR("hunter2")) == SIZE_MAX);
    arena_free(&arena);
}

static void what_is_no_metadata_is_refused(void **state)
{
    (void)state;
    // A pair without a name, a control character, broken base64, no UTF-8, a NUL.
    const char *const bad[] = {",", "a YQ==,,b YQ==", "a\tb YQ==", "a Y", "a /w==", "a AA=="};
    struct arena arena;
    arena_init(&arena, NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct tus_metadata metadata;
        struct err err = {0};
        if (tus_metadata_parse(str_of(bad[i]), &arena, &metadata, &err))
            fail_msg("'%s' was taken", bad[i]);
        assert_int_equal(err.code, ERR_USAGE);
    }
    arena_free(&arena);
}

static void more_values_than_anybody_needs_are_refused(void **state)
{
    (void)state;
    char header[3 * (TUS_MAX_FIELDS + 1)];
    struct arena arena;
    struct tus_metadata metadata;
    struct err err = {0};
    size_t len = 0;
    for (size_t i = 0; i <= TUS_MAX_FIELDS; i++) {
        header[len++] = 'a';
        header[len++] = ',';
    }
    arena_init(&arena, NULL);
    assert_true(tus_metadata_parse((struct str){header, len - 3}, &arena, &metadata, &err));
    assert_int_equal(metadata.count, TUS_MAX_FIELDS);
    assert_false(tus_metadata_parse((struct str){header, len}, &arena, &metadata, &err));
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base64_is_decoded_with_and_without_padding),
        cmocka_unit_test(base64_with_two_readings_is_refused),
        cmocka_unit_test(pairs_become_fields_and_lines_become_several),
        cmocka_unit_test(metadata_is_written_down_without_secrets),
        cmocka_unit_test(what_is_no_metadata_is_refused),
        cmocka_unit_test(more_values_than_anybody_needs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
