// SPDX-License-Identifier: Apache-2.0
// What the files of a run say about how it was made: its log, configuration, environment.
#include "analysis/compare/compare_settings.h"

#include <stdlib.h>

static const struct table *settings_of(const struct compare_run *run)
{
    return report_find(run->run, "job_settings");
}

size_t compare_count_files(const struct compare_run *run)
{
    const struct table *table = settings_of(run);
    return table ? table->row_count : 0;
}

bool compare_has_file(const struct compare_side *side, struct str file)
{
    for (size_t r = 0; r < side->run_count; r++) {
        const struct table *table = settings_of(&side->runs[r]);
        for (size_t i = 0; table && i < table->row_count; i++)
            if (table_is(table, i, JOB_SETTINGS_FILE, file))
                return true;
    }
    return false;
}

// --- what is compared ---------------------------------------------------------------------------

// Where a run kept its files, when it ran, and which process wrote the file: they always differ.
static bool is_of_one_execution(const struct setting *setting)
{
    static const char *const ends[] = {"dir",       "path",    "folder",   "file",     "port",
                                       "id",        "prefix",  "rank",     "addr",     "host",
                                       "timestamp", "runtime", "time",     "Time",     "Elapsed",
                                       "save",      "load",    "exp_name", "run_name", "hostname"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (str_ends_with(setting->key, str_of(ends[i])))
            return true;
    return setting->value.len && memchr("/.~", *setting->value.at, 3);
}

static struct setting setting_of(const struct table *table, size_t row)
{
    struct str standard = table_text(table, row, JOB_SETTINGS_STANDARD);
    struct setting setting = {.source = FROM_FILE,
                              .weight = 1,
                              .file = table_text(table, row, JOB_SETTINGS_FILE),
                              .unit = table_text(table, row, JOB_SETTINGS_UNIT),
                              .standard = standard.len > 0};
    setting.key = standard.len ? standard : table_text(table, row, JOB_SETTINGS_NAME);
    setting.value =
        table_text(table, row, standard.len ? JOB_SETTINGS_STANDARD_VALUE : JOB_SETTINGS_VALUE);
    return setting;
}

static int compare_keys(const void *a, const void *b)
{
    const struct setting *x = a, *y = b;
    int order = str_compare(x->key, y->key);
    order = order ? order : str_compare(x->value, y->value);
    return order ? order : str_compare(x->file, y->file);
}

// --- one run ------------------------------------------------------------------------------------

static bool is_known(const struct compare_run *run, struct str key)
{
    const struct table *table = report_find(run->run, "environment");
    for (size_t i = 0; i < run->meta_count; i++)
        if (str_equal(run->meta[i].key, key))
            return true;
    for (size_t i = 0; table && i < table->row_count; i++)
        if (table_is(table, i, RUN_ENVIRONMENT_KEY, key))
            return true;
    return false;
}

// Takes the values of one key; equal ones are adjacent.
static void take_key(struct settings *settings, const struct setting *at, size_t count)
{
    bool differ = !str_equal(at[0].value, at[count - 1].value);
    if (differ && !at[0].standard)
        return;
    for (size_t i = 0; i < count; i++) {
        if (i && str_equal(at[i - 1].value, at[i].value))
            continue;
        struct setting *setting = &settings->at[settings->count++];
        *setting = at[i];
        setting->contradicts = differ;
    }
}

static size_t read_rows(const struct table *table, struct setting *rows)
{
    size_t count = 0;
    for (size_t i = 0; i < table->row_count; i++) {
        struct setting setting = setting_of(table, i);
        if (setting.key.len && (setting.standard || !is_of_one_execution(&setting)))
            rows[count++] = setting;
    }
    return count;
}

bool compare_take_files(struct settings *settings, const struct compare_run *run,
                        struct arena *arena, struct err *err)
{
    const struct table *table = settings_of(run);
    if (!table || !table->row_count)
        return true;
    struct setting *rows = arena_array(arena, table->row_count, sizeof *rows, err);
    if (!rows)
        return false;
    size_t count = read_rows(table, rows);
    if (count)
        qsort(rows, count, sizeof *rows, compare_keys);
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count; to++)
            if (!str_equal(rows[to].key, rows[from].key))
                break;
        if (!is_known(run, rows[from].key))
            take_key(settings, rows + from, to - from);
    }
    return true;
}
