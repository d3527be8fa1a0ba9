// SPDX-License-Identifier: Apache-2.0
// The dashboard files embedded by the build: complete, sorted, and the same bytes plain and
// compressed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#define ZLIB_CONST
#include <zlib.h>

#include "server/http/assets_data.h"

static const struct asset *find(const char *path)
{
    for (size_t i = 0; i < assets_count; i++)
        if (strcmp(assets_table[i].path, path) == 0)
            return &assets_table[i];
    return NULL;
}

static void the_page_its_module_and_its_stylesheet_are_there(void **state)
{
    (void)state;
    static const char *const expected[] = {"index.html", "app.mjs", "css/all.css", "theme.js",
                                           "vendor/LICENSE.preact"};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const struct asset *asset = find(expected[i]);
        assert_non_null(asset);
        assert_true(asset->size > 100);
    }
    assert_string_equal(find("app.mjs")->type, "text/javascript; charset=utf-8");
    assert_null(find("base/ui.mjs")); // a part of the module
    assert_null(find("vendor/esbuild"));
    assert_null(find("vendor.sh"));
    assert_null(find("package.json"));
}

static void paths_are_sorted_and_unique(void **state)
{
    (void)state;
    for (size_t i = 1; i < assets_count; i++)
        assert_true(strcmp(assets_table[i - 1].path, assets_table[i].path) < 0);
}

static void etags_are_quoted_hashes(void **state)
{
    (void)state;
    for (size_t i = 0; i < assets_count; i++) {
        const char *etag = assets_table[i].etag;
        assert_int_equal(strlen(etag), 26);
        assert_int_equal(strspn(etag + 1, "0123456789abcdef"), 24);
        assert_true(etag[0] == '"' && etag[25] == '"');
    }
    assert_int_equal(strspn(assets_tree_hash, "0123456789abcdef"), 12);
    assert_int_equal(strlen(assets_tree_hash), 12);
}

static void unzip_and_compare(const struct asset *asset)
{
    unsigned char *plain = malloc(asset->size + 1);
    assert_non_null(plain);
    z_stream zip = {.next_in = asset->gz,
                    .avail_in = (uInt)asset->gz_size,
                    .next_out = plain,
                    .avail_out = (uInt)asset->size + 1};
    assert_int_equal(inflateInit2(&zip, 15 + 16), Z_OK);
    assert_int_equal(inflate(&zip, Z_FINISH), Z_STREAM_END);
    assert_int_equal(zip.total_out, asset->size);
    assert_int_equal(zip.avail_in, 0);
    assert_memory_equal(plain, asset->data, asset->size);
    inflateEnd(&zip);
    free(plain);
}

static void compressed_bytes_are_the_plain_ones(void **state)
{
    (void)state;
    for (size_t i = 0; i < assets_count; i++)
        unzip_and_compare(&assets_table[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_its_module_and_its_stylesheet_are_there),
        cmocka_unit_test(paths_are_sorted_and_unique),
        cmocka_unit_test(etags_are_quoted_hashes),
        cmocka_unit_test(compressed_bytes_are_the_plain_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
