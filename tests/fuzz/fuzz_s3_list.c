// SPDX-License-Identifier: Apache-2.0
// Any bytes as a list of S3, and as the values that PostgreSQL sends: never a crash, and an end.
#include "server/db/postgres_text.h"
#include "server/db/postgres_value.h"
#include "server/files/s3_list.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_list(struct str xml, struct str tag)
{
    struct s3_entry entry;
    while (s3_list_next(&xml, tag, &entry))
        (void)s3_list_is_before(entry.time, "2026");
    (void)s3_list_text(xml, STR("NextContinuationToken"));
}

static void read_values(struct str bytes)
{
    static const unsigned types[] = {POSTGRES_BOOL, POSTGRES_INT8, POSTGRES_FLOAT8,
                                     POSTGRES_NUMERIC};
    struct buf clean = {0};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        (void)postgres_i64(types[i], bytes);
        (void)postgres_f64(types[i], bytes);
    }
    postgres_clean_text(bytes, &clean);
    if (!clean.failed && clean.at && !postgres_is_clean((struct str){clean.at, clean.len}))
        abort();
    buf_free(&clean);
}

static void read_statement(struct str bytes)
{
    struct buf words = {0};
    struct buf text = {0}; // ends with a zero, unlike the input
    buf_add(&text, bytes.at, bytes.len);
    if (text.at)
        (void)postgres_text(text.at, &words);
    buf_free(&text);
    buf_free(&words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = {size ? (const char *)data : "", size};
    read_list(bytes, STR("Contents"));
    read_list(bytes, STR("Upload"));
    read_values(bytes);
    read_statement(bytes);
    return 0;
}
