// SPDX-License-Identifier: Apache-2.0
// A file may have several settings of one standard name: those of the outermost level count, and
// none if they differ, as in a list of variants to choose from.
#include "analysis/evidence/job_settings.h"

#include "analysis/report/row.h"
#include "analysis/report/tables.h"
#include "ingest/evidence/standard_settings.h"

// What counts for a standard name.
struct choice {
    bool any, differ;
    size_t depth;
    struct standard_setting setting;
};

static struct standard_setting standard_of(const struct evidence *evidence, size_t index)
{
    const struct evidence_setting *setting = &evidence->settings[index];
    return standard_setting_of(evidence->source, setting->name, setting->value);
}

static size_t depth_of(struct str name)
{
    size_t depth = 0;
    for (size_t i = 0; i < name.len; i++)
        depth += name.at[i] == '.';
    return depth;
}

static bool are_equal(const struct standard_setting *a, const struct standard_setting *b)
{
    return str_equal(standard_setting_value(a), standard_setting_value(b));
}

static void offer(struct choice *choice, const struct standard_setting *setting, size_t depth)
{
    if (choice->any && depth > choice->depth)
        return;
    bool same_level = choice->any && depth == choice->depth;
    if (same_level && choice->setting.overrides && !setting->overrides)
        return;
    bool wins = setting->overrides && !choice->setting.overrides;
    bool differ = same_level && !wins && (choice->differ || !are_equal(&choice->setting, setting));
    *choice = (struct choice){true, differ, depth, *setting};
}

static void choose(const struct evidence *evidence, struct choice choices[STANDARD_MOST])
{
    for (size_t i = 0; i < evidence->setting_count; i++) {
        struct standard_setting setting = standard_of(evidence, i);
        if (setting.name)
            offer(&choices[setting.place], &setting, depth_of(evidence->settings[i].name));
    }
}

static void fill_standard(struct row *row, const struct choice *choice,
                          const struct standard_setting *setting)
{
    if (choice->differ || !are_equal(&choice->setting, setting))
        return;
    row_word(row, JOB_SETTINGS_STANDARD, setting->name);
    row_text(row, JOB_SETTINGS_STANDARD_VALUE, standard_setting_value(setting));
    row_word(row, JOB_SETTINGS_UNIT, setting->unit);
}

static bool add_setting(const struct evidence *evidence, size_t index, struct row *row,
                        struct report *report, struct err *err)
{
    row_text(row, JOB_SETTINGS_NAME, evidence->settings[index].name);
    row_text(row, JOB_SETTINGS_VALUE, evidence->settings[index].value);
    return row_end(row, report, err);
}

bool job_settings_add(const struct evidence *evidence, struct str file, struct report *report,
                      struct err *err)
{
    struct choice *choices = arena_array(report->arena, STANDARD_MOST, sizeof *choices, err);
    if (!choices)
        return false;
    memset(choices, 0, STANDARD_MOST * sizeof *choices);
    choose(evidence, choices);
    for (size_t i = 0; i < evidence->setting_count; i++) {
        struct row row = {.desc = &table_job_settings};
        struct standard_setting setting = standard_of(evidence, i);
        row_text(&row, JOB_SETTINGS_FILE, file);
        if (setting.name)
            fill_standard(&row, &choices[setting.place], &setting);
        if (!add_setting(evidence, i, &row, report, err))
            return false;
    }
    return true;
}

bool job_results_add(const struct evidence *evidence, struct str file, struct report *report,
                     struct err *err)
{
    for (size_t i = 0; i < evidence->result_count; i++) {
        const struct evidence_result *result = &evidence->results[i];
        struct row row = {.desc = &table_job_results};
        row_text(&row, JOB_RESULTS_FILE, file);
        row_text(&row, JOB_RESULTS_NAME, result->name);
        row_f64(&row, JOB_RESULTS_VALUE, result->value);
        row_text_if(&row, JOB_RESULTS_UNIT, *result->unit, str_of(result->unit));
        if (!row_end(&row, report, err))
            return false;
    }
    return true;
}
