// SPDX-License-Identifier: Apache-2.0
// Updates a database's schema to the newest version: numbered files, each applied once, all in one
// transaction, never backwards.
#include "server/store/schema_data.h"
#include "server/store/store_sql.h"

#include "ingest/base/log.h"

// What a program does after one of the files. It sees the schema of that file: a function that is
// called from there must not need what a later file adds.
static const struct {
    const char *file;
    bool (*run)(struct db *db, struct err *err);
} conversions[] = {{"0025_run_parts.sql", convert_run_tables}};

static bool apply(struct db *db, const struct migration *migration, struct err *err)
{
    bool ok = sql_execute_all(db, migration->sql, err);
    for (size_t i = 0; ok && i < sizeof conversions / sizeof *conversions; i++)
        if (strcmp(conversions[i].file, migration->name) == 0)
            ok = conversions[i].run(db, err);
    return ok || err_wrap(err, "%s", migration->name);
}

static const struct schema *schema_of(const struct db *db)
{
    return db->kind == &db_sqlite ? &schema_sqlite : &schema_postgres;
}

static bool migrate(struct db *db, int64_t version, struct err *err)
{
    const struct schema *schema = schema_of(db);
    for (int i = version ? (int)version + 1 : schema->first; i <= schema->version; i++) {
        const struct migration *file = &schema->files[i - schema->first];
        if (version) // logged because building indexes for a million runs takes minutes
            log_info("database schema: %s, %d of %d", file->name, i, schema->version);
        if (!apply(db, file, err))
            return false;
    }
    if (!db->kind->write_version(db, schema->version, err))
        return false;
    if (version)
        log_info("database schema upgraded from %lld to %d", (long long)version, schema->version);
    return true;
}

static bool check_version(const struct db *db, int64_t version, struct err *err)
{
    return version <= schema_of(db)->version ||
           err_set(err, ERR_UNSUPPORTED,
                   "the database has schema %lld, this program supports up to %d: run a newer one",
                   (long long)version, schema_of(db)->version);
}

// In one transaction; version is the current one. Another program may have had the turn before.
static bool migrate_in_one(struct db *db, struct err *err)
{
    int64_t version;
    bool ok = db->kind->begin(db, DB_WRITE, err) && db->kind->read_version(db, &version, err) &&
              check_version(db, version, err) &&
              (version == schema_of(db)->version || migrate(db, version, err)) &&
              db->kind->commit(db, err);
    if (!ok)
        db->kind->rollback(db);
    return ok;
}

bool migrate_check(struct db *db, struct err *err)
{
    int64_t version;
    return db->kind->read_version(db, &version, err) && check_version(db, version, err);
}

bool migrate_schema(struct db *db, struct err *err)
{
    int64_t version;
    if (!db->kind->read_version(db, &version, err) || !check_version(db, version, err))
        return false;
    bool is_new = version == schema_of(db)->version;
    if (!is_new && ((version != 0 && !db->kind->copy_before_schema(db, version, err)) ||
                    !migrate_in_one(db, err)))
        return false;
    db->version = schema_of(db)->version;
    return true;
}
