// SPDX-License-Identifier: Apache-2.0
#include "server/exports/export.h"

#include "ingest/base/hash.h"

#include <stdio.h>

const struct table_export *const exports[] = {
    &export_json,    &export_columns, &export_csv,        &export_ndjson, &export_arrow,
    &export_parquet, &export_xlsx,    &export_speedscope, &export_pprof,  NULL};

uint64_t export_hash(const struct table_export *export)
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

const struct table_export *export_find(struct str word, struct err *err)
{
    for (size_t i = 0; exports[i]; i++)
        if (str_equal(word, str_of(exports[i]->word)))
            return exports[i];
    (void)refuse(word, err);
    return NULL;
}

bool export_open(const struct table_export *export, struct export_view *view, struct err *err)
{
    view->state = NULL;
    return !export->open || export->open(view, err);
}

void export_close(const struct table_export *export, struct export_view *view)
{
    if (view->state)
        export->close(view->state);
    view->state = NULL;
}

void export_head(const struct table_export *export, const struct export_view *view, struct buf *out)
{
    if (export->head)
        export->head(view, out);
}

void export_rows(const struct table_export *export, const struct export_view *view,
                 const struct table *rows, struct buf *out)
{
    if (export->rows)
        export->rows(view, rows, 0, out);
    for (unsigned i = 0; export->column && i < view->column_count; i++) {
        export->column(view, i, out);
        export->values(rows, view->columns[i], 0, out);
    }
}

void export_tail(const struct table_export *export, const struct export_view *view,
                 const struct export_end *end, struct buf *out)
{
    if (export->tail)
        export->tail(view, end, out);
}

bool export_table(const struct table_export *export, struct export_view *view,
                  const struct table *rows, const struct export_end *end, struct buf *out,
                  struct err *err)
{
    bool more = export->rest, ok = export_open(export, view, err);
    if (ok) {
        export_head(export, view, out);
        export_rows(export, view, rows, out);
        export_tail(export, view, end, out);
    }
    while (ok && more)
        ok = export->rest(view, out, &more, err);
    export_close(export, view);
    return ok && buf_ok(out, err);
}
