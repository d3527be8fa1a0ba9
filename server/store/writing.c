// SPDX-License-Identifier: Apache-2.0
#include "server/store/writing.h"

struct bound {
    enum { BOUND_TEXT, BOUND_I64, BOUND_F64 } type;
    struct str text;
    int64_t i;
    double f;
};

void writing_put(struct writing *to, const char *sql)
{
    buf_puts(&to->sql, sql);
}

static void bind(struct writing *to, struct bound value)
{
    struct bound *more = arena_more(to->arena, to->bound, to->count, sizeof *more, NULL);
    to->sql.failed |= !more;
    if (!more)
        return;
    to->bound = more;
    to->bound[to->count++] = value;
}

void writing_put_text(struct writing *to, const char *sql, struct str value)
{
    writing_put(to, sql);
    bind(to, (struct bound){.type = BOUND_TEXT, .text = value});
}

void writing_put_i64(struct writing *to, const char *sql, int64_t value)
{
    writing_put(to, sql);
    bind(to, (struct bound){.type = BOUND_I64, .i = value});
}

void writing_put_f64(struct writing *to, const char *sql, double value)
{
    writing_put(to, sql);
    bind(to, (struct bound){.type = BOUND_F64, .f = value});
}

struct stmt writing_begin(struct db *db, const struct writing *from, struct err *err)
{
    struct stmt stmt = sql_begin(db, from->sql.at, err);
    for (size_t i = 0; i < from->count; i++) {
        const struct bound *value = &from->bound[i];
        if (value->type == BOUND_TEXT)
            sql_bind_text(&stmt, value->text);
        else if (value->type == BOUND_I64)
            sql_bind_i64(&stmt, value->i);
        else
            sql_bind_f64(&stmt, value->f);
    }
    return stmt;
}

bool writing_read_numbers(struct db *db, struct writing *from, uint64_t *numbers, int count,
                          struct err *err)
{
    bool ok = buf_ok(&from->sql, err);
    if (ok) {
        struct stmt stmt = writing_begin(db, from, err);
        bool found = sql_row(&stmt);
        for (int i = 0; i < count; i++)
            numbers[i] = found ? (uint64_t)sql_i64(&stmt, i) : 0;
        ok = sql_end(&stmt);
    }
    buf_free(&from->sql);
    return ok;
}
