// SPDX-License-Identifier: Apache-2.0
// Settings that people enter for a run, such as its batch size, and which are valid.
#include "server/store/store_sql.h"

#include <stdio.h>

static bool check_count(const struct run_tag *meta, struct err *err)
{
    const int64_t most = (int64_t)1 << 48; // comparisons calculate with it
    int64_t number = 0;
    return (str_to_i64(meta->value, &number) && number > 0 && number <= most) ||
           err_set(err, ERR_USAGE, "found %.*s '%.*s', expected a whole number from 1 to 2^48",
                   (int)meta->key.len, meta->key.at,
                   (int)(meta->value.len < 60 ? meta->value.len : 60), meta->value.at);
}

// Comparisons calculate with these, so a mistake is reported when it is entered.
static bool check_known(const struct run_tag *meta, struct err *err)
{
    static const char *const counts[] = {"batch_size", "seq_len", "tokens_per_step"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (str_equal(meta->key, str_of(counts[i])))
            return check_count(meta, err);
    return !str_equal(meta->key, STR("data")) || str_equal(meta->value, STR("real")) ||
           str_equal(meta->value, STR("synthetic")) ||
           err_set(err, ERR_USAGE, "found data '%.*s', expected real or synthetic",
                   (int)(meta->value.len < 60 ? meta->value.len : 60), meta->value.at);
}

// The key is a valid word.
static bool check_value(const struct run_tag *meta, struct err *err)
{
    char key[STORE_WORD_MAX_BYTES + 1];
    snprintf(key, sizeof key, "%.*s", (int)meta->key.len, meta->key.at);
    if (meta->value.len == 0)
        return err_set(err, ERR_USAGE, "found 0 bytes of %s, expected text", key);
    return text_check_line(key, meta->value, STORE_NAME_MAX_BYTES, err) && check_known(meta, err);
}

bool meta_check(const struct run_tag *meta, size_t count, struct err *err)
{
    if (count > 2 * STORE_MAX_META) // some entries of a change may be removals
        return err_set(err, ERR_USAGE, "found %zu settings, expected at most %zu", count,
                       STORE_MAX_META);
    for (size_t i = 0; i < count; i++)
        if (!text_check_letters("metadata key", meta[i].key, err) ||
            (meta[i].value.at &&
             (!text_check_secret("metadata key", meta[i].key, err) || !check_value(&meta[i], err))))
            return false; // an entry to remove may have any old value
    return true;
}

static bool set_one(struct db *db, struct str run_id, const struct run_tag *meta, struct err *err)
{
    struct stmt stmt =
        sql_begin(db,
                  "INSERT INTO metadata VALUES (?, ?, ?) "
                  "ON CONFLICT (run_id, \"key\") DO UPDATE SET value = excluded.value",
                  err);
    sql_bind_text(&stmt, run_id);
    sql_bind_text(&stmt, meta->key);
    sql_bind_clean_value(&stmt, meta->key, meta->value);
    return sql_run(&stmt);
}

static bool remove_one(struct db *db, struct str run_id, struct str key, struct err *err)
{
    struct stmt stmt = sql_begin(db, "DELETE FROM metadata WHERE run_id = ? AND \"key\" = ?", err);
    sql_bind_text(&stmt, run_id);
    sql_bind_text(&stmt, key);
    return sql_run(&stmt);
}

static bool check_total(struct db *db, struct str run_id, struct err *err)
{
    struct stmt stmt = sql_begin(db, "SELECT count(*) FROM metadata WHERE run_id = ?", err);
    sql_bind_text(&stmt, run_id);
    int64_t total = sql_row(&stmt) ? sql_i64(&stmt, 0) : 0;
    if (!sql_end(&stmt))
        return false;
    return total <= (int64_t)STORE_MAX_META ||
           err_set(err, ERR_USAGE, "found %lld settings of a run, expected at most %zu",
                   (long long)total, STORE_MAX_META);
}

bool meta_merge(struct db *db, struct str run_id, const struct run_tag *meta, size_t count,
                struct err *err)
{
    for (size_t i = 0; i < count; i++)
        if (!(meta[i].value.at ? set_one(db, run_id, &meta[i], err)
                               : remove_one(db, run_id, meta[i].key, err)) ||
            !figures_give(db, run_id, meta[i].key, err))
            return false;
    return count == 0 || check_total(db, run_id, err);
}
