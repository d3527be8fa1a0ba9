// SPDX-License-Identifier: Apache-2.0
// Comparisons of repeats and candidates: verdict, settings, modules, ranks, memory, communication,
// findings, and what is refused.
#include "tests/named_cell.h"
#include "tests/unit/compare_hand.h"

#define SUMMARY "compare_summary"

// A run of one step of one kernel.
static void add_run(struct bench *bench, int64_t step_ns)
{
    bench_add(bench);
    bench_part(bench,
               (struct hand_part){"gemm", "GEMM", "aten::mm", "[[8]]", NULL, "k", 1, step_ns});
    bench_steps(bench, 1, step_ns);
}

static void add_side(struct bench *bench, const int64_t *steps_ns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add_run(bench, steps_ns[i]);
    bench_side(bench, count);
}

static bool text_has(const struct bench *bench, const char *part)
{
    struct str text = bench_cell(bench, SUMMARY, 0, "verdict_text")->s;
    return str_find(text, str_of(part)) != SIZE_MAX;
}

static void one_run_a_side_never_shows_noise(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    add_side(&bench, (int64_t[]){10000000}, 1);
    add_side(&bench, (int64_t[]){11000000}, 1);
    bench_compare(&bench);
    assert_true(bench_says(&bench, SUMMARY, 0, "verdict", "noise unknown"));
    assert_true(bench_says(&bench, SUMMARY, 0, "method", "none"));
    assert_true(text_has(&bench, "11.0 ms, the base's 10.0 ms: 10.0 % longer; with one run"));
    assert_int_equal(bench_i64(&bench, SUMMARY, 0, "delta_ns"), 1000000);
    assert_int_equal(bench_i64(&bench, SUMMARY, 0, "shift_ns"), 1000000);
    assert_int_equal(bench_i64(&bench, SUMMARY, 0, "relevant"), 0);
    assert_true(bench_cell(&bench, SUMMARY, 0, "p_value")->null);
    assert_true(bench_cell(&bench, SUMMARY, 0, "shift_low_share")->null);
    assert_true(bench_f64(&bench, SUMMARY, 0, "speedup") == 10.0 / 11.0);
    bench_end(&bench);
}

static void repeats_that_lie_apart_are_significant(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    add_side(&bench, (int64_t[]){10000000, 10100000, 9900000, 10050000, 9950000}, 5);
    add_side(&bench, (int64_t[]){10400000, 10500000, 10300000, 10450000, 10350000}, 5);
    bench_compare(&bench);
    assert_true(bench_says(&bench, SUMMARY, 0, "verdict", "significant"));
    assert_true(bench_says(&bench, SUMMARY, 0, "method", "mann_whitney"));
    assert_true(fabs(bench_f64(&bench, SUMMARY, 0, "p_value") - 2.0 / 252) < 1e-12);
    assert_int_equal(bench_i64(&bench, SUMMARY, 0, "base_runs"), 5);
    assert_int_equal(bench_i64(&bench, SUMMARY, 0, "base_step_ns"), 10000000);
    assert_int_equal(bench_i64(&bench, SUMMARY, 0, "cand_step_ns"), 10400000);
    assert_int_equal(bench_i64(&bench, SUMMARY, 0, "relevant"), 1);
    assert_true(text_has(&bench, "significant over 5 and 5 runs"));
    assert_true(bench_cell(&bench, SUMMARY, 0, "base_ci_low_ns")->null);
    assert_int_equal(bench_table(&bench, "compare_runs")->row_count, 10);
    assert_int_equal(bench_i64(&bench, "compare_runs", 5, "cand"), 1);
    assert_int_equal(bench_i64(&bench, "compare_runs", 5, "gemm_ns"), 10400000);
    bench_end(&bench);
}

// A run of ten steps of 10 ms: products of one shape and a rest common to both sides.
static void add_work_run(struct bench *bench, const char *dims, int64_t calls)
{
    bench_add(bench);
    bench_part(bench,
               (struct hand_part){"gemm", "gemm", "aten::mm", dims, NULL, "mm", calls, 70000000});
    bench_part(bench, (struct hand_part){"other_compute", "elementwise", "aten::add", "[[8]]", NULL,
                                         "add", 100, 30000000});
    bench_steps(bench, 10, 10000000);
    bench_side(bench, 1);
}

static void add_flops(struct bench *bench, double flops, double time_share)
{
    ROW(bench_rank(bench), &table_utilization, {"metric", .text = "model_flops_per_step"},
        {"value", .f = flops});
    ROW(bench_rank(bench), &table_utilization, {"metric", .text = "flops_time_share"},
        {"value", .f = time_share});
}

// CASES.md: 30 % of the time matches, whether other shapes are multiplied or the same ones more
// often.
static void different_work_has_no_speedup(void **state)
{
    (void)state;
    static const struct {
        const char *dims;
        int64_t calls;
        double flops, share;
        bool same;
    } rows[] = {{"[[4,4],[4,4]]", 100, 5e9, 1, true},
                {"[[2,8],[8,2]]", 100, 9e9, 1, false},
                {"[[4,4],[4,4]]", 400, 9e9, 1, false},
                {"[[2,8],[8,2]]", 100, 5.4e9, 1, true},
                {"[[2,8],[8,2]]", 100, 5e9, 0.4, false},
                {"[[4,4],[4,4]]", 105, 9e9, 1, true},
                {NULL, 100, 9e9, 1, true}, // shapes are recorded on one side only
                {NULL, 200, 9e9, 1, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench bench;
        bench_begin(&bench);
        add_work_run(&bench, "[[4,4],[4,4]]", 100);
        add_flops(&bench, 5e9, 1);
        add_work_run(&bench, rows[i].dims, rows[i].calls);
        add_flops(&bench, rows[i].flops, rows[i].share);
        bench_compare(&bench);
        assert_int_equal(bench_i64(&bench, SUMMARY, 0, "same_work"), rows[i].same);
        assert_int_equal(bench_cell(&bench, SUMMARY, 0, "speedup")->null, !rows[i].same);
        struct str text = bench_cell(&bench, SUMMARY, 0, "verdict_text")->s;
        assert_int_equal(str_starts_with(text, STR("different work, ")), !rows[i].same);
        assert_int_equal(str_starts_with(text, STR("hardly comparable part by part: ")), i == 3);
        if (!rows[i].same)
            assert_true(text_has(&bench, "match in 30 % of the device time"));
        assert_int_equal(text_has(&bench, "FLOPs are known for 40 %"), rows[i].share < 0.9);
        bench_end(&bench);
    }
}

// Half of one side's time is work its recording lacks; the rest is the same.
static void unrecorded_time_is_no_other_work(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    add_work_run(&bench, "[[4,4],[4,4]]", 100);
    bench_add(&bench);
    bench_part(&bench, (struct hand_part){"gemm", "gemm", "aten::mm", "[[4,4],[4,4]]", NULL, "mm",
                                          100, 70000000});
    bench_part(&bench, (struct hand_part){"other_compute", "elementwise", "aten::add", "[[8]]",
                                          NULL, "add", 100, 30000000});
    bench_part(&bench, (struct hand_part){"unrecorded", "unrecorded", NULL, NULL, NULL, NULL, 0,
                                          100000000});
    bench_steps(&bench, 10, 20000000);
    bench_side(&bench, 1);
    bench_compare(&bench);
    assert_int_equal(bench_i64(&bench, SUMMARY, 0, "same_work"), 1);
    assert_true(bench_f64(&bench, SUMMARY, 0, "same_work_share") == 1);
    bench_end(&bench);
}

static void history_tells_the_noise_of_single_runs(void **state)
{
    (void)state;
    static const int64_t past[] = {10000000, 10020000, 9990000,  10010000, 10000000,
                                   9980000,  10010000, 10000000, 10020000, 9990000};
    struct bench bench;
    bench_begin(&bench);
    add_side(&bench, (int64_t[]){10000000}, 1);
    add_side(&bench, (int64_t[]){10900000}, 1);
    bench.sides[0].history = past;
    bench.sides[0].history_count = sizeof past / sizeof *past;
    bench_compare(&bench);
    assert_true(bench_says(&bench, SUMMARY, 0, "method", "history"));
    assert_true(bench_says(&bench, SUMMARY, 0, "verdict", "significant"));
    assert_true(bench_f64(&bench, SUMMARY, 0, "threshold_share") < 0.05);
    assert_true(text_has(&bench, "more than noise"));
    bench_end(&bench);
}

// The case of analysis/CASES.md, "Steps": three steps of 10, 10 and 40 ns against three of 12.
static void the_bridge_leads_from_the_means_to_the_medians(void **state)
{
    (void)state;
    static const int64_t totals[] = {60, 36}, medians[] = {10, 12};
    struct bench bench;
    bench_begin(&bench);
    for (int side = 0; side < 2; side++) {
        bench_add(&bench);
        bench_part(&bench, (struct hand_part){"gemm", "GEMM", "aten::mm", "[[8,8]]", "", "k", 3,
                                              totals[side]});
        bench_steps(&bench, 3, medians[side]);
        bench_side(&bench, 1);
    }
    bench_compare(&bench);
    assert_int_equal(bench_i64(&bench, SUMMARY, 0, "delta_ns"), 2);
    assert_int_equal(bench_i64(&bench, SUMMARY, 0, "delta_mean_ns"), -8);
    assert_int_equal(bench_i64(&bench, SUMMARY, 0, "bridge_ns"), 10);
    bench_end(&bench);
}

static void a_run_against_itself_differs_in_nothing(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    add_side(&bench, (int64_t[]){10000000}, 1);
    bench.sides[bench.side_count++] = bench.sides[0];
    bench_compare(&bench);
    assert_true(bench_says(&bench, SUMMARY, 0, "verdict", "within noise"));
    assert_int_equal(bench_i64(&bench, SUMMARY, 0, "delta_mean_ns"), 0);
    const struct table *fall = bench_table(&bench, "compare_waterfall");
    for (size_t i = 0; i < fall->row_count; i++) {
        assert_int_equal(named_cell(fall, i, "delta_ns")->i, 0);
        assert_int_equal(named_cell(fall, i, "calls_effect_ns")->i, 0);
        assert_int_equal(named_cell(fall, i, "relevant")->i, 0);
        assert_true(str_equal(named_cell(fall, i, "verdict")->s, STR("within noise")));
    }
    bench_end(&bench);
}

// --- per token ----------------------------------------------------------------------------------

static void steps_of_other_sizes_compare_by_their_tokens(void **state)
{
    (void)state;
    const struct compare_setting base[] = {{STR("tokens_per_step"), STR("1000")}};
    const struct compare_setting cand[] = {{STR("batch_size"), STR("30")},
                                           {STR("seq_len"), STR("100")}};
    struct bench bench;
    bench_begin(&bench);
    add_side(&bench, (int64_t[]){10000001}, 1);
    add_side(&bench, (int64_t[]){24000000}, 1);
    bench.handles[0].meta = base;
    bench.handles[0].meta_count = 1;
    bench.handles[1].meta = cand;
    bench.handles[1].meta_count = 2;
    bench.options.per_token = true;
    bench_compare(&bench);
    assert_int_equal(bench_i64(&bench, SUMMARY, 0, "base_tokens"), 1000);
    assert_int_equal(bench_i64(&bench, SUMMARY, 0, "cand_tokens"), 3000);
    assert_int_equal(bench_i64(&bench, SUMMARY, 0, "cand_step_ns"), 8000000);
    assert_int_equal(bench_i64(&bench, SUMMARY, 0, "cand_mean_ns"), 8000000);
    assert_int_equal(bench_i64(&bench, "compare_runs", 1, "mean_ns"), 24000000);
    size_t mm = bench_find(&bench, "op", "op", "aten::mm");
    assert_int_equal(bench_i64(&bench, "compare_waterfall", mm, "cand_ns"), 8000000);
    assert_int_equal(bench_i64(&bench, "compare_waterfall", mm, "cand_total_ns"), 24000000);
    // A third of the calls per token, each 2.4 times as long.
    assert_int_equal(bench_i64(&bench, "compare_waterfall", mm, "calls_effect_ns"), -6666667);
    bench_end(&bench);
}

static void per_token_needs_the_tokens_of_both_sides(void **state)
{
    (void)state;
    const struct compare_setting known[] = {{STR("tokens_per_step"), STR("1000")}};
    const struct compare_setting other[] = {{STR("tokens_per_step"), STR("1e3")}};
    struct bench bench;
    bench_begin(&bench);
    add_side(&bench, (int64_t[]){100}, 1);
    add_side(&bench, (int64_t[]){100, 100}, 2);
    bench.options.per_token = true;
    bench.handles[0].meta = bench.handles[1].meta = known;
    bench.handles[0].meta_count = bench.handles[1].meta_count = 1;
    assert_false(bench_try(&bench));
    assert_int_equal(bench.err.code, ERR_USAGE);
    bench.handles[2].meta = other; // not a whole number
    bench.handles[2].meta_count = 1;
    assert_false(bench_try(&bench));
    assert_int_equal(bench.err.code, ERR_USAGE);
    bench_end(&bench);
}

static void comparisons_without_runs_or_with_too_many_are_refused(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    add_side(&bench, (int64_t[]){100}, 1);
    assert_false(
        analyze_compare(&bench.sides[0], NULL, 0, &bench.options, &bench.report, &bench.err));
    assert_int_equal(bench.err.code, ERR_USAGE);
    bench.sides[1] = (struct compare_side){.runs = bench.handles, .run_count = 0};
    bench.side_count = 2;
    assert_false(bench_try(&bench));
    assert_int_equal(bench.err.code, ERR_USAGE);
    bench.sides[1].run_count = COMPARE_MAX_RUNS;
    assert_false(bench_try(&bench));
    assert_int_equal(bench.err.code, ERR_USAGE);
    bench_end(&bench);
}

// --- settings -----------------------------------------------------------------------------------

static void add_setting(struct bench *bench, const char *key, const char *value, int64_t ranks)
{
    ROW(bench_run(bench), &table_run_environment, {"key", .text = key}, {"value", .text = value},
        {"ranks", .i = ranks});
}

static void check_setting(const struct bench *bench, size_t row, const char *key, const char *base,
                          const char *cand)
{
    assert_true(bench_says(bench, "compare_settings", row, "key", key));
    assert_true(bench_says(bench, "compare_settings", row, "base", base));
    assert_true(bench_says(bench, "compare_settings", row, "cand_value", cand));
}

static void settings_that_differ_come_first_and_people_win(void **state)
{
    (void)state;
    const struct compare_setting meta[] = {{STR("precision"), STR("bf16")}};
    struct bench bench;
    bench_begin(&bench);
    add_run(&bench, 100);
    add_setting(&bench, "aaa", "same", 2);
    add_setting(&bench, "bbb", "one", 2);
    add_setting(&bench, "gpu", "H100", 1);
    add_setting(&bench, "gpu", "A100", 3);
    add_setting(&bench, "precision", "tf32", 4);
    bench_side(&bench, 1);
    add_run(&bench, 100);
    add_setting(&bench, "aaa", "same", 8);
    add_setting(&bench, "bbb", "two", 8);
    add_setting(&bench, "gpu", "MI300X", 8);
    add_setting(&bench, "zzz", "only here", 8);
    add_setting(&bench, "precision", "bf16", 8);
    bench_side(&bench, 1);
    bench.handles[0].meta = meta;
    bench.handles[0].meta_count = 1;
    bench_compare(&bench);
    check_setting(&bench, 0, "gpu", "A100 | H100", "MI300X");
    check_setting(&bench, 1, "bbb", "one", "two");
    check_setting(&bench, 2, "zzz", NULL, "only here");
    check_setting(&bench, 3, "precision", "bf16", "bf16");
    check_setting(&bench, 4, "aaa", "same", "same");
    assert_true(bench_says(&bench, "compare_settings", 3, "base_source", "upload"));
    assert_true(bench_says(&bench, "compare_settings", 3, "cand_source", "trace"));
    assert_true(bench_says(&bench, "compare_settings", 2, "base_source", NULL));
    assert_int_equal(bench_i64(&bench, "compare_settings", 2, "differs"), 1);
    assert_int_equal(bench_i64(&bench, "compare_settings", 3, "differs"), 0);
    assert_int_equal(bench_table(&bench, "compare_settings")->row_count, 5);
    bench_end(&bench);
}

static void what_only_one_profiler_records_is_no_difference(void **state)
{
    (void)state;
    const struct compare_setting meta[] = {{STR("batch_size"), STR("8")}};
    struct bench bench;
    bench_begin(&bench);
    add_run(&bench, 100);
    add_setting(&bench, "recorder", "PyTorch profiler", 1);
    add_setting(&bench, "driver", "12.4", 1);
    bench_side(&bench, 1);
    add_run(&bench, 100);
    add_setting(&bench, "recorder", "Nsight Systems", 1);
    bench_side(&bench, 1);
    bench.handles[0].meta = meta;
    bench.handles[0].meta_count = 1;
    bench_compare(&bench);
    check_setting(&bench, 0, "recorder", "PyTorch profiler", "Nsight Systems");
    check_setting(&bench, 1, "batch_size", "8", NULL);
    check_setting(&bench, 2, "driver", "12.4", NULL);
    assert_int_equal(bench_i64(&bench, "compare_settings", 1, "differs"), 1);
    assert_int_equal(bench_i64(&bench, "compare_settings", 2, "differs"), 0);
    bench_end(&bench);
}

// Where a run was recorded is not a setting: it is shown, but never among the differences. What
// people enter under such a name is one.
static void names_of_hosts_are_no_settings(void **state)
{
    (void)state;
    const struct compare_setting meta[] = {{STR("node"), STR("left")}};
    struct bench bench;
    bench_begin(&bench);
    add_run(&bench, 100);
    add_setting(&bench, "host_name", "node-1", 2);
    add_setting(&bench, "node", "n1", 2);
    bench_side(&bench, 1);
    add_run(&bench, 100);
    add_setting(&bench, "host_name", "node-2", 2);
    add_setting(&bench, "node", "n2", 2);
    bench_side(&bench, 1);
    bench.handles[0].meta = meta;
    bench.handles[0].meta_count = 1;
    bench_compare(&bench);
    check_setting(&bench, 0, "node", "left", "n2");
    assert_int_equal(bench_i64(&bench, "compare_settings", 0, "differs"), 1);
    check_setting(&bench, 1, "host_name", "node-1", "node-2");
    assert_int_equal(bench_i64(&bench, "compare_settings", 1, "differs"), 0);
    bench_end(&bench);
}

struct job_setting {
    const char *file, *name, *value, *standard, *standard_value;
};

static void add_job_setting(struct bench *bench, struct job_setting setting)
{
    struct field standard = {"standard", .text = setting.standard};
    struct field value = {"standard_value", .text = setting.standard_value};
    if (!setting.standard)
        standard.name = NULL; // ends the row
    ROW(bench_run(bench), &table_job_settings, {"file", .text = setting.file},
        {"name", .text = setting.name}, {"value", .text = setting.value}, standard, value);
}

static void settings_of_files_are_compared_by_standard_names(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    add_run(&bench, 100);
    add_setting(&bench, "precision", "fp8", 8);
    add_job_setting(&bench, (struct job_setting){"a.log", "params_dtype", "torch.bfloat16",
                                                 "precision", "bf16"});
    add_job_setting(&bench, (struct job_setting){"a.log", "global_batch_size", "128",
                                                 "global_batch_size", "128"});
    add_job_setting(&bench,
                    (struct job_setting){"a.log", "seq_length", "4096", "seq_length", "4096"});
    add_job_setting(&bench, (struct job_setting){"env.txt", "NCCL_ALGO", "Ring", NULL, NULL});
    add_job_setting(&bench, (struct job_setting){"env.txt", "NCCL_PROTO", "LL", NULL, NULL});
    add_job_setting(&bench, (struct job_setting){"env.txt", "OMP_X", "1", NULL, NULL});
    add_job_setting(&bench, (struct job_setting){"a.log", "save_dir", "x", NULL, NULL});
    add_job_setting(&bench, (struct job_setting){"a.log", "only_here", "1", NULL, NULL});
    bench_side(&bench, 1);
    add_run(&bench, 100);
    add_setting(&bench, "precision", "fp8", 8);
    add_job_setting(&bench, (struct job_setting){"b.yaml", "train_batch_size", "256",
                                                 "global_batch_size", "256"});
    add_job_setting(&bench,
                    (struct job_setting){"b.yaml", "seq_len", "4096", "seq_length", "4096"});
    add_job_setting(&bench,
                    (struct job_setting){"b.log", "seq_length", "8192", "seq_length", "8192"});
    add_job_setting(&bench, (struct job_setting){"env.txt", "NCCL_ALGO", "Tree", NULL, NULL});
    add_job_setting(&bench, (struct job_setting){"env.txt", "OMP_X", "1", NULL, NULL});
    add_job_setting(&bench, (struct job_setting){"a.yaml", "save_dir", "y", NULL, NULL});
    bench_side(&bench, 1);
    bench_compare(&bench);
    check_setting(&bench, 0, "global_batch_size", "128", "256");
    check_setting(&bench, 1, "seq_length", "4096", "4096 | 8192");
    check_setting(&bench, 2, "NCCL_ALGO", "Ring", "Tree");
    check_setting(&bench, 3, "NCCL_PROTO", "LL", NULL);
    check_setting(&bench, 4, "precision", "fp8", "fp8");
    assert_int_equal(bench_table(&bench, "compare_settings")->row_count, 5);
    assert_true(bench_says(&bench, "compare_settings", 0, "base_source", "file"));
    assert_true(bench_says(&bench, "compare_settings", 0, "base_file", "a.log"));
    assert_true(bench_says(&bench, "compare_settings", 4, "base_source", "trace"));
    assert_true(bench_says(&bench, "compare_settings", 4, "base_file", NULL));
    assert_int_equal(bench_i64(&bench, "compare_settings", 1, "base_contradicts"), 0);
    assert_int_equal(bench_i64(&bench, "compare_settings", 1, "cand_contradicts"), 1);
    assert_int_equal(bench_i64(&bench, "compare_settings", 3, "differs"), 1);
    bench_end(&bench);
}

// A value that people gave for some repeats and traces for others is one value if it is the same.
static void a_value_given_for_some_repeats_is_reported_once(void **state)
{
    (void)state;
    const struct compare_setting bf16[] = {{STR("precision"), STR("bf16")}};
    const struct compare_setting fp8[] = {{STR("precision"), STR("fp8")}};
    struct bench bench;
    bench_begin(&bench);
    for (int i = 0; i < 3; i++) {
        add_run(&bench, 100);
        add_setting(&bench, "precision", "bf16", 1);
    }
    bench_side(&bench, 3);
    add_run(&bench, 100);
    add_setting(&bench, "precision", "bf16", 1);
    bench_side(&bench, 1);
    bench.handles[0].meta = bf16;
    bench.handles[1].meta = fp8;
    bench.handles[0].meta_count = bench.handles[1].meta_count = 1;
    bench_compare(&bench);
    check_setting(&bench, 0, "precision", "bf16 | fp8", "bf16");
    assert_true(bench_says(&bench, "compare_settings", 0, "base_source", "upload"));
    bench_end(&bench);
}

// --- modules ------------------------------------------------------------------------------------

static void add_module(struct bench *bench, int64_t id, int64_t parent, const char *name,
                       int64_t self_ns)
{
    ROW(bench_rank(bench), &table_modules, {"id", .i = id}, {"parent", .i = parent},
        {"name", .text = name}, {"path", .text = name}, {"calls", .i = 6},
        {"self_owned_ns", .i = self_ns});
}

static void add_root(struct bench *bench, int64_t self_ns)
{
    ROW(bench_rank(bench), &table_modules, {"id", .i = 0}, {"path", .text = ""},
        {"self_owned_ns", .i = self_ns});
}

static void modules_sum_to_the_busy_time_of_a_step(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    add_run(&bench, 1001); // the trace's modules are in proportion to 1001 ns
    add_root(&bench, 10);
    add_module(&bench, 1, 0, "Net_0", 0);
    add_module(&bench, 2, 1, "Linear_5", 30);
    add_module(&bench, 3, 1, "Linear_9", 60);
    bench_side(&bench, 1);
    add_run(&bench, 2000);
    add_root(&bench, 0);
    add_module(&bench, 1, 0, "Net_3", 0);
    add_module(&bench, 2, 1, "Linear_2", 1);
    add_module(&bench, 3, 1, "Linear_11", 1);
    add_module(&bench, 4, 1, "Dropout_0", 2);
    bench_side(&bench, 1);
    bench_compare(&bench);
    const char *table = "compare_modules";
    assert_int_equal(bench_table(&bench, table)->row_count, 5);
    assert_true(bench_says(&bench, table, 0, "path", ""));
    assert_int_equal(bench_i64(&bench, table, 0, "base_ns"), 1001);
    assert_int_equal(bench_i64(&bench, table, 0, "cand_ns"), 2000);
    assert_int_equal(bench_i64(&bench, table, 0, "base_self_ns"), 100);
    assert_true(bench_says(&bench, table, 1, "path", "Net_0"));
    assert_int_equal(bench_i64(&bench, table, 1, "delta_ns"), 2000 - 901);
    assert_true(bench_says(&bench, table, 2, "path", "Net_0/Dropout_0"));
    assert_true(bench_cell(&bench, table, 2, "base_ns")->null);
    assert_int_equal(bench_i64(&bench, table, 2, "delta_ns"), 1000);
    int64_t delta_ns = 0;
    for (size_t i = 0; i < 5; i++)
        delta_ns += bench_i64(&bench, table, i, "delta_self_ns");
    assert_int_equal(delta_ns, 999);
    assert_true(bench_says(&bench, table, 3, "path", "Net_0/Linear_0"));
    assert_true(bench_says(&bench, table, 3, "base_path", "Linear_5"));
    assert_true(bench_says(&bench, table, 3, "cand_path", "Linear_2"));
    assert_true(bench_f64(&bench, table, 3, "cand_calls") == 6.0);
    bench_end(&bench);
}

static void modules_with_broken_numbers_are_refused(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    add_run(&bench, 10);
    add_root(&bench, 10);
    add_module(&bench, 7, 0, "Net_0", 0);
    bench_side(&bench, 1);
    bench_side(&bench, 1);
    assert_false(bench_try(&bench));
    assert_int_equal(bench.err.code, ERR_FORMAT);
    bench_end(&bench);
}

// --- ranks, memory, communication, findings -----------------------------------------------------

static void add_rank(struct bench *bench, int64_t rank, int64_t step_ns, int64_t lateness_ns)
{
    ROW(bench_run(bench), &table_run_ranks, {"rank", .i = rank}, {"step_median_ns", .i = step_ns},
        {"steady_steps", .i = 4}, {"lateness_ns", .i = lateness_ns});
}

static void ranks_compare_one_by_one_where_they_are_the_same(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    for (int r = 0; r < 2; r++) { // two repeats of two ranks
        add_run(&bench, 100);
        add_rank(&bench, 0, 100 + r, 10);
        add_rank(&bench, 1, 200 + r, 30 + 2 * r);
    }
    bench_side(&bench, 2);
    add_run(&bench, 100);
    add_rank(&bench, 1, 260, 7);
    add_rank(&bench, 0, 90, 0);
    bench_side(&bench, 1);
    add_run(&bench, 100);
    add_rank(&bench, 0, 80, 0);
    bench_side(&bench, 1);
    bench_compare(&bench);
    const char *table = "compare_ranks";
    assert_int_equal(bench_table(&bench, table)->row_count, 2 + 4 + 4);
    assert_int_equal(bench_i64(&bench, table, 1, "rank"), 1);
    assert_int_equal(bench_i64(&bench, table, 1, "base_step_ns"), 200);
    assert_int_equal(bench_i64(&bench, table, 1, "delta_ns"), 60);
    assert_int_equal(bench_i64(&bench, table, 1, "base_lateness_ns"), 31);
    assert_int_equal(bench_i64(&bench, table, 1, "cand_lateness_ns"), 7);
    assert_true(bench_says(&bench, table, 5, "statistic", "max"));
    assert_int_equal(bench_i64(&bench, table, 5, "delta_ns"), 60);
    assert_int_equal(bench_i64(&bench, table, 6, "cand"), 2);
    assert_true(bench_cell(&bench, table, 6, "rank")->null);
    assert_int_equal(bench_i64(&bench, table, 6, "cand_step_ns"), 80);
    bench_end(&bench);
}

static void memory_compares_the_largest_peaks(void **state)
{
    (void)state;
    struct bench bench;
    static const int64_t peaks[] = {100, 140, 90};
    bench_begin(&bench);
    for (int r = 0; r < 3; r++) {
        add_run(&bench, 100);
        ROW(bench_rank(&bench), &table_memory, {"device", .text = "cuda:0"},
            {"peak_allocated_bytes", .i = peaks[r]}, {"peak_reserved_bytes", .i = 2 * peaks[r]});
        if (r == 1)
            bench_side(&bench, 2);
    }
    ROW(bench_rank(&bench), &table_memory, {"device", .text = "cpu"},
        {"peak_allocated_bytes", .i = 5});
    bench_side(&bench, 1);
    bench_compare(&bench);
    assert_int_equal(bench_i64(&bench, "compare_memory", 0, "base_allocated_bytes"), 140);
    assert_int_equal(bench_i64(&bench, "compare_memory", 0, "delta_allocated_bytes"), -50);
    assert_int_equal(bench_i64(&bench, "compare_memory", 0, "delta_reserved_bytes"), -100);
    assert_true(bench_cell(&bench, "compare_memory", 0, "base_capacity_bytes")->null);
    assert_true(bench_cell(&bench, "compare_memory", 1, "delta_allocated_bytes")->null);
    bench_end(&bench);
}

static void add_memory(struct bench *bench, const char *device, int64_t bytes)
{
    ROW(bench_rank(bench), &table_memory, {"device", .text = device},
        {"peak_allocated_bytes", .i = bytes}, {"peak_reserved_bytes", .i = bytes});
}

// Ranks that represent their runs need not be on the same device of their hosts.
static void memory_of_runs_with_one_device_compares_wherever_it_is(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    add_run(&bench, 100);
    add_memory(&bench, "cuda:6", 100);
    add_memory(&bench, "cpu", 5);
    add_run(&bench, 100);
    add_memory(&bench, "cuda:3", 120);
    bench_side(&bench, 2);
    add_run(&bench, 100);
    add_memory(&bench, "cpu", 6);
    add_memory(&bench, "hip:2", 90);
    bench_side(&bench, 1);
    bench_compare(&bench);
    const char *table = "compare_memory";
    assert_int_equal(bench_table(&bench, table)->row_count, 2);
    assert_true(bench_says(&bench, table, 0, "device", "cuda:6"));
    assert_int_equal(bench_i64(&bench, table, 0, "delta_allocated_bytes"), -30);
    assert_true(bench_says(&bench, table, 1, "device", "cpu"));
    assert_int_equal(bench_i64(&bench, table, 1, "delta_allocated_bytes"), 1);
    bench_end(&bench);
}

static void devices_of_a_run_that_has_several_compare_by_number(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    add_run(&bench, 100);
    add_memory(&bench, "cuda:1", 100);
    bench_side(&bench, 1);
    add_run(&bench, 100);
    add_memory(&bench, "cuda:0", 70);
    add_memory(&bench, "cuda:1", 90);
    bench_side(&bench, 1);
    bench_compare(&bench);
    const char *table = "compare_memory";
    assert_int_equal(bench_table(&bench, table)->row_count, 2);
    assert_int_equal(bench_i64(&bench, table, 0, "delta_allocated_bytes"), -10);
    assert_true(bench_cell(&bench, table, 1, "base_allocated_bytes")->null);
    bench_end(&bench);
}

static void add_finding(struct bench *bench, const char *id, int64_t cost_ns)
{
    ROW(bench_run(bench), &table_run_findings, {"rule", .text = id}, {"title", .text = id},
        {"severity", .text = "low"}, {"cost_ns", .i = cost_ns}, {"id", .text = id});
}

static void check_finding(const struct bench *bench, size_t row, const char *id, const char *status,
                          int64_t delta_ns)
{
    assert_true(bench_says(bench, "compare_findings", row, "id", id));
    assert_true(bench_says(bench, "compare_findings", row, "state", status));
    assert_int_equal(bench_i64(bench, "compare_findings", row, "delta_cost_ns"), delta_ns);
}

static void findings_come_go_change_or_stay(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    for (int r = 0; r < 3; r++) {
        add_run(&bench, 100000000);
        add_finding(&bench, "stays", 5000000 + r);
        add_finding(&bench, "grows", 1000000);
        if (r > 0)
            add_finding(&bench, "goes", 700000);
        if (r == 0)
            add_finding(&bench, "seldom", 700000); // in one run of three
    }
    bench_side(&bench, 3);
    add_run(&bench, 100000000);
    add_finding(&bench, "stays", 5100000); // less than 0.2 % of the step more
    add_finding(&bench, "grows", 2000000);
    add_finding(&bench, "comes", 300000);
    bench_side(&bench, 1);
    bench_compare(&bench);
    assert_int_equal(bench_table(&bench, "compare_findings")->row_count, 4);
    check_finding(&bench, 0, "comes", "new", 300000);
    check_finding(&bench, 1, "goes", "fixed", -700000);
    check_finding(&bench, 2, "grows", "changed", 1000000);
    check_finding(&bench, 3, "stays", "unchanged", 99999);
    bench_end(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_run_a_side_never_shows_noise),
        cmocka_unit_test(repeats_that_lie_apart_are_significant),
        cmocka_unit_test(different_work_has_no_speedup),
        cmocka_unit_test(unrecorded_time_is_no_other_work),
        cmocka_unit_test(history_tells_the_noise_of_single_runs),
        cmocka_unit_test(the_bridge_leads_from_the_means_to_the_medians),
        cmocka_unit_test(a_run_against_itself_differs_in_nothing),
        cmocka_unit_test(steps_of_other_sizes_compare_by_their_tokens),
        cmocka_unit_test(per_token_needs_the_tokens_of_both_sides),
        cmocka_unit_test(comparisons_without_runs_or_with_too_many_are_refused),
        cmocka_unit_test(settings_that_differ_come_first_and_people_win),
        cmocka_unit_test(what_only_one_profiler_records_is_no_difference),
        cmocka_unit_test(names_of_hosts_are_no_settings),
        cmocka_unit_test(settings_of_files_are_compared_by_standard_names),
        cmocka_unit_test(a_value_given_for_some_repeats_is_reported_once),
        cmocka_unit_test(modules_sum_to_the_busy_time_of_a_step),
        cmocka_unit_test(modules_with_broken_numbers_are_refused),
        cmocka_unit_test(ranks_compare_one_by_one_where_they_are_the_same),
        cmocka_unit_test(memory_compares_the_largest_peaks),
        cmocka_unit_test(memory_of_runs_with_one_device_compares_wherever_it_is),
        cmocka_unit_test(devices_of_a_run_that_has_several_compare_by_number),
        cmocka_unit_test(findings_come_go_change_or_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
