// SPDX-License-Identifier: Apache-2.0
#include "server/exports/export.h"

#include "ingest/base/hash.h"

#include <stdio.h>

const struct export *const exports[] = {&export_json, &export_columns, &export_csv, &export_ndjson,
                                        NULL};

uint64_t export_hash(const struct export *export)
{
    struct str word = str_of(export->word);
    return hash_bytes(word.at, word.len);
}

static bool refuse(struct str word, struct err *err)
{
    char known[80] = "";
    size_t len = 0;
    for (size_t i = 0; exports[i] && len < sizeof known; i++) {
        const char *join = i == 0 ? "" : exports[i + 1] ? ", " : " or ";
        len += (size_t)snprintf(known + len, sizeof known - len, "%s%s", join, exports[i]->word);
    }
    return err_set(err, ERR_USAGE, "found format '%.*s', expected %s",
                   (int)(word.len < 40 ? word.len : 40), word.at, known);
}

const struct export *export_find(struct str word, struct err *err)
{
    for (size_t i = 0; exports[i]; i++)
        if (str_equal(word, str_of(exports[i]->word)))
            return exports[i];
    (void)refuse(word, err);
    return NULL;
}
