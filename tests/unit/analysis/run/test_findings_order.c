// SPDX-License-Identifier: Apache-2.0
// The order in which to fix a run's findings.
#include "tests/unit/run_findings_hand.h"

static void add(struct report *report, const char *rule, const char *severity, int64_t cost_ms,
                int64_t gain_ms)
{
    ROW(report, &table_run_findings, {"rule", word(rule)}, {"severity", word(severity)},
        {"cost_ns", cell_i64(cost_ms * MS)}, {"own_cost_ns", cell_i64(cost_ms * MS / 2)},
        {"gain_ns", gain_ms < 0 ? cell_null() : cell_i64(gain_ms * MS)});
}

static void expect_order(const struct report *report, const char *const *rules)
{
    const struct table *table = report_find(report, "findings");
    for (size_t row = 0; row < table->row_count; row++) {
        struct str rule = table_text(table, row, RUN_FINDINGS_RULE);
        assert_string_equal(rule.at, rules[row]);
    }
}

static void what_is_severe_and_brings_most_comes_first(void **state)
{
    static const char *const rules[] = {"several_jobs", "gains",   "costs", "alike",
                                        "alike_after",  "no_gain", "low"};
    (void)state;
    struct hand_run run;
    begin(&run);
    add(&run.report, "no_gain", "medium", 90, 0);
    add(&run.report, "low", "low", 80, 70);
    add(&run.report, "alike", "medium", 10, -1);
    add(&run.report, "alike_after", "medium", 10, -1);
    add(&run.report, "costs", "medium", 40, -1); // half of that by itself
    add(&run.report, "gains", "medium", 30, 25);
    add(&run.report, "several_jobs", "info", 0, -1);
    run_findings_order(&run.report);
    expect_order(&run.report, rules);
    end(&run);
}

static void an_analysis_ends_with_that_order(void **state)
{
    static const char *const rules[] = {"severe", "costs"};
    (void)state;
    struct hand_run run;
    begin(&run);
    add_rank(&run, 60, 1, 2);
    ROW(&run.own, &table_findings, {"rule", word("costs")}, {"severity", word("low")},
        {"cost_ns", cell_i64(9 * MS)}, {"gain_ns", cell_i64(MS)});
    ROW(&run.own, &table_findings, {"rule", word("severe")}, {"severity", word("low")},
        {"cost_ns", cell_i64(8 * MS)}, {"gain_ns", cell_i64(7 * MS)});
    analyze(&run);
    expect_order(&run.report, rules);
    end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_severe_and_brings_most_comes_first),
        cmocka_unit_test(an_analysis_ends_with_that_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
