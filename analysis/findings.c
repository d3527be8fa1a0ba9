// SPDX-License-Identifier: Apache-2.0
// The table of rules; applies each and orders what they find by cost.
#include "analysis/findings.h"

#include "analysis/analyses.h"
#include "analysis/tables.h"

#include <stdarg.h>
#include <stdio.h>

static const struct finding_rule *const rules[] = {
    &finding_gpu_starved,  &finding_exposed_communication, &finding_tiny_kernels,
    &finding_low_overlap,  &finding_blocking_copies,       &finding_memory_leak,
    &finding_memory_full,  &finding_memory_fragmentation,  &finding_memory_headroom,
    &finding_data_quality,
};

#define RULE_COUNT (sizeof rules / sizeof *rules)

double findings_percent(const struct finding_case *the_case, int64_t ns)
{
    return 100 * (double)ns / (double)the_case->step_ns;
}

const char *findings_per_step(const struct finding_case *the_case, int64_t total, char text[32])
{
    bool whole = total % the_case->steps == 0;
    snprintf(text, 32, "%.*f", whole ? 0 : 1, (double)total / (double)the_case->steps);
    return text;
}

const char *findings_fact(const struct finding_case *the_case, const char *href, struct err *err,
                          const char *fact, ...)
{
    char text[256];
    va_list args;
    va_start(args, fact);
    vsnprintf(text, sizeof text, fact, args);
    va_end(args);
    struct str shown = str_of(text);
    shown.len = str_valid_utf8(shown); // it may have been cut within a character
    struct buf json = {0};
    buf_puts(&json, "[{\"fact\":");
    buf_json(&json, shown);
    buf_puts(&json, ",\"href\":");
    buf_json(&json, str_of(href));
    buf_puts(&json, "}]");
    const char *copy = NULL;
    if (buf_ok(&json, err))
        copy = arena_strdup(the_case->arena, (struct str){json.at, json.len}, err);
    buf_free(&json);
    return copy;
}

static const char *severity_of(const struct finding *finding, double share)
{
    if (finding->severity)
        return finding->severity;
    if (share >= FINDING_HIGH_SHARE)
        return "high";
    return share >= FINDING_MEDIUM_SHARE ? "medium" : "low";
}

static bool add(const struct finding_case *the_case, const struct finding_rule *rule,
                const struct finding *finding, struct report *report, struct err *err)
{
    double share = (double)finding->cost_ns / (double)the_case->step_ns;
    struct row row = {0};
    row_word(&row, rule->name);
    row_word(&row, finding->title);
    row_word(&row, severity_of(finding, share));
    row_i64(&row, finding->cost_ns);
    row_f64(&row, share);
    row_word(&row, finding->confidence);
    row_word(&row, finding->evidence);
    row_word(&row, rule->why);
    row_word(&row, finding->advice ? finding->advice : rule->advice);
    row_word(&row, rule->method);
    row_word(&row, rule->false_alarms);
    while (row.count < table_findings.column_count)
        row_null(&row);
    return row_end(&row, &table_findings, report, err);
}

static bool check_all(const struct finding_case *the_case, struct report *report, struct err *err)
{
    struct finding found[RULE_COUNT];
    bool fires[RULE_COUNT];
    for (size_t r = 0; r < RULE_COUNT; r++) {
        found[r] = (struct finding){0};
        if (!rules[r]->check(the_case, &fires[r], &found[r], err))
            return false;
    }
    for (size_t left = RULE_COUNT; left > 0; left--) {
        size_t best = RULE_COUNT;
        for (size_t r = 0; r < RULE_COUNT; r++)
            if (fires[r] && (best == RULE_COUNT || found[r].cost_ns > found[best].cost_ns))
                best = r;
        if (best == RULE_COUNT)
            break;
        fires[best] = false;
        if (!add(the_case, rules[best], &found[best], report, err))
            return false;
    }
    return true;
}

static bool run(const struct facts *facts, struct report *report, struct err *err)
{
    if (facts->steady_count == 0 || parts_window_ns(&facts->steady) < facts->steady_count)
        return true;
    struct arena scratch;
    arena_init(&scratch, facts->budget);
    struct finding_case the_case = {
        .facts = facts,
        .report = report,
        .arena = &scratch,
        .steps = facts->steady_count,
        .step_ns = parts_window_ns(&facts->steady) / facts->steady_count,
        .per = facts->marked ? "per step" : "in the whole window",
    };
    bool ok = check_all(&the_case, report, err);
    arena_free(&scratch);
    return ok;
}

const struct analysis findings_analysis = {"findings", run};
